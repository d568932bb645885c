/* SPDX-License-Identifier: Apache-2.0 */
/* place_state.h: the hosts of a pass, and what the pass has given away of them so far.
 *
 * Units: slots. Ownership: the arena's; the snapshot is borrowed. Layer: sched. */
#ifndef SUBLET_SCHED_PLACE_PLACE_STATE_H
#define SUBLET_SCHED_PLACE_PLACE_STATE_H

#include "sched/place/place.h"

struct candidates;
struct eligible_set;
struct place_affinity;
/* The hosts of a pass, and what it has given away of them. */
struct place_state {
    const struct place_snapshot *snapshot;
    struct arena *arena;
    int *used;      /* by host, in the course of the pass */
    int *suspended; /* by host: slots that suspended jobs still need to go on */
    bool *is_used_exclusively;       /* by host: an exclusive job has it */
    int64_t *dispatched_ms;          /* by host: it was given a job */
    int64_t *supply_left;            /* by pool: what may still be reserved */
    struct place_affinity *affinity; /* processors; NULL: no job has affinity */
    int *group_of;                   /* by host: 0 own, then one for each lease */
    int *first_host;                 /* by group */
    int n_groups;
    bool is_estimate;     /* hosts count that lack only what jobs reserve */
    int n_full;           /* the first so many hosts have no slot left */
    bool has_queue_hosts; /* some hosts are for some queues only */
    int *same_as;         /* by queue: 1 and a queue that sees the hosts as it does,
                           which has the views of both; 0: not looked for yet */
    struct eligible_set *eligible;      /* of the pass, which its estimates share */
    const int *next_entry;              /* by class: of the job that is placed next */
    struct candidates_entry *views;     /* by what they are of: a hash table */
    struct candidates_entry *last_view; /* that was asked for: often the next, too */
    struct candidate *ranked;           /* room to list the hosts of one group */
    struct candidates *
        *of_class; /* by line whose class has limits of hosts: likewise, over
                 the same hosts as those of queues. NULL: no limits */
};

void place_state_init(struct place_state *state, struct arena *arena,
                      const struct place_snapshot *snapshot);
/* place_affinity.c: what jobs have as the pass begins. */
struct place_affinity *place_affinity_new(struct arena *arena,
                                          const struct place_snapshot *snapshot);
/* No host has a slot left for a waiting job, of whatever queue. */
bool place_state_is_full(struct place_state *state);
/* True where the host takes jobs of the queue: a leaf of a plan may stand for some
 * queues only. */
bool place_state_takes_queue(const struct place_host *host, const char *queue);
/* The load value of the host that prevents starts of the queue's jobs, or NULL. */
const struct load_excess *place_state_load(const struct place_snapshot *snapshot,
                                           int queue, int host);
/* The host was given a job too shortly before. */
bool place_state_in_accept_interval(const struct place_state *state, int host,
                                    int64_t accept_ms);
/* The same as candidates_free_slots whatever there is to reserve, and when a job came.
 */
int place_state_free_slots(const struct place_state *state, int host,
                           bool is_exclusive);
/* No job, of whatever site, suspended or not, is on a host of the unit that has this
 * host, and none of them is kept for one. */
bool place_state_unit_is_empty(const struct place_state *state,
                               const struct place_span_units *units, int host);
/* An exclusive job has the unit that has this host: it takes no other job. */
void place_state_close_unit(struct place_state *state,
                            const struct place_span_units *units, int host);

/* Slots that would help on the hosts of the group: own ones, or those of a lease. */
void place_state_add_waiting(const struct place_state *state, int group,
                             int64_t n_slots, struct place_plan *plan);

#endif
