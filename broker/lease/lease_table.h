/* SPDX-License-Identifier: Apache-2.0 */
/* lease_table.h: all contracts of the federation, by id and by who is next to be looked
 * at.
 *
 * Ended contracts stay until the broker ends, or until their place is needed. Those of
 * one member hang together too (member.lent, member.borrowed): what its coming and
 * going means must not cost a look at all of them.
 *
 * Ownership: leases live as long as they stand here. Order: by id.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_LEASE_LEASE_TABLE_H
#define SUBLET_BROKER_LEASE_LEASE_TABLE_H

#include <stdbool.h>

#include "base/timer_heap.h"
#include "broker/lease/lease.h"

struct lease_table {
    struct lease **items;
    int count, capacity;
    struct timer_heap timers;
};

void lease_table_init(struct lease_table *leases);
void lease_table_release(struct lease_table *leases);

/* The lease, or NULL. */
struct lease *lease_table_find(const struct lease_table *leases, const char *id);
/* The place of the first lease behind that id; "": 0. */
int lease_table_find_after(const struct lease_table *leases, const char *id);
/* True where they have a lease, also one that has ended: the ends of its last jobs may
 * still be on their way. */
bool lease_table_has_pair(const struct lease_table *leases,
                          const struct member *provider, const struct member *consumer);

/* Room for one more lease of that provider. False where LEASES_MAX are open, or
 * LEASES_PER_PROVIDER_MAX of its own. An ended lease gives way. */
bool lease_table_make_room(struct lease_table *leases, const struct member *provider);
/* Room for so many more hosts in its leases, likewise. */
bool lease_table_make_host_room(struct lease_table *leases,
                                const struct member *provider, int n_hosts);
/* Takes the lease, whose id is new. */
void lease_table_add(struct lease_table *leases, struct lease *lease);

/* The next lease that is due, or NULL: the caller sets its timer again. */
struct lease *lease_table_find_due(const struct lease_table *leases, int64_t now_ms);

#endif
