/* SPDX-License-Identifier: Apache-2.0 */
/* slot_pool.h: queues that share slots by percentage (SLOT_POOL): how many each is to
 * have now, whose turn it is, and what each has used.
 *
 * A pool is entitled to all slots of its hosts, at most MAX_SLOTS_IN_POOL. They are
 * handed out in rounds: each queue, in order, gets its percentage of what there was at
 * the round's beginning, rounded up, as far as slots are left and it has a use for
 * them; the next round hands out what the last one left. So the last queues take what
 * remains, and what a queue has no use for goes to the others.
 *
 * Which queue stands first changes: the one that has used least for its share. Two
 * things count as used. Slot time, of which an hour counts as a tenth after HIST_HOURS;
 * and what a queue is ahead of its share or behind it: slot time above or below its
 * part, by SLOT_SHARE, of all that the queues had that waited with it. That does not
 * fade while it waits. So over time each queue that always has waiting jobs has its
 * share of the sum of those, however long its jobs are; who has nothing waiting neither
 * saves nor owes. One that has used more for its share than the pool as a whole is
 * rounded down while the others have a use for what is left, so that it is not
 * allocated more than it deserves. With nothing used yet the order is by priority, and
 * all are rounded up.
 *
 * How far a queue can get ahead or behind is bounded, by SLOT_POOL_MEMORY times
 * HIST_HOURS of the most that its first round or its share gives it (a slot at least).
 * So a job of days in a pool of others' minutes does not shut its queue out for weeks,
 * and one that waits for an empty host does not save for ever.
 *
 * Units: slots; percent; use in hours of one slot. Ownership: the caller's arrays.
 * Order: least use for its share first; ties by the order given, which is by priority.
 * Source: seed 004; lsf.md 2; ARCHITECTURE 5. Layer: sched (base only). */
#ifndef SUBLET_SCHED_FAIRSHARE_SLOT_POOL_H
#define SUBLET_SCHED_FAIRSHARE_SLOT_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct slot_pool {
    const char *name;
    const int *queues; /* indexes, by priority, then as in the file */
    int n_queues;
    int max_slots;        /* MAX_SLOTS_IN_POOL; INT_MAX: none ... */
    const char *max_name; /* ... and as reasons name it */
    bool is_by_priority; /* USE_PRIORITY_IN_POOL: the second round is by job priority */
    double hist_hours;   /* 0: what was used never fades */
};

/* Of all queues of a site; index as the queues' own. */
struct slot_pools {
    const struct slot_pool *pools;
    int n_pools;
    const int *pool_of; /* by queue: its pool; -1: none */
    const int *shares;  /* by queue: SLOT_SHARE; 0: it has none */
};

/* A queue's part in an allocation. */
struct slot_part {
    int share;    /* percent */
    bool is_over; /* it has used more for its share than the pool */
    int64_t want; /* slots that it has a use for, those it has among them */
    int given;    /* out */
};

/* Hands out `n_slots` to parts that stand in order. `rounds` 1: one round only; 0:
 * until nothing is left, or nobody has a use for it. Returns what is left. */
int slot_pool_allocate(struct slot_part *parts, int n_parts, int n_slots, int rounds);

/* Puts positions 0..n-1 in order; `use[i]`: slot_pool_weight of the one at i, in the
 * order by priority, `share[i]` its percentage. */
void slot_pool_sort(const double *use, const int *share, int n, int *order);
/* By position: who has used more for its share than all together. */
void slot_pool_mark_over(const double *use, const int *share, int n, bool *is_over);

/* Hours that fade, `elapsed_ms` later, with so many slots all that time. */
double slot_pool_use(double use_hours, int n_slots, int64_t elapsed_ms,
                     double hist_hours);

enum { SLOT_POOL_MEMORY = 10 };

/* A queue of a pool, as of an instant. */
struct slot_member {
    int share;       /* percent */
    int n_slots;     /* of its jobs, from then on */
    bool is_waiting; /* from then on: jobs of it wait for nothing but slots */
    double use_hours;
    double ahead_hours; /* below 0: behind */
};

/* All queues of a pool, `elapsed_ms` later. Times are cut in two as one likes: that
 * changes nothing but where a bound is reached between. */
void slot_pool_advance(struct slot_member *members, int n, int64_t elapsed_ms,
                       double hist_hours);
/* By what a queue stands in order. */
double slot_pool_weight(const struct slot_member *member);

#endif
