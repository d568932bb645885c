/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_item.c: see reservation_item.h. */
#include "sched/reservation/reservation_item.h"

#include "sched/place/place_affinity.h"
#include "sched/preempt/preempt.h"

/* Most passes have none. */
struct reservation_item *reservation_item_add(struct reservation_pass *pass)
{
    if (pass->items == NULL) {
        size_t n_most = (size_t)pass->snapshot->n_reservations + RESERVATIONS_MAX;
        pass->items = arena_alloc(pass->arena, n_most, sizeof(*pass->items));
    }
    return &pass->items[pass->count++];
}

void reservation_item_set_pieces(struct reservation_pass *pass,
                                 struct reservation_item *item, int n_most)
{
    item->pieces = arena_alloc(pass->arena, (size_t)n_most, sizeof(*item->pieces));
    item->in_hand = arena_alloc(pass->arena, (size_t)n_most, sizeof(int));
    item->n_pieces = item->n_in_hand = 0;
}

void reservation_item_add_piece(struct reservation_item *item,
                                const struct reservation_piece *piece, int n_in_hand)
{
    if (piece->n_slots == 0 && piece->n_target == 0) {
        return;
    }
    item->in_hand[item->n_pieces] = n_in_hand;
    item->pieces[item->n_pieces++] = *piece;
    item->n_in_hand += n_in_hand;
}

bool reservation_item_has_target(const struct reservation_item *item)
{
    return item->n_pieces > 0 && item->pieces[0].n_target > 0;
}

/* No more is reserved than there is. */
void reservation_item_use_part(struct reservation_pass *pass,
                               struct reservation_part *part)
{
    part->in_hand_milli = rusage_supply_take_some(
        &pass->state->supply_left[part->supply], part->in_hand_milli);
}

bool reservation_item_has_affinity(const struct reservation_pass *pass,
                                   const struct reservation_item *item)
{
    return candidates_has_affinity(
        &pass->place->classes[item->reservation.class_index]);
}

void reservation_item_keep_hosts(const struct reservation_pass *pass,
                                 const struct reservation_item *item, int sign)
{
    bool has_affinity = reservation_item_has_affinity(pass, item);
    for (int i = 0; i < item->n_pieces && has_affinity; i++) {
        place_affinity_keep(pass->state, item->pieces[i].host, sign);
    }
}

void reservation_item_free(struct reservation_pass *pass,
                           const struct reservation_item *item)
{
    for (int i = 0; i < item->n_pieces; i++) {
        pass->state->used[item->pieces[i].host] -= item->in_hand[i];
    }
    for (int i = 0; i < item->n_parts; i++) {
        pass->state->supply_left[item->parts[i].supply] += item->parts[i].in_hand_milli;
    }
    reservation_item_keep_hosts(pass, item, -1);
}

/* What is in hand is used again, unless another job took it meanwhile. */
void reservation_item_use(struct reservation_pass *pass, struct reservation_item *item)
{
    reservation_item_keep_hosts(pass, item, 1);
    for (int i = 0; i < item->n_pieces; i++) {
        int host = item->pieces[i].host;
        int n_left = place_state_free_slots(pass->state, host, false);
        int n_lost = item->in_hand[i] > n_left ? item->in_hand[i] - n_left : 0;
        item->in_hand[i] -= n_lost;
        item->pieces[i].n_slots -= n_lost;
        item->n_in_hand -= n_lost;
        pass->state->used[host] += item->in_hand[i];
    }
    for (int i = 0; i < item->n_parts; i++) {
        reservation_item_use_part(pass, &item->parts[i]);
    }
}

static bool is_reached(const struct reservation_item *item)
{
    return item->order != 0 || item->is_gone;
}

bool reservation_item_gives_way(const struct reservation_pass *pass,
                                const struct reservation_item *item, int queue)
{
    const struct place_snapshot *place = pass->place;
    int level;
    return place->preempt != NULL && !is_reached(item) &&
           preempt_policy_may(place->preempt->policy, place->queues, queue,
                              place->classes[item->reservation.class_index].queue,
                              &level);
}

bool reservation_item_is_later(const struct reservation_pass *pass, int index)
{
    const struct reservation_item *item = &pass->items[index];
    return pass->is_open_later && index != pass->open_item && !is_reached(item) &&
           (pass->opens_all ||
            reservation_item_gives_way(pass, item, pass->open_queue));
}

void reservation_item_close_later(struct reservation_pass *pass)
{
    for (int i = 0; i < pass->count; i++) {
        if (reservation_item_is_later(pass, i)) {
            reservation_item_use(pass, &pass->items[i]);
        }
    }
    pass->is_open_later = false;
    pass->open_item = -1;
}

struct reservation_item *reservation_item_of(struct reservation_pass *pass, int class,
                                             uint64_t job)
{
    struct reservation_item *item;
    if (pass->open_item >= 0) {
        item = &pass->items[pass->open_item];
    } else {
        item = reservation_item_add(pass);
        *item = (struct reservation_item){
            .reservation = {.job = job, .since_ms = pass->place->now_ms}};
        pass->has_made = true;
    }
    item->reservation.class_index = class;
    item->order = ++pass->n_reached;
    return item;
}
