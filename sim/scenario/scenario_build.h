/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_build.h: a scenario while it is read: diagnostics and new statements.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_BUILD_H
#define SUBLET_SIM_SCENARIO_SCENARIO_BUILD_H

#include "sim/scenario/scenario.h"

/* Adds the diagnostic "FILE:LINE: error: text". */
void scenario_build_complain(struct scenario *scenario, int line, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

/* Adds a statement at the end; NULL with a diagnostic if there are too many. */
struct statement *scenario_build_add_statement(struct scenario *scenario,
                                               const struct scenario_line *line);

#endif
