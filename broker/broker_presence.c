/* SPDX-License-Identifier: Apache-2.0 */
/* broker_presence.c: a member is here, or is lost: the record of that, and its leases.
 */
#include <utlist.h>

#include "broker/broker_parts.h"
#include "broker/push/push.h"

static void refresh_provided(const struct broker *broker, struct lease *lease,
                             int64_t now_ms)
{
    if (lease_is_open(lease)) {
        poll_state_begin(lease, now_ms);
    }
    push_drain_resume(lease, now_ms);
    push_recall_resume(lease, now_ms);
    broker_due_set_delay(broker, lease, now_ms);
    lease_notify_consumer(lease, now_ms); /* its provider is here */
    if (lease->handover.phase != HANDOVER_NONE) {
        resend_set_next(&lease->handover.resend, now_ms);
    }
}

static void store_presence(const struct member *member, enum history_event what,
                           const char *reason, int64_t now_ms, struct effects *effects)
{
    member_store(member, effects);
    member_record(member->name, what, reason, now_ms, effects);
}

/* Neither its first session nor a restart of either side is an event. */
static void record_presence(struct member *member, int64_t now_ms,
                            struct effects *effects)
{
    bool was_silent = member->silent_ms != 0;
    member->silent_ms = 0;
    if (member->is_lost) {
        member->is_lost = false;
        store_presence(member, HISTORY_SITE_BACK, "it is connected again", now_ms,
                       effects);
    } else if (!member->is_known || was_silent) {
        member_store(member, effects);
    }
    member->is_known = true;
}

static void record_absence(struct member *member, int64_t lost_after_ms, int64_t now_ms,
                           struct effects *effects)
{
    const char *reason =
        arena_printf(&effects->arena, "silent for %lld ms", (long long)lost_after_ms);
    member->is_lost = member->is_known = true;
    store_presence(member, HISTORY_SITE_LOST, reason, now_ms, effects);
    effects_log(effects, LOG_LEVEL_WARNING, "site %s is lost: %s", member->name,
                reason);
}

void broker_presence_begin(struct broker *broker, struct member *member, int64_t now_ms,
                           struct effects *effects)
{
    struct lease *lease;
    record_presence(member, now_ms, effects);
    DL_FOREACH2(member->lent, lease, next_lent)
    {
        refresh_provided(broker, lease, now_ms);
        broker_due_set(broker, lease, now_ms);
    }
    DL_FOREACH2(member->borrowed, lease, next_borrowed)
    {
        lease_notify_consumer(lease, now_ms);
        rebalance_clock_begin_term(lease);
        broker_due_set(broker, lease, now_ms);
    }
}

void broker_presence_end(struct broker *broker, struct member *member, int64_t now_ms,
                         struct effects *effects)
{
    struct lease *lease;
    record_absence(member, broker->members.lost_after_ms, now_ms, effects);
    DL_FOREACH2(member->lent, lease, next_lent)
    {
        lease_notify_consumer(lease, now_ms);
        broker_due_set(broker, lease, now_ms);
    }
    DL_FOREACH2(member->borrowed, lease, next_borrowed)
    {
        broker_due_set(broker, lease, now_ms);
    }
}
