/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_check.h: checks that every name in a statement exists.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_CHECK_H
#define SUBLET_SIM_SCENARIO_SCENARIO_CHECK_H

#include "sim/scenario/scenario.h"

void scenario_check_names(struct scenario *scenario);

#endif
