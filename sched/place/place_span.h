/* SPDX-License-Identifier: Apache-2.0 */
/* place_span.h: lays out the slots of one job on hosts as its span and same sections
 * require: hosts in order and the room on each in, pieces out.
 *
 *     HOST    all on the first host that has room for the least
 *     PTILE   as many as a host's tile on each, along the order; the last ones, fewer
 *             than a tile, on a host of their own
 *     BLOCK   along the order as many whole blocks on a host as it has room for; the
 *             last ones, fewer than a block, on the first host with room for them
 *     NONE    along the order, on each as many as there are, or one at a time on each
 *             (is_balanced)
 *
 *     room in order: n1 3, n2 4, n3 5      -n 8               -n 9
 *     HOST                                 no host has room; the most is 5
 *     PTILE of 4                           n2 4, n3 4         n2 4, n3 4, n1 1
 *     BLOCK of 2                           n1 2, n2 4, n3 2   n1 3, n2 4, n3 2
 *
 * A job with min,max gets the largest number that fits of max, min, and the multiples
 * of a tile or block between them.
 *
 * With same, hosts form groups of alike hosts, and the job goes to the first group on
 * which it fits, in the order of their first hosts. There may be several ways to form
 * groups (same[a:b] if not every host has both); the first one that fits counts.
 *
 * The room on a host may depend on the pieces so far (limits, amounts that a job
 * reserves once), so it is asked for when the host is looked at. If it does not depend
 * on them, pieces are found whenever there are any.
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
    const int *ptiles; /* by host; 0: it takes none; NULL: n_slots on each */
    /* By host: its group, below n_same_groups; -1: it is in none and takes no slots. */
    const int *same[PLACE_SPAN_SAME_MAX];
    int n_same_groups[PLACE_SPAN_SAME_MAX];
    int n_same; /* 0: hosts need not be alike */
};

/* A job to lay, and on what. */
struct place_span_request {
    const int *hosts; /* indexes, in order */
    int n_hosts;
    int min, max;
    bool is_balanced; /* for NONE */
    /* Slots that the job may have there in addition to these pieces. */
    int (*room)(void *arg, int host, const struct rusage_piece *pieces, int n_pieces);
    void *arg;
    struct rusage_piece *pieces; /* out; with room for n_hosts */
    int n_pieces;
};

/* Returns how many slots the job gets, `min` to `max`. If it does not fit, returns the
 * most that would fit, below `min`, and there are no pieces. */
int place_span_fit(const struct place_span *span, struct place_span_request *request);

#endif
