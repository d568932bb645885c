/* SPDX-License-Identifier: Apache-2.0 */
/* eligible.h: the hosts that the queue, the host list and the scope of a class allow,
 * however full these are and whatever else the class asks for.
 *
 * This depends on nothing that the pass gives away. So it is found once for all classes
 * with the same terms, and for all estimates of the pass (place_estimate.c).
 *
 * Ownership: the arena of the pass. Order: hosts by index, so those of a group stand
 * together. Layer: sched, within place. */
#ifndef SUBLET_SCHED_PLACE_ELIGIBLE_H
#define SUBLET_SCHED_PLACE_ELIGIBLE_H

#include "sched/place/place.h"

struct place_state;

struct eligible_host {
    int host; /* its index */
    int group;
    int preference;
    int max;
    int capacity;                   /* slots, with those that its lease may get */
    bool is_open;                   /* it takes jobs ... */
    bool is_held;                   /* ... but a suspended exclusive job holds it ... */
    bool is_lease_unmade;           /* of a lease that is still to be made */
    const struct load_excess *load; /* ... or its load is too high; NULL: it is not */
};

struct eligible_terms {
    int queue; /* of those that see the hosts alike, the one that stands for all */
    enum host_scope scope;
    const struct host_list *host_list;
};

struct eligible {
    const struct eligible_host *hosts;
    const int *indexes; /* of the same hosts */
    int n_hosts;
    int n_excluded, n_avoided; /* hosts that are not, for the verdict */
};

struct eligible_set;
struct eligible_set *eligible_set_new(struct arena *arena);
/* Found at the first call with these terms. */
const struct eligible *eligible_find(struct eligible_set *set,
                                     const struct place_state *state,
                                     const struct eligible_terms *terms);
/* The host with that index, which is eligible. */
const struct eligible_host *eligible_host(const struct eligible *eligible, int index);

#endif
