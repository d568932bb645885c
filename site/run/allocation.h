/* SPDX-License-Identifier: Apache-2.0 */
/* allocation.h: changes of the slots of a job, which are a list of hosts with slots.
 *
 * Hosts keep their order, since the first one executes the job; new hosts are appended.
 * Units: slots. Ownership: results live in the arena, names borrowed. Layer: site. */
#ifndef SUBLET_SITE_RUN_ALLOCATION_H
#define SUBLET_SITE_RUN_ALLOCATION_H

#include "base/arena.h"
#include "model/msg.h"

struct allocation {
    struct host_slots *hosts;
    int n_hosts;
};

/* Slots on that host; 0: it is not in the list. */
int allocation_slots_on(const struct host_slots *hosts, int n_hosts, const char *host);
struct allocation allocation_add(struct arena *arena, const struct host_slots *hosts,
                                 int n_hosts, const struct host_slots *more,
                                 int n_more);
/* Without those slots; slots that are not in the list are ignored. */
struct allocation allocation_take(struct arena *arena, const struct host_slots *hosts,
                                  int n_hosts, const struct host_slots *gone,
                                  int n_gone);
/* The last `n_slots` slots. */
struct allocation allocation_tail(struct arena *arena, const struct host_slots *hosts,
                                  int n_hosts, int n_slots);
/* "n1 2 n2 1" */
const char *allocation_text(struct arena *arena, const struct host_slots *hosts,
                            int n_hosts);

#endif
