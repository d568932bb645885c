/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_alternatives.h: splits alternative requirements, {A} || {B}@D || ..., and
 * compound ones, N*{A} + M*{B} + ...
 *
 * Of a compound requirement, N slots of the job are placed by A, M others by B. The
 * last one may have no number: it has the rest of the slots.
 *
 * From D minutes after its submission on a job may use the alternative. Without a delay
 * it may as soon as the one before; the first has none, and a later one has none that
 * is shorter.
 *
 * Each part becomes a string of the same length with blanks in place of the
 * others, so that its positions are those of the whole string.
 *
 * Ownership: the arena's. Errors: ERR_PARSE. Source: docs/design/resreq.md
 * "Alternatives". Layer: sched (base only).
 */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_ALTERNATIVES_H
#define SUBLET_SCHED_RESREQ_RESREQ_ALTERNATIVES_H

#include <stdbool.h>

#include "base/err.h"
#include "sched/resreq/resreq_error.h"

enum {
    RESREQ_ALTERNATIVES_MAX = 16, /* like RESREQ_RUSAGES_MAX: each has a rusage */
    RESREQ_DELAY_MAX = 60 * 24 * 365,
};

struct resreq_alternatives {
    const char *parts[RESREQ_ALTERNATIVES_MAX];
    int delays[RESREQ_ALTERNATIVES_MAX]; /* minutes, each at least that before it */
    int slots[RESREQ_ALTERNATIVES_MAX];  /* of a compound one; 0: the rest */
    bool is_compound;
    int count; /* 0: the string has no braces */
};

/* True if the string has a brace outside quotes; gives the place of the first. */
bool resreq_alternatives_find(const char *source, struct resreq_place *place);
int resreq_alternatives_split(struct arena *arena, const char *source,
                              struct resreq_alternatives *alternatives,
                              struct resreq_error *error) MUST_CHECK;

#endif
