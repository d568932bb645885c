/* SPDX-License-Identifier: Apache-2.0 */
/* broker_rebalance.c: REBALANCE: an administrator, or the provider of a lease, has the
 * rebalance rule applied to the lease at once.
 *
 * The rule is the same as at a regular instant, MIN_HOLD and the limit on hand-overs
 * that begin together included. The regular instants do not change. The answer says
 * what the rule calls for by the latest counts; the event lease_rebalance has it, too.
 *
 * Errors: ERR_NOT_FOUND; ERR_DENIED; ERR_AWAY if the provider is not connected;
 * ERR_STATE if the rule does not apply to the lease now, or if the last request for it
 * is less than REBALANCE_NOW_EVERY_MS old. Source: docs/design/leases.md "Shared
 * leases". */
#include "broker/broker_parts.h"

#include "broker/lease/lease.h"

enum { REBALANCE_NOW_EVERY_MS = 10000 }; /* of one lease */

static int check_state(const struct lease *lease, struct err *err)
{
    const char *id = lease->row.id;
    if (lease->row.type == LEASE_POOL) {
        return err_set(err, ERR_STATE,
                       "lease %s belongs to a pool, whose plan divides its slots; see "
                       "`sublet plan show`",
                       id);
    }
    if (lease->row.state == LEASE_ENDED || lease->row.state == LEASE_DRAINING) {
        return err_set(err, ERR_STATE, "lease %s is %s: nothing is rebalanced", id,
                       msg_lease_state_name(lease->row.state));
    }
    if (lease->row.made_ms == 0) {
        return err_set(err, ERR_STATE,
                       "lease %s is not made yet: it is rebalanced once a job of the "
                       "consumer has been scheduled onto it",
                       id);
    }
    if (!member_is_here(lease->provider, ROLE_PROVIDER)) {
        return err_set(err, ERR_AWAY,
                       "lease %s: its provider is not connected, try again later", id);
    }
    if (lease->row.state == LEASE_INACTIVE) {
        return err_set(err, ERR_STATE,
                       "lease %s is inactive: slots change hands already", id);
    }
    return 0;
}

static int check_rate(const struct lease *lease, int64_t now_ms, struct err *err)
{
    int64_t since_ms = now_ms - lease->rebalance_clock.asked_ms;
    bool is_too_soon = lease->rebalance_clock.asked_ms != INT64_MIN && since_ms >= 0 &&
                       since_ms < REBALANCE_NOW_EVERY_MS;
    return !is_too_soon
               ? 0
               : err_set(err, ERR_STATE,
                         "lease %s: a rebalance was requested %lld s ago, try again in "
                         "%lld s",
                         lease->row.id, (long long)(since_ms / 1000),
                         (long long)(REBALANCE_NOW_EVERY_MS - since_ms + 999) / 1000);
}

static int check(const struct peer *from, const struct msg_rebalance *ask,
                 const struct lease *lease, int64_t now_ms, struct err *err)
{
    int rc = broker_requests_check_right(from, lease, ask->lease, "rebalance", err);
    rc = rc == 0 ? check_state(lease, err) : rc;
    return rc == 0 ? check_rate(lease, now_ms, err) : rc;
}

void broker_rebalance(struct broker *broker, struct member *member,
                      const struct event *event, struct effects *effects)
{
    (void)member;
    const struct msg_rebalance *ask = &event->msg->rebalance;
    struct lease *lease = lease_table_find(&broker->leases, ask->lease);
    struct rebalance_plan plan = {.direction = REBALANCE_NONE};
    struct err err;
    int rc = check(&event->from, ask, lease, event->now_ms, &err);
    if (rc < 0) {
        outbox_reply_error(effects, event, ask->request, rc, "%s", err.text);
        return;
    }
    rebalance_clock_plan(lease, event->now_ms, &effects->arena, &plan);
    rebalance_clock_ask(lease, event->now_ms);
    timer_heap_set(&broker->leases.timers, &lease->timer, event->now_ms);
    lease_record_order(lease, HISTORY_REBALANCE,
                       arena_printf(&effects->arena, "requested by %s: %s",
                                    event->from.name, plan.reason),
                       event->now_ms, effects);
    effects_log(effects, LOG_LEVEL_NOTICE, "%s: rebalance of lease %s: %s",
                event->from.name, lease->row.id, plan.reason);
    outbox_reply(effects, event, ask->request,
                 arena_printf(&effects->arena, "Lease <%s> is rebalanced: %s.",
                              lease->row.id, plan.reason),
                 NULL, "");
}
