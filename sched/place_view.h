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

#include "sched/place_state.h"

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

/* The line's view with one of its alternatives (NULL: it has none); made where no line
 * before had the same. */
struct place_view *place_view_of(struct place_room *room, const struct place_line *line,
                                 const struct reserve_asks *asks);

/* What the line's alternative makes of the hosts; NULL: any host. */
const struct place_filter *place_view_filter(const struct place_line *line,
                                             const struct reserve_asks *asks);
/* How its jobs' slots have to lie; NULL: anywhere. */
const struct place_shape *place_view_shape(const struct place_view *view);

/* What views have told so far may be of a time when there was more room: they tell it
 * anew. */
void place_view_forget_told(struct place_room *room);

/* Slots that a job of the group may take there, if it takes no others. */
int place_view_free_on(const struct place_room *room, int host,
                       const struct place_group *group);
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
