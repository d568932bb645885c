/* SPDX-License-Identifier: Apache-2.0 */
/* reservation.c: see reservation.h. Slots only become fewer in a pass: what a job gives
 * up stays in use until the next pass. */
#include "sched/reservation/reservation.h"

#include <limits.h>

#include "sched/reservation/reservation_item.h"

/* ---------------------------------------------------------------- life */

static void read_queues(struct reservation_pass *pass)
{
    pass->has_targets = reservation_target_has_spans(pass->place);
    for (int i = 0; i < pass->place->n_queues; i++) {
        const struct reservation_config *queue = &pass->place->queues[i].reservation;
        pass->has_backfill = pass->has_backfill || queue->is_backfill;
        pass->has_targets = pass->has_targets || queue->has_resources;
    }
}

static void add_piece(struct reservation_item *item, int host, int n_in_hand,
                      int n_lent)
{
    reservation_item_add_piece(
        item, &(struct reservation_piece){host, n_in_hand + n_lent, n_lent, 0},
        n_in_hand);
}

/* Removes pieces of which nothing is left. */
static void trim(struct reservation_item *item)
{
    struct reservation_item before = *item;
    item->n_pieces = item->n_in_hand = 0;
    for (int i = 0; i < before.n_pieces; i++) {
        reservation_item_add_piece(item, &before.pieces[i], before.in_hand[i]);
    }
}

/* Of its slots and amounts those that are there: a host may have shrunk, or be closed.
 */
static void begin_one(struct reservation_pass *pass, const struct reservation *kept)
{
    struct reservation_item *item = reservation_item_add(pass);
    item->reservation = *kept;
    reservation_item_set_pieces(pass, item, kept->n_pieces);
    for (int i = 0; i < kept->n_pieces; i++) {
        const struct reservation_piece *piece = &kept->pieces[i];
        reservation_item_add_piece(item, piece, piece->n_slots - piece->n_backfilled);
    }
    item->n_parts = kept->n_parts;
    item->parts = arena_copy(pass->arena, kept->parts,
                             (size_t)kept->n_parts * sizeof(*item->parts));
    reservation_item_use(pass, item);
    trim(item);
}

bool reservation_needs_runs(const struct place_snapshot *place,
                            const struct reservation_snapshot *snapshot)
{
    struct reservation_pass pass = {.place = place};
    read_queues(&pass);
    if (pass.has_backfill && snapshot->n_reservations > 0) {
        return true;
    }
    for (int i = 0; pass.has_targets && i < place->n_classes; i++) {
        if (place->queues[place->classes[i].queue].reservation.max_ms > 0) {
            return true;
        }
    }
    return false;
}

struct reservation_pass *reservation_new(struct arena *arena,
                                         const struct place_snapshot *place,
                                         const struct place_state *state)
{
    const struct reservation_snapshot *snapshot = place->reservations;
    struct reservation_pass *pass = arena_alloc(arena, 1, sizeof(*pass));
    *pass = (struct reservation_pass){
        .snapshot = snapshot, .place = place, .arena = arena, .open_item = -1};
    read_queues(pass);
    pass->state = arena_copy(arena, state, sizeof(*state));
    for (int i = 0; i < snapshot->n_reservations; i++) {
        begin_one(pass, &snapshot->reservations[i]);
    }
    pass->n_backfillable = pass->count;
    if (pass->has_backfill && pass->count > 0) {
        reservation_start_estimate(pass, snapshot->runs, snapshot->n_runs);
    }
    return pass;
}

bool reservation_is_idle(const struct reservation_pass *pass)
{
    return pass->count == 0;
}

/* ---------------------------------------------------------------- finding */

int reservation_find(const struct reservation_pass *pass, uint64_t job)
{
    for (int i = 0; i < pass->count; i++) {
        if (pass->items[i].reservation.job == job && !pass->items[i].is_gone) {
            return i;
        }
    }
    return -1;
}

static bool has_in_hand(const struct reservation_item *item)
{
    bool has_any = item->n_in_hand > 0;
    for (int i = 0; i < item->n_parts && !has_any; i++) {
        has_any = item->parts[i].in_hand_milli > 0;
    }
    return has_any;
}

/* Queues of a slot pool with MAX_SLOTS_IN_POOL do not use what they reserve themselves.
 */
static bool is_barred_by_pool(const struct reservation_pass *pass, int queue,
                              const struct reservation_item *item)
{
    const struct place_snapshot *place = pass->place;
    int pool = place->slot_pools != NULL ? place->slot_pools->pool_of[queue] : -1;
    return pool >= 0 && place->slot_pools->pools[pool].max_slots != INT_MAX &&
           place->classes[item->reservation.class_index].queue == queue;
}

int reservation_next(const struct reservation_pass *pass, int queue, int index,
                     int64_t until_ms)
{
    for (int i = index + 1; i < pass->n_backfillable; i++) {
        const struct reservation_item *item = &pass->items[i];
        if (!item->is_gone && has_in_hand(item) &&
            !is_barred_by_pool(pass, queue, item) &&
            item->reservation.start_ms != BACKFILL_NEVER &&
            until_ms <= item->reservation.start_ms) {
            return i;
        }
    }
    return -1;
}

static bool is_barred(const struct reservation_snapshot *snapshot, uint64_t job)
{
    int i = 0;
    while (i < snapshot->n_barred && snapshot->barred[i] != job) {
        i++;
    }
    return i < snapshot->n_barred;
}

/* Another job of the queue has a reservation. */
static bool is_another_collecting(const struct reservation_pass *pass, int queue,
                                  uint64_t job)
{
    for (int i = 0; i < pass->count; i++) {
        const struct reservation *other = &pass->items[i].reservation;
        if (!pass->items[i].is_gone && other->job != job &&
            pass->place->classes[other->class_index].queue == queue) {
            return true;
        }
    }
    return false;
}

bool reservation_may(const struct reservation_pass *pass, int class, uint64_t job)
{
    const struct place_class *at = &pass->place->classes[class];
    if (pass->place->queues[at->queue].reservation.is_collecting &&
        is_another_collecting(pass, at->queue, job)) {
        return false;
    }
    return pass->place->queues[at->queue].reservation.max_ms > 0 &&
           (at->is_exclusive
                ? candidates_exclusive_units(at) != NULL
                : at->n_slots > 1 || reservation_target_applies(pass, class)) &&
           (pass->count < RESERVATIONS_MAX || reservation_find(pass, job) >= 0) &&
           !is_barred(pass->snapshot, job);
}

/* ---------------------------------------------------------------- one job */

void reservation_open(struct reservation_pass *pass, int index)
{
    pass->open_item = index;
    reservation_item_free(pass, &pass->items[index]);
}

bool reservation_gives_way(const struct reservation_pass *pass, int queue)
{
    bool gives_any = false;
    for (int i = 0; i < pass->count && !gives_any; i++) {
        gives_any = reservation_item_gives_way(pass, &pass->items[i], queue);
    }
    return gives_any;
}

void reservation_open_for(struct reservation_pass *pass, int queue, int own,
                          bool may_reserve)
{
    pass->open_item = own;
    pass->is_open_later = true;
    pass->opens_all = may_reserve;
    pass->open_queue = queue;
    for (int i = 0; i < pass->count; i++) {
        if (i == own || reservation_item_is_later(pass, i)) {
            reservation_item_free(pass, &pass->items[i]);
        }
    }
}

void reservation_close(struct reservation_pass *pass)
{
    if (pass->open_item >= 0) {
        reservation_item_use(pass, &pass->items[pass->open_item]);
    }
    reservation_item_close_later(pass);
}

bool reservation_is_open(const struct reservation_pass *pass)
{
    return pass->open_item >= 0 || pass->is_open_later;
}

/* Restores hosts that draw from a supply of which something is reserved. */
static void show_part(const struct reservation_pass *pass, struct candidates *view,
                      const struct reservation_part *part)
{
    const int *pool_of = pass->place->supply->resources[part->resource].supply_of;
    if (part->in_hand_milli > 0 && view->rusage != NULL) {
        candidates_restore_supply(pass->state, view, pool_of, part->supply);
    }
}

void reservation_restore_candidates(const struct reservation_pass *pass,
                                    struct candidates *view)
{
    for (int i = 0; i < pass->count; i++) {
        const struct reservation_item *item = &pass->items[i];
        bool is_open = i == pass->open_item || reservation_item_is_later(pass, i);
        bool is_kept = reservation_item_has_affinity(pass, item);
        for (int k = 0; is_open && k < item->n_pieces; k++) {
            if (item->in_hand[k] > 0 || is_kept) {
                candidates_restore(pass->state, view, item->pieces[k].host);
            }
        }
        for (int k = 0; is_open && k < item->n_parts; k++) {
            show_part(pass, view, &item->parts[k]);
        }
    }
}

/* The piece of the item on that host; n_pieces: it has none there. */
static int find_piece(const struct reservation_item *item, int host)
{
    int piece = 0;
    while (piece < item->n_pieces && item->pieces[piece].host != host) {
        piece++;
    }
    return piece;
}

bool reservation_has_host(const struct reservation_pass *pass, int host)
{
    const struct reservation_item *item = &pass->items[pass->open_item];
    int piece = find_piece(item, host);
    return piece < item->n_pieces && item->in_hand[piece] > 0;
}

int reservation_backfilled(const struct reservation_pass *pass, int *group)
{
    int n_lent = 0;
    *group = -1;
    for (int i = 0; pass->open_item >= 0 && i < pass->items[pass->open_item].n_pieces;
         i++) {
        const struct reservation_piece *piece = &pass->items[pass->open_item].pieces[i];
        n_lent += piece->n_backfilled;
        *group = pass->state->group_of[piece->host];
    }
    return n_lent;
}

static struct reservation_stuck *find_stuck(const struct reservation_pass *pass,
                                            const struct candidates *view)
{
    struct reservation_stuck *stuck =
        pass->is_open_later ? NULL : pass->items[pass->open_item].failed;
    while (stuck != NULL && stuck->candidates != view) {
        stuck = stuck->next;
    }
    return stuck;
}

bool reservation_is_stuck(const struct reservation_pass *pass,
                          const struct candidates *view, int n_slots)
{
    const struct reservation_stuck *stuck = find_stuck(pass, view);
    return stuck != NULL && stuck->n_slots <= n_slots;
}

void reservation_set_stuck(struct reservation_pass *pass, struct candidates *view,
                           int n_slots)
{
    struct reservation_stuck *stuck = find_stuck(pass, view);
    if (pass->is_open_later) {
        return; /* it is looked at once */
    }
    if (stuck == NULL) {
        struct reservation_item *item = &pass->items[pass->open_item];
        stuck = arena_alloc(pass->arena, 1, sizeof(*stuck));
        *stuck = (struct reservation_stuck){view, n_slots, item->failed};
        item->failed = stuck;
    }
    stuck->n_slots = n_slots < stuck->n_slots ? n_slots : stuck->n_slots;
}

void reservation_use(struct reservation_pass *pass)
{
    if (pass->open_item >= 0) {
        pass->items[pass->open_item].is_gone = true;
        pass->wants_pass = true; /* perhaps it has other ones */
    } else if (pass->has_targets && pass->n_backfillable > 0) {
        pass->n_backfillable =
            0; /* no start behind it was said with this job in mind */
        pass->wants_pass = true;
    }
    reservation_item_close_later(pass);
}

/* All that it takes counts as lent: what is free there would be reserved next. */
static void lend_on(struct reservation_item *item, int piece, int n_slots)
{
    int n = n_slots < item->in_hand[piece] ? n_slots : item->in_hand[piece];
    item->in_hand[piece] -= n;
    item->n_in_hand -= n;
    item->pieces[piece].n_backfilled += n_slots;
    item->pieces[piece].n_slots += n_slots - n;
}

static void lend_slots(struct reservation_pass *pass, struct reservation_item *item,
                       const int *hosts, const struct host_slots *slots, int n_hosts)
{
    struct reservation_item before = *item;
    reservation_item_set_pieces(pass, item, before.n_pieces + n_hosts);
    for (int i = 0; i < before.n_pieces; i++) {
        add_piece(item, before.pieces[i].host, before.in_hand[i],
                  before.pieces[i].n_backfilled);
    }
    for (int i = 0; i < n_hosts; i++) {
        int piece = find_piece(item, hosts[i]);
        if (piece == item->n_pieces) {
            add_piece(item, hosts[i], 0, slots[i].n_slots);
        } else {
            lend_on(item, piece, slots[i].n_slots);
        }
    }
}

void reservation_backfill(struct reservation_pass *pass, const int *hosts,
                          const struct host_slots *slots, int n_hosts, uint64_t *job,
                          int64_t *until_ms)
{
    struct reservation_item *item = &pass->items[pass->open_item];
    if (!reservation_item_has_target(item)) {
        lend_slots(pass, item, hosts, slots, n_hosts);
    }
    *job = item->reservation.job;
    *until_ms = item->reservation.start_ms;
    reservation_close(pass); /* a target has in hand what is left */
}

void reservation_set(struct reservation_pass *pass, int class, uint64_t job,
                     const int *hosts, const struct host_slots *slots, int n_hosts)
{
    struct reservation_item *item = reservation_item_of(pass, class, job);
    struct reservation_item before = *item;
    item->n_parts = 0;
    reservation_item_set_pieces(pass, item, n_hosts + before.n_pieces);
    for (int i = 0; i < n_hosts; i++) {
        int piece = find_piece(&before, hosts[i]);
        add_piece(item, hosts[i], slots[i].n_slots,
                  piece < before.n_pieces ? before.pieces[piece].n_backfilled : 0);
    }
    for (int i = 0; i < before.n_pieces; i++) {
        if (find_piece(item, before.pieces[i].host) == item->n_pieces) {
            add_piece(item, before.pieces[i].host, 0, before.pieces[i].n_backfilled);
        }
    }
    reservation_start_take(pass, item);
    reservation_item_close_later(pass);
}

void reservation_drop(struct reservation_pass *pass, int index)
{
    pass->items[index].is_gone = true;
    pass->wants_pass = true;
}

/* ---------------------------------------------------------------- afterwards */

/* Sorts by the order in which the pass reached the jobs; others keep their order. */
static void sort_by_turn(struct reservation_pass *pass)
{
    for (int i = 1; i < pass->count; i++) {
        struct reservation_item item = pass->items[i];
        int at = i;
        for (;
             at > 0 && item.order != 0 &&
             (pass->items[at - 1].order == 0 || pass->items[at - 1].order > item.order);
             at--) {
            pass->items[at] = pass->items[at - 1];
        }
        pass->items[at] = item;
    }
}

const struct reservation *reservation_result(struct reservation_pass *pass,
                                             const struct backfill_run *runs,
                                             int n_runs, int *n_kept)
{
    int count = 0;
    sort_by_turn(pass);
    for (int i = 0; i < pass->count; i++) {
        struct reservation_item *item = &pass->items[i];
        trim(item);
        if (!item->is_gone && item->n_pieces > 0) {
            pass->items[count++] = *item;
        }
    }
    pass->count = count;
    if (count > 0) {
        reservation_start_estimate(pass, runs, n_runs);
    }
    struct reservation *kept = arena_alloc(pass->arena, (size_t)count, sizeof(*kept));
    for (int i = 0; i < count; i++) {
        kept[i] = pass->items[i].reservation;
        kept[i].pieces = pass->items[i].pieces;
        kept[i].n_pieces = pass->items[i].n_pieces;
        kept[i].parts = pass->items[i].parts;
        kept[i].n_parts = pass->items[i].n_parts;
    }
    *n_kept = count;
    return kept;
}

void reservation_want_pass(struct reservation_pass *pass)
{
    pass->wants_pass = true;
}

bool reservation_wants_pass(const struct reservation_pass *pass)
{
    return pass->wants_pass || (pass->has_made && pass->has_backfill);
}
