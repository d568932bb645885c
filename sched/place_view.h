/* SPDX-License-Identifier: Apache-2.0 */
/* place_view.h: what a queue, an -m and requirements make of the hosts in a pass.
 *
 * Hosts stand in groups: the own hosts are one, those of each lease another. All lines
 * that see the hosts alike share a view, of whatever queue; in it stand, of each group,
 * those hosts that have free slots, in a heap by the order of hosts. Slots only get
 * fewer in a pass: a host that others have used since it was put there only ever
 * belongs further down, so it is put right when it comes to the top.
 *
 * Units: slots. Order: preference (higher first), order section, own before borrowed,
 * lower used / max, file order. Ownership: the arena's. Layer: sched (base only). */
#ifndef SUBLET_SCHED_PLACE_VIEW_H
#define SUBLET_SCHED_PLACE_VIEW_H

#include "sched/place.h"

/* A host as it stood when it was put in its place. */
struct place_candidate {
    int host;
    int preference;
    int place; /* by the order section of requirements; 0: it has none */
    int used, max;
    bool is_borrowed;
};

/* The hosts of one group that a view has, those with free slots as a heap. */
struct place_group {
    int group;
    struct place_candidate *heap;
    int count;
    int64_t capacity;                /* slots of all of them, free or not */
    bool is_unmade;                  /* of a lease that is still to be made */
    bool is_exclusive;               /* slots are free only where nothing runs ... */
    const struct reserve_asks *asks; /* ... and there is so much of these; or NULL */
    int64_t accept_ms; /* nor on a host that was given a job so shortly before; 0 */
    int *members; /* of a view that reserves, or has that, or a shape: its hosts, free
                     or not */
    int n_members;
};

struct place_view {
    int queue;
    const struct asked *asked;
    const struct place_filter *filter;
    bool is_exclusive;
    enum place_bond bond;
    const struct reserve_asks *asks;  /* NULL: it reserves nothing */
    const struct limits_class *class; /* of limits that look at hosts; else NULL */
    struct place_group *groups;
    int n_groups;
    int64_t capacity; /* of the largest group */
    int stuck_slots;  /* no room was found for so many; INT_MAX: none sought in vain */
    int told_slots;   /* for which the verdict says why; 0: none yet */
    struct reason_verdict judged; /* what is against hosts whatever the job's slots */
    struct reason_verdict stuck;  /* with what is against them for told_slots */
    uint8_t *allowed; /* by host: it is open, and the job may run there, free or not;
                         NULL: nobody preempts or reserves slots, and asks */
    struct place_view *next; /* of queues alike, or of the line */
};

/* The hosts of a pass, and what it has given away of them. */
struct place_room {
    const struct place_snapshot *snapshot;
    struct arena *arena;
    int *used;            /* by host, as the pass goes on */
    bool *is_taken;       /* by host: an exclusive job has it */
    int64_t *accepted_ms; /* by host: it was given a job */
    int64_t *left;        /* by pool: what may still be reserved */
    int *group_of;        /* by host: 0 own, then one for each lease */
    int *first_host;      /* by group */
    int n_groups;
    bool is_ahead;   /* hosts count that lack only what jobs reserve */
    int n_full;      /* the first so many hosts have no slot left */
    bool has_leaves; /* some hosts are for some queues only */
    int *alike;      /* by queue: 1 and a queue that sees the hosts as it does,
                        which has the views of both; 0: not looked for yet */
    struct place_view **views; /* by queue: a list */
    struct place_view **own; /* by line whose class has limits of hosts: likewise, over
                                the same hosts as those of queues. NULL: no limits */
};

void place_view_init(struct place_room *room, struct arena *arena,
                     const struct place_snapshot *snapshot);
/* The line's view with one of its alternatives (NULL: it has none); made where no line
 * before had the same. */
struct place_view *place_view_of(struct place_room *room, const struct place_line *line,
                                 const struct reserve_asks *asks);

/* What the line's alternative makes of the hosts; NULL: any host. */
const struct place_filter *place_view_filter(const struct place_line *line,
                                             const struct reserve_asks *asks);
/* How its jobs' slots have to lie; NULL: anywhere. */
const struct place_shape *place_view_shape(const struct place_view *view);

/* No host has a slot left for a waiting job, of whatever queue. */
bool place_view_is_full(struct place_room *room);
/* What views have told so far may be of a time when there was more room: they tell it
 * anew. */
void place_view_forget_told(struct place_room *room);

/* True where the host takes jobs of the queue: a leaf of a plan may stand for some
 * queues only. */
bool place_view_is_for(const struct place_host *host, const char *queue);
/* What of the host's load stands against a start of the queue's jobs, or NULL. */
const struct threshold_excess *place_view_load(const struct place_snapshot *snapshot,
                                               int queue, int host);
/* Slots that a job of the group may take there, if it takes no others. */
int place_view_free_on(const struct place_room *room, int host,
                       const struct place_group *group);
/* The host was given a job too shortly before. */
bool place_view_is_resting(const struct place_room *room, int host, int64_t accept_ms);
/* The same as place_view_free_on whatever there is to reserve, and when a job came. */
int place_view_slots_on(const struct place_room *room, int host, bool is_exclusive);
bool place_view_is_better(const struct place_candidate *a,
                          const struct place_candidate *b);
/* The group's best host with a free slot, as things stand now; NULL: none. */
const struct place_candidate *place_view_top(const struct place_room *room,
                                             struct place_group *group);
/* Slots of the host are free again: it stands in the view's heap if it may. */
void place_view_restore(const struct place_room *room, struct place_view *view,
                        int host);
/* Of all hosts with that pool. */
void place_view_restore_of(const struct place_room *room, struct place_view *view,
                           const int *pool_of, int pool);
void place_view_pop(struct place_group *group);
void place_view_push(struct place_group *group,
                     const struct place_candidate *candidate);

#endif
