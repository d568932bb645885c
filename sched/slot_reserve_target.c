/* SPDX-License-Identifier: Apache-2.0 */
/* slot_reserve_target.c: what a job keeps that has chosen its hosts, as it reserves
 * resources there, or its slots may not lie anywhere; see slot_reserve.h.
 *
 *     n1: 4 of 10 slots are free, 200 of 1000 MB of memory are not reserved
 *     a job of 400 MB chooses n1, where others end first: it keeps 1 slot and 200 MB
 *     a job of 50 MB is backfilled: it keeps 1 slot and 150 MB
 */
#include "sched/slot_reserve_parts.h"

bool slot_reserve_is_target(const struct reserved *item)
{
    return item->n_pieces > 0 && item->pieces[0].n_target > 0;
}

/* Its slots may not lie anywhere, or on other hosts with each of its alternatives. */
static bool is_shaped(const struct place_line *line)
{
    bool has_filters = line->n_asks > 0 && line->asks->filter != NULL;
    return line->n_slots > 1 &&
           (has_filters || (line->filter != NULL && line->filter->shape != NULL));
}

bool slot_reserve_has_resources(const struct slot_reserve *reserve, int line)
{
    const struct place_line *at = &reserve->place->lines[line];
    bool has_any = false;
    for (int i = 0; i < at->n_asks && !has_any; i++) {
        has_any = at->asks[i].n_items > 0;
    }
    return has_any && reserve->place->queues[at->queue].reserve.has_resources;
}

bool slot_reserve_has_target(const struct slot_reserve *reserve, int line)
{
    return is_shaped(&reserve->place->lines[line]) ||
           slot_reserve_has_resources(reserve, line);
}

bool slot_reserve_has_shapes(const struct place_snapshot *place)
{
    for (int i = 0; i < place->n_lines; i++) {
        const struct place_line *line = &place->lines[i];
        if (is_shaped(line) && place->queues[line->queue].reserve.max_ms > 0) {
            return true;
        }
    }
    return false;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int64_t least_milli(int64_t a, int64_t b)
{
    b = b > 0 ? b : 0;
    return a < b ? a : b;
}

/* Of a pool that several of its items or hosts draw from, all of it. */
static void add_part(struct reserved *item, const struct slot_reserve_part *part)
{
    for (int i = 0; i < item->n_parts; i++) {
        if (item->parts[i].pool == part->pool) {
            item->parts[i].need_milli += part->need_milli;
            return;
        }
    }
    if (part->need_milli > 0) {
        item->parts[item->n_parts++] = *part;
    }
}

static void list_parts(struct slot_reserve *reserve, struct reserved *item,
                       const struct reserve_asks *asks)
{
    const struct reserve *resources = reserve->place->reserve;
    size_t n_most = (size_t)asks->n_items * (size_t)item->n_pieces;
    item->parts = arena_alloc(reserve->arena, n_most, sizeof(*item->parts));
    for (int i = 0; i < asks->n_items; i++) {
        const struct reserve_ask *ask = &asks->items[i];
        for (int k = 0; k < item->n_pieces; k++) {
            const struct slot_reserve_piece *piece = &item->pieces[k];
            int pool = resources->kinds[ask->kind].pool_of[piece->host];
            int64_t n_times = reserve_times(ask->scope, piece->n_target, k == 0);
            add_part(item,
                     &(struct slot_reserve_part){.kind = ask->kind,
                                                 .host = piece->host,
                                                 .pool = pool,
                                                 .need_milli = n_times * ask->milli});
        }
    }
}

/* What is there of it. */
static void take_parts(struct slot_reserve *reserve, struct reserved *item)
{
    int64_t *left = reserve->room->left;
    for (int i = 0; i < item->n_parts; i++) {
        struct slot_reserve_part *part = &item->parts[i];
        part->milli = least_milli(part->need_milli, left[part->pool]);
        left[part->pool] -= part->milli;
    }
}

static bool has_moved(const struct reserved *before, const struct reserved *item)
{
    bool has_moved = before->n_pieces != item->n_pieces;
    for (int i = 0; i < item->n_pieces && !has_moved; i++) {
        has_moved = before->pieces[i].host != item->pieces[i].host ||
                    before->pieces[i].n_target != item->pieces[i].n_target;
    }
    return has_moved;
}

int slot_reserve_keep_target(struct slot_reserve *reserve, int line, uint64_t job,
                             const int *hosts, const struct host_slots *slots,
                             int n_hosts, const struct reserve_asks *asks,
                             struct host_slots *in_hand)
{
    struct reserved *item = slot_reserve_item(reserve, line, job);
    struct reserved before = *item;
    int n_in_hand = 0;
    slot_reserve_set_pieces(reserve, item, n_hosts);
    for (int i = 0; i < n_hosts; i++) {
        int n_free = place_view_slots_on(reserve->room, hosts[i], false);
        int n = least(slots[i].n_slots, n_free);
        slot_reserve_add_piece(
            item, &(struct slot_reserve_piece){hosts[i], n, 0, slots[i].n_slots}, n);
        reserve->room->used[hosts[i]] += n;
        if (n > 0) {
            in_hand[n_in_hand++] = (struct host_slots){slots[i].host, n};
        }
    }
    item->n_parts = 0;
    if (asks != NULL) {
        list_parts(reserve, item, asks);
    }
    take_parts(reserve, item);
    if (has_moved(&before, item)) {
        reserve->has_freed = true;
        reserve->n_lendable = 0; /* what was said of starts holds no more */
    }
    slot_reserve_start_take(reserve, item);
    slot_reserve_close_behind(reserve);
    return n_in_hand;
}
