/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_span.h: how the slots of a parallel job lie on hosts: the sections span and
 * same, read and merged; and the two that nothing acts on yet, read for their form.
 *
 *     span      hosts=1          all on one host
 *               hosts=-1         as if there were no span, whatever its queue says
 *               ptile=N          N on each host
 *               ptile='!'        on each host as many as it has; with ,NAME:N behind it
 *                                N on hosts of that type (with same[type]) or model
 *                                (with same[model])
 *               block=N          in blocks of N, as many on a host as fit
 *               stripe           one on each host in turn
 *     same      RESOURCE[:RESOURCE]...   static ones
 *     cu        type=T:pref=config|maxavail|minavail:maxcus=N:usablecuslots=N:balance
 *               :excl
 *     affinity  LEVEL(...)... with its parentheses paired
 *
 * Of levels the job's span counts before its application's before its queue's; what
 * they want to be the same is joined.
 *
 * Ownership: the arena's. Errors: ERR_PARSE. Source: lsf.md 5.5, 5.6. Layer: sched
 * (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_SPAN_H
#define SUBLET_SCHED_RESREQ_RESREQ_SPAN_H

#include "base/err.h"
#include "sched/resreq/resreq_section.h"
#include "sched/resreq/resreq_select.h"

enum resreq_span_kind {
    RESREQ_SPAN_NONE,
    RESREQ_SPAN_ANY, /* hosts=-1 */
    RESREQ_SPAN_HOST,
    RESREQ_SPAN_PTILE,
    RESREQ_SPAN_PTILE_ALL, /* ptile='!' */
    RESREQ_SPAN_BLOCK,
    RESREQ_SPAN_STRIPE,
};

enum {
    RESREQ_SAME_MAX = 16,   /* resources of all levels: hosts differ in fewer things */
    RESREQ_PTILES_MAX = 100 /* types or models of one string */
};

/* Slots for hosts of a type or a model. */
struct resreq_ptile {
    const char *name;
    int n_slots;
};

struct resreq_span {
    enum resreq_span_kind span;
    int n_span; /* of TILE and BLOCK */
    const struct resreq_ptile *tiles;
    int n_tiles;
    int same[RESREQ_SAME_MAX]; /* resources, none twice */
    int n_same;
    struct resreq_place place; /* of the span; as long as the strings are */
};

/* One of those sections; the shape has what was read before. */
int resreq_span_parse(struct arena *arena, const struct resreq_language *language,
                      const struct resreq_part *part, struct resreq_span *shape,
                      struct resreq_notes *notes,
                      struct resreq_error *fault) MUST_CHECK;
/* What a lower level says besides. */
void resreq_span_merge(struct resreq_span *shape, const struct resreq_span *lower);
/* That what all levels say goes together. */
int resreq_span_check(const struct resreq_span *shape,
                      struct resreq_error *fault) MUST_CHECK;

#endif
