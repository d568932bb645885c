/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_item.h: the inside of what is kept for waiting jobs, for the files that
 * make it: reservation.c (what is in hand as a pass goes on, and lent),
 * reservation_target.c (of a job that chooses its hosts), reservation_start.c (when
 * they can start).
 * Layer: sched, within slot_reserve. */
#ifndef SUBLET_SCHED_RESERVATION_RESERVATION_ITEM_H
#define SUBLET_SCHED_RESERVATION_RESERVATION_ITEM_H

#include "sched/place/candidates.h"
#include "sched/reservation/reservation.h"

/* A view that had no room with what is open. */
struct reservation_stuck {
    const struct candidates *view;
    int n_slots; /* for so many, or more */
    struct reservation_stuck *next;
};

struct reservation_item {
    struct reservation reservation;
    struct reservation_piece *pieces;
    int *in_hand; /* by piece */
    int n_pieces, n_in_hand;
    struct reservation_part *parts;
    int n_parts;
    int turn; /* in this pass, from 1; 0: it has not come */
    bool is_gone;
    struct reservation_stuck *failed;
};

struct reservation_pass {
    const struct reservation_snapshot *snapshot;
    const struct place_snapshot *place;
    struct arena *arena;
    struct place_state *state;
    struct reservation_item *items;
    int count;
    int open;      /* whose own slots are; -1: nobody's */
    bool has_turn; /* what jobs whose turn has not come have in hand is open too */
    int n_turns;
    int n_backfillable; /* the first so many have a start of before the pass, that holds
                         */
    bool has_backfill, has_targets, wants_pass, has_made;
    /* What jobs leave behind that run as the pass begins, but for what those take of it
     * whose turn has come; NULL: nobody has asked yet. */
    struct backfill_supply *supply;
};

/* Room for so many pieces, of which it has none. */
void reservation_item_set_pieces(struct reservation_pass *reserve,
                                 struct reservation_item *item, int n_most);
/* A piece of nothing is none. */
void reservation_item_add_piece(struct reservation_item *item,
                                const struct reservation_piece *piece, int n_in_hand);
/* Waiting jobs that may reserve have shapes. */
bool reservation_target_has_spans(const struct place_snapshot *place);
/* It has chosen its hosts. */
bool reservation_target_is(const struct reservation_item *item);
/* Where what it keeps for the line's next job stands: what is open, or a new one. */
struct reservation_item *reservation_item_of(struct reservation_pass *reserve, int line,
                                             uint64_t job);
/* What is open of jobs whose turn has not come is in use again. */
void reservation_item_close_later(struct reservation_pass *reserve);

/* As things stand: what is free now is anybody's, and theirs first. */
void reservation_start_estimate(struct reservation_pass *reserve,
                                const struct backfill_run *runs, int n_runs);
/* The item's turn has come: it takes first of what falls free. */
void reservation_start_take(struct reservation_pass *reserve,
                            const struct reservation_item *item);

#endif
