/* SPDX-License-Identifier: Apache-2.0 */
/* leases.h: all contracts of the federation, by id and by who is next to be looked at.
 *
 * Ended contracts stay until the broker ends, or until their place is needed. Those of
 * one member hang together too (member.lent, member.borrowed): what its coming and
 * going means must not cost a look at all of them.
 *
 * Ownership: leases live as long as they stand here. Order: by id.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_LEASES_H
#define SUBLET_BROKER_LEASES_H

#include <stdbool.h>

#include "broker/alarms.h"
#include "broker/lease.h"

struct leases {
    struct lease **items;
    int count, capacity;
    struct alarms alarms;
};

void leases_init(struct leases *leases);
void leases_release(struct leases *leases);

/* The lease, or NULL. */
struct lease *leases_find(const struct leases *leases, const char *id);
/* The place of the first lease behind that id; "": 0. */
int leases_find_after(const struct leases *leases, const char *id);
/* True where they have a lease, also one that has ended: the ends of its last jobs may
 * still be on their way. */
bool leases_has_pair(const struct leases *leases, const struct member *provider,
                     const struct member *consumer);

/* Room for one more lease of that provider. False where LEASES_MAX are open, or
 * LEASES_PER_PROVIDER_MAX of its own. An ended lease gives way. */
bool leases_make_room(struct leases *leases, const struct member *provider);
/* Room for so many more hosts in its leases, likewise. */
bool leases_make_host_room(struct leases *leases, const struct member *provider,
                           int n_hosts);
/* Takes the lease, whose id is new. */
void leases_add(struct leases *leases, struct lease *lease);

/* The next lease that is due, or NULL: the caller sets its alarm anew. */
struct lease *leases_find_due(const struct leases *leases, int64_t now_ms);

#endif
