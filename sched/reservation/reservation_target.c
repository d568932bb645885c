/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_target.c: reservations of jobs that choose their hosts, because they
 * reserve resources there or have span, same or affinity; see reservation.h.
 *
 *     n1: 4 of 10 slots are free, 200 of 1000 MB of memory are not reserved
 *     a job of 400 MB chooses n1, where jobs end first, and reserves 1 slot and 200 MB
 *     a job of 50 MB is backfilled: 1 slot and 150 MB are left of the reservation
 */
#include "sched/reservation/reservation_item.h"

/* Processors are chosen host by host. A sequential job reserves them only as it does
 * other resources. */
static bool has_affinity(const struct place_snapshot *place,
                         const struct place_class *class)
{
    return candidates_has_affinity(class) &&
           (class->n_slots > 1 ||
            place->queues[class->queue].reservation.has_resources);
}

/* Its slots may not lie anywhere, or on other hosts with each of its alternatives or
 * parts. */
static bool has_span(const struct place_snapshot *place,
                     const struct place_class *class)
{
    bool has_filters = class->n_rusages > 0 && class->rusages->filter != NULL;
    return candidates_exclusive_units(class) != NULL || has_affinity(place, class) ||
           (class->n_slots > 1 &&
            (has_filters || candidates_has_parts(class) ||
             (class->filter != NULL && class->filter->span != NULL) ||
             candidates_has_first(place, class)));
}

bool reservation_target_has_resources(const struct reservation_pass *pass, int class)
{
    const struct place_class *at = &pass->place->classes[class];
    bool has_any = false;
    for (int i = 0; i < at->n_rusages && !has_any; i++) {
        has_any = at->rusages[i].n_items > 0;
    }
    return has_any && pass->place->queues[at->queue].reservation.has_resources;
}

bool reservation_target_applies(const struct reservation_pass *pass, int class)
{
    const struct place_class *at = &pass->place->classes[class];
    return has_span(pass->place, at) || reservation_target_has_resources(pass, class);
}

bool reservation_target_has_spans(const struct place_snapshot *place)
{
    for (int i = 0; i < place->n_classes; i++) {
        const struct place_class *class = &place->classes[i];
        if (has_span(place, class) &&
            place->queues[class->queue].reservation.max_ms > 0) {
            return true;
        }
    }
    return false;
}

/* Of a pool that several of its items or hosts draw from, all of it. */
static void add_part(struct reservation_item *item, const struct reservation_part *part)
{
    for (int i = 0; i < item->n_parts; i++) {
        if (item->parts[i].supply == part->supply) {
            item->parts[i].need_milli += part->need_milli;
            return;
        }
    }
    if (part->need_milli > 0) {
        item->parts[item->n_parts++] = *part;
    }
}

static void list_parts(const struct reservation_pass *pass,
                       struct reservation_item *item, const struct place_part *part)
{
    const struct rusage_supply *resources = pass->place->supply;
    const struct rusage_request *rusage = part->rusage;
    for (int i = 0; i < rusage->n_items; i++) {
        const struct rusage_item *ask = &rusage->items[i];
        for (int k = 0; k < part->n_pieces; k++) {
            const struct rusage_piece *piece = &part->pieces[k];
            int pool = resources->resources[ask->resource].supply_of[piece->host];
            int64_t n_times = rusage_supply_times(ask->scope, piece->n_slots, k == 0);
            add_part(item,
                     &(struct reservation_part){.resource = ask->resource,
                                                .host = piece->host,
                                                .supply = pool,
                                                .need_milli = n_times * ask->milli});
        }
    }
}

/* What the start takes: for each of its parts, or for all of its slots. */
static void list_all_parts(struct reservation_pass *pass, struct reservation_item *item,
                           const struct place_start *start, const int *hosts)
{
    struct rusage_piece *pieces =
        arena_alloc(pass->arena, (size_t)start->n_hosts, sizeof(*pieces));
    const struct place_part whole = {start->rusage, pieces, start->n_hosts};
    bool is_whole = start->n_parts == 0 && start->rusage != NULL;
    const struct place_part *parts = is_whole ? &whole : start->parts;
    int n_parts = is_whole ? 1 : start->n_parts;
    size_t n_most = 0;
    for (int i = 0; i < start->n_hosts; i++) {
        pieces[i] = (struct rusage_piece){hosts[i], start->hosts[i].n_slots};
    }
    for (int i = 0; i < n_parts; i++) {
        n_most += (size_t)parts[i].rusage->n_items * (size_t)parts[i].n_pieces;
    }
    item->parts = arena_alloc(pass->arena, n_most, sizeof(*item->parts));
    for (int i = 0; i < n_parts; i++) {
        list_parts(pass, item, &parts[i]);
    }
}

static bool has_moved(const struct reservation_item *before,
                      const struct reservation_item *item)
{
    bool has_moved = before->n_pieces != item->n_pieces;
    for (int i = 0; i < item->n_pieces && !has_moved; i++) {
        has_moved = before->pieces[i].host != item->pieces[i].host ||
                    before->pieces[i].n_target != item->pieces[i].n_target;
    }
    return has_moved;
}

int reservation_target_set(struct reservation_pass *pass, int class,
                           const struct place_start *start, const int *hosts,
                           int64_t not_before_ms, struct host_slots *in_hand)
{
    const struct host_slots *slots = start->hosts;
    int n_hosts = start->n_hosts;
    struct reservation_item *item = reservation_item_of(pass, class, start->job);
    struct reservation_item before = *item;
    int n_in_hand = 0;
    reservation_item_set_pieces(pass, item, n_hosts);
    for (int i = 0; i < n_hosts; i++) {
        int n_free = place_state_free_slots(pass->state, hosts[i], false);
        int n = slots[i].n_slots < n_free ? slots[i].n_slots : n_free;
        reservation_item_add_piece(
            item, &(struct reservation_piece){hosts[i], n, 0, slots[i].n_slots}, n);
        pass->state->used[hosts[i]] += n;
        if (n > 0) {
            in_hand[n_in_hand++] = (struct host_slots){slots[i].host, n};
        }
    }
    item->reservation.not_before_ms = not_before_ms;
    reservation_item_keep_hosts(pass, item, 1);
    item->n_parts = 0;
    if (reservation_target_has_resources(pass, class)) {
        list_all_parts(pass, item, start, hosts);
    }
    for (int i = 0; i < item->n_parts; i++) {
        item->parts[i].in_hand_milli = item->parts[i].need_milli;
        reservation_item_use_part(pass, &item->parts[i]);
    }
    if (has_moved(&before, item)) {
        pass->wants_pass = true;
        pass->n_backfillable = 0; /* what was said of starts holds no more */
    }
    reservation_start_take(pass, item);
    reservation_item_close_later(pass);
    return n_in_hand;
}
