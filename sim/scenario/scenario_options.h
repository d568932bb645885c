/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_options.h: key=value words of a statement, by a table of what may stand
 * there.
 *
 * Units: milliseconds. Ownership: values live in the scenario's arena.
 * Errors: said of the line. Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_OPTIONS_H
#define SUBLET_SIM_SCENARIO_SCENARIO_OPTIONS_H

#include "sim/scenario/scenario_build.h"

/* A line that is being read into a statement. */
struct scenario_reading {
    struct scenario *scenario;
    const struct scenario_line *line;
    struct statement *to;
    const char *verb;
};

/* "VERB: text" of its line; false, so that one line complains and fails. */
bool scenario_options_complain(const struct scenario_reading *reading,
                               const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The word with that index, or "". */
const char *scenario_options_word(const struct scenario_reading *reading, int index);

enum scenario_option_kind {
    OPTION_TEXT,
    OPTION_NAME,
    OPTION_COUNT,
    OPTION_TIME,
    OPTION_YESNO,
    OPTION_LIST,
    OPTION_SCALE,
    OPTION_LATER, /* of a feature that is not built */
};

struct scenario_option {
    const char *key;
    enum scenario_option_kind kind;
    size_t offset; /* in struct statement */
    int64_t min, max;
    int64_t unit_ms;
};

/* The words from `first` on; `options` ends with a NULL key. False where one is no
 * good.
 */
bool scenario_options_take(const struct scenario_reading *reading,
                           const struct scenario_option *options, int first);
/* A time of at most ten years that stands alone; `option` has its bounds. */
bool scenario_options_take_time(const struct scenario_reading *reading,
                                const struct scenario_option *option, const char *value,
                                int64_t *to);
/* The time of a statement: word 1 of "at", word 2 of "expect at". */
bool scenario_options_when(struct scenario *scenario, const struct scenario_line *line,
                           int index, int64_t *at_ms);

#endif
