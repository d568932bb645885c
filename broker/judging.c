/* SPDX-License-Identifier: Apache-2.0 */
/* judging.c: see judging.h. */
#include "broker/judging.h"

#include <string.h>

#include "broker/lease.h"

void judging_init(struct lease *lease)
{
    lease->judging = (struct judging){.due_ms = INT64_MAX, .open_ms = INT64_MIN};
}

/* Only what is shared and made, and neither draining nor ended, is ever judged. */
static bool has_clock(const struct lease *lease)
{
    return lease->row.type == LEASE_SHARED && lease->row.made_ms != 0 &&
           (lease->row.state == LEASE_ACTIVE || lease->row.state == LEASE_INACTIVE);
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

void judging_load(struct lease *lease)
{
    /* Which change was the last move is not on record; to take the last change of any
     * kind holds slots for a little too long at worst. */
    lease->judging.moved_ms = lease->row.epoch > 1 ? lease->row.changed_ms : 0;
}

void judging_start(struct lease *lease, int64_t now_ms)
{
    lease->row.made_ms = now_ms;
    lease->row.judged_ms = 0;
    lease->judging.due_ms =
        lease->row.type == LEASE_SHARED ? now_ms + lease->judging.delay_ms : INT64_MAX;
}

void judging_set_delay(struct lease *lease, int64_t delay_ms, int64_t now_ms)
{
    struct judging *judging = &lease->judging;
    bool is_first = judging->delay_ms == 0;
    if (judging->delay_ms == delay_ms) {
        return;
    }
    judging->delay_ms = delay_ms;
    if (!has_clock(lease)) {
        return;
    }
    int64_t last = last_instant(lease), next = last + delay_ms;
    if (is_first) {
        judging->due_ms = next_on_grid(last, delay_ms, now_ms);
    } else {
        judging->due_ms = next > now_ms ? next : now_ms;
    }
}

void judging_begin_term(struct lease *lease)
{
    lease->judging.is_term_judged = false;
}

/* The counts are fresh, nothing is under way, and the provider can be asked. */
static bool may_judge(const struct lease *lease)
{
    return lease->row.state == LEASE_ACTIVE && !lease->asking.is_open &&
           sessions_is_here(lease->provider, ROLE_PROVIDER);
}

/* The end of LEASE_TERM; INT64_MAX while the consumer is here. */
static int64_t term_ms(const struct lease *lease)
{
    const struct member *consumer = lease->consumer;
    return sessions_is_here(consumer, ROLE_CONSUMER)
               ? INT64_MAX
               : consumer->since_ms + lease->lease_term_ms;
}

static enum rebalance_consumer consumer_of(const struct lease *lease, int64_t now_ms)
{
    if (sessions_is_here(lease->consumer, ROLE_CONSUMER)) {
        return REBALANCE_CONSUMER_HERE;
    }
    return term_ms(lease) <= now_ms ? REBALANCE_CONSUMER_GONE : REBALANCE_CONSUMER_AWAY;
}

void judging_plan(const struct lease *lease, int64_t now_ms, struct arena *arena,
                  struct rebalance_plan *plan)
{
    int64_t moved_ms = lease->judging.moved_ms;
    struct rebalance_snapshot snapshot = {
        .hosts = lease->row.hosts,
        .n_hosts = lease->row.n_hosts,
        .policy = lease->reclaim_policy,
        .provider_waiting = lease->provider_waiting,
        .consumer_waiting = lease_consumer_waiting(lease),
        .since_move_ms = moved_ms != 0 ? now_ms - moved_ms : INT64_MAX,
        .min_hold_ms = lease->min_hold_ms,
        .consumer = consumer_of(lease, now_ms),
    };
    rebalance_plan(&snapshot, arena, plan);
}

/* The end of LEASE_TERM is judged as soon as it can be, an instant only when it comes.
 */
static bool take_term(struct lease *lease, int64_t now_ms)
{
    struct judging *judging = &lease->judging;
    bool is_over =
        !judging->is_term_judged && may_judge(lease) && term_ms(lease) <= now_ms;
    judging->is_term_judged |= is_over;
    return is_over;
}

static bool take_instant(struct lease *lease, int64_t now_ms)
{
    struct judging *judging = &lease->judging;
    if (judging->due_ms > now_ms) {
        return false;
    }
    int64_t late = (now_ms - judging->due_ms) % judging->delay_ms;
    lease->row.judged_ms = now_ms - late;
    judging->due_ms = lease->row.judged_ms + judging->delay_ms;
    return may_judge(lease);
}

/* True where the lease is to be judged now. */
static bool take_turn(struct lease *lease, int64_t now_ms)
{
    if (judging_wake_ms(lease) > now_ms) {
        return lease->judging.open_ms == now_ms && may_judge(lease);
    }
    bool is_term = take_term(lease, now_ms), is_instant = take_instant(lease, now_ms);
    lease->judging.open_ms = now_ms;
    return is_term || is_instant;
}

void judging_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (!take_turn(lease, now_ms)) {
        return;
    }
    struct rebalance_plan plan;
    judging_plan(lease, now_ms, &effects->arena, &plan);
    if (plan.direction != REBALANCE_NONE) {
        lease->judging.open_ms = INT64_MIN;
        handover_begin(lease, plan.reason, now_ms, effects);
    }
}

int64_t judging_wake_ms(const struct lease *lease)
{
    if (!has_clock(lease)) {
        return INT64_MAX;
    }
    bool is_term_open = !lease->judging.is_term_judged && may_judge(lease);
    int64_t term = is_term_open ? term_ms(lease) : INT64_MAX;
    return term < lease->judging.due_ms ? term : lease->judging.due_ms;
}
