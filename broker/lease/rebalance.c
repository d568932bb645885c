/* SPDX-License-Identifier: Apache-2.0 */
/* rebalance.c: see rebalance.h.
 *
 * The rule (LSF, "Shared leases"), summed over the hosts of the lease that are up:
 *
 *     idle_p = available_p - used_p          idle_c = available_c - used_c
 *
 *     idle_c > idle_p   the provider takes all idle slots
 *     idle_p > idle_c   the consumer takes all idle slots
 *     equal             the lease is not updated
 *
 * The rule looks at idle slots only: the side with fewer idle slots is assumed to need
 * them more. That side takes the idle slots of every host that is up:
 *
 *     consumer takes:   provider := provider_used    consumer := slots - provider_used
 *     provider takes:   consumer := consumer_used    provider := slots - consumer_used
 *
 * The split of a host that is down does not change. Example, held/used, n3 is down:
 *
 *              n1 (4)        n2 (4)        n3 (4)         idle
 *     provider 3/1           3/0           4/0            2 + 3 = 5
 *     consumer 1/1           1/0           0/0            0 + 1 = 1
 *
 *     5 > 1: the consumer takes the 6 idle slots, 5 of which change hands
 *
 *     provider 1/1           0/0           4/0
 *     consumer 3/1           4/0           0/0
 *
 * Without any work the rule moves all idle slots to the other side in every reclaim
 * delay. RECLAIM_POLICY=demand looks at waiting jobs first. If one side has some, idle
 * slots go to that side; if both have some, the rule above decides; if neither has any,
 * nothing moves. Under either policy, slots that have moved do not move again before
 * MIN_HOLD has passed.
 *
 * The rule does not apply to an exclusive lease. If idle slots returned to the provider
 * while the consumer was lost, they go to the consumer once it is back.
 *
 * While the consumer is not connected nothing moves. Once that has lasted longer than
 * LEASE_TERM, the provider takes the idle slots, whatever the policy and MIN_HOLD. */
#include "broker/lease/rebalance.h"

#include <stdarg.h>
#include <stdio.h>

#include "broker/lease/lease.h"

static void explain(struct rebalance_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void explain(struct rebalance_plan *plan, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(plan->reason, sizeof(plan->reason), format, args);
    va_end(args);
}

static enum rebalance_direction choose_by_idle(const struct lease_split *split,
                                               struct rebalance_plan *plan)
{
    int idle_p = split->provider.idle, idle_c = split->consumer.idle;
    if (idle_c > idle_p) {
        explain(plan, "idle: provider %d, consumer %d; idle slots go to the provider",
                idle_p, idle_c);
        return REBALANCE_TO_PROVIDER;
    }
    if (idle_p > idle_c) {
        explain(plan, "idle: provider %d, consumer %d; idle slots go to the consumer",
                idle_p, idle_c);
        return REBALANCE_TO_CONSUMER;
    }
    explain(plan, "idle: provider %d, consumer %d; nothing moves", idle_p, idle_c);
    return REBALANCE_NONE;
}

static enum rebalance_direction choose_by_demand(const struct rebalance_snapshot *now,
                                                 const struct lease_split *split,
                                                 struct rebalance_plan *plan)
{
    int waiting_p = now->provider_waiting, waiting_c = now->consumer_waiting;
    if (waiting_p > 0 && waiting_c > 0) {
        return choose_by_idle(split, plan);
    }
    if (waiting_p > 0 && split->consumer.idle > 0) {
        explain(plan,
                "only the provider has waiting jobs (%d slots); idle slots go to "
                "it",
                waiting_p);
        return REBALANCE_TO_PROVIDER;
    }
    if (waiting_c > 0 && split->provider.idle > 0) {
        explain(plan,
                "only the consumer has waiting jobs (%d slots); idle slots go to "
                "it",
                waiting_c);
        return REBALANCE_TO_CONSUMER;
    }
    explain(plan, waiting_p == 0 && waiting_c == 0
                      ? "no waiting jobs; nothing moves"
                      : "the side with waiting jobs has all idle slots; nothing moves");
    return REBALANCE_NONE;
}

static enum rebalance_direction
choose_for_lost_consumer(const struct lease_split *split, struct rebalance_plan *plan)
{
    if (split->consumer.idle == 0) {
        explain(plan, "the consumer has been lost for longer than LEASE_TERM and has "
                      "no idle slots");
        return REBALANCE_NONE;
    }
    explain(plan,
            "the consumer has been lost for longer than LEASE_TERM; its %d idle slots "
            "return to the provider",
            split->consumer.idle);
    return REBALANCE_TO_PROVIDER;
}

static enum rebalance_direction choose_exclusive(const struct lease_split *split,
                                                 struct rebalance_plan *plan)
{
    if (split->provider.idle == 0) {
        explain(plan, "the lease is exclusive; nothing moves");
        return REBALANCE_NONE;
    }
    explain(plan, "the consumer is back; %d idle slots of its exclusive lease return",
            split->provider.idle);
    return REBALANCE_TO_CONSUMER;
}

static enum rebalance_direction choose(const struct rebalance_snapshot *now,
                                       struct rebalance_plan *plan)
{
    struct lease_split split = lease_split_sum(now->hosts, now->n_hosts);
    if (now->consumer == REBALANCE_CONSUMER_GONE) {
        return choose_for_lost_consumer(&split, plan);
    }
    if (now->consumer == REBALANCE_CONSUMER_AWAY) {
        explain(plan, "the consumer is not connected; nothing moves");
        return REBALANCE_NONE;
    }
    if (now->is_exclusive) {
        return choose_exclusive(&split, plan);
    }
    if (now->since_move_ms < now->min_hold_ms) {
        explain(plan, "slots moved %lld s ago, MIN_HOLD is %lld s; nothing moves",
                (long long)(now->since_move_ms / 1000),
                (long long)(now->min_hold_ms / 1000));
        return REBALANCE_NONE;
    }
    return now->policy == RECLAIM_DEMAND ? choose_by_demand(now, &split, plan)
                                         : choose_by_idle(&split, plan);
}

/* The host's new holdings; returns how many slots change hands. */
static int move_idle(struct host_split *host, enum rebalance_direction direction)
{
    int provider = host->provider;
    if (direction == REBALANCE_TO_CONSUMER) {
        host->provider = host->provider_used;
        host->consumer = host->n_slots - host->provider_used;
        return provider - host->provider;
    }
    host->provider = host->n_slots - host->consumer_used;
    host->consumer = host->consumer_used;
    return host->provider - provider;
}

void rebalance_plan(const struct rebalance_snapshot *snapshot, struct arena *arena,
                    struct rebalance_plan *plan)
{
    struct host_split *hosts = NULL;
    if (snapshot->n_hosts > 0) {
        hosts = arena_copy(arena, snapshot->hosts,
                           (size_t)snapshot->n_hosts * sizeof(*hosts));
    }
    plan->hosts = hosts;
    plan->n_hosts = snapshot->n_hosts;
    plan->n_moved = 0;
    plan->direction = choose(snapshot, plan);
    for (int i = 0; i < plan->n_hosts && plan->direction != REBALANCE_NONE; i++) {
        if (!hosts[i].is_down) {
            plan->n_moved += move_idle(&hosts[i], plan->direction);
        }
    }
}
