/* SPDX-License-Identifier: Apache-2.0 */
/* rebalance.h: decides which side of a lease its idle slots go to.
 *
 * One lease at a time, from exact counts: slots in use stay where they are, idle slots
 * all go to one side, or nothing moves. Nothing here is carried out: a snapshot goes
 * in, a plan comes out (handover.h carries it out).
 *
 * Units: slots, milliseconds. Ownership: the plan's hosts live in the arena given.
 * Order: hosts as in the snapshot; equal numbers of idle slots move nothing.
 * Source: LSF, "Shared leases"; docs/design/leases.md "Shared leases", "Decided".
 * Layer: broker. */
#ifndef SUBLET_BROKER_LEASE_REBALANCE_H
#define SUBLET_BROKER_LEASE_REBALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/msg.h"

enum rebalance_consumer {
    REBALANCE_CONSUMER_HERE,
    REBALANCE_CONSUMER_AWAY, /* not connected: nothing moves */
    REBALANCE_CONSUMER_GONE, /* away for longer than LEASE_TERM: idle slots return */
};

struct rebalance_snapshot {
    const struct host_split *hosts; /* holdings add up to n_slots, used fits in them */
    int n_hosts;
    enum reclaim_policy policy;
    int provider_waiting, consumer_waiting; /* slots of waiting jobs that fit */
    int64_t since_move_ms; /* since slots last changed hands; INT64_MAX: never yet */
    int64_t min_hold_ms;   /* MIN_HOLD */
    enum rebalance_consumer consumer;
    bool is_exclusive; /* idle slots are the consumer's, while it is not gone */
};

enum rebalance_direction {
    REBALANCE_NONE,
    REBALANCE_TO_PROVIDER,
    REBALANCE_TO_CONSUMER,
};

struct rebalance_plan {
    enum rebalance_direction direction;
    const struct host_split *hosts; /* the snapshot's, with the new holdings */
    int n_hosts;
    int n_moved; /* slots that change hands; more than 0 unless direction is NONE */
    char reason[REASON_SIZE];
};

void rebalance_plan(const struct rebalance_snapshot *snapshot, struct arena *arena,
                    struct rebalance_plan *plan);

#endif
