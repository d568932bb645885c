/* SPDX-License-Identifier: Apache-2.0 */
/* place_span.h: how the slots of one job lie on hosts, where it asks for that: hosts
 * in order and the room on each in, pieces out.
 *
 *     HOST    all on the first host that has room for the least
 *     TILE    as many as a host's tile on each, along the order; the last ones, fewer
 *             than a tile, on a host of their own
 *     BLOCK   along the order as many whole blocks on a host as it has room for; the
 *             last ones, fewer than a block, on the first host with room for them
 *     NONE    along the order, on each as many as there are, or one in turn
 *             (is_balanced)
 *
 *     room in order: n1 3, n2 4, n3 5      -n 8               -n 9
 *     HOST                                 none has as many, at most 5
 *     TILE of 4                            n2 4, n3 4         n2 4, n3 4, n1 1
 *     BLOCK of 2                           n1 2, n2 4, n3 2   n1 3, n2 4, n3 2
 *
 * With min,max it gets the most of max, of min, and of what whole tiles or blocks come
 * to between them.
 *
 * Where hosts have to be alike a job goes to those of one kind: of the kinds in the
 * order of their first host the first on which it fits. There may be several ways of
 * being alike (same[a:b] where not every host has both); the first that fits counts.
 *
 * Room may depend on the pieces so far (limits, what is reserved for a job once), so it
 * is asked for when a host's turn comes. Where it does not, pieces are found if there
 * are any.
 *
 * Units: slots. Ownership: all is the caller's. Order: hosts as they are handed over.
 * Source: docs/design/resreq.md "Span", "Same", "Decided". Layer: sched (base
 * only). */
#ifndef SUBLET_SCHED_PLACE_PLACE_SPAN_H
#define SUBLET_SCHED_PLACE_PLACE_SPAN_H

#include <stdbool.h>

#include "sched/resource/rusage_supply.h"

enum place_span_kind {
    PLACE_SPAN_NONE,
    PLACE_SPAN_HOST,
    PLACE_SPAN_PTILE,
    PLACE_SPAN_BLOCK,
    PLACE_SPAN_STRIPE, /* NONE, and balanced whatever the queue says */
};

enum { PLACE_SPAN_SAME_MAX = 16 }; /* RESREQ_SAME_MAX */

struct place_span {
    enum place_span_kind kind;
    int n_slots;       /* of each tile or block */
    const int *ptiles; /* by host; 0: it takes none; NULL: n_span on each */
    /* By host: its kind, below n_kinds; -1: it is like no other, and takes none. */
    const int *same[PLACE_SPAN_SAME_MAX];
    int n_same_groups[PLACE_SPAN_SAME_MAX];
    int n_same; /* 0: hosts need not be alike */
};

/* A job to lay, and on what. */
struct place_span_request {
    const int *hosts; /* indexes, in order */
    int n_hosts;
    int min, max;
    bool is_balanced; /* of a shape without a span */
    /* Slots that the job may have there in addition to these pieces. */
    int (*room)(void *arg, int host, const struct rusage_piece *pieces, int n_pieces);
    void *arg;
    struct rusage_piece *pieces; /* out; with room for n_hosts */
    int n_pieces;
};

/* How many slots the job gets, `min` to `max`; less: it does not fit, and no more than
 * that would; there are no pieces then. */
int place_span_fit(const struct place_span *shape, struct place_span_request *ground);

#endif
