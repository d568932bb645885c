/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_item.h: one reservation while a pass works on it, and the state of all
 * reservations in a pass.
 *
 * The slots in hand of a reservation are part of `used` in the state of the pass, so
 * that the rest of the pass need not know of reservations. They are taken off `used`
 * only while one job may have them (reservation_open).
 *
 * Units: slots, thousandths. Ownership: the arena's. Layer: sched, within reservation.
 */
#ifndef SUBLET_SCHED_RESERVATION_RESERVATION_ITEM_H
#define SUBLET_SCHED_RESERVATION_RESERVATION_ITEM_H

#include "sched/place/candidates.h"
#include "sched/reservation/reservation.h"

/* These candidates had no room for a job while the reservation was open. */
struct reservation_stuck {
    const struct candidates *candidates;
    int n_slots; /* of the smallest such job */
    struct reservation_stuck *next;
};

/* A reservation as the pass changes it. "In hand" are slots that are reserved and free:
 * not lent to a backfill job. */
struct reservation_item {
    struct reservation reservation;
    struct reservation_piece *pieces;
    int *in_hand; /* by piece */
    int n_pieces, n_in_hand;
    struct reservation_part *parts;
    int n_parts;
    int order; /* of its job in this pass, from 1; 0: the pass has not reached the job
                */
    bool is_gone; /* it was used, or given up */
    struct reservation_stuck *failed;
};

struct reservation_pass {
    const struct reservation_snapshot *snapshot;
    const struct place_snapshot *place;
    struct arena *arena;
    struct place_state *state;
    struct reservation_item *items; /* NULL: there was none yet */
    int count;
    int open_item;      /* the item whose slots in hand count as free; -1: none */
    bool is_open_later; /* so do those of items whose jobs the pass has not reached: of
                           all, or of those that give way to `open_queue` */
    bool opens_all;
    int open_queue;
    int n_reached;
    int n_backfillable; /* the start times of the first so many items still hold */
    bool has_backfill, has_targets, wants_pass, has_made;
    /* What running jobs will free, less what jobs that the pass has reached take of it.
     * NULL: not needed yet. */
    struct backfill_supply *supply;
};

/* An empty one more. */
struct reservation_item *reservation_item_add(struct reservation_pass *pass);
/* Gives the item room for so many pieces. It has none after that. */
void reservation_item_set_pieces(struct reservation_pass *pass,
                                 struct reservation_item *item, int n_most);
/* Adds a piece, unless it has neither slots nor a target. */
void reservation_item_add_piece(struct reservation_item *item,
                                const struct reservation_piece *piece, int n_in_hand);
/* The job has chosen its hosts (reservation_target.c). */
bool reservation_item_has_target(const struct reservation_item *item);
/* Marks the part as used, as far as its supply has so much left. */
void reservation_item_use_part(struct reservation_pass *pass,
                               struct reservation_part *part);
/* Frees what is in hand. */
void reservation_item_free(struct reservation_pass *pass,
                           const struct reservation_item *item);
bool reservation_item_has_affinity(const struct reservation_pass *pass,
                                   const struct reservation_item *item);
/* No other job with affinity starts on its hosts, if its job has affinity; with `sign`
 * -1 they do again. */
void reservation_item_keep_hosts(const struct reservation_pass *pass,
                                 const struct reservation_item *item, int sign);
/* Marks what is in hand as used again. What another job took meanwhile is lost. */
void reservation_item_use(struct reservation_pass *pass, struct reservation_item *item);
/* The pass has not reached the item's job, which jobs of the queue may preempt. */
bool reservation_item_gives_way(const struct reservation_pass *pass,
                                const struct reservation_item *item, int queue);
/* The item is open because the pass has not reached its job yet. */
bool reservation_item_is_later(const struct reservation_pass *pass, int index);
/* Closes all items that are open for that reason, and forgets which item is open. */
void reservation_item_close_later(struct reservation_pass *pass);
/* The item of the next job of the class, which the pass has reached now: the open one,
 * or a new one. */
struct reservation_item *reservation_item_of(struct reservation_pass *pass, int class,
                                             uint64_t job);

/* Sets the start time of every reservation: each job takes what is free now, and then
 * what the runs free, in the order of the reservations. */
void reservation_start_estimate(struct reservation_pass *pass,
                                const struct backfill_run *runs, int n_runs);
/* The pass has reached the job of the item: it takes what it lacks from what running
 * jobs will free, before all jobs that the pass reaches later. */
void reservation_start_take(struct reservation_pass *pass,
                            const struct reservation_item *item);

#endif
