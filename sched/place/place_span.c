/* SPDX-License-Identifier: Apache-2.0 */
/* place_span.c: see place_span.h.
 *
 * A host whose room is below its tile is of use only for the last slots, and a host
 * with room for a tile is as good for those as any: so whole tiles are taken first, as
 * long as as many are wanted, and what is left then goes to one host. Nothing is lost
 * by that: if the last ones find no host, all tiles that there are are taken. */
#include "sched/place/place_span.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Hosts of one kind, as they are laid. */
struct bed {
    const struct place_span *shape;
    struct place_span_request *ground;
    int *hosts; /* of the kind, in order */
    int n_hosts;
    int *piece_of; /* by place in `hosts`: of the pieces, -1: none */
    int n_slots;
};

/* ---------------------------------------------------------------- pieces */

static void add_slots(struct bed *bed, int at, int n_slots)
{
    struct place_span_request *ground = bed->ground;
    if (n_slots <= 0) {
        return;
    }
    if (bed->piece_of[at] < 0) {
        bed->piece_of[at] = ground->n_pieces;
        ground->pieces[ground->n_pieces++] = (struct rusage_piece){bed->hosts[at], 0};
    }
    ground->pieces[bed->piece_of[at]].n_slots += n_slots;
    bed->n_slots += n_slots;
}

/* Slots that the host has besides the job's own piece there. */
static int room_at(struct bed *bed, int at)
{
    struct place_span_request *ground = bed->ground;
    int piece = bed->piece_of[at], last = ground->n_pieces - 1, room;
    if (piece < 0) {
        room =
            ground->room(ground->arg, bed->hosts[at], ground->pieces, ground->n_pieces);
        return room > 0 ? room : 0;
    }
    struct rusage_piece own = ground->pieces[piece];
    ground->pieces[piece] = ground->pieces[last]; /* the others are the first ones */
    room = ground->room(ground->arg, bed->hosts[at], ground->pieces, last);
    ground->pieces[piece] = own;
    return room > own.n_slots ? room - own.n_slots : 0;
}

/* ---------------------------------------------------------------- spans */

static void lay_host(struct bed *bed)
{
    int most = 0, best = -1;
    for (int i = 0; i < bed->n_hosts && most < bed->ground->min; i++) {
        int room = room_at(bed, i);
        if (room > most) {
            most = room;
            best = i;
        }
    }
    if (best >= 0) {
        add_slots(bed, best, most < bed->ground->max ? most : bed->ground->max);
    }
}

static int tile_of(const struct bed *bed, int at)
{
    return bed->shape->ptiles != NULL ? bed->shape->ptiles[bed->hosts[at]]
                                      : bed->shape->n_slots;
}

/* Whole tiles, then `wanted` in all. A host that has one has no more. */
static void lay_tiles(struct bed *bed, int wanted)
{
    for (int i = 0; i < bed->n_hosts && bed->n_slots < wanted; i++) {
        int tile = tile_of(bed, i);
        if (bed->piece_of[i] < 0 && tile > 0 && tile <= wanted - bed->n_slots &&
            room_at(bed, i) >= tile) {
            add_slots(bed, i, tile);
        }
    }
}

static void lay_blocks(struct bed *bed, int wanted)
{
    int block = bed->shape->n_slots;
    for (int i = 0; i < bed->n_hosts && wanted - bed->n_slots >= block; i++) {
        int room = room_at(bed, i), left = wanted - bed->n_slots;
        room = room < left ? room : left;
        add_slots(bed, i, room / block * block);
    }
}

/* Those that do not come to a whole tile or block, or some of them, on one host: which,
 * -1: there are none. */
static int lay_rest(struct bed *bed, int wanted)
{
    bool is_tile = bed->shape->kind == PLACE_SPAN_PTILE;
    int rest = wanted - bed->n_slots, most = 0, best = -1;
    for (int i = 0; i < bed->n_hosts && most < rest; i++) {
        bool is_taken = is_tile && bed->piece_of[i] >= 0;
        int room = is_taken || (is_tile && tile_of(bed, i) == 0) ? 0 : room_at(bed, i);
        if (room > most) {
            most = room;
            best = i;
        }
    }
    if (best >= 0) {
        add_slots(bed, best, most < rest ? most : rest);
    }
    return best;
}

/* Whole ones as far as `max`, and the rest of `wanted`: all of it, or there is none. */
static bool lay_with_rest(struct bed *bed, int wanted)
{
    struct place_span_request *ground = bed->ground;
    int n_whole = bed->n_slots, n_pieces = ground->n_pieces;
    int at = lay_rest(bed, wanted);
    if (bed->n_slots == wanted) {
        return true;
    }
    if (at >= 0 && ground->n_pieces > n_pieces) {
        bed->piece_of[at] = -1;
        ground->n_pieces = n_pieces;
    } else if (at >= 0) {
        ground->pieces[bed->piece_of[at]].n_slots -= bed->n_slots - n_whole;
    }
    bed->n_slots = n_whole;
    return false;
}

static void lay_whole(struct bed *bed)
{
    const struct place_span_request *ground = bed->ground;
    if (bed->shape->kind == PLACE_SPAN_PTILE) {
        lay_tiles(bed, ground->max);
    } else {
        lay_blocks(bed, ground->max);
    }
    if (!lay_with_rest(bed, ground->max) && bed->n_slots < ground->min &&
        !lay_with_rest(bed, ground->min)) {
        lay_rest(bed, ground->min); /* to tell how many there are */
    }
}

static void lay_stacked(struct bed *bed)
{
    for (int i = 0; i < bed->n_hosts && bed->n_slots < bed->ground->max; i++) {
        int room = room_at(bed, i), left = bed->ground->max - bed->n_slots;
        add_slots(bed, i, room < left ? room : left);
    }
}

static void lay_balanced(struct bed *bed)
{
    int before = -1;
    while (bed->n_slots < bed->ground->max && bed->n_slots > before) {
        before = bed->n_slots;
        for (int i = 0; i < bed->n_hosts && bed->n_slots < bed->ground->max; i++) {
            add_slots(bed, i, room_at(bed, i) > 0);
        }
    }
}

static void lay(struct bed *bed)
{
    switch (bed->shape->kind) {
    case PLACE_SPAN_HOST:
        lay_host(bed);
        return;
    case PLACE_SPAN_PTILE:
    case PLACE_SPAN_BLOCK:
        lay_whole(bed);
        return;
    case PLACE_SPAN_STRIPE:
        lay_balanced(bed);
        return;
    case PLACE_SPAN_NONE:
        break;
    }
    if (bed->ground->is_balanced) {
        lay_balanced(bed);
    } else {
        lay_stacked(bed);
    }
}

/* ---------------------------------------------------------------- kinds of hosts */

static int lay_on(struct bed *bed)
{
    bed->n_slots = bed->ground->n_pieces = 0;
    for (int i = 0; i < bed->n_hosts; i++) {
        bed->piece_of[i] = -1;
    }
    lay(bed);
    return bed->n_slots;
}

/* The hosts kind by kind, of each in order: `first` by kind and `next` by place. */
static int lay_way(struct bed *bed, const int *kinds, int n_kinds)
{
    const struct place_span_request *ground = bed->ground;
    int *first = mem_alloc((size_t)n_kinds + 1, sizeof(*first));
    int *next = mem_alloc((size_t)ground->n_hosts + 1, sizeof(*next));
    int most = 0;
    for (int i = ground->n_hosts - 1; i >= 0; i--) {
        int kind = kinds[ground->hosts[i]];
        if (kind >= 0) {
            next[i] = first[kind];
            first[kind] = i + 1;
        }
    }
    for (int i = 0; i < ground->n_hosts && most < ground->min; i++) {
        int kind = kinds[ground->hosts[i]];
        if (kind < 0 || first[kind] != i + 1) {
            continue;
        }
        bed->n_hosts = 0;
        for (int at = i + 1; at > 0; at = next[at - 1]) {
            bed->hosts[bed->n_hosts++] = ground->hosts[at - 1];
        }
        int n_slots = lay_on(bed);
        most = n_slots > most ? n_slots : most;
    }
    free(first);
    free(next);
    return most;
}

int place_span_fit(const struct place_span *shape, struct place_span_request *ground)
{
    size_t n_hosts = (size_t)ground->n_hosts + 1;
    struct bed bed = {.shape = shape, .ground = ground};
    int most = 0;
    bed.hosts = mem_alloc(n_hosts, sizeof(*bed.hosts));
    bed.piece_of = mem_alloc(n_hosts, sizeof(*bed.piece_of));
    if (shape->n_same == 0) {
        memcpy(bed.hosts, ground->hosts, (n_hosts - 1) * sizeof(*bed.hosts));
        bed.n_hosts = ground->n_hosts;
        most = lay_on(&bed);
    }
    for (int i = 0; i < shape->n_same && most < ground->min; i++) {
        int n_slots = lay_way(&bed, shape->same[i], shape->n_same_groups[i]);
        most = n_slots > most ? n_slots : most;
    }
    ground->n_pieces = most < ground->min ? 0 : ground->n_pieces;
    free(bed.hosts);
    free(bed.piece_of);
    return most;
}
