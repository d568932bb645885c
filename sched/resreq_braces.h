/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_braces.h: alternative requirements, taken apart: {A} || {B} || ...
 *
 * Each is a string of its own, with blanks in place of all that is not it, so that its
 * places are those of the whole.
 *
 * Ownership: the arena's. Errors: ERR_PARSE; ERR_UNBUILT for compound requirements
 * (N*{A} + M*{B}) and for a delay (@D). Source: lsf.md 5.7. Layer: sched (base only).
 */
#ifndef SUBLET_SCHED_RESREQ_BRACES_H
#define SUBLET_SCHED_RESREQ_BRACES_H

#include <stdbool.h>

#include "base/err.h"
#include "sched/resreq_fault.h"

enum { RESREQ_BRACES_MAX = 16 }; /* RESREQ_USAGES_MAX: each reserves what it does */

struct resreq_braces {
    const char *parts[RESREQ_BRACES_MAX];
    int count; /* 0: there are no braces */
};

/* The string has a brace outside quotes: the place of the first. */
bool resreq_braces_has(const char *source, struct resreq_place *place);
int resreq_braces_split(struct arena *arena, const char *source,
                        struct resreq_braces *braces,
                        struct resreq_fault *fault) MUST_CHECK;

#endif
