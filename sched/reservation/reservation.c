/* SPDX-License-Identifier: Apache-2.0 */
/* reservation.c: see reservation.h.
 *
 * What is in hand is part of the room's `used`, so nobody else has to know of it; it is
 * taken off there for as long as one job may have it. Slots only get fewer in a pass:
 * what a job gives up stays in use until the next one. */
#include "sched/reservation/reservation.h"

#include <limits.h>

#include "sched/reservation/reservation_item.h"

/* ---------------------------------------------------------------- life */

static void read_queues(struct reservation_pass *reserve)
{
    reserve->has_targets = reservation_target_has_spans(reserve->place);
    for (int i = 0; i < reserve->place->n_queues; i++) {
        const struct reservation_config *queue = &reserve->place->queues[i].reservation;
        reserve->has_backfill = reserve->has_backfill || queue->is_backfill;
        reserve->has_targets = reserve->has_targets || queue->has_resources;
    }
}

void reservation_item_set_pieces(struct reservation_pass *reserve,
                                 struct reservation_item *item, int n_most)
{
    item->pieces = arena_alloc(reserve->arena, (size_t)n_most, sizeof(*item->pieces));
    item->in_hand = arena_alloc(reserve->arena, (size_t)n_most, sizeof(int));
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

static void add_piece(struct reservation_item *item, int host, int n_in_hand,
                      int n_lent)
{
    reservation_item_add_piece(
        item, &(struct reservation_piece){host, n_in_hand + n_lent, n_lent, 0},
        n_in_hand);
}

/* Of its slots those that are there: a host may have shrunk, or be closed. */
static void begin_slots(struct reservation_pass *reserve, struct reservation_item *item,
                        const struct reservation *kept)
{
    reservation_item_set_pieces(reserve, item, kept->n_pieces);
    for (int i = 0; i < kept->n_pieces; i++) {
        const struct reservation_piece *piece = &kept->pieces[i];
        int n_left = place_state_free_slots(reserve->state, piece->host, false);
        int n_in_hand = piece->n_slots - piece->n_backfilled;
        n_in_hand = n_in_hand < n_left ? n_in_hand : n_left;
        reserve->state->used[piece->host] += n_in_hand;
        reservation_item_add_piece(
            item,
            &(struct reservation_piece){piece->host, n_in_hand + piece->n_backfilled,
                                        piece->n_backfilled, piece->n_target},
            n_in_hand);
    }
}

/* It does not keep more of a pool than is there. */
static void use_part(struct reservation_pass *reserve, struct reservation_part *part)
{
    int64_t *left = &reserve->state->supply_left[part->pool];
    int64_t n_left = *left > 0 ? *left : 0;
    part->milli = part->milli < n_left ? part->milli : n_left;
    *left -= part->milli;
}

static void begin_one(struct reservation_pass *reserve, const struct reservation *kept)
{
    struct reservation_item *item = &reserve->items[reserve->count++];
    item->reservation = *kept;
    begin_slots(reserve, item, kept);
    item->n_parts = kept->n_parts;
    item->parts =
        arena_alloc(reserve->arena, (size_t)kept->n_parts + 1, sizeof(*item->parts));
    for (int i = 0; i < kept->n_parts; i++) {
        item->parts[i] = kept->parts[i];
        use_part(reserve, &item->parts[i]);
    }
}

bool reservation_needs_runs(const struct place_snapshot *place,
                            const struct reservation_snapshot *snapshot)
{
    struct reservation_pass reserve = {.place = place};
    read_queues(&reserve);
    if (reserve.has_backfill && snapshot->n_reservations > 0) {
        return true;
    }
    for (int i = 0; reserve.has_targets && i < place->n_classes; i++) {
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
    struct reservation_pass *reserve = arena_alloc(arena, 1, sizeof(*reserve));
    *reserve = (struct reservation_pass){
        .snapshot = snapshot, .place = place, .arena = arena, .open = -1};
    read_queues(reserve);
    reserve->items =
        arena_alloc(arena, (size_t)snapshot->n_reservations + RESERVATIONS_MAX,
                    sizeof(struct reservation_item));
    reserve->state = arena_copy(arena, state, sizeof(*state));
    for (int i = 0; i < snapshot->n_reservations; i++) {
        begin_one(reserve, &snapshot->reservations[i]);
    }
    reserve->n_backfillable = reserve->count;
    if (reserve->has_backfill && reserve->count > 0) {
        reservation_start_estimate(reserve, snapshot->runs, snapshot->n_runs);
    }
    return reserve;
}

bool reservation_is_idle(const struct reservation_pass *reserve)
{
    return reserve->count == 0;
}

/* ---------------------------------------------------------------- finding */

int reservation_find(const struct reservation_pass *reserve, uint64_t job)
{
    for (int i = 0; i < reserve->count; i++) {
        if (reserve->items[i].reservation.job == job && !reserve->items[i].is_gone) {
            return i;
        }
    }
    return -1;
}

static bool has_in_hand(const struct reservation_item *item)
{
    bool has_any = item->n_in_hand > 0;
    for (int i = 0; i < item->n_parts && !has_any; i++) {
        has_any = item->parts[i].milli > 0;
    }
    return has_any;
}

int reservation_next(const struct reservation_pass *reserve, int index,
                     int64_t until_ms)
{
    for (int i = index + 1; i < reserve->n_backfillable; i++) {
        const struct reservation_item *item = &reserve->items[i];
        if (!item->is_gone && has_in_hand(item) &&
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

bool reservation_may(const struct reservation_pass *reserve, int line, uint64_t job)
{
    const struct place_class *at = &reserve->place->classes[line];
    return reserve->place->queues[at->queue].reservation.max_ms > 0 &&
           (at->n_slots > 1 || reservation_target_applies(reserve, line)) &&
           !at->is_exclusive &&
           (reserve->count < RESERVATIONS_MAX || reservation_find(reserve, job) >= 0) &&
           !is_barred(reserve->snapshot, job);
}

/* ---------------------------------------------------------------- one job */

static void free_in_hand(struct reservation_pass *reserve,
                         const struct reservation_item *item)
{
    for (int i = 0; i < item->n_pieces; i++) {
        reserve->state->used[item->pieces[i].host] -= item->in_hand[i];
    }
    for (int i = 0; i < item->n_parts; i++) {
        reserve->state->supply_left[item->parts[i].pool] += item->parts[i].milli;
    }
}

/* In use again, as far as nobody has taken it meanwhile. */
static void use_in_hand(struct reservation_pass *reserve, struct reservation_item *item)
{
    for (int i = 0; i < item->n_pieces; i++) {
        int host = item->pieces[i].host;
        int n_left = place_state_free_slots(reserve->state, host, false);
        int n_lost = item->in_hand[i] > n_left ? item->in_hand[i] - n_left : 0;
        item->in_hand[i] -= n_lost;
        item->pieces[i].n_slots -= n_lost;
        item->n_in_hand -= n_lost;
        reserve->state->used[host] += item->in_hand[i];
    }
    for (int i = 0; i < item->n_parts; i++) {
        use_part(reserve, &item->parts[i]);
    }
}

static bool is_behind(const struct reservation_pass *reserve, int index)
{
    const struct reservation_item *item = &reserve->items[index];
    return reserve->has_turn && index != reserve->open && item->turn == 0 &&
           !item->is_gone;
}

void reservation_item_close_later(struct reservation_pass *reserve)
{
    for (int i = 0; i < reserve->count; i++) {
        if (is_behind(reserve, i)) {
            use_in_hand(reserve, &reserve->items[i]);
        }
    }
    reserve->has_turn = false;
    reserve->open = -1;
}

void reservation_open(struct reservation_pass *reserve, int index)
{
    reserve->open = index;
    free_in_hand(reserve, &reserve->items[index]);
}

void reservation_open_turn(struct reservation_pass *reserve, int own)
{
    reserve->open = own;
    reserve->has_turn = true;
    for (int i = 0; i < reserve->count; i++) {
        if (i == own || is_behind(reserve, i)) {
            free_in_hand(reserve, &reserve->items[i]);
        }
    }
}

void reservation_close(struct reservation_pass *reserve)
{
    if (reserve->open >= 0) {
        use_in_hand(reserve, &reserve->items[reserve->open]);
    }
    reservation_item_close_later(reserve);
}

bool reservation_is_open(const struct reservation_pass *reserve)
{
    return reserve->open >= 0 || reserve->has_turn;
}

/* Hosts that draw from a pool that something is kept of. */
static void show_part(const struct reservation_pass *reserve, struct candidates *view,
                      const struct reservation_part *part)
{
    const int *pool_of = reserve->place->supply->resources[part->kind].supply_of;
    if (part->milli > 0 && view->rusage != NULL) {
        candidates_restore_supply(reserve->state, view, pool_of, part->pool);
    }
}

void reservation_restore_candidates(const struct reservation_pass *reserve,
                                    struct candidates *view)
{
    for (int i = 0; i < reserve->count; i++) {
        const struct reservation_item *item = &reserve->items[i];
        bool is_open = i == reserve->open || is_behind(reserve, i);
        for (int k = 0; is_open && k < item->n_pieces; k++) {
            if (item->in_hand[k] > 0) {
                candidates_restore(reserve->state, view, item->pieces[k].host);
            }
        }
        for (int k = 0; is_open && k < item->n_parts; k++) {
            show_part(reserve, view, &item->parts[k]);
        }
    }
}

bool reservation_has_host(const struct reservation_pass *reserve, int host)
{
    const struct reservation_item *item = &reserve->items[reserve->open];
    for (int i = 0; i < item->n_pieces; i++) {
        if (item->pieces[i].host == host) {
            return item->in_hand[i] > 0;
        }
    }
    return false;
}

int reservation_backfilled(const struct reservation_pass *reserve, int *group)
{
    int n_lent = 0;
    *group = -1;
    for (int i = 0; reserve->open >= 0 && i < reserve->items[reserve->open].n_pieces;
         i++) {
        const struct reservation_piece *piece =
            &reserve->items[reserve->open].pieces[i];
        n_lent += piece->n_backfilled;
        *group = reserve->state->group_of[piece->host];
    }
    return n_lent;
}

static struct reservation_stuck *find_stuck(const struct reservation_pass *reserve,
                                            const struct candidates *view)
{
    struct reservation_stuck *stuck = reserve->items[reserve->open].failed;
    while (stuck != NULL && stuck->view != view) {
        stuck = stuck->next;
    }
    return stuck;
}

bool reservation_is_stuck(const struct reservation_pass *reserve,
                          const struct candidates *view, int n_slots)
{
    const struct reservation_stuck *stuck =
        reserve->has_turn ? NULL : find_stuck(reserve, view);
    return stuck != NULL && stuck->n_slots <= n_slots;
}

void reservation_set_stuck(struct reservation_pass *reserve, struct candidates *view,
                           int n_slots)
{
    struct reservation_stuck *stuck =
        reserve->has_turn ? NULL : find_stuck(reserve, view);
    if (reserve->has_turn) {
        return; /* it is looked at once */
    }
    if (stuck == NULL) {
        struct reservation_item *item = &reserve->items[reserve->open];
        stuck = arena_alloc(reserve->arena, 1, sizeof(*stuck));
        *stuck = (struct reservation_stuck){view, n_slots, item->failed};
        item->failed = stuck;
    }
    stuck->n_slots = n_slots < stuck->n_slots ? n_slots : stuck->n_slots;
}

void reservation_use(struct reservation_pass *reserve)
{
    if (reserve->open >= 0) {
        reserve->items[reserve->open].is_gone = true;
        reserve->wants_pass = true; /* perhaps it has other ones */
    } else if (reserve->has_targets && reserve->n_backfillable > 0) {
        reserve->n_backfillable =
            0; /* no start behind it was said with this job in mind */
        reserve->wants_pass = true;
    }
    reservation_item_close_later(reserve);
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

static void lend_slots(struct reservation_pass *reserve, struct reservation_item *item,
                       const int *hosts, const struct host_slots *slots, int n_hosts)
{
    struct reservation_item before = *item;
    reservation_item_set_pieces(reserve, item, before.n_pieces + n_hosts);
    for (int i = 0; i < before.n_pieces; i++) {
        add_piece(item, before.pieces[i].host, before.in_hand[i],
                  before.pieces[i].n_backfilled);
    }
    for (int i = 0; i < n_hosts; i++) {
        int piece = 0;
        while (piece < item->n_pieces && item->pieces[piece].host != hosts[i]) {
            piece++;
        }
        if (piece == item->n_pieces) {
            add_piece(item, hosts[i], 0, slots[i].n_slots);
        } else {
            lend_on(item, piece, slots[i].n_slots);
        }
    }
}

void reservation_backfill(struct reservation_pass *reserve, const int *hosts,
                          const struct host_slots *slots, int n_hosts, uint64_t *job,
                          int64_t *until_ms)
{
    struct reservation_item *item = &reserve->items[reserve->open];
    if (!reservation_target_is(item)) {
        lend_slots(reserve, item, hosts, slots, n_hosts);
    }
    *job = item->reservation.job;
    *until_ms = item->reservation.start_ms;
    reservation_close(reserve); /* a target has in hand what is left */
}

static int lent_on(const struct reservation_item *item, int host)
{
    for (int i = 0; item != NULL && i < item->n_pieces; i++) {
        if (item->pieces[i].host == host) {
            return item->pieces[i].n_backfilled;
        }
    }
    return 0;
}

static bool has_host(const struct reservation_item *item, int host)
{
    for (int i = 0; i < item->n_pieces; i++) {
        if (item->pieces[i].host == host) {
            return true;
        }
    }
    return false;
}

struct reservation_item *reservation_item_of(struct reservation_pass *reserve, int line,
                                             uint64_t job)
{
    struct reservation_item *item;
    if (reserve->open >= 0) {
        item = &reserve->items[reserve->open];
    } else {
        item = &reserve->items[reserve->count++];
        *item = (struct reservation_item){
            .reservation = {.job = job, .since_ms = reserve->place->now_ms}};
        reserve->has_made = true;
    }
    item->reservation.class_index = line;
    item->turn = ++reserve->n_turns;
    return item;
}

void reservation_set(struct reservation_pass *reserve, int line, uint64_t job,
                     const int *hosts, const struct host_slots *slots, int n_hosts)
{
    struct reservation_item *item = reservation_item_of(reserve, line, job);
    struct reservation_item before = *item;
    item->n_parts = 0;
    reservation_item_set_pieces(reserve, item, n_hosts + before.n_pieces);
    for (int i = 0; i < n_hosts; i++) {
        add_piece(item, hosts[i], slots[i].n_slots, lent_on(&before, hosts[i]));
    }
    for (int i = 0; i < before.n_pieces; i++) {
        if (!has_host(item, before.pieces[i].host)) {
            add_piece(item, before.pieces[i].host, 0, before.pieces[i].n_backfilled);
        }
    }
    reservation_start_take(reserve, item);
    reservation_item_close_later(reserve);
}

void reservation_drop(struct reservation_pass *reserve, int index)
{
    reserve->items[index].is_gone = true;
    reserve->wants_pass = true;
}

/* ---------------------------------------------------------------- afterwards */

/* Whose turn came first, comes first; then as they stood. */
static void sort_by_turn(struct reservation_pass *reserve)
{
    for (int i = 1; i < reserve->count; i++) {
        struct reservation_item item = reserve->items[i];
        int at = i;
        for (; at > 0 && item.turn != 0 &&
               (reserve->items[at - 1].turn == 0 ||
                reserve->items[at - 1].turn > item.turn);
             at--) {
            reserve->items[at] = reserve->items[at - 1];
        }
        reserve->items[at] = item;
    }
}

/* Pieces of which nothing is left go. */
static void trim(struct reservation_item *item)
{
    struct reservation_item before = *item;
    item->n_pieces = item->n_in_hand = 0;
    for (int i = 0; i < before.n_pieces; i++) {
        reservation_item_add_piece(item, &before.pieces[i], before.in_hand[i]);
    }
}

const struct reservation *reservation_result(struct reservation_pass *reserve,
                                             const struct backfill_run *runs,
                                             int n_runs, int *n_kept)
{
    int count = 0;
    sort_by_turn(reserve);
    for (int i = 0; i < reserve->count; i++) {
        struct reservation_item *item = &reserve->items[i];
        trim(item);
        if (!item->is_gone && item->n_pieces > 0) {
            reserve->items[count++] = *item;
        }
    }
    reserve->count = count;
    if (count > 0) {
        reservation_start_estimate(reserve, runs, n_runs);
    }
    struct reservation *kept =
        arena_alloc(reserve->arena, (size_t)count, sizeof(*kept));
    for (int i = 0; i < count; i++) {
        kept[i] = reserve->items[i].reservation;
        kept[i].pieces = reserve->items[i].pieces;
        kept[i].n_pieces = reserve->items[i].n_pieces;
        kept[i].parts = reserve->items[i].parts;
        kept[i].n_parts = reserve->items[i].n_parts;
    }
    *n_kept = count;
    return kept;
}

void reservation_want_pass(struct reservation_pass *reserve)
{
    reserve->wants_pass = true;
}

bool reservation_wants_pass(const struct reservation_pass *reserve)
{
    return reserve->wants_pass || (reserve->has_made && reserve->has_backfill);
}
