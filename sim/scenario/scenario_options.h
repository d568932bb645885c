/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_options.h: parses the key=value words of a statement by a table of options.
 *
 * Units: milliseconds. Ownership: values live in the scenario's arena. Errors: become
 * diagnostics of the line. Layer: sim. */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_OPTIONS_H
#define SUBLET_SIM_SCENARIO_SCENARIO_OPTIONS_H

#include "sim/scenario/scenario_build.h"

/* A line and the statement that it is read into. */
struct scenario_reading {
    struct scenario *scenario;
    const struct scenario_line *line;
    struct statement *to;
    const char *verb;
};

/* Adds the diagnostic "VERB: text" and returns false. */
bool scenario_options_complain(struct scenario_reading *reading, const char *format,
                               ...) __attribute__((format(printf, 2, 3)));
/* The word with that index, or "". */
const char *scenario_options_word(struct scenario_reading *reading, int index);

enum scenario_option_kind {
    OPTION_TEXT,
    OPTION_NAME,
    OPTION_COUNT,
    OPTION_TIME,
    OPTION_YESNO,
    OPTION_LIST,
    OPTION_SCALE,
    OPTION_LATER, /* not supported yet */
};

struct scenario_option {
    const char *key;
    enum scenario_option_kind kind;
    size_t offset; /* in struct statement */
    int64_t min, max;
    int64_t unit_ms;
};

/* Reads the words from `first` on; `options` ends with a NULL key. False after an
 * error. */
bool scenario_options_take(struct scenario_reading *reading,
                           const struct scenario_option *options, int first);
/* Reads a time of at most ten years without a key; `option` has its bounds. */
bool scenario_options_take_time(struct scenario_reading *reading,
                                const struct scenario_option *option, const char *value,
                                int64_t *to);
/* The time of a statement: word 1 of "at", word 2 of "expect at". */
bool scenario_options_when(struct scenario *scenario, const struct scenario_line *line,
                           int index, int64_t *at_ms);

#endif
