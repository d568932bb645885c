/* SPDX-License-Identifier: Apache-2.0 */
/* place_span.h: lays out the slots of one job on hosts as its span, same and cu
 * sections require, and its first execution hosts: hosts in order and the room on each
 * in, pieces out.
 *
 *     HOST    all on the first host that has room for the least
 *     PTILE   as many as a host's tile on each, along the order; the last ones, fewer
 *             than a tile, on a host of their own
 *     BLOCK   along the order as many whole blocks on a host as it has room for; the
 *             last ones, fewer than a block, on the first host with room for them
 *     NONE    along the order, on each as many as there are, or one at a time on each
 *             (is_balanced)
 *     STRIPE  one at a time on each, up to a number on each
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
 * With compute units, hosts are grouped by unit, and units are filled one after the
 * other, so that a balanced job is balanced within each unit. Units come by the highest
 * preference of their hosts, then by `pref`: as configured, the ones with most free
 * slots first (MAXAVAIL), with fewest first (MINAVAIL), or as few units as possible and
 * of these the ones with fewest free slots (BESTFIT).
 *
 *     max_units       the first units of the order that have room together
 *     usable_slots    a unit has at least so many slots of the job, the last one may
 *                     have fewer
 *     is_even         the fewest units on which slots can lie so that two units differ
 *                     by one slot at most, or by a tile or block; -n min,max counts as
 *                     min
 *
 *     free in units A 3, B 8, C 6      -n 8                     -n 12
 *     max_units 1                      B 8                      no unit has room
 *     max_units 2                      A 3, B 5                 B 8, C 4
 *     usable_slots 4                   B 8                      B 8, C 4
 *     is_even                          B 8                      B 6, C 6
 *
 * With first execution hosts, the first piece is on one of them: the first in order
 * with which the job fits. Its unit, or its group of alike hosts, comes first.
 *
 * The room on a host may depend on the pieces so far (limits, amounts that a job
 * reserves once), so it is asked for when the host is looked at. If it does not depend
 * on them, pieces are found whenever there are any, but for units that are limited and
 * also have tiles or blocks, of which PLACE_SPAN_TRIES_MAX combinations are tried.
 *
 * Units: slots. Ownership: all is the caller's. Order: hosts as they are handed over.
 * Source: docs/design/resreq.md "Span", "Same", "Compute
 * units", "Decided". Layer: sched (base
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
    PLACE_SPAN_STRIPE, /* NONE, balanced whatever the queue says, and with n_slots at
                          most so many on each */
};

enum {
    PLACE_SPAN_SAME_MAX = 16,    /* RESREQ_SAME_MAX */
    PLACE_SPAN_TRIES_MAX = 1000, /* of units: the first ones fit almost always */
};

enum place_span_pref {
    PLACE_SPAN_CONFIG,
    PLACE_SPAN_MAXAVAIL,
    PLACE_SPAN_MINAVAIL,
    PLACE_SPAN_BESTFIT,
};

struct place_span_units {
    const int *unit_of; /* by host: its unit, as configured; -1: it takes no slots */
    /* Of jobs that have their units exclusively, else NULL. By host: the next host of
     * its unit, after the last one the first; -1: it is in none. */
    const int *next_in_unit;
    int n_units;
    enum place_span_pref pref;
    int max_units;    /* 0: any number */
    int usable_slots; /* 0: no minimum */
    bool is_even;
};

struct place_span {
    enum place_span_kind kind;
    int n_slots;       /* of each tile or block; of STRIPE the most on a host, 0: any */
    const int *ptiles; /* by host; 0: it takes none; NULL: n_slots on each */
    /* By host: its group, below n_same_groups; -1: it is in none and takes no slots. */
    const int *same[PLACE_SPAN_SAME_MAX];
    int n_same_groups[PLACE_SPAN_SAME_MAX];
    int n_same;                           /* 0: hosts need not be alike */
    const struct place_span_units *units; /* NULL: on hosts of any or no unit */
    const bool *is_first; /* by host: it may be the first one; NULL: all may */
};

/* A job to lay, and on what. */
struct place_span_request {
    const int *hosts; /* indexes, in order */
    int n_hosts;
    int min, max;
    bool is_balanced;       /* for NONE */
    const int *preferences; /* by host, higher first, for units; NULL: all alike */
    bool is_reservation;    /* units come as configured, whatever their pref */
    /* Slots that the job may have there in addition to these pieces. */
    int (*room)(void *arg, int host, const struct rusage_piece *pieces, int n_pieces);
    void *arg;
    struct rusage_piece *pieces; /* out; with room for n_hosts */
    int n_pieces;
};

/* The units that a job with the span has exclusively; NULL: none. The span may be NULL.
 */
const struct place_span_units *
place_span_exclusive_units(const struct place_span *span);

/* Returns how many slots the job gets, `min` to `max`. If it does not fit, returns the
 * most that would fit, below `min`, and there are no pieces. */
int place_span_fit(const struct place_span *span, struct place_span_request *request);

#endif
