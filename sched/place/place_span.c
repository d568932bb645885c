/* SPDX-License-Identifier: Apache-2.0 */
/* place_span.c: see place_span.h.
 *
 * A host with less room than its tile can only take the last slots, and a host with
 * room for a tile can take those as well. So whole tiles are taken first, and the rest
 * goes to one host. If no host has room for the rest, all tiles are taken already. */
#include "sched/place/place_span.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* The slots of the job as they are laid out on the hosts of one group. */
struct layout {
    const struct place_span *span;
    struct place_span_request *request;
    int *hosts; /* of the kind, in order */
    int n_hosts;
    int *piece_of; /* by place in `hosts`: of the pieces, -1: none */
    int n_slots;
};

/* ---------------------------------------------------------------- pieces */

static void add_slots(struct layout *layout, int at, int n_slots)
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

/* Slots that the host has besides the job's own piece there. */
static int room_at(struct layout *layout, int at)
{
    struct place_span_request *request = layout->request;
    int piece = layout->piece_of[at], last = request->n_pieces - 1, room;
    if (piece < 0) {
        room = request->room(request->arg, layout->hosts[at], request->pieces,
                             request->n_pieces);
        return room > 0 ? room : 0;
    }
    struct rusage_piece own = request->pieces[piece];
    request->pieces[piece] = request->pieces[last]; /* the others are the first ones */
    room = request->room(request->arg, layout->hosts[at], request->pieces, last);
    request->pieces[piece] = own;
    return room > own.n_slots ? room - own.n_slots : 0;
}

/* ---------------------------------------------------------------- spans */

static void fill_host(struct layout *layout)
{
    int most = 0, best = -1;
    for (int i = 0; i < layout->n_hosts && most < layout->request->min; i++) {
        int room = room_at(layout, i);
        if (room > most) {
            most = room;
            best = i;
        }
    }
    if (best >= 0) {
        add_slots(layout, best,
                  most < layout->request->max ? most : layout->request->max);
    }
}

static int tile_of(const struct layout *layout, int at)
{
    return layout->span->ptiles != NULL ? layout->span->ptiles[layout->hosts[at]]
                                        : layout->span->n_slots;
}

/* Takes whole tiles, up to `wanted` slots in all, at most one tile from each host. */
static void fill_tiles(struct layout *layout, int wanted)
{
    for (int i = 0; i < layout->n_hosts && layout->n_slots < wanted; i++) {
        int tile = tile_of(layout, i);
        if (layout->piece_of[i] < 0 && tile > 0 && tile <= wanted - layout->n_slots &&
            room_at(layout, i) >= tile) {
            add_slots(layout, i, tile);
        }
    }
}

static void fill_blocks(struct layout *layout, int wanted)
{
    int block = layout->span->n_slots;
    for (int i = 0; i < layout->n_hosts && wanted - layout->n_slots >= block; i++) {
        int room = room_at(layout, i), left = wanted - layout->n_slots;
        room = room < left ? room : left;
        add_slots(layout, i, room / block * block);
    }
}

/* Puts the slots that are less than a tile or block, or some of them, on one host.
 * Returns its place; -1: no host has room. */
static int fill_rest(struct layout *layout, int wanted)
{
    bool is_tile = layout->span->kind == PLACE_SPAN_PTILE;
    int rest = wanted - layout->n_slots, most = 0, best = -1;
    for (int i = 0; i < layout->n_hosts && most < rest; i++) {
        bool is_taken = is_tile && layout->piece_of[i] >= 0;
        int room =
            is_taken || (is_tile && tile_of(layout, i) == 0) ? 0 : room_at(layout, i);
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

/* Adds the rest of `wanted` to the whole tiles or blocks: all of it, or nothing. */
static bool fill_with_rest(struct layout *layout, int wanted)
{
    struct place_span_request *request = layout->request;
    int n_whole = layout->n_slots, n_pieces = request->n_pieces;
    int at = fill_rest(layout, wanted);
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

static void fill_whole(struct layout *layout)
{
    const struct place_span_request *request = layout->request;
    if (layout->span->kind == PLACE_SPAN_PTILE) {
        fill_tiles(layout, request->max);
    } else {
        fill_blocks(layout, request->max);
    }
    if (!fill_with_rest(layout, request->max) && layout->n_slots < request->min &&
        !fill_with_rest(layout, request->min)) {
        fill_rest(layout,
                  request->min); /* for the number of slots that the caller reports */
    }
}

static void fill_stacked(struct layout *layout)
{
    for (int i = 0; i < layout->n_hosts && layout->n_slots < layout->request->max;
         i++) {
        int room = room_at(layout, i), left = layout->request->max - layout->n_slots;
        add_slots(layout, i, room < left ? room : left);
    }
}

static void fill_balanced(struct layout *layout)
{
    int before = -1;
    while (layout->n_slots < layout->request->max && layout->n_slots > before) {
        before = layout->n_slots;
        for (int i = 0; i < layout->n_hosts && layout->n_slots < layout->request->max;
             i++) {
            add_slots(layout, i, room_at(layout, i) > 0);
        }
    }
}

static void fill(struct layout *layout)
{
    switch (layout->span->kind) {
    case PLACE_SPAN_HOST:
        fill_host(layout);
        return;
    case PLACE_SPAN_PTILE:
    case PLACE_SPAN_BLOCK:
        fill_whole(layout);
        return;
    case PLACE_SPAN_STRIPE:
        fill_balanced(layout);
        return;
    case PLACE_SPAN_NONE:
        break;
    }
    if (layout->request->is_balanced) {
        fill_balanced(layout);
    } else {
        fill_stacked(layout);
    }
}

/* ---------------------------------------------------------------- groups of alike
 * hosts */

static int fill_anew(struct layout *layout)
{
    layout->n_slots = layout->request->n_pieces = 0;
    for (int i = 0; i < layout->n_hosts; i++) {
        layout->piece_of[i] = -1;
    }
    fill(layout);
    return layout->n_slots;
}

/* Tries the groups of alike hosts one after the other, each with its hosts in order.
 * `first` is by group, `next` by place. */
static int fill_groups(struct layout *layout, const int *group_of, int n_groups)
{
    const struct place_span_request *request = layout->request;
    int *first = mem_alloc((size_t)n_groups + 1, sizeof(*first));
    int *next = mem_alloc((size_t)request->n_hosts + 1, sizeof(*next));
    int most = 0;
    for (int i = request->n_hosts - 1; i >= 0; i--) {
        int kind = group_of[request->hosts[i]];
        if (kind >= 0) {
            next[i] = first[kind];
            first[kind] = i + 1;
        }
    }
    for (int i = 0; i < request->n_hosts && most < request->min; i++) {
        int kind = group_of[request->hosts[i]];
        if (kind < 0 || first[kind] != i + 1) {
            continue;
        }
        layout->n_hosts = 0;
        for (int at = i + 1; at > 0; at = next[at - 1]) {
            layout->hosts[layout->n_hosts++] = request->hosts[at - 1];
        }
        int n_slots = fill_anew(layout);
        most = n_slots > most ? n_slots : most;
    }
    free(first);
    free(next);
    return most;
}

int place_span_fit(const struct place_span *span, struct place_span_request *request)
{
    size_t n_hosts = (size_t)request->n_hosts + 1;
    struct layout layout = {.span = span, .request = request};
    int most = 0;
    layout.hosts = mem_alloc(n_hosts, sizeof(*layout.hosts));
    layout.piece_of = mem_alloc(n_hosts, sizeof(*layout.piece_of));
    if (span->n_same == 0) {
        memcpy(layout.hosts, request->hosts, (n_hosts - 1) * sizeof(*layout.hosts));
        layout.n_hosts = request->n_hosts;
        most = fill_anew(&layout);
    }
    for (int i = 0; i < span->n_same && most < request->min; i++) {
        int n_slots = fill_groups(&layout, span->same[i], span->n_same_groups[i]);
        most = n_slots > most ? n_slots : most;
    }
    request->n_pieces = most < request->min ? 0 : request->n_pieces;
    free(layout.hosts);
    free(layout.piece_of);
    return most;
}
