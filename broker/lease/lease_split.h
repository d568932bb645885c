/* SPDX-License-Identifier: Apache-2.0 */
/* lease_split.h: the hosts of a lease, added up, compared and kept: who holds how many
 * slots and who uses them.
 *
 * A host that is down counts for neither side's available, and its slots are idle for
 * nobody; what is used on it is still used.
 *
 * Units: slots. Order: hosts keep their provider's order; a split is compared host by
 * host. Source: ARCHITECTURE 5 "a host that is down".
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_LEASE_LEASE_SPLIT_H
#define SUBLET_BROKER_LEASE_LEASE_SPLIT_H

#include <stdbool.h>

#include "base/err.h"
#include "model/msg.h"

struct lease_split_side {
    int available; /* held on hosts that are up */
    int used;      /* on all hosts */
    int idle;      /* held and not used, on hosts that are up */
};

struct lease_split {
    struct lease_split_side provider, consumer;
};

struct lease_split lease_split_sum(const struct host_split *hosts, int n_hosts);

/* Judges what a peer says: each host's slots are held by one side or the other, and
 * neither uses more than it holds. ERR_BOUNDS names the host. */
int lease_split_check(const struct host_split *hosts, int n_hosts,
                      struct err *err) MUST_CHECK;

/* The same hosts. */
bool lease_split_has_same_hosts(const struct host_split *a, int n_a,
                                const struct host_split *b, int n_b);
/* The same hosts with the same slots, held alike, and the same memory and swap space:
 * what one epoch fixes. */
bool lease_split_is_same(const struct host_split *a, int n_a,
                         const struct host_split *b, int n_b);
/* The same hosts down. For equal hosts. */
bool lease_split_is_same_down(const struct host_split *a, const struct host_split *b,
                              int n_hosts);

/* A copy in one piece of heap memory, names included; freed with free(). NULL for
 * none. */
struct host_split *lease_split_dup(const struct host_split *hosts, int n_hosts);

#endif
