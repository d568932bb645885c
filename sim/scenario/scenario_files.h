/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_files.h: reads the files that a scenario names: configuration of the
 * broker and the sites, traces of workloads.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_FILES_H
#define SUBLET_SIM_SCENARIO_SCENARIO_FILES_H

#include "sim/scenario/scenario.h"

/* `broker` is NULL if the scenario names no file. */
void scenario_files_read(struct scenario *scenario, const char *broker, int broker_line,
                         const char *const *sites, const struct scenario_files *files);

#endif
