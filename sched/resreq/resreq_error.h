/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_error.h: what is wrong with a requirement string: LSF's sentence, and the
 * place.
 *
 *     Error in select section: Error near "mg" : missing value.
 *     mg ==  && swp > 5
 *        ^ a value must follow ==
 *
 * The first line is LSF's, with LSF's spacing; the other lines are our own.
 *
 * Units: bytes, from 0. Ownership: `source` is the string that was given, borrowed.
 * Source: docs/design/resreq.md "Errors". Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_ERROR_H
#define SUBLET_SCHED_RESREQ_RESREQ_ERROR_H

#include "base/arena.h"

enum resreq_section {
    RESREQ_SELECT,
    RESREQ_ORDER,
    RESREQ_RUSAGE,
    RESREQ_SPAN,
    RESREQ_SAME,
    RESREQ_CU,
    RESREQ_AFFINITY,
    RESREQ_SECTIONS
};

struct resreq_error {
    char text[320]; /* LSF's sentence, with its full stop; "": no error */
    char hint[240]; /* what is wrong, in our words */
    const char *source;
    int at;
};

/* LSF's wording of the reason, if it has one. */
#define RESREQ_BAD_NAME                                                                \
    "incorrect section name, resource name, or resource function name"
#define RESREQ_NO_VALUE "missing value"
#define RESREQ_BAD_SYNTAX "syntax error"
#define RESREQ_BAD_TYPE "incorrect operand type"
#define RESREQ_BAD_VALUE "incorrect value"

/* A place in a string, for errors and notes; `length` may be 0. */
struct resreq_place {
    const char *source;
    int at, length;
};

/* Both return ERR_PARSE, so that one line can report and fail. The hint is formatted.
 */
int resreq_error_set(struct resreq_error *error, enum resreq_section section,
                     struct resreq_place place, const char *reason, const char *hint,
                     ...) __attribute__((format(printf, 5, 6)));
int resreq_error_set_repeated(struct resreq_error *error, enum resreq_section section,
                              struct resreq_place place);

/* A remark that is not an error, at a place. */
struct resreq_note {
    const char *source;
    int at;
    const char *text;
    struct resreq_note *next;
};

enum { RESREQ_NOTES_MAX = 20 }; /* of all strings together */

struct resreq_notes {
    struct arena *arena; /* in which notes are allocated */
    struct resreq_note *first, *last;
    int count;
};

/* Adds a note; notes beyond RESREQ_NOTES_MAX are dropped. */
void resreq_error_add_note(struct resreq_notes *notes, struct resreq_place place,
                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The string and a pointer to the column, as two lines without a newline at the end. Of
 * a long string only the part around the column is shown. Bytes that do not print
 * become
 * '?'. */
char *resreq_error_pointer(struct arena *arena, const char *source, int at,
                           const char *hint);

/* "select" and so on. */
const char *resreq_error_section_name(enum resreq_section section);

#endif
