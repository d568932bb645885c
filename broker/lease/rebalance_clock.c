/* SPDX-License-Identifier: Apache-2.0 */
/* rebalance_clock.c: see rebalance_clock.h. */
#include "broker/lease/rebalance_clock.h"

#include <string.h>

#include "base/fnv1a.h"
#include "broker/lease/lease.h"

/* The rule is applied to leases that are made, and neither draining nor ended. */
static bool is_rebalanced(const struct lease *lease)
{
    return lease->row.made_ms != 0 &&
           (lease->row.state == LEASE_ACTIVE || lease->row.state == LEASE_INACTIVE);
}

/* Only shared leases have regular instants. */
static bool has_clock(const struct lease *lease)
{
    return lease->row.type == LEASE_SHARED && is_rebalanced(lease);
}

/* If a provider has many leases, each has its own offset, so that they do not all
 * freeze at once: FNV-1a of the id, within the delay. */
static int64_t offset_of(const struct lease *lease, int64_t delay_ms)
{
    if (lease->provider->n_leases < REBALANCE_CLOCK_SPREAD_FROM) {
        return 0;
    }
    uint64_t hash = fnv1a(FNV1A_START, lease->row.id, strlen(lease->row.id));
    return (int64_t)(hash % (uint64_t)delay_ms);
}

static int64_t last_instant(const struct lease *lease)
{
    return lease->row.judged_ms != 0 ? lease->row.judged_ms : lease->row.made_ms;
}

/* The first of last, last + delay, last + 2 delay ... that is not before now. */
static int64_t next_on_grid(int64_t last, int64_t delay, int64_t now)
{
    if (now <= last + delay) {
        return last + delay;
    }
    int64_t past = (now - last) % delay;
    return past == 0 ? now : now - past + delay;
}

void rebalance_clock_restore(struct lease *lease)
{
    /* The last move is not on record. The last change of any kind is not earlier, so at
     * worst slots are held a little too long. */
    lease->rebalance_clock.moved_ms = lease->row.epoch > 1 ? lease->row.changed_ms : 0;
}

void rebalance_clock_start(struct lease *lease, int64_t now_ms)
{
    lease->row.made_ms = now_ms;
    lease->row.judged_ms = 0;
    lease->rebalance_clock.due_ms =
        lease->row.type == LEASE_SHARED
            ? now_ms + lease->rebalance_clock.delay_ms +
                  offset_of(lease, lease->rebalance_clock.delay_ms)
            : INT64_MAX;
}

void rebalance_clock_set_delay(struct lease *lease, int64_t delay_ms, int64_t now_ms)
{
    struct rebalance_clock *clock = &lease->rebalance_clock;
    bool is_first = clock->delay_ms == 0;
    if (clock->delay_ms == delay_ms) {
        return;
    }
    clock->delay_ms = delay_ms;
    /* Also while the lease drains: if it is exported again, the clock has not stopped.
     */
    if (lease->row.type != LEASE_SHARED || lease->row.made_ms == 0) {
        return;
    }
    int64_t last = last_instant(lease), next = last + delay_ms;
    bool is_spread = lease->row.judged_ms != 0; /* it has its own instants already */
    if (is_first) {
        int64_t offset = is_spread ? 0 : offset_of(lease, delay_ms);
        clock->due_ms = next_on_grid(last + offset, delay_ms, now_ms);
        /* A hand-over that the broker had begun goes on, and decides by new counts. */
        clock->is_missed = lease->row.state == LEASE_ACTIVE &&
                           clock->due_ms > last + offset + delay_ms;
    } else {
        clock->due_ms = next > now_ms ? next : now_ms + offset_of(lease, delay_ms);
    }
}

int64_t rebalance_clock_until_ms(const struct lease *lease, int64_t now_ms,
                                 int64_t *every_ms)
{
    const struct rebalance_clock *clock = &lease->rebalance_clock;
    bool is_regular = has_clock(lease) && clock->delay_ms > 0;
    *every_ms = is_regular ? clock->delay_ms : 0;
    return is_regular ? next_on_grid(clock->due_ms - clock->delay_ms, clock->delay_ms,
                                     now_ms) -
                            now_ms
                      : 0;
}

void rebalance_clock_begin_term(struct lease *lease)
{
    lease->rebalance_clock.is_term_done = false;
}

void rebalance_clock_ask(struct lease *lease, int64_t now_ms)
{
    lease->rebalance_clock.asked_ms = now_ms;
    lease->rebalance_clock.is_asked = true;
}

/* The counts are fresh, nothing is under way, and the provider can be asked. */
static bool may_rebalance(const struct lease *lease)
{
    return lease->row.state == LEASE_ACTIVE && !lease->poll_state.is_open &&
           member_is_here(lease->provider, ROLE_PROVIDER);
}

/* When the rule is applied for an instant that was missed: once both sites are here,
 * and the consumer has told its demand. */
static int64_t missed_ms(const struct lease *lease)
{
    const struct member *consumer = lease->consumer;
    const struct rebalance_clock *clock = &lease->rebalance_clock;
    return clock->is_missed && may_rebalance(lease) &&
                   member_is_here(consumer, ROLE_CONSUMER) && consumer->has_usage
               ? clock->due_ms - clock->delay_ms
               : INT64_MAX;
}

/* The end of LEASE_TERM; INT64_MAX while the consumer is here. */
static int64_t term_ms(const struct lease *lease)
{
    const struct member *consumer = lease->consumer;
    return member_is_here(consumer, ROLE_CONSUMER)
               ? INT64_MAX
               : member_term_ms(consumer, lease->lease_term_ms);
}

/* When slots of an exclusive lease have to change hands: to the provider, as they
 * become idle after the end of the term; back, as they become idle once the consumer is
 * here. */
static int64_t exclusive_ms(const struct lease *lease)
{
    if (lease->row.type != LEASE_EXCLUSIVE || !is_rebalanced(lease) ||
        !may_rebalance(lease)) {
        return INT64_MAX;
    }
    struct lease_split split = lease_split_sum(lease->row.hosts, lease->row.n_hosts);
    if (member_is_here(lease->consumer, ROLE_CONSUMER)) {
        return split.provider.idle > 0 ? lease->rebalance_clock.moved_ms : INT64_MAX;
    }
    return split.consumer.idle > 0 ? term_ms(lease) : INT64_MAX;
}

static enum rebalance_consumer consumer_of(const struct lease *lease, int64_t now_ms)
{
    if (member_is_here(lease->consumer, ROLE_CONSUMER)) {
        return REBALANCE_CONSUMER_HERE;
    }
    return term_ms(lease) <= now_ms ? REBALANCE_CONSUMER_GONE : REBALANCE_CONSUMER_AWAY;
}

void rebalance_clock_plan(const struct lease *lease, int64_t now_ms,
                          struct arena *arena, struct rebalance_plan *plan)
{
    if (lease->part == LEASE_LEAF) {
        lease_grant_plan(lease, arena, plan);
        return;
    }
    int64_t moved_ms = lease->rebalance_clock.moved_ms;
    struct rebalance_snapshot snapshot = {
        .hosts = lease->row.hosts,
        .n_hosts = lease->row.n_hosts,
        .policy = lease->reclaim_policy,
        .provider_waiting = lease->provider_waiting,
        .consumer_waiting = lease_consumer_waiting(lease),
        .since_move_ms = moved_ms != 0 ? now_ms - moved_ms : INT64_MAX,
        .min_hold_ms = lease->min_hold_ms,
        .consumer = consumer_of(lease, now_ms),
        .is_exclusive = lease->row.type == LEASE_EXCLUSIVE,
    };
    rebalance_plan(&snapshot, arena, plan);
}

/* The end of LEASE_TERM is never skipped, unlike an instant. */
static bool take_term(struct lease *lease, int64_t now_ms)
{
    struct rebalance_clock *clock = &lease->rebalance_clock;
    bool is_over =
        !clock->is_term_done && may_rebalance(lease) && term_ms(lease) <= now_ms;
    clock->is_term_done |= is_over;
    return is_over;
}

static bool take_missed(struct lease *lease, int64_t now_ms)
{
    int64_t instant_ms = missed_ms(lease);
    if (instant_ms > now_ms || !has_clock(lease)) {
        return false;
    }
    lease->row.judged_ms = instant_ms;
    lease->rebalance_clock.is_missed = false;
    return true;
}

static bool take_instant(struct lease *lease, int64_t now_ms)
{
    struct rebalance_clock *clock = &lease->rebalance_clock;
    if (clock->due_ms > now_ms || !has_clock(lease)) {
        return false;
    }
    clock->is_missed = false;
    int64_t late = (now_ms - clock->due_ms) % clock->delay_ms;
    lease->row.judged_ms = now_ms - late;
    clock->due_ms = lease->row.judged_ms + clock->delay_ms;
    return may_rebalance(lease);
}

static bool take_asked(struct lease *lease)
{
    bool is_asked = lease->rebalance_clock.is_asked && may_rebalance(lease);
    lease->rebalance_clock.is_asked &= !is_asked;
    return is_asked;
}

/* True if the rule is to be applied now. */
static bool take_due(struct lease *lease, int64_t now_ms)
{
    if (lease->row.type == LEASE_POOL) {
        return false; /* the pool's cycle decides */
    }
    if (rebalance_clock_wake_ms(lease) > now_ms) {
        return lease->rebalance_clock.checked_ms == now_ms && may_rebalance(lease);
    }
    bool is_term = take_term(lease, now_ms), is_instant = take_instant(lease, now_ms);
    bool is_missed = take_missed(lease, now_ms), is_asked = take_asked(lease);
    lease->rebalance_clock.checked_ms = now_ms;
    return is_term || is_instant || is_missed || is_asked ||
           exclusive_ms(lease) <= now_ms;
}

void rebalance_clock_tick(struct lease *lease, struct handover_limiter *limiter,
                          int64_t now_ms, struct effects *effects)
{
    struct rebalance_clock before = lease->rebalance_clock;
    bool is_promised = before.held_ms != 0 && before.held_ms <= now_ms;
    int64_t judged_ms = lease->row.judged_ms;
    bool is_due = take_due(lease, now_ms);
    struct rebalance_plan plan = {.direction = REBALANCE_NONE};
    if (is_due) {
        lease->rebalance_clock.held_ms = 0;
        rebalance_clock_plan(lease, now_ms, &effects->arena, &plan);
    }
    if (plan.direction == REBALANCE_NONE) {
        if (lease->row.judged_ms != judged_ms) {
            lease_store_judged(lease, effects); /* after a restart it is not missed */
        }
        return;
    }
    if (!handover_limiter_take(limiter, is_promised, now_ms)) {
        lease->rebalance_clock = before; /* it is still due */
        lease->rebalance_clock.held_ms = handover_limiter_promise(limiter);
        lease->row.judged_ms = judged_ms;
        return;
    }
    lease->rebalance_clock.checked_ms = INT64_MIN;
    handover_begin(lease, plan.reason, now_ms, effects);
}

static int64_t due_ms(const struct lease *lease)
{
    if (lease->row.type == LEASE_POOL) {
        return INT64_MAX;
    }
    if (lease->rebalance_clock.is_asked && may_rebalance(lease)) {
        return lease->rebalance_clock.asked_ms;
    }
    if (lease->row.type == LEASE_EXCLUSIVE) {
        return exclusive_ms(lease);
    }
    bool is_term_open = !lease->rebalance_clock.is_term_done && may_rebalance(lease);
    int64_t term = is_term_open ? term_ms(lease) : INT64_MAX;
    int64_t due = lease->rebalance_clock.due_ms, missed = missed_ms(lease);
    due = term < due ? term : due;
    return missed < due ? missed : due;
}

int64_t rebalance_clock_wake_ms(const struct lease *lease)
{
    if (!is_rebalanced(lease)) {
        return INT64_MAX;
    }
    int64_t at_ms = due_ms(lease);
    return at_ms > lease->rebalance_clock.held_ms ? at_ms
                                                  : lease->rebalance_clock.held_ms;
}
