/* SPDX-License-Identifier: Apache-2.0 */
/* slot_reserve.c: see slot_reserve.h.
 *
 * What is in hand is part of the room's `used`, so nobody else has to know of it; it is
 * taken off there for as long as one job may have it. Slots only get fewer in a pass:
 * what a job gives up stays in use until the next one. */
#include "sched/slot_reserve.h"

#include <limits.h>

#include "sched/slot_reserve_parts.h"

/* ---------------------------------------------------------------- life */

static void read_queues(struct slot_reserve *reserve)
{
    reserve->has_targets = slot_reserve_has_shapes(reserve->place);
    for (int i = 0; i < reserve->place->n_queues; i++) {
        const struct queue_reserve *queue = &reserve->place->queues[i].reserve;
        reserve->has_backfill = reserve->has_backfill || queue->is_backfill;
        reserve->has_targets = reserve->has_targets || queue->has_resources;
    }
}

void slot_reserve_set_pieces(struct slot_reserve *reserve, struct reserved *item,
                             int n_most)
{
    item->pieces = arena_alloc(reserve->arena, (size_t)n_most, sizeof(*item->pieces));
    item->in_hand = arena_alloc(reserve->arena, (size_t)n_most, sizeof(int));
    item->n_pieces = item->n_in_hand = 0;
}

void slot_reserve_add_piece(struct reserved *item,
                            const struct slot_reserve_piece *piece, int n_in_hand)
{
    if (piece->n_slots == 0 && piece->n_target == 0) {
        return;
    }
    item->in_hand[item->n_pieces] = n_in_hand;
    item->pieces[item->n_pieces++] = *piece;
    item->n_in_hand += n_in_hand;
}

static void add_piece(struct reserved *item, int host, int n_in_hand, int n_lent)
{
    slot_reserve_add_piece(
        item, &(struct slot_reserve_piece){host, n_in_hand + n_lent, n_lent, 0},
        n_in_hand);
}

struct slot_reserve *slot_reserve_new(struct arena *arena,
                                      const struct slot_reserve_snapshot *snapshot)
{
    struct slot_reserve *reserve = arena_alloc(arena, 1, sizeof(*reserve));
    *reserve = (struct slot_reserve){
        .snapshot = snapshot, .place = snapshot->place, .arena = arena, .open = -1};
    read_queues(reserve);
    reserve->items =
        arena_alloc(arena, (size_t)snapshot->n_kept + SLOT_RESERVATIONS_MAX,
                    sizeof(struct reserved));
    return reserve;
}

/* Of its slots those that are there: a host may have shrunk, or be closed. */
static void begin_slots(struct slot_reserve *reserve, struct reserved *item,
                        const struct slot_reservation *kept)
{
    slot_reserve_set_pieces(reserve, item, kept->n_pieces);
    for (int i = 0; i < kept->n_pieces; i++) {
        const struct slot_reserve_piece *piece = &kept->pieces[i];
        int n_left = place_view_slots_on(reserve->room, piece->host, false);
        int n_in_hand = piece->n_slots - piece->n_lent;
        n_in_hand = n_in_hand < n_left ? n_in_hand : n_left;
        reserve->room->used[piece->host] += n_in_hand;
        slot_reserve_add_piece(
            item,
            &(struct slot_reserve_piece){piece->host, n_in_hand + piece->n_lent,
                                         piece->n_lent, piece->n_target},
            n_in_hand);
    }
}

/* It does not keep more of a pool than is there. */
static void use_part(struct slot_reserve *reserve, struct slot_reserve_part *part)
{
    int64_t *left = &reserve->room->left[part->pool];
    int64_t n_left = *left > 0 ? *left : 0;
    part->milli = part->milli < n_left ? part->milli : n_left;
    *left -= part->milli;
}

static void begin_one(struct slot_reserve *reserve, const struct slot_reservation *kept)
{
    struct reserved *item = &reserve->items[reserve->count++];
    item->shown = *kept;
    begin_slots(reserve, item, kept);
    item->n_parts = kept->n_parts;
    item->parts =
        arena_alloc(reserve->arena, (size_t)kept->n_parts + 1, sizeof(*item->parts));
    for (int i = 0; i < kept->n_parts; i++) {
        item->parts[i] = kept->parts[i];
        use_part(reserve, &item->parts[i]);
    }
}

void slot_reserve_begin(struct slot_reserve *reserve, struct place_room *room)
{
    reserve->room =
        arena_copy(reserve->arena, room, sizeof(*room)); /* it outlives it */
    for (int i = 0; i < reserve->snapshot->n_kept; i++) {
        begin_one(reserve, &reserve->snapshot->kept[i]);
    }
    reserve->n_lendable = reserve->count;
    if (reserve->has_backfill && reserve->count > 0) {
        slot_reserve_start_tell(reserve);
    }
}

bool slot_reserve_is_idle(const struct slot_reserve *reserve)
{
    return reserve->count == 0;
}

/* ---------------------------------------------------------------- finding */

int slot_reserve_find(const struct slot_reserve *reserve, uint64_t job)
{
    for (int i = 0; i < reserve->count; i++) {
        if (reserve->items[i].shown.job == job && !reserve->items[i].is_gone) {
            return i;
        }
    }
    return -1;
}

static bool has_in_hand(const struct reserved *item)
{
    bool has_any = item->n_in_hand > 0;
    for (int i = 0; i < item->n_parts && !has_any; i++) {
        has_any = item->parts[i].milli > 0;
    }
    return has_any;
}

int slot_reserve_next(const struct slot_reserve *reserve, int index, int64_t until_ms)
{
    for (int i = index + 1; i < reserve->n_lendable; i++) {
        const struct reserved *item = &reserve->items[i];
        if (!item->is_gone && has_in_hand(item) &&
            item->shown.start_ms != BACKFILL_NEVER &&
            until_ms <= item->shown.start_ms) {
            return i;
        }
    }
    return -1;
}

bool slot_reserve_may(const struct slot_reserve *reserve, int line, uint64_t job)
{
    const struct place_line *at = &reserve->place->lines[line];
    return reserve->place->queues[at->queue].reserve.max_ms > 0 &&
           (at->n_slots > 1 || slot_reserve_has_target(reserve, line)) &&
           !at->is_exclusive &&
           (reserve->count < SLOT_RESERVATIONS_MAX ||
            slot_reserve_find(reserve, job) >= 0) &&
           !reserve->snapshot->is_barred(reserve->snapshot->arg, job);
}

/* ---------------------------------------------------------------- one job */

static void free_in_hand(struct slot_reserve *reserve, const struct reserved *item)
{
    for (int i = 0; i < item->n_pieces; i++) {
        reserve->room->used[item->pieces[i].host] -= item->in_hand[i];
    }
    for (int i = 0; i < item->n_parts; i++) {
        reserve->room->left[item->parts[i].pool] += item->parts[i].milli;
    }
}

/* In use again, as far as nobody has taken it meanwhile. */
static void use_in_hand(struct slot_reserve *reserve, struct reserved *item)
{
    for (int i = 0; i < item->n_pieces; i++) {
        int host = item->pieces[i].host;
        int n_left = place_view_slots_on(reserve->room, host, false);
        int n_lost = item->in_hand[i] > n_left ? item->in_hand[i] - n_left : 0;
        item->in_hand[i] -= n_lost;
        item->pieces[i].n_slots -= n_lost;
        item->n_in_hand -= n_lost;
        reserve->room->used[host] += item->in_hand[i];
    }
    for (int i = 0; i < item->n_parts; i++) {
        use_part(reserve, &item->parts[i]);
    }
}

static bool is_behind(const struct slot_reserve *reserve, int index)
{
    const struct reserved *item = &reserve->items[index];
    return reserve->has_turn && index != reserve->open && item->turn == 0 &&
           !item->is_gone;
}

void slot_reserve_close_behind(struct slot_reserve *reserve)
{
    for (int i = 0; i < reserve->count; i++) {
        if (is_behind(reserve, i)) {
            use_in_hand(reserve, &reserve->items[i]);
        }
    }
    reserve->has_turn = false;
    reserve->open = -1;
}

void slot_reserve_open(struct slot_reserve *reserve, int index)
{
    reserve->open = index;
    free_in_hand(reserve, &reserve->items[index]);
}

void slot_reserve_open_turn(struct slot_reserve *reserve, int own)
{
    reserve->open = own;
    reserve->has_turn = true;
    for (int i = 0; i < reserve->count; i++) {
        if (i == own || is_behind(reserve, i)) {
            free_in_hand(reserve, &reserve->items[i]);
        }
    }
}

void slot_reserve_close(struct slot_reserve *reserve)
{
    if (reserve->open >= 0) {
        use_in_hand(reserve, &reserve->items[reserve->open]);
    }
    slot_reserve_close_behind(reserve);
}

bool slot_reserve_is_open(const struct slot_reserve *reserve)
{
    return reserve->open >= 0 || reserve->has_turn;
}

/* Hosts that draw from a pool that something is kept of. */
static void show_part(const struct slot_reserve *reserve, struct place_view *view,
                      const struct slot_reserve_part *part)
{
    const int *pool_of = reserve->place->reserve->kinds[part->kind].pool_of;
    if (part->milli > 0 && view->asks != NULL) {
        place_view_restore_of(reserve->room, view, pool_of, part->pool);
    }
}

void slot_reserve_show(const struct slot_reserve *reserve, struct place_view *view)
{
    for (int i = 0; i < reserve->count; i++) {
        const struct reserved *item = &reserve->items[i];
        bool is_open = i == reserve->open || is_behind(reserve, i);
        for (int k = 0; is_open && k < item->n_pieces; k++) {
            if (item->in_hand[k] > 0) {
                place_view_restore(reserve->room, view, item->pieces[k].host);
            }
        }
        for (int k = 0; is_open && k < item->n_parts; k++) {
            show_part(reserve, view, &item->parts[k]);
        }
    }
}

bool slot_reserve_has_host(const struct slot_reserve *reserve, int host)
{
    const struct reserved *item = &reserve->items[reserve->open];
    for (int i = 0; i < item->n_pieces; i++) {
        if (item->pieces[i].host == host) {
            return item->in_hand[i] > 0;
        }
    }
    return false;
}

int slot_reserve_lent(const struct slot_reserve *reserve, int *group)
{
    int n_lent = 0;
    *group = -1;
    for (int i = 0; reserve->open >= 0 && i < reserve->items[reserve->open].n_pieces;
         i++) {
        const struct slot_reserve_piece *piece =
            &reserve->items[reserve->open].pieces[i];
        n_lent += piece->n_lent;
        *group = reserve->room->group_of[piece->host];
    }
    return n_lent;
}

static struct slot_reserve_stuck *find_stuck(const struct slot_reserve *reserve,
                                             const struct place_view *view)
{
    struct slot_reserve_stuck *stuck = reserve->items[reserve->open].stuck;
    while (stuck != NULL && stuck->view != view) {
        stuck = stuck->next;
    }
    return stuck;
}

bool slot_reserve_is_stuck(const struct slot_reserve *reserve,
                           const struct place_view *view, int n_slots)
{
    const struct slot_reserve_stuck *stuck =
        reserve->has_turn ? NULL : find_stuck(reserve, view);
    return stuck != NULL && stuck->n_slots <= n_slots;
}

void slot_reserve_set_stuck(struct slot_reserve *reserve, struct place_view *view,
                            int n_slots)
{
    struct slot_reserve_stuck *stuck =
        reserve->has_turn ? NULL : find_stuck(reserve, view);
    if (reserve->has_turn) {
        return; /* it is looked at once */
    }
    if (stuck == NULL) {
        struct reserved *item = &reserve->items[reserve->open];
        stuck = arena_alloc(reserve->arena, 1, sizeof(*stuck));
        *stuck = (struct slot_reserve_stuck){view, n_slots, item->stuck};
        item->stuck = stuck;
    }
    stuck->n_slots = n_slots < stuck->n_slots ? n_slots : stuck->n_slots;
}

void slot_reserve_use(struct slot_reserve *reserve)
{
    if (reserve->open >= 0) {
        reserve->items[reserve->open].is_gone = true;
        reserve->has_freed = true; /* perhaps it has other ones */
    } else if (reserve->has_targets && reserve->n_lendable > 0) {
        reserve->n_lendable = 0; /* no start behind it was said with this job in mind */
        reserve->has_freed = true;
    }
    slot_reserve_close_behind(reserve);
}

/* All that it takes counts as lent: what is free there would be reserved next. */
static void lend_on(struct reserved *item, int piece, int n_slots)
{
    int n = n_slots < item->in_hand[piece] ? n_slots : item->in_hand[piece];
    item->in_hand[piece] -= n;
    item->n_in_hand -= n;
    item->pieces[piece].n_lent += n_slots;
    item->pieces[piece].n_slots += n_slots - n;
}

static void lend_slots(struct slot_reserve *reserve, struct reserved *item,
                       const int *hosts, const struct host_slots *slots, int n_hosts)
{
    struct reserved before = *item;
    slot_reserve_set_pieces(reserve, item, before.n_pieces + n_hosts);
    for (int i = 0; i < before.n_pieces; i++) {
        add_piece(item, before.pieces[i].host, before.in_hand[i],
                  before.pieces[i].n_lent);
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

void slot_reserve_lend(struct slot_reserve *reserve, const int *hosts,
                       const struct host_slots *slots, int n_hosts, uint64_t *job,
                       int64_t *until_ms)
{
    struct reserved *item = &reserve->items[reserve->open];
    if (!slot_reserve_is_target(item)) {
        lend_slots(reserve, item, hosts, slots, n_hosts);
    }
    *job = item->shown.job;
    *until_ms = item->shown.start_ms;
    slot_reserve_close(reserve); /* a target has in hand what is left */
}

static int lent_on(const struct reserved *item, int host)
{
    for (int i = 0; item != NULL && i < item->n_pieces; i++) {
        if (item->pieces[i].host == host) {
            return item->pieces[i].n_lent;
        }
    }
    return 0;
}

static bool has_host(const struct reserved *item, int host)
{
    for (int i = 0; i < item->n_pieces; i++) {
        if (item->pieces[i].host == host) {
            return true;
        }
    }
    return false;
}

struct reserved *slot_reserve_item(struct slot_reserve *reserve, int line, uint64_t job)
{
    struct reserved *item;
    if (reserve->open >= 0) {
        item = &reserve->items[reserve->open];
    } else {
        item = &reserve->items[reserve->count++];
        *item = (struct reserved){
            .shown = {.job = job, .since_ms = reserve->snapshot->now_ms}};
        reserve->has_made = true;
    }
    item->shown.line = line;
    item->turn = ++reserve->n_turns;
    return item;
}

void slot_reserve_keep(struct slot_reserve *reserve, int line, uint64_t job,
                       const int *hosts, const struct host_slots *slots, int n_hosts)
{
    struct reserved *item = slot_reserve_item(reserve, line, job);
    struct reserved before = *item;
    item->n_parts = 0;
    slot_reserve_set_pieces(reserve, item, n_hosts + before.n_pieces);
    for (int i = 0; i < n_hosts; i++) {
        add_piece(item, hosts[i], slots[i].n_slots, lent_on(&before, hosts[i]));
    }
    for (int i = 0; i < before.n_pieces; i++) {
        if (!has_host(item, before.pieces[i].host)) {
            add_piece(item, before.pieces[i].host, 0, before.pieces[i].n_lent);
        }
    }
    slot_reserve_start_take(reserve, item);
    slot_reserve_close_behind(reserve);
}

void slot_reserve_drop(struct slot_reserve *reserve, int index)
{
    reserve->items[index].is_gone = true;
    reserve->has_freed = true;
}

/* ---------------------------------------------------------------- afterwards */

/* Whose turn came first, comes first; then as they stood. */
static void sort_by_turn(struct slot_reserve *reserve)
{
    for (int i = 1; i < reserve->count; i++) {
        struct reserved item = reserve->items[i];
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
static void trim(struct reserved *item)
{
    struct reserved before = *item;
    item->n_pieces = item->n_in_hand = 0;
    for (int i = 0; i < before.n_pieces; i++) {
        slot_reserve_add_piece(item, &before.pieces[i], before.in_hand[i]);
    }
}

const struct slot_reservation *slot_reserve_result(struct slot_reserve *reserve,
                                                   int *n_kept)
{
    int count = 0;
    sort_by_turn(reserve);
    for (int i = 0; i < reserve->count; i++) {
        struct reserved *item = &reserve->items[i];
        trim(item);
        if (!item->is_gone && item->n_pieces > 0) {
            reserve->items[count++] = *item;
        }
    }
    reserve->count = count;
    if (count > 0) {
        slot_reserve_start_tell(reserve);
    }
    struct slot_reservation *kept =
        arena_alloc(reserve->arena, (size_t)count, sizeof(*kept));
    for (int i = 0; i < count; i++) {
        kept[i] = reserve->items[i].shown;
        kept[i].pieces = reserve->items[i].pieces;
        kept[i].n_pieces = reserve->items[i].n_pieces;
        kept[i].parts = reserve->items[i].parts;
        kept[i].n_parts = reserve->items[i].n_parts;
    }
    *n_kept = count;
    return kept;
}

void slot_reserve_want_pass(struct slot_reserve *reserve)
{
    reserve->has_freed = true;
}

bool slot_reserve_wants_pass(const struct slot_reserve *reserve)
{
    return reserve->has_freed || (reserve->has_made && reserve->has_backfill);
}
