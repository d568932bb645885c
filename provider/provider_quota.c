/* SPDX-License-Identifier: Apache-2.0 */
/* provider_quota.c: HOURS of export policies: what the consumer's jobs use on a lease
 * is added up from the runs that this site has admitted. Once a quota is used up, the
 * lease is withheld until the month is over: jobs go on, none starts, and slots come
 * back as soon as they are idle. The count is stored with each change of the slots in
 * use.
 *
 * Contracts of leaves of a plan are counted alike, from their first run on, and have no
 * bound here: the broker adds up what providers count, and knows HOURS of the nodes. A
 * leaf of this site itself borrows nothing, and is not counted. */
#include "provider/provider_parts.h"

bool provider_quota_is_counted(const struct ledger_lease *lease)
{
    return lease->quota.n_hours > 0 || lease->hours_since_ms != 0;
}

static void store(const struct ledger_lease *lease, struct effects *effects)
{
    struct row row = {.kind = ROW_QUOTA};
    row.quota = (struct row_quota){.name = arena_str(&effects->arena, lease->lease),
                                   .n_hours = lease->quota.n_hours,
                                   .month_ms = lease->quota.month_ms,
                                   .used_ms = lease->quota.used_ms,
                                   .booked_ms = lease->quota.booked_ms,
                                   .n_used = lease->quota.n_used,
                                   .since_ms = lease->hours_since_ms,
                                   .price = lease->terms.price,
                                   .is_gone = lease->quota.n_hours == 0 &&
                                              lease->part != LEDGER_LEAF};
    effects_store(effects, &row);
}

void provider_quota_load(struct provider *provider, const struct row_quota *row)
{
    struct ledger_lease *lease = ledger_find(&provider->ledger, row->name);
    if (lease != NULL) {
        lease->quota = (struct quota){row->n_hours,   row->month_ms, row->used_ms,
                                      row->booked_ms, row->n_used,   provider->hour_ms};
        lease->quota_level = quota_level(&lease->quota);
        lease->hours_since_ms = row->since_ms;
        lease->terms.price = row->price;
    }
}

void provider_quota_set_price(struct ledger_lease *lease, int price, int64_t now_ms,
                              struct effects *effects)
{
    if (lease->part == LEDGER_LEAF && lease->terms.price != price) {
        if (provider_quota_is_counted(lease)) { /* a row is as of its instant */
            quota_use(&lease->quota, lease->n_running, now_ms);
        }
        lease->terms.price = price;
        lease->is_dirty = true;
        store(lease, effects);
    }
}

bool provider_quota_set(const struct provider *provider, struct ledger_lease *lease,
                        int64_t n_hours, int64_t now_ms, struct effects *effects)
{
    if (lease->quota.n_hours == n_hours) {
        return false;
    }
    if (lease->quota.n_hours == 0) {
        lease->quota =
            (struct quota){.booked_ms = now_ms, .hour_ms = provider->hour_ms};
    }
    lease->hours_since_ms = n_hours == 0                ? 0
                            : lease->quota.n_hours == 0 ? now_ms
                                                        : lease->hours_since_ms;
    lease->quota.n_hours = n_hours;
    quota_use(&lease->quota, lease->n_running, now_ms);
    lease->quota_level = quota_level(&lease->quota);
    lease->is_dirty = true;
    store(lease, effects);
    return true;
}

static void log_level_change(const struct ledger_lease *lease, struct effects *effects)
{
    char text[QUOTA_TEXT_SIZE];
    quota_format(&lease->quota, text);
    effects_log(effects,
                lease->quota_level == QUOTA_FREE ? LOG_LEVEL_NOTICE : LOG_LEVEL_WARNING,
                "lease %s: %s are used%s", lease->lease, text,
                lease->quota_level == QUOTA_SPENT
                    ? "; no job starts on it until the month is over"
                    : "");
}

/* True if slots are withheld now that were not, or the other way round. */
static bool book(struct ledger_lease *lease, int64_t now_ms, struct effects *effects)
{
    enum quota_level before = lease->quota_level;
    if (lease->part == LEDGER_LEAF && lease->hours_since_ms == 0 &&
        lease->n_running > 0) {
        lease->hours_since_ms = lease->quota.booked_ms = now_ms;
    }
    if (!provider_quota_is_counted(lease) || (lease->quota.n_used == lease->n_running &&
                                              now_ms < quota_wake_ms(&lease->quota))) {
        return false;
    }
    quota_use(&lease->quota, lease->n_running, now_ms);
    lease->quota_level = quota_level(&lease->quota);
    store(lease, effects);
    if (lease->quota_level != before) {
        lease->is_dirty = true;
        log_level_change(lease, effects);
    }
    return (lease->quota_level == QUOTA_SPENT) != (before == QUOTA_SPENT);
}

/* A lease that is withheld gets no slots; its hosts stay. */
bool provider_quota_withhold(const struct provider *provider,
                             struct ledger_lease *lease)
{
    bool is_withheld = provider->withheld != NULL || lease->quota_level == QUOTA_SPENT;
    bool has_changed = lease->is_withheld != is_withheld;
    lease->is_withheld = is_withheld;
    lease->is_dirty |= has_changed;
    for (int i = 0; i < lease->n_hosts && has_changed; i++) {
        lease->hosts[i].host->needs_reconcile = true;
    }
    return has_changed;
}

void provider_quota_count(struct provider *provider, struct ledger_lease *lease,
                          int64_t now_ms, struct effects *effects)
{
    if (book(lease, now_ms, effects)) {
        provider_quota_withhold(provider, lease);
    }
}

void provider_quota_tick(struct provider *provider, int64_t now_ms,
                         struct effects *effects)
{
    for (int i = 0; i < provider->ledger.count; i++) {
        provider_quota_count(provider, provider->ledger.items[i], now_ms, effects);
    }
}

const char *provider_quota_reason(const struct ledger_lease *lease, struct arena *arena)
{
    char text[QUOTA_TEXT_SIZE];
    quota_format(&lease->quota, text);
    return arena_printf(arena, "its quota is used up: %s", text);
}
