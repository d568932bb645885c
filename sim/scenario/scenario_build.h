/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_build.h: what the files that read a scenario share. scenario_read.c takes
 * lines apart, scenario_statement.c and scenario_expect.c read statements by the tables
 * of scenario_options.h, scenario_files.c the files that they name, scenario_check.c
 * judges all of it together.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_BUILD_H
#define SUBLET_SIM_SCENARIO_SCENARIO_BUILD_H

#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_line.h"

/* "FILE:LINE: error: text" among what is said of the scenario. */
void scenario_build_complain(struct scenario *scenario, int line, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

/* A new one at the end; NULL, and said, where there are too many. */
struct statement *scenario_build_add_statement(struct scenario *scenario,
                                               const struct scenario_line *line);

/* "at T VERB ...", "expect at T ...". */
void scenario_statement_read(struct scenario *scenario,
                             const struct scenario_line *line);
void scenario_expect_read(struct scenario *scenario, const struct scenario_line *line);

/* Configuration of the broker and the sites, traces of workloads. `broker` is NULL
 * where the scenario names no file. */
void scenario_files_read(struct scenario *scenario, const char *broker, int broker_line,
                         const char *const *sites, const struct scenario_files *files);

/* Every name that a statement uses is one that there is. */
void scenario_check_names(struct scenario *scenario);

/* The statement that submits a job of that name, or an element "a[3]" of it; NULL: none
 * does. `index` is the element's, 0: the whole. */
const struct statement *scenario_find_job(const struct scenario *scenario, int site,
                                          const char *name, int *index);

#endif
