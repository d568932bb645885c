/* SPDX-License-Identifier: Apache-2.0 */
/* slot_reserve.c: see slot_reserve.h.
 *
 * What is in hand is part of the room's `used`, so nobody else has to know of it; it is
 * taken off there for as long as one job may have it. Slots only get fewer in a pass:
 * what a job gives up stays in use until the next one. */
#include "sched/slot_reserve.h"

#include <limits.h>

#include "sched/place_view.h"

/* A view that had no room with what is open. */
struct stuck {
    const struct place_view *view;
    int n_slots; /* for so many, or more */
    struct stuck *next;
};

struct reserved {
    struct slot_reservation shown;
    struct slot_reserve_piece *pieces;
    int *in_hand; /* by piece */
    int n_pieces, n_in_hand;
    int turn; /* in this pass, from 1; 0: it has not come */
    bool is_gone;
    struct stuck *stuck;
};

struct slot_reserve {
    const struct slot_reserve_snapshot *snapshot;
    const struct place_snapshot *place;
    struct arena *arena;
    struct place_room *room;
    struct reserved *items;
    int count;
    int open;      /* whose own slots are; -1: nobody's */
    bool has_turn; /* what jobs whose turn has not come have in hand is open too */
    int n_turns;
    int n_lendable; /* the first so many have a start of before the pass */
    bool has_backfill, has_freed, has_made;
};

/* ---------------------------------------------------------------- starts */

/* 1 where the job may have slots now, in the group where it reserves. */
static uint8_t *allowed_of(const struct slot_reserve *reserve,
                           const struct reserved *item)
{
    const struct place_snapshot *place = reserve->place;
    const struct place_line *line = &place->lines[item->shown.line];
    int group = reserve->room->group_of[item->pieces[0].host];
    uint8_t *allowed = arena_alloc(reserve->arena, (size_t)place->n_hosts, 1);
    for (int i = 0; i < place->n_hosts; i++) {
        allowed[i] = reserve->room->group_of[i] == group && place->hosts[i].is_open &&
                     place_view_allows(place, line, i);
    }
    return allowed;
}

/* As things stand: what is free now is anybody's, and theirs first. */
static void tell_starts(struct slot_reserve *reserve)
{
    const struct slot_reserve_snapshot *snapshot = reserve->snapshot;
    struct arena *arena = reserve->arena;
    int n_hosts = reserve->place->n_hosts, n_runs = 0;
    size_t count = (size_t)reserve->count;
    struct backfill_run *runs = snapshot->runs(snapshot->arg, &n_runs);
    struct backfill_want *wants = arena_alloc(arena, count, sizeof(*wants));
    int64_t *starts_ms = arena_alloc(arena, count, sizeof(*starts_ms));
    int *n_free = arena_alloc(arena, (size_t)n_hosts, sizeof(*n_free));
    for (int i = 0; i < n_hosts; i++) {
        n_free[i] = place_view_slots_on(reserve->room, i, false);
    }
    for (int i = 0; i < reserve->count; i++) {
        const struct reserved *item = &reserve->items[i];
        int n_slots = reserve->place->lines[item->shown.line].n_slots;
        wants[i].n_missing = item->n_pieces == 0 ? 0 : n_slots - item->n_in_hand;
        wants[i].allowed = item->n_pieces == 0 ? NULL : allowed_of(reserve, item);
    }
    backfill_sort(runs, n_runs);
    backfill_starts(arena, runs, n_runs, n_free, n_hosts, wants, reserve->count,
                    snapshot->now_ms, starts_ms);
    for (int i = 0; i < reserve->count; i++) {
        reserve->items[i].shown.start_ms = starts_ms[i];
    }
}

/* ---------------------------------------------------------------- life */

static bool has_backfill(const struct place_snapshot *place)
{
    for (int i = 0; i < place->n_queues; i++) {
        if (place->queues[i].reserve.is_backfill) {
            return true;
        }
    }
    return false;
}

static void set_pieces(struct slot_reserve *reserve, struct reserved *item, int n_most)
{
    item->pieces = arena_alloc(reserve->arena, (size_t)n_most, sizeof(*item->pieces));
    item->in_hand = arena_alloc(reserve->arena, (size_t)n_most, sizeof(int));
    item->n_pieces = item->n_in_hand = 0;
}

static void add_piece(struct reserved *item, int host, int n_in_hand, int n_lent)
{
    if (n_in_hand + n_lent == 0) {
        return;
    }
    item->in_hand[item->n_pieces] = n_in_hand;
    item->pieces[item->n_pieces++] =
        (struct slot_reserve_piece){host, n_in_hand + n_lent, n_lent};
    item->n_in_hand += n_in_hand;
}

struct slot_reserve *slot_reserve_new(struct arena *arena,
                                      const struct slot_reserve_snapshot *snapshot)
{
    struct slot_reserve *reserve = arena_alloc(arena, 1, sizeof(*reserve));
    *reserve = (struct slot_reserve){.snapshot = snapshot,
                                     .place = snapshot->place,
                                     .arena = arena,
                                     .open = -1,
                                     .has_backfill = has_backfill(snapshot->place)};
    reserve->items =
        arena_alloc(arena, (size_t)snapshot->n_kept + SLOT_RESERVATIONS_MAX,
                    sizeof(struct reserved));
    return reserve;
}

/* Of its slots those that are there: a host may have shrunk, or be closed. */
static void begin_one(struct slot_reserve *reserve, const struct slot_reservation *kept)
{
    struct reserved *item = &reserve->items[reserve->count++];
    item->shown = *kept;
    set_pieces(reserve, item, kept->n_pieces);
    for (int i = 0; i < kept->n_pieces; i++) {
        const struct slot_reserve_piece *piece = &kept->pieces[i];
        int n_left = place_view_slots_on(reserve->room, piece->host, false);
        int n_in_hand = piece->n_slots - piece->n_lent;
        n_in_hand = n_in_hand < n_left ? n_in_hand : n_left;
        reserve->room->used[piece->host] += n_in_hand;
        add_piece(item, piece->host, n_in_hand, piece->n_lent);
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
        tell_starts(reserve);
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

int slot_reserve_next(const struct slot_reserve *reserve, int index, int64_t until_ms)
{
    for (int i = index + 1; i < reserve->n_lendable; i++) {
        const struct reserved *item = &reserve->items[i];
        if (!item->is_gone && item->n_in_hand > 0 &&
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
    return reserve->place->queues[at->queue].reserve.max_ms > 0 && at->n_slots > 1 &&
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
}

static bool is_behind(const struct slot_reserve *reserve, int index)
{
    const struct reserved *item = &reserve->items[index];
    return reserve->has_turn && index != reserve->open && item->turn == 0 &&
           !item->is_gone;
}

static void close_behind(struct slot_reserve *reserve)
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
    close_behind(reserve);
}

bool slot_reserve_is_open(const struct slot_reserve *reserve)
{
    return reserve->open >= 0 || reserve->has_turn;
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
    }
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

static struct stuck *find_stuck(const struct slot_reserve *reserve,
                                const struct place_view *view)
{
    struct stuck *stuck = reserve->items[reserve->open].stuck;
    while (stuck != NULL && stuck->view != view) {
        stuck = stuck->next;
    }
    return stuck;
}

bool slot_reserve_is_stuck(const struct slot_reserve *reserve,
                           const struct place_view *view, int n_slots)
{
    const struct stuck *stuck = reserve->has_turn ? NULL : find_stuck(reserve, view);
    return stuck != NULL && stuck->n_slots <= n_slots;
}

void slot_reserve_set_stuck(struct slot_reserve *reserve, struct place_view *view,
                            int n_slots)
{
    struct stuck *stuck = reserve->has_turn ? NULL : find_stuck(reserve, view);
    if (reserve->has_turn) {
        return; /* it is looked at once */
    }
    if (stuck == NULL) {
        struct reserved *item = &reserve->items[reserve->open];
        stuck = arena_alloc(reserve->arena, 1, sizeof(*stuck));
        *stuck = (struct stuck){view, n_slots, item->stuck};
        item->stuck = stuck;
    }
    stuck->n_slots = n_slots < stuck->n_slots ? n_slots : stuck->n_slots;
}

void slot_reserve_use(struct slot_reserve *reserve)
{
    if (reserve->open >= 0) {
        reserve->items[reserve->open].is_gone = true;
        reserve->has_freed = true; /* perhaps it has other ones */
    }
    close_behind(reserve);
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

void slot_reserve_lend(struct slot_reserve *reserve, const int *hosts,
                       const struct host_slots *slots, int n_hosts, uint64_t *job,
                       int64_t *until_ms)
{
    struct reserved *item = &reserve->items[reserve->open];
    struct reserved before = *item;
    set_pieces(reserve, item, before.n_pieces + n_hosts);
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
    *job = item->shown.job;
    *until_ms = item->shown.start_ms;
    slot_reserve_close(reserve);
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

void slot_reserve_keep(struct slot_reserve *reserve, int line, uint64_t job,
                       const int *hosts, const struct host_slots *slots, int n_hosts)
{
    struct reserved before = {.n_pieces = 0};
    struct reserved *item;
    if (reserve->open >= 0) {
        item = &reserve->items[reserve->open];
        before = *item;
    } else {
        item = &reserve->items[reserve->count++];
        item->shown = (struct slot_reservation){.job = job,
                                                .since_ms = reserve->snapshot->now_ms};
        reserve->has_made = true;
    }
    item->shown.line = line;
    item->turn = ++reserve->n_turns;
    set_pieces(reserve, item, n_hosts + before.n_pieces);
    for (int i = 0; i < n_hosts; i++) {
        add_piece(item, hosts[i], slots[i].n_slots, lent_on(&before, hosts[i]));
    }
    for (int i = 0; i < before.n_pieces; i++) {
        if (!has_host(item, before.pieces[i].host)) {
            add_piece(item, before.pieces[i].host, 0, before.pieces[i].n_lent);
        }
    }
    close_behind(reserve);
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
        add_piece(item, before.pieces[i].host, before.in_hand[i],
                  before.pieces[i].n_lent);
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
        tell_starts(reserve);
    }
    struct slot_reservation *kept =
        arena_alloc(reserve->arena, (size_t)count, sizeof(*kept));
    for (int i = 0; i < count; i++) {
        kept[i] = reserve->items[i].shown;
        kept[i].pieces = reserve->items[i].pieces;
        kept[i].n_pieces = reserve->items[i].n_pieces;
    }
    *n_kept = count;
    return kept;
}

bool slot_reserve_wants_pass(const struct slot_reserve *reserve)
{
    return reserve->has_freed || (reserve->has_made && reserve->has_backfill);
}
