/* SPDX-License-Identifier: Apache-2.0 */
/* allocation.h: the slots of a job, host by host, when they become more or fewer.
 *
 * Hosts keep their order, the first one executes; what comes on new hosts stands behind
 * those that were there.
 * Units: slots. Ownership: results live in the arena, names borrowed. Layer: site. */
#ifndef SUBLET_SITE_RUN_ALLOCATION_H
#define SUBLET_SITE_RUN_ALLOCATION_H

#include "base/arena.h"
#include "model/msg.h"

struct allocation {
    struct host_slots *hosts;
    int n_hosts;
};

/* Slots that are there on that host; 0: it is none of them. */
int allocation_slots_on(const struct host_slots *hosts, int n_hosts, const char *host);
struct allocation allocation_add(struct arena *arena, const struct host_slots *hosts,
                                 int n_hosts, const struct host_slots *more,
                                 int n_more);
/* Without those; what is not there is not missed. */
struct allocation allocation_take(struct arena *arena, const struct host_slots *hosts,
                                  int n_hosts, const struct host_slots *gone,
                                  int n_gone);
/* The last so many of them. */
struct allocation allocation_tail(struct arena *arena, const struct host_slots *hosts,
                                  int n_hosts, int n_slots);
/* "n1 2 n2 1" */
const char *allocation_text(struct arena *arena, const struct host_slots *hosts,
                            int n_hosts);

#endif
