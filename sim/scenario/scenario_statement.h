/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_statement.h: reads a statement, "at TIME VERB ...".
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_STATEMENT_H
#define SUBLET_SIM_SCENARIO_SCENARIO_STATEMENT_H

#include "sim/scenario/scenario.h"

void scenario_statement_read(struct scenario *scenario,
                             const struct scenario_line *line);

#endif
