/* SPDX-License-Identifier: Apache-2.0 */
/* place_layout.c: see place_layout.h.
 *
 * A host with less room than its tile can only take the last slots, and a host with
 * room for a tile can take those as well. So whole tiles are taken first, and the rest
 * goes to one host. If no host has room for the rest, all tiles are taken already. */
#include "sched/place/place_layout.h"

#include <limits.h>

/* ---------------------------------------------------------------- pieces */

static void add_slots(struct place_layout *layout, int at, int n_slots)
{
    struct place_span_request *request = layout->request;
    if (n_slots <= 0) {
        return;
    }
    if (layout->piece_of[at] < 0) {
        layout->piece_of[at] = request->n_pieces;
        request->pieces[request->n_pieces++] =
            (struct rusage_piece){layout->hosts[at], 0};
    }
    request->pieces[layout->piece_of[at]].n_slots += n_slots;
    layout->n_slots += n_slots;
}

int place_layout_room(struct place_layout *layout, int at)
{
    struct place_span_request *request = layout->request;
    const struct place_span *span = layout->span;
    bool is_bounded = span->kind == PLACE_SPAN_STRIPE && span->n_slots > 0;
    int piece = layout->piece_of[at], last = request->n_pieces - 1, room;
    int most = is_bounded ? span->n_slots : INT_MAX;
    if (piece < 0) {
        room = request->room(request->arg, layout->hosts[at], request->pieces,
                             request->n_pieces);
        room = room < most ? room : most;
        return room > 0 ? room : 0;
    }
    struct rusage_piece own = request->pieces[piece];
    request->pieces[piece] = request->pieces[last]; /* the others are the first ones */
    room = request->room(request->arg, layout->hosts[at], request->pieces, last);
    request->pieces[piece] = own;
    room = room < most ? room : most;
    return room > own.n_slots ? room - own.n_slots : 0;
}

/* ---------------------------------------------------------------- spans */

void place_layout_fill_host(struct place_layout *layout)
{
    int most = 0, best = -1;
    for (int i = layout->from;
         i < (layout->has_first_host ? 1 : layout->n_hosts) && most < layout->min;
         i++) {
        int room = place_layout_room(layout, i);
        if (room > most) {
            most = room;
            best = i;
        }
    }
    if (best >= 0) {
        add_slots(layout, best, most < layout->max ? most : layout->max);
    }
}

static int tile_of(const struct place_layout *layout, int at)
{
    return layout->span->ptiles != NULL ? layout->span->ptiles[layout->hosts[at]]
                                        : layout->span->n_slots;
}

void place_layout_fill_tiles(struct place_layout *layout, int wanted)
{
    for (int i = layout->from; i < layout->n_hosts && layout->n_slots < wanted; i++) {
        int tile = tile_of(layout, i);
        if (layout->piece_of[i] < 0 && tile > 0 && tile <= wanted - layout->n_slots &&
            place_layout_room(layout, i) >= tile) {
            add_slots(layout, i, tile);
        }
    }
}

void place_layout_fill_blocks(struct place_layout *layout, int wanted)
{
    int block = layout->span->n_slots;
    for (int i = layout->from; i < layout->n_hosts && wanted - layout->n_slots >= block;
         i++) {
        int room = place_layout_room(layout, i), left = wanted - layout->n_slots;
        room = room < left ? room : left;
        add_slots(layout, i, room / block * block);
    }
}

int place_layout_fill_rest(struct place_layout *layout, int wanted)
{
    bool is_tile = layout->span->kind == PLACE_SPAN_PTILE;
    int rest = wanted - layout->n_slots, most = 0, best = -1;
    for (int i = layout->from; i < layout->n_hosts && most < rest; i++) {
        bool is_taken = is_tile && layout->piece_of[i] >= 0;
        int room = is_taken || (is_tile && tile_of(layout, i) == 0)
                       ? 0
                       : place_layout_room(layout, i);
        if (room > most) {
            most = room;
            best = i;
        }
    }
    if (best >= 0) {
        add_slots(layout, best, most < rest ? most : rest);
    }
    return best;
}

bool place_layout_fill_with_rest(struct place_layout *layout, int wanted)
{
    struct place_span_request *request = layout->request;
    int n_whole = layout->n_slots, n_pieces = request->n_pieces;
    int at = place_layout_fill_rest(layout, wanted);
    if (layout->n_slots == wanted) {
        return true;
    }
    if (at >= 0 && request->n_pieces > n_pieces) {
        layout->piece_of[at] = -1;
        request->n_pieces = n_pieces;
    } else if (at >= 0) {
        request->pieces[layout->piece_of[at]].n_slots -= layout->n_slots - n_whole;
    }
    layout->n_slots = n_whole;
    return false;
}

static void fill_whole(struct place_layout *layout)
{
    if (layout->span->kind == PLACE_SPAN_PTILE) {
        place_layout_fill_tiles(layout, layout->max);
    } else {
        place_layout_fill_blocks(layout, layout->max);
    }
    if (!place_layout_fill_with_rest(layout, layout->max) &&
        layout->n_slots < layout->min &&
        !place_layout_fill_with_rest(layout, layout->min)) {
        place_layout_fill_rest(
            layout, layout->min); /* for the number of slots that the caller reports */
    }
}

static void fill_stacked(struct place_layout *layout)
{
    for (int i = layout->from; i < layout->n_hosts && layout->n_slots < layout->max;
         i++) {
        int room = place_layout_room(layout, i), left = layout->max - layout->n_slots;
        add_slots(layout, i, room < left ? room : left);
    }
}

static void fill_balanced(struct place_layout *layout)
{
    int before = -1;
    while (layout->n_slots < layout->max && layout->n_slots > before) {
        before = layout->n_slots;
        for (int i = layout->from; i < layout->n_hosts && layout->n_slots < layout->max;
             i++) {
            add_slots(layout, i, place_layout_room(layout, i) > 0);
        }
    }
}

void place_layout_fill_spread(struct place_layout *layout)
{
    if (layout->span->kind == PLACE_SPAN_STRIPE || layout->request->is_balanced) {
        fill_balanced(layout);
    } else {
        fill_stacked(layout);
    }
}

void place_layout_fill(struct place_layout *layout)
{
    switch (layout->span->kind) {
    case PLACE_SPAN_HOST:
        place_layout_fill_host(layout);
        return;
    case PLACE_SPAN_PTILE:
    case PLACE_SPAN_BLOCK:
        fill_whole(layout);
        return;
    case PLACE_SPAN_STRIPE:
    case PLACE_SPAN_NONE:
        break;
    }
    place_layout_fill_spread(layout);
}

void place_layout_empty(struct place_layout *layout)
{
    layout->n_slots = layout->request->n_pieces = 0;
    for (int i = 0; i < layout->n_hosts; i++) {
        layout->piece_of[i] = -1;
    }
}
