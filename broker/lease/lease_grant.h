/* SPDX-License-Identifier: Apache-2.0 */
/* lease_grant.h: slots of a pool that are granted to the contract of a plan's leaf and
 * have not reached it yet.
 *
 * A cycle of the pool sets the grant: which idle slots of the policy the leaf gets. The
 * hand-over of the lease (handover.h) then proposes the split with the granted slots on
 * top. A grant lives in memory only. If a crash interrupts it, or if the provider
 * refuses it LEASE_GRANT_TRIES_MAX times, the next cycle decides again.
 *
 * Units: slots, milliseconds. Ownership: hosts are copied. Source: docs/adr/0012.
 * Layer: broker. */
#ifndef SUBLET_BROKER_LEASE_LEASE_GRANT_H
#define SUBLET_BROKER_LEASE_LEASE_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/lease/rebalance.h"

struct lease;

enum { LEASE_GRANT_TRIES_MAX = 3 }; /* proposals: the slots are not idle there */

struct lease_grant {
    struct host_slots *hosts; /* granted slots, each host once; NULL: no grant */
    int n_hosts, n_slots;
    int n_tries; /* proposals made */
    char reason[REASON_SIZE];
    /* What the plan gives the contract besides slots. */
    const char *const *queues; /* of the plan; 0: all */
    int n_queues;
    int64_t grace_ms;
    bool is_whole; /* hosts are granted and recalled whole */
    int n_young;   /* slots of the latest grant, which came at moved_ms */
};

/* Replaces the grant. */
void lease_grant_set(struct lease_grant *grant, const struct host_slots *hosts,
                     int n_hosts, const char *reason);
/* Removes the grant. */
void lease_grant_clear(struct lease_grant *grant);

/* The split to propose: what the leaf has, and the grant on top. */
void lease_grant_plan(const struct lease *lease, struct arena *arena,
                      struct rebalance_plan *plan);

#endif
