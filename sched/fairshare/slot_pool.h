/* SPDX-License-Identifier: Apache-2.0 */
/* slot_pool.h: queues that share slots by percentage (SLOT_POOL): how many slots each
 * of them gets, in which order, and what each has used.
 *
 * A pool is entitled to all slots of its hosts, up to MAX_SLOTS_IN_POOL. They are
 * distributed in rounds: each queue, in order, gets its percentage of the slots that
 * there were when the round began, rounded up, as long as slots are left and it can use
 * them. The next round distributes what the last one left. So the last queues get what
 * remains, and what one queue cannot use goes to the others.
 *
 * The first queue is the one that has used least for its share. Two things count as
 * used. One is slot time, of which an hour counts as a tenth after HIST_HOURS. The
 * other is the balance of the queue: the slot time above or below its part, by
 * SLOT_SHARE, of what all queues had that were pending together with it. The balance
 * does not decay while the queue has pending jobs. So over time each queue that always
 * has pending jobs gets its share of the total, however long its jobs are; a queue
 * without pending jobs neither gains nor loses. A queue that has used more for its
 * share than the pool as a whole is rounded down as long as the others can use what is
 * left, so that it does not get more than it deserves. At first, with nothing used, the
 * order is by priority, and all are rounded up.
 *
 * The balance is bounded by SLOT_POOL_MEMORY times HIST_HOURS of the slots that its
 * first round or its share gives the queue, whichever is more, and at least one slot.
 * So a job of days in a pool with short jobs does not exclude its queue for weeks, and
 * a queue that waits for an empty host does not accumulate credit for ever.
 *
 * MAX_SLOTS_IN_POOL and USE_PRIORITY_IN_POOL are those of the pool's first queue by
 * priority.
 *
 * Units: slots; percent; hours of one slot. Ownership: the caller's arrays;
 * slot_pool_config_read allocates in conf's arena. Errors: diagnostics.
 * Order: least used for its share first, then the order given, which is by priority.
 * Source: LSF, "Queue-based fairshare"; docs/design/scheduling.md "Slot pools",
 * "Decided". Layer: sched (base only). */
#ifndef SUBLET_SCHED_FAIRSHARE_SLOT_POOL_H
#define SUBLET_SCHED_FAIRSHARE_SLOT_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct slot_pool {
    const char *name;
    const int *queues; /* indexes, by priority, then as in the file */
    int n_queues;
    int max_slots;        /* MAX_SLOTS_IN_POOL; INT_MAX: none */
    const char *max_name; /* its name in reasons */
    bool is_by_priority; /* USE_PRIORITY_IN_POOL: the second round is by job priority */
    double hist_hours;   /* 0: usage never decays */
};

/* The pools of a site. Queues are indexes into the site's list. */
struct slot_pools {
    const struct slot_pool *pools;
    int n_pools;
    const int *pool_of; /* by queue: index of its pool; -1: none */
    const int *shares;  /* by queue: SLOT_SHARE; 0: it has none */
};

/* One queue in a distribution of slots. */
struct slot_part {
    int share;    /* percent */
    bool is_over; /* it has used more for its share than the pool */
    int64_t want; /* slots that it can use, including those that it has */
    int given;    /* result */
};

/* Distributes `n_slots` to parts in order. `rounds` 1: one round only; 0: until no
 * slots are left or no queue can use them. Returns how many are left. */
int slot_pool_allocate(struct slot_part *parts, int n_parts, int n_slots, int rounds);

/* Sorts positions 0..n-1. `use[i]` is slot_pool_weight of the queue at i, in order of
 * priority; `share[i]` is its percentage. */
void slot_pool_sort(const double *use, const int *share, int n, int *order);
/* Marks by position the queues that have used more for their share than all together.
 */
void slot_pool_mark_over(const double *use, const int *share, int n, bool *is_over);

/* Decays used hours by `elapsed_ms`, during which the queue had that number of slots.
 */
double slot_pool_use(double use_hours, int n_slots, int64_t elapsed_ms,
                     double hist_hours);

enum { SLOT_POOL_MEMORY = 10 };

/* The state of a queue in a pool at a time. */
struct slot_member {
    int share;       /* percent */
    int n_slots;     /* of its jobs, from then on */
    bool is_waiting; /* from then on: it has jobs that only lack slots */
    double use_hours;
    double balance_hours; /* slot time above its part; negative: below */
};

/* Advances all queues of a pool by `elapsed_ms`. Splitting an interval gives the same
 * result, unless a bound is reached in between. */
void slot_pool_advance(struct slot_member *members, int n, int64_t elapsed_ms,
                       double hist_hours);
/* The value by which queues are sorted. */
double slot_pool_weight(const struct slot_member *member);

struct conf;
struct groups;
struct queue_config;
struct fairshare;
/* Reads the pools. The queues must be as queue_read returned them. */
void slot_pool_config_read(struct conf *conf, const struct groups *groups,
                           const struct queue_config *queues, int n_queues,
                           const struct fairshare *shares, struct slot_pools *pools);

#endif
