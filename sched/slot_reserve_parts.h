/* SPDX-License-Identifier: Apache-2.0 */
/* slot_reserve_parts.h: the inside of what is kept for waiting jobs, for the files that
 * make it: slot_reserve.c (what is in hand as a pass goes on, and lent),
 * slot_reserve_target.c (of a job that chooses its hosts), slot_reserve_start.c (when
 * they can start).
 * Layer: sched, within slot_reserve. */
#ifndef SUBLET_SCHED_SLOT_RESERVE_PARTS_H
#define SUBLET_SCHED_SLOT_RESERVE_PARTS_H

#include "sched/place_view.h"
#include "sched/slot_reserve.h"

/* A view that had no room with what is open. */
struct slot_reserve_stuck {
    const struct place_view *view;
    int n_slots; /* for so many, or more */
    struct slot_reserve_stuck *next;
};

struct reserved {
    struct slot_reservation shown;
    struct slot_reserve_piece *pieces;
    int *in_hand; /* by piece */
    int n_pieces, n_in_hand;
    struct slot_reserve_part *parts;
    int n_parts;
    int turn; /* in this pass, from 1; 0: it has not come */
    bool is_gone;
    struct slot_reserve_stuck *stuck;
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
    int n_lendable; /* the first so many have a start of before the pass, that holds */
    bool has_backfill, has_targets, has_freed, has_made;
    /* What jobs leave behind that run as the pass begins, but for what those take of it
     * whose turn has come; NULL: nobody has asked yet. */
    struct backfill_supply *ahead;
    const struct backfill_run *runs; /* those jobs, in order */
    int n_ahead;
};

/* Room for so many pieces, of which it has none. */
void slot_reserve_set_pieces(struct slot_reserve *reserve, struct reserved *item,
                             int n_most);
/* A piece of nothing is none. */
void slot_reserve_add_piece(struct reserved *item,
                            const struct slot_reserve_piece *piece, int n_in_hand);
/* Waiting jobs that may reserve have shapes. */
bool slot_reserve_has_shapes(const struct place_snapshot *place);
/* It has chosen its hosts. */
bool slot_reserve_is_target(const struct reserved *item);
/* Where what it keeps for the line's next job stands: what is open, or a new one. */
struct reserved *slot_reserve_item(struct slot_reserve *reserve, int line,
                                   uint64_t job);
/* What is open of jobs whose turn has not come is in use again. */
void slot_reserve_close_behind(struct slot_reserve *reserve);

/* As things stand: what is free now is anybody's, and theirs first. */
void slot_reserve_start_tell(struct slot_reserve *reserve);
/* The item's turn has come: it takes first of what falls free. */
void slot_reserve_start_take(struct slot_reserve *reserve, const struct reserved *item);

#endif
