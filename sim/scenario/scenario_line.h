/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_line.h: a line of a scenario as words, and words as values.
 *
 *     at 0 submit south run=10m cmd="a b"   # comment
 *
 * Words are separated by blanks. Text in quotes, at a word's beginning or after its
 * first `=`, may have blanks; the quotes are removed. `#` at a word's beginning starts
 * a comment.
 *
 * Ownership: words live in the arena. Units: milliseconds.
 * Errors: "what, expected ...". Layer: sim (base only). */
#ifndef SUBLET_SIM_SCENARIO_SCENARIO_LINE_H
#define SUBLET_SIM_SCENARIO_SCENARIO_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { SCENARIO_WORDS_MAX = 64 };

struct scenario_word {
    const char *text;
    bool is_quoted;
};

struct scenario_line {
    int number;
    const char *text; /* the line without comment and blanks around it */
    struct scenario_word words[SCENARIO_WORDS_MAX];
    int n_words;
};

int scenario_line_split(struct arena *arena, const char *text, size_t length,
                        struct scenario_line *line, struct err *err) MUST_CHECK;

/* "90", "1.5h", "10m". `unit_ms` is the unit of a number without a suffix. Whole
 * milliseconds. */
int scenario_line_duration(const char *word, int64_t unit_ms, int64_t *ms,
                           struct err *err) MUST_CHECK;
/* "0.1" or "10%", as parts of 10,000. */
int scenario_line_chance(const char *word, int *in_10000, struct err *err) MUST_CHECK;
/* A decimal number times `one`, rounded down. */
int scenario_line_decimal(const char *word, int64_t one, int64_t *out,
                          struct err *err) MUST_CHECK;

#endif
