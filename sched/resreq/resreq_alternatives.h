/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_alternatives.h: alternative requirements, taken apart: {A} || {B} || ...
 *
 * Each is a string of its own, with blanks in place of all that is not it, so that its
 * places are those of the whole.
 *
 * Ownership: the arena's. Errors: ERR_PARSE; ERR_UNBUILT for compound requirements
 * (N*{A} + M*{B}) and for a delay (@D). Source: lsf.md 5.7. Layer: sched (base only).
 */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_ALTERNATIVES_H
#define SUBLET_SCHED_RESREQ_RESREQ_ALTERNATIVES_H

#include <stdbool.h>

#include "base/err.h"
#include "sched/resreq/resreq_error.h"

enum {
    RESREQ_ALTERNATIVES_MAX = 16
}; /* RESREQ_RUSAGES_MAX: each reserves what it does */

struct resreq_alternatives {
    const char *parts[RESREQ_ALTERNATIVES_MAX];
    int count; /* 0: there are no braces */
};

/* The string has a brace outside quotes: the place of the first. */
bool resreq_alternatives_find(const char *source, struct resreq_place *place);
int resreq_alternatives_split(struct arena *arena, const char *source,
                              struct resreq_alternatives *braces,
                              struct resreq_error *fault) MUST_CHECK;

#endif
