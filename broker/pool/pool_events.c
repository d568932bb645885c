/* SPDX-License-Identifier: Apache-2.0 */
/* pool_events.c: see pool_events.h. */
#include "broker/pool/pool_events.h"

#include "broker/lease/lease.h"
#include "broker/lease/lease_split.h"

static void store(struct row *row, struct effects *effects)
{
    struct row copy;
    row_copy(&effects->arena, row, &copy);
    effects_store(effects, &copy);
}

static void tell(const struct lease *lease, enum history_event event, const char *why,
                 int n_slots, int64_t deadline_ms, int64_t now_ms,
                 struct effects *effects)
{
    struct row row = {.kind = ROW_HISTORY};
    struct tally tally = lease_split_sum(lease->row.hosts, lease->row.n_hosts);
    row.history = (struct row_history){
        .at_ms = now_ms,
        .lease = lease->row.id,
        .site = "",
        .event = event,
        .state = lease->row.state,
        .epoch = lease->row.epoch,
        .provider_available = tally.provider.available,
        .provider_used = tally.provider.used,
        .consumer_available = tally.consumer.available,
        .consumer_used = tally.consumer.used,
        .reason = why,
        .pool = lease->recalling.pool,
        .node = lease->node,
        .slots = n_slots,
        .deadline_ms = deadline_ms,
    };
    store(&row, effects);
}

void pool_events_recall(const struct lease *lease, int n_slots, int64_t deadline_ms,
                        enum pool_why why, int64_t now_ms, struct effects *effects)
{
    tell(lease, HISTORY_RECALL, pool_why_text(why), n_slots, deadline_ms, now_ms,
         effects);
}

void pool_events_recall_done(const struct lease *lease, int n_slots,
                             int64_t deadline_ms, int64_t now_ms,
                             struct effects *effects)
{
    tell(lease, HISTORY_RECALL_DONE, "the slots are home", n_slots, deadline_ms, now_ms,
         effects);
}

void pool_events_quota(const char *pool, const char *node, int64_t quota,
                       int64_t demand, const char *why, int64_t now_ms,
                       struct effects *effects)
{
    struct row row = {.kind = ROW_HISTORY};
    row.history = (struct row_history){
        .at_ms = now_ms,
        .lease = "",
        .site = "",
        .event = HISTORY_QUOTA,
        .reason = why,
        .pool = pool,
        .node = node,
        .quota = quota,
        .demand = demand,
    };
    store(&row, effects);
}
