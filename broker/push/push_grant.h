/* SPDX-License-Identifier: Apache-2.0 */
/* push_grant.h: slots of a pool on their way to a leaf's contract, the broker's half.
 *
 *   1  set       a cycle says which idle slots of the policy the leaf gets
 *   2  open      a leaf that has no contract with the provider: LEASE_OPEN, again each
 *                second, until a STATE registers it
 *   3  hand over as any lease (handover.h): frozen, proposed, taken over
 *
 * Nothing of it is on disk: what a crash interrupts, the next cycle decides anew. A
 * grant that the provider does not take is tried again, then given up, likewise.
 *
 * Units: slots, milliseconds. Source: docs/adr/0023. Layer: broker (base only). */
#ifndef SUBLET_BROKER_PUSH_PUSH_GRANT_H
#define SUBLET_BROKER_PUSH_PUSH_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/lease/rebalance.h"
#include "model/effect.h"

struct lease;

struct push_grant {
    struct host_slots
        *hosts; /* slots that come on top, on each host once; NULL: none */
    int n_hosts, n_slots;
    int n_tries;
    int64_t next_ms;
    char reason[REASON_SIZE];
    /* What the contract has besides its slots. */
    const char *const *queues; /* of the plan; 0: all */
    int n_queues;
    int64_t grace_ms;
    bool is_whole; /* its hosts are given and taken whole */
    int n_young;   /* slots that came last, at judging.moved_ms */
};

/* Replaces what is on its way; the hosts are copied. */
void push_grant_set(struct lease *lease, const struct host_slots *hosts, int n_hosts,
                    const char *reason, int64_t now_ms);
/* Slots on their way; 0: none. */
int push_grant_count(const struct lease *lease);

/* The split to propose: what the leaf has, and the grant; for rebalance_clock_plan. */
void push_grant_plan(const struct lease *lease, struct arena *arena,
                     struct rebalance_plan *plan);
/* A new epoch came of a hand-over. */
void push_grant_done(struct lease *lease, int64_t now_ms);
/* Nothing is on its way any more. */
void push_grant_end(struct lease *lease);

void push_grant_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_grant_wake_ms(const struct lease *lease);

#endif
