/* SPDX-License-Identifier: Apache-2.0 */
/* lease_event.c: see broker_view.h. */
#include "broker/view/broker_view.h"

#include <string.h>

#include "model/schema.h"

const char *lease_event_name(enum history_event event)
{
    static const char *const names[] = {
        [HISTORY_REGISTERED] = "lease_registered",
        [HISTORY_MADE] = "lease_made",
        [HISTORY_INACTIVE] = "lease_inactive",
        [HISTORY_ACTIVE] = "lease_active",
        [HISTORY_CHANGED] = "lease_changed",
        [HISTORY_DRAINING] = "lease_drain",
        [HISTORY_ENDED] = "lease_end",
        [HISTORY_SITE_LOST] = "site_lost",
        [HISTORY_SITE_BACK] = "site_back",
        [HISTORY_QUOTA] = "quota",
        [HISTORY_RECALL] = "recall",
        [HISTORY_RECALL_DONE] = "recall_done",
        [HISTORY_REBALANCE] = "lease_rebalance",
        [HISTORY_HOURS] = "hours",
        [HISTORY_LEASE_RESUME] = "lease_resume",
        [HISTORY_SITE_DRAIN] = "site_drain",
        [HISTORY_SITE_RESUME] = "site_resume",
        [HISTORY_RECLAIM_DELAY] = "reclaim_delay",
        [HISTORY_RELOAD] = "reload",
    };
    return (unsigned)event <= HISTORY_RELOAD ? names[event] : "?";
}

void lease_event_add_side(struct arena *arena, struct value *event, const char *key,
                          const char *site, int available, int used)
{
    struct value *side = value_add(arena, event, key, value_object(arena));
    if (site != NULL) {
        value_add_text(arena, side, "site", site);
    }
    value_add_int(arena, side, "available", available);
    value_add_int(arena, side, "used", used);
}

/* The sites of a lease are in its id. */
static void add_lease(struct arena *arena, struct value *event,
                      const struct row_history *row)
{
    size_t length;
    const char *consumer = msg_lease_consumer(row->lease, &length);
    const char *provider = arena_strn(arena, row->lease, strcspn(row->lease, "/"));
    value_add_text(arena, event, "lease", row->lease);
    value_add_int(arena, event, "epoch", (int64_t)row->epoch);
    lease_event_add_side(arena, event, "provider", provider, row->provider_available,
                         row->provider_used);
    lease_event_add_side(arena, event, "consumer", arena_strn(arena, consumer, length),
                         row->consumer_available, row->consumer_used);
}

static void add_node(struct arena *arena, struct value *event,
                     const struct row_history *row, int64_t start_ms)
{
    value_add_text(arena, event, "pool", row->pool);
    value_add_text(arena, event, "node", row->node);
    if (row->event == HISTORY_QUOTA) {
        value_add_int(arena, event, "quota", row->quota);
        value_add_int(arena, event, "demand", row->demand);
        return;
    }
    if (row->event == HISTORY_HOURS) {
        return;
    }
    value_add_int(arena, event, "slots", row->slots);
    if (start_ms < 0) {
        value_add_instant(arena, event, "deadline", row->deadline_ms);
    } else {
        value_add_duration(arena, event, "deadline", row->deadline_ms - start_ms);
    }
}

static bool is_given(const char *name)
{
    return name != NULL && name[0] != '\0';
}

void lease_event_add(struct arena *arena, struct value *event,
                     const struct row_history *row, int64_t start_ms)
{
    if (is_given(row->lease)) {
        add_lease(arena, event, row);
    } else if (is_given(row->site)) {
        value_add_text(arena, event, "site", row->site);
    }
    if (is_given(row->node)) {
        add_node(arena, event, row, start_ms);
    }
    value_add_text(arena, event, "reason", row->reason);
}
