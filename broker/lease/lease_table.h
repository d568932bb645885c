/* SPDX-License-Identifier: Apache-2.0 */
/* lease_table.h: all contracts of the federation, by id, with a timer for each.
 *
 * Ended contracts stay until the broker ends, or until their place is needed. The
 * contracts of one member are also linked together (member.lent, member.borrowed), so
 * that a member that comes or goes does not cost a walk over all contracts.
 *
 * Ownership: a lease lives as long as it is in the table. Order: by id. Layer: broker.
 */
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
/* The index of the first lease after that id; "": 0. */
int lease_table_find_after(const struct lease_table *leases, const char *id);
/* True if they have a lease, or had one: reports about its last jobs may still be on
 * their way. */
bool lease_table_has_pair(const struct lease_table *leases,
                          const struct member *provider, const struct member *consumer);

/* Makes room for one more lease of that provider, by removing an ended lease if need
 * be. False if LEASES_MAX leases are open, or LEASES_PER_PROVIDER_MAX of the provider.
 */
bool lease_table_make_room(struct lease_table *leases, const struct member *provider);
/* Makes room for so many more hosts in its leases, likewise. */
bool lease_table_make_host_room(struct lease_table *leases,
                                const struct member *provider, int n_hosts);
/* Adds the lease, whose id is new; the table owns it. */
void lease_table_add(struct lease_table *leases, struct lease *lease);

/* The next lease that is due, or NULL: the caller sets its timer again. */
struct lease *lease_table_find_due(const struct lease_table *leases, int64_t now_ms);

#endif
