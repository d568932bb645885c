/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_expect.h: reads an expectation, "expect at TIME ...".
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_EXPECT_H
#define SUBLET_SIM_SCENARIO_SCENARIO_EXPECT_H

#include "sim/scenario/scenario.h"

void scenario_expect_read(struct scenario *scenario, const struct scenario_line *line);

#endif
