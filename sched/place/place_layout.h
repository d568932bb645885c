/* SPDX-License-Identifier: Apache-2.0 */
/* place_layout.h: the slots of one job as they are laid out on hosts in order, step by
 * step. What they make together is in place_span.h.
 *
 * Units: slots. Ownership: all is the caller's. Order: hosts as they are in the layout.
 * Layer: sched, within place. */
#ifndef SUBLET_SCHED_PLACE_PLACE_LAYOUT_H
#define SUBLET_SCHED_PLACE_PLACE_LAYOUT_H

#include "sched/place/place_span.h"

struct place_layout {
    const struct place_span *span;
    struct place_span_request *request;
    int *hosts;        /* of the kind, in order */
    int from, n_hosts; /* the first host that is filled, and the end of them */
    int *piece_of;     /* by place in `hosts`: of the pieces, -1: none */
    int n_slots;
    int min, max;        /* of n_slots */
    bool has_first_host; /* the first host of the order is to have the first piece */
};

/* No host has a piece. */
void place_layout_empty(struct place_layout *layout);
/* Slots that the host has besides the job's own piece there. */
int place_layout_room(struct place_layout *layout, int at);
/* The hosts from `from` get up to `max` slots in all, as the span asks. */
void place_layout_fill(struct place_layout *layout);

/* One host alone. */
void place_layout_fill_host(struct place_layout *layout);
/* Whole tiles, up to `wanted` slots in all, at most one tile from each host. */
void place_layout_fill_tiles(struct place_layout *layout, int wanted);
/* Whole blocks, up to `wanted` slots in all. */
void place_layout_fill_blocks(struct place_layout *layout, int wanted);
/* Up to `max` slots in all, one after the other or balanced. */
void place_layout_fill_spread(struct place_layout *layout);
/* Puts the slots that are less than a tile or block, or some of them, on one host.
 * Returns its place; -1: no host has room. */
int place_layout_fill_rest(struct place_layout *layout, int wanted);
/* Adds the rest of `wanted` to the whole tiles or blocks: all of it, or nothing. */
bool place_layout_fill_with_rest(struct place_layout *layout, int wanted);

#endif
