/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_error.h: what is wrong with a requirement string: LSF's sentence, and where.
 *
 *     Error in select section: Error near "mg" : missing value.
 *     mg ==  && swp > 5
 *        ^ a value must follow ==
 *
 * The first line is LSF's, with its own spacing; string, column and hint are ours.
 *
 * Units: bytes, from 0. Ownership: `source` is the string that was given, borrowed.
 * Source: lsf.md 5.9. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_ERROR_H
#define SUBLET_SCHED_RESREQ_RESREQ_ERROR_H

#include <stddef.h>

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
    char text[320]; /* LSF's sentence, with its full stop; "": nothing is wrong */
    char hint[240]; /* what is wrong in our words */
    const char *source;
    int at;
};

/* LSF's reasons where it has one. */
#define RESREQ_BAD_NAME                                                                \
    "incorrect section name, resource name, or resource function name"
#define RESREQ_NO_VALUE "missing value"
#define RESREQ_BAD_SYNTAX "syntax error"
#define RESREQ_BAD_TYPE "incorrect operand type"
#define RESREQ_BAD_VALUE "incorrect value"

/* A place in a string that errors and warnings point to; `length` may be 0. */
struct resreq_place {
    const char *source;
    int at, length;
};

/* Each returns ERR_PARSE, so that one line reports and fails. The hint is formatted. */
int resreq_error_set(struct resreq_error *fault, enum resreq_section section,
                     struct resreq_place place, const char *reason, const char *hint,
                     ...) __attribute__((format(printf, 5, 6)));
int resreq_error_set_repeated(struct resreq_error *fault, enum resreq_section section,
                              struct resreq_place place);

/* Something that is no error and that a user should know, at a place. */
struct resreq_note {
    const char *source;
    int at;
    const char *text;
    struct resreq_note *next;
};

enum { RESREQ_NOTES_MAX = 20 }; /* of all strings: nobody reads more */

struct resreq_notes {
    struct arena *arena; /* where they live */
    struct resreq_note *first, *last;
    int count;
};

/* Adds one; past RESREQ_NOTES_MAX none. */
void resreq_error_add_note(struct resreq_notes *notes, struct resreq_place place,
                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The string and the pointer to the column, two lines without a newline at the end;
 * of a long string the part around it. Bytes that do not print become '?'. */
char *resreq_error_pointer(struct arena *arena, const char *source, int at,
                           const char *hint);

/* "select" and so on. */
const char *resreq_error_section_name(enum resreq_section section);

#endif
