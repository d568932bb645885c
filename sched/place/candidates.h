/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.h: the hosts on which jobs of a class may start in a pass, best host
 * first.
 *
 * Hosts form groups: the site's own hosts, and the hosts of each lease. Classes of any
 * queues that see the hosts alike share their candidates. For each group there is a
 * heap of the hosts with free slots. Slots only become fewer in a pass, so a host moves
 * only down in the order; its place is corrected when it reaches the top of the heap.
 *
 * Units: slots. Order: preference (higher first), order section, own before borrowed,
 * lower used / max, file order. Ownership: the arena's. Layer: sched. */
#ifndef SUBLET_SCHED_PLACE_CANDIDATES_H
#define SUBLET_SCHED_PLACE_CANDIDATES_H

#include "sched/place/place_state.h"

struct eligible;

/* A host as it stood when it was put in its place. */
struct candidate {
    int host;
    int preference;
    int rank; /* by the order section of requirements; 0: it has none */
    int used, max;
    bool is_borrowed;
};

/* The hosts of one group that a view has, those with free slots as a heap. */
struct candidate_group {
    int group;
    struct candidate *heap;
    int count;
    bool *is_in_heap;     /* by host: of the view */
    int64_t capacity;     /* slots of all of them, free or not */
    bool is_lease_unmade; /* of a lease that is still to be made */
    bool is_exclusive;    /* slots are free only where nothing runs ... */
    const struct place_span_units
        *units; /* ... nor in the unit; NULL: units are not used exclusively ... */
    const struct rusage_request
        *rusage;        /* ... and there is so much of these; or NULL */
    int64_t accept_ms;  /* nor on a host that was given a job so shortly before; 0 */
    const int *members; /* its hosts, free or not */
    int n_members;
};

struct candidates {
    int queue; /* of the class that was the first to ask */
    const struct place_filter *filter;
    const struct place_span *span; /* the filter's, with first hosts; NULL: anywhere */
    bool is_exclusive;
    const struct rusage_request *rusage; /* NULL: it reserves nothing */
    const struct eligible *eligible;
    const struct limit_owner *limit_class; /* of limits that look at hosts; else NULL */
    struct candidate_group *groups;
    int n_groups;
    int64_t capacity; /* of the largest group */
    int failed_slots; /* no room was found for so many; INT_MAX: none sought in vain */
    int explained_slots; /* for which the verdict says why; 0: none yet */
    struct pending_verdict
        hosts_verdict;              /* what is against hosts whatever the job's slots */
    struct pending_verdict verdict; /* with what is against them for explained_slots */
    uint8_t *allowed; /* by host: it is open, and the job may run there, free or not;
                         NULL: nobody preempts or reserves slots, and rusage */
    bool *is_in_heap; /* by host: it is in the heap of its group */
    struct candidates *next; /* of the same class, where that has limits of hosts */
};

/* The alternatives of the class's rusage that its next job may have by now; 1 if it
 * reserves nothing. */
int candidates_alternatives(const struct place_state *state,
                            const struct place_class *class);
/* True if they are the parts of a compound requirement (place_compound.h) instead. */
bool candidates_has_parts(const struct place_class *class);
/* The compute units that jobs of the class have exclusively; NULL: none. */
const struct place_span_units *
candidates_exclusive_units(const struct place_class *class);
/* True if one of them has affinity. */
bool candidates_has_affinity(const struct place_class *class);
/* When it may have another one; INT64_MAX: never. */
int64_t candidates_next_ms(const struct place_state *state,
                           const struct place_class *class);
/* The candidates of the class with that alternative. They are made when the first class
 * asks for them. */
struct candidates *candidates_of(struct place_state *state,
                                 const struct place_class *class, int alternative);
/* True if the first host of the class's jobs is one of certain hosts (-m n1!). */
bool candidates_has_first(const struct place_snapshot *snapshot,
                          const struct place_class *class);

/* Slots are as another moment has them: all candidates are found again. */
void candidates_forget(struct place_state *state);
/* The hosts, by index, that jobs of the class may use, open or not. */
const int *candidates_eligible(struct place_state *state,
                               const struct place_class *class, int *n_hosts);
/* The same as candidates_forget, if no others than those of the class were asked for.
 */
void candidates_forget_class(struct place_state *state,
                             const struct place_class *class);
/* All verdicts are out of date, because there was more room when they were made. */
void candidates_forget_reasons(struct place_state *state);

/* Slots that a job of the group may take there, if it takes no others. */
int candidates_free_slots(const struct place_state *state, int host,
                          const struct candidate_group *group);
bool candidates_is_better(const struct candidate *a, const struct candidate *b);
/* The group's best host with a free slot, as things stand now; NULL: none. */
const struct candidate *candidates_top(const struct place_state *state,
                                       struct candidate_group *group);
/* Slots of the host are free again: it returns to its heap if the class may use it. */
void candidates_restore(const struct place_state *state, struct candidates *view,
                        int host);
/* The same for all hosts that draw from a supply (`supply_of` is by host). */
void candidates_restore_supply(const struct place_state *state, struct candidates *view,
                               const int *supply_of, int supply);
void candidates_pop(struct candidate_group *group);
void candidates_push(struct candidate_group *group, const struct candidate *candidate);

#endif
