/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_words.h: common parts of the parsers of sections that consist of words and
 * signs (all but select and order).
 *
 * Errors: functions that return int return 0, or ERR_PARSE with `error` filled.
 * Layer: sched, for resreq_span and resreq_rusage. */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_WORDS_H
#define SUBLET_SCHED_RESREQ_RESREQ_WORDS_H

#include "sched/resreq/resreq_section.h"
#include "sched/resreq/resreq_select.h"

struct resreq_words {
    const struct resources *resources;
    struct resreq_unit_types unit_types;
    bool is_open, is_lenient;
    struct resreq_notes *notes;
    enum resreq_section section;
    struct resreq_place keyword;
    struct resreq_lex lex;
    struct resreq_error *error;
};

#define RESREQ_WORDS_FAIL(reader, place, reason, ...)                                  \
    resreq_error_set((reader)->error, (reader)->section, place, reason, __VA_ARGS__)

void resreq_words_init(struct resreq_words *reader,
                       const struct resreq_language *language,
                       const struct resreq_part *part, struct resreq_notes *notes,
                       struct resreq_error *error);

bool resreq_words_is(struct resreq_place place, const char *text);
/* `words` ends with NULL. */
bool resreq_words_is_one(struct resreq_place place, const char *const *words);
bool resreq_words_is_end(const struct resreq_words *reader);
/* Takes the next token if it is that sign. */
bool resreq_words_take(struct resreq_words *reader, enum lex_kind kind);
int resreq_words_fail_next(const struct resreq_words *reader, const char *expected);
int resreq_words_name(struct resreq_words *reader, struct resreq_place *name,
                      const char *expected);
/* Digits, with one of `units` after them if there are any; `unit` is '\0' if none was
 * given. */
int resreq_words_count(struct resreq_words *reader, const char *units,
                       const char *expected, int *count, char *unit);

#endif
