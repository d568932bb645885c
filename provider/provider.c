/* SPDX-License-Identifier: Apache-2.0 */
/* provider.c: see provider.h. Here: the state as a whole, the reports and questions of
 * the site's scheduler, and when STATE is sent. */
#include "provider/provider_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/resend.h"
#include "model/record.h"
#include "provider/lease_recall.h"
#include "provider/reconcile.h"

static const struct resend_waits state_waits = {.first_ms = PROVIDER_STATE_EVERY_MS,
                                                .last_ms = PROVIDER_STATE_CALM_MS};

struct provider *provider_new(const char *site, int64_t freeze_timeout_ms)
{
    struct provider *provider = mem_alloc(1, sizeof(*provider));
    size_t size = strlen(site) + 1;
    provider->site = memcpy(mem_alloc(size, 1), site, size);
    provider->freeze_timeout_ms = freeze_timeout_ms;
    provider->patience = 1;
    provider->shown = mem_alloc(1, sizeof(*provider->shown));
    arena_init(provider->shown);
    return provider;
}

void provider_set_patience(struct provider *provider, int patience)
{
    provider->patience = patience;
}

void provider_set_hour(struct provider *provider, int64_t hour_ms)
{
    provider->hour_ms = hour_ms;
}

void provider_free(struct provider *provider)
{
    if (provider == NULL) {
        return;
    }
    admitted_release(&provider->admitted);
    ledger_release(&provider->ledger);
    arena_release(provider->shown);
    free(provider->shown);
    free(provider->site);
    free(provider);
}

void provider_withhold(struct provider *provider, const char *reason)
{
    provider->withheld = reason;
}

void provider_set_users(struct provider *provider, const struct user_map *users)
{
    provider->users = users;
}

void provider_set_freeze_timeout(struct provider *provider, int64_t freeze_timeout_ms)
{
    provider->freeze_timeout_ms = freeze_timeout_ms;
}

static void load_run(struct provider *provider, const struct row_run *row)
{
    struct ledger_lease *lease = ledger_find(&provider->ledger, row->lease);
    if (lease != NULL && !row->is_gone) {
        admitted_add(&provider->admitted, &provider->ledger, &row->run, lease,
                     row->hosts, row->n_hosts, row->record == RUN_RECORD_ENDED);
    }
}

void provider_load(struct provider *provider, const struct row *row)
{
    if (row->kind == ROW_BOOK && !row->book.is_gone) {
        ledger_load(&provider->ledger, &row->book);
    } else if (row->kind == ROW_QUOTA) {
        provider_quota_load(provider, &row->quota);
    } else if (row->kind == ROW_HIGH) {
        admitted_set_highest(&provider->admitted, row->high.consumer,
                             &(struct journal_mark){.commits = row->high.commits,
                                                    .attempt = row->high.attempt,
                                                    .job = row->high.job});
    } else if (row->kind == ROW_RUN && row->run.lease[0] != '\0') {
        load_run(provider, &row->run);
    }
}

/* ------------------------------------------------------------ the site's scheduler */

/* No own job starts on it: it is frozen, or its idle slots go back to the pool. */
static bool takes_none(const struct ledger_lease *lease)
{
    return lease->is_frozen || ledger_is_owed(lease);
}

const struct ledger_host *provider_host(struct provider *provider, const char *name)
{
    return ledger_add_host(&provider->ledger, name);
}

const char *provider_host_name(const struct ledger_host *host)
{
    return host->name;
}

/* What consumers hold of the share; a lease without a leaf has its slots in a pool. */
static int lent_of(const struct ledger_lease *lease, const struct lease_share *entry)
{
    return lease->part == LEDGER_IDLE ? 0 : entry->consumer;
}

struct provider_host_slots provider_host_slots(const struct ledger_host *host, int max,
                                               int local_used)
{
    int64_t allowed = max;
    bool is_owed = false;
    int lent = 0;
    for (int i = 0; i < host->n_links; i++) {
        const struct ledger_lease *lease = host->links[i].lease;
        const struct lease_share *entry = &lease->hosts[host->links[i].index];
        allowed -= entry->n_slots;
        allowed += takes_none(lease) ? entry->provider_used : entry->provider;
        is_owed |= ledger_is_owed(lease);
        lent += lent_of(lease, entry);
    }
    /* Slots of suspended jobs count as in use until they are given back: a job that
     * started there would have to end again. */
    allowed -= is_owed ? host->local_yielded : 0;
    return (struct provider_host_slots){
        allowed > local_used ? (int)allowed : local_used, lent};
}

int provider_host_local_max(const struct ledger_host *host, int max, int local_used)
{
    return provider_host_slots(host, max, local_used).local_max;
}

int provider_exported(const struct provider *provider, const char *name)
{
    const struct ledger_host *host = ledger_find_host(&provider->ledger, name);
    int n_slots = 0;
    for (int i = 0; host != NULL && i < host->n_links; i++) {
        n_slots += host->links[i].lease->hosts[host->links[i].index].n_slots;
    }
    return n_slots;
}

int provider_host_lent(const struct ledger_host *host)
{
    return provider_host_slots(host, 0, 0).lent;
}

int provider_host_lent_for_good(const struct ledger_host *host)
{
    int n_slots = 0;
    for (int i = 0; i < host->n_links; i++) {
        const struct ledger_lease *lease = host->links[i].lease;
        n_slots += lease->type == LEASE_SHARED
                       ? 0
                       : lent_of(lease, &lease->hosts[host->links[i].index]);
    }
    return n_slots;
}

bool provider_host_is_changing(const struct ledger_host *host)
{
    for (int i = 0; i < host->n_links; i++) {
        const struct ledger_lease *lease = host->links[i].lease;
        bool is_held = lease->hosts[host->links[i].index].consumer > 0;
        if (is_held && lease->part != LEDGER_IDLE && takes_none(lease)) {
            return true;
        }
    }
    return false;
}

int provider_lent(const struct provider *provider, const char *name)
{
    const struct ledger_host *host = ledger_find_host(&provider->ledger, name);
    return host != NULL ? provider_host_lent(host) : 0;
}

int64_t provider_space(const struct provider *provider, const char *name,
                       enum space_kind kind)
{
    const struct ledger_host *host = ledger_find_host(&provider->ledger, name);
    return host != NULL ? export_memory_sum(host, kind) : 0;
}

int64_t provider_known_space(const struct provider *provider, const char *name,
                             enum space_kind kind)
{
    const struct ledger_host *host = ledger_find_host(&provider->ledger, name);
    return host != NULL ? host->spaces_mib[kind] : -1;
}

static int compare_pools(const void *left, const void *right)
{
    const struct provider_pool *a = left, *b = right;
    int order = strcmp(a->resource, b->resource);
    order = order != 0 ? order : a->pool - b->pool;
    order = order != 0 ? order : strcmp(a->consumer, b->consumer);
    return order != 0 ? order : b->n_instances - a->n_instances;
}

int provider_list_pools(const struct provider *provider, struct arena *arena,
                        struct provider_pool **pools)
{
    int n_all = 0, n_pools = 0;
    for (int i = 0; i < provider->ledger.count; i++) {
        n_all += provider->ledger.items[i]->n_resources;
    }
    struct provider_pool *all = arena_alloc(arena, (size_t)n_all, sizeof(*all));
    n_all = 0;
    for (int i = 0; i < provider->ledger.count; i++) {
        const struct ledger_lease *lease = provider->ledger.items[i];
        for (int k = 0; k < lease->n_resources; k++) {
            const struct lease_resource *resource = &lease->resources[k];
            all[n_all++] = (struct provider_pool){
                resource->name, lease->consumer, resource->pool, resource->n_instances};
        }
    }
    if (n_all > 0) {
        qsort(all, (size_t)n_all, sizeof(*all), compare_pools);
    }
    /* The first of a consumer has the most; the others name the same instances. */
    for (int i = 0; i < n_all; i++) {
        const struct provider_pool *last = &all[n_pools - 1];
        if (n_pools == 0 || strcmp(last->resource, all[i].resource) != 0 ||
            last->pool != all[i].pool || strcmp(last->consumer, all[i].consumer) != 0) {
            all[n_pools++] = all[i];
        }
    }
    *pools = all;
    return n_pools;
}

uint64_t provider_changes(const struct provider *provider)
{
    return provider->ledger.n_changes;
}

void provider_set_local_used(struct provider *provider, const char *name, int max,
                             int local_used)
{
    struct ledger_host *host = ledger_add_host(&provider->ledger, name);
    if (host->is_known && host->max == max && host->local_used == local_used) {
        return;
    }
    host->is_known = true;
    host->max = max;
    host->local_used = local_used;
    host->needs_reconcile = true;
    ledger_attribute(host);
}

void provider_set_local_yielded(struct provider *provider, const char *name,
                                int n_slots)
{
    struct ledger_host *host = ledger_add_host(&provider->ledger, name);
    if (host->local_yielded != n_slots) {
        host->local_yielded = n_slots;
        host->needs_reconcile = true;
        ledger_attribute(host);
    }
}

static void mark_all_dirty(struct ledger_host *host)
{
    for (int i = 0; i < host->n_links; i++) {
        host->links[i].lease->is_dirty = true;
    }
}

void provider_set_down(struct provider *provider, const char *name, bool is_down)
{
    struct ledger_host *host = ledger_add_host(&provider->ledger, name);
    if (host->is_down != is_down) {
        host->is_down = is_down;
        mark_all_dirty(host);
    }
}

void provider_set_awaited(struct provider *provider, const char *name, bool is_awaited)
{
    ledger_add_host(&provider->ledger, name)->is_awaited = is_awaited;
}

void provider_set_used_exclusively(struct provider *provider, const char *name,
                                   bool is_taken)
{
    struct ledger_host *host = ledger_add_host(&provider->ledger, name);
    if (host->is_used_exclusively != is_taken) {
        host->is_used_exclusively = is_taken;
        mark_all_dirty(host);
    }
}

void provider_set_spaces(struct provider *provider, const char *name,
                         const int64_t mib[SPACES])
{
    struct ledger_host *host = ledger_add_host(&provider->ledger, name);
    if (memcmp(host->spaces_mib, mib, sizeof(host->spaces_mib)) != 0) {
        memcpy(host->spaces_mib, mib, sizeof(host->spaces_mib));
        host->needs_reconcile = true;
    }
}

void provider_set_commits(struct provider *provider, uint64_t commits)
{
    provider->ledger.commits = commits;
}

void provider_doubt(struct provider *provider, uint64_t commits,
                    struct effects *effects)
{
    ledger_doubt(&provider->ledger, commits, effects);
}

static void set_waiting(struct provider *provider, int *known, int n_slots)
{
    if (*known == n_slots) {
        return;
    }
    *known = n_slots;
    for (int i = 0; i < provider->ledger.count; i++) {
        struct ledger_lease *lease = provider->ledger.items[i];
        lease->is_dirty = lease->is_dirty || !lease->is_ended;
    }
}

void provider_set_waiting(struct provider *provider, int n_waiting_slots)
{
    set_waiting(provider, &provider->n_waiting_slots, n_waiting_slots);
}

void provider_set_foreign_waiting(struct provider *provider, int n_waiting_slots)
{
    set_waiting(provider, &provider->n_foreign_waiting, n_waiting_slots);
}

/* ------------------------------------------------------------ another scheduler */

void provider_set_whole(struct provider *provider, const char *name)
{
    struct ledger_host *host = ledger_add_host(&provider->ledger, name);
    host->is_whole = true;
    for (int i = 0; i < host->n_links; i++) {
        ledger_count_consumer(&host->links[i].lease->hosts[host->links[i].index]);
    }
    ledger_attribute(host);
}

void provider_set_prepares(struct provider *provider)
{
    provider->prepares = true;
}

/* Looks from *place on, and leaves it behind the name: names that are asked for in
 * their order are found at once. */
static bool is_named(const char *const *names, int n_names, const char *name,
                     int *place)
{
    for (int i = 0; i < n_names; i++) {
        int at = (*place + i) % n_names;
        if (strcmp(names[at], name) == 0) {
            *place = at + 1;
            return true;
        }
    }
    return false;
}

/* What is not held counts as used. */
static void freeze_held(struct provider *provider, struct ledger_lease *lease,
                        const char *const *hosts, int n_hosts)
{
    lease->is_preparing = false;
    lease->is_frozen = lease->is_dirty = true;
    lease->frozen_until_ms = provider->now_ms + provider->freeze_timeout_ms;
    int place = 0;
    for (int i = 0; i < lease->n_hosts; i++) {
        struct lease_share *entry = &lease->hosts[i];
        entry->is_unheld =
            entry->provider > 0 && !is_named(hosts, n_hosts, entry->host->name, &place);
    }
    for (int i = 0; i < lease->n_hosts; i++) {
        ledger_attribute(lease->hosts[i].host);
    }
}

bool provider_set_held(struct provider *provider, const char *id, uint64_t freeze,
                       const char *const *hosts, int n_hosts, int64_t now_ms)
{
    struct ledger_lease *lease = ledger_find(&provider->ledger, id);
    if (lease == NULL || !lease->is_preparing || lease->freeze != freeze) {
        return false;
    }
    provider->now_ms = provider->ledger.now_ms = now_ms;
    freeze_held(provider, lease, hosts, n_hosts);
    return true;
}

bool provider_contract_at(const struct provider *provider, int index,
                          struct arena *arena, struct provider_contract *contract)
{
    const struct ledger_lease *lease = provider->ledger.items[index];
    size_t size = (size_t)lease->n_hosts + 1;
    const char **hosts = arena_alloc(arena, size, sizeof(*hosts));
    const char **candidates = arena_alloc(arena, size, sizeof(*candidates));
    bool may_give = (lease->is_preparing || lease->is_frozen) && !lease->is_withdrawn;
    *contract = (struct provider_contract){
        .lease = lease->lease,
        .policy = lease->policy,
        .consumer = lease->consumer,
        .epoch = lease->epoch,
        .ends_lost = lease->terms.ends_lost && !lease->is_withdrawn,
        .hosts = hosts,
        .freeze = lease->freeze,
        .candidates = candidates,
    };
    for (int i = 0; i < lease->n_hosts && !lease->is_ended; i++) {
        const struct lease_share *entry = &lease->hosts[i];
        if (entry->consumer > 0) {
            hosts[contract->n_hosts++] = entry->host->name;
        } else if (may_give && entry->provider > 0 && !entry->host->is_down &&
                   entry->provider_used == 0 && !entry->is_unheld) {
            candidates[contract->n_candidates++] = entry->host->name;
        }
    }
    return !lease->is_ended &&
           (contract->n_hosts > 0 || contract->n_candidates > 0 || lease->is_preparing);
}

/* ------------------------------------------------------------ STATE */

static void fill_recalls(const struct provider *provider,
                         const struct ledger_lease *lease, struct arena *arena,
                         struct msg_state *state)
{
    struct recall *recalls =
        arena_alloc(arena, (size_t)lease->n_recalls, sizeof(*recalls));
    for (int i = 0; i < lease->n_recalls; i++) {
        int64_t left_ms = lease->recalls[i].deadline_ms - provider->now_ms;
        recalls[i].n_held = lease->recalls[i].n_held;
        recalls[i].left_ms = left_ms > 0 ? left_ms : 0;
    }
    state->recalls = recalls;
    state->n_recalls = lease->n_recalls;
}

/* The lease as a message body in the arena. */
static void fill_state(const struct provider *provider,
                       const struct ledger_lease *lease, struct arena *arena,
                       struct msg_state *state)
{
    struct host_split *hosts =
        arena_alloc(arena, (size_t)lease->n_hosts, sizeof(*hosts));
    struct quota quota = lease->quota;
    bool is_counted = provider_quota_is_counted(lease);
    if (is_counted) {
        quota_use(&quota, quota.n_used, provider->now_ms);
    }
    for (int i = 0; i < lease->n_hosts; i++) {
        const struct lease_share *entry = &lease->hosts[i];
        hosts[i] = (struct host_split){
            .host = entry->host->name, /* which lives as long as the provider */
            .n_slots = entry->n_slots,
            .provider = entry->provider,
            .consumer = entry->consumer,
            .provider_used = entry->provider_used,
            .consumer_used = entry->consumer_used,
            .is_down = entry->host->is_down || entry->host->is_used_exclusively,
        };
        memcpy(hosts[i].spaces, entry->spaces, sizeof(entry->spaces));
    }
    *state = (struct msg_state){
        .lease = arena_str(arena, lease->lease),
        .epoch = lease->epoch,
        .type = lease->type,
        .is_made = lease->is_made,
        .is_withdrawn = lease->is_withdrawn,
        .is_ended = lease->is_ended,
        .is_frozen = lease->is_frozen,
        /* The broker sends FREEZE again until it is carried out. */
        .freeze = lease->is_preparing ? lease->freeze - 1 : lease->freeze,
        .drain = lease->drain,
        .is_drained = lease->is_drained,
        .provider_waiting = provider->n_waiting_slots + provider->n_foreign_waiting,
        .reclaim_policy = lease->terms.reclaim_policy,
        .min_hold_ms = lease->terms.min_hold_ms,
        .lease_term_ms = lease->terms.lease_term_ms,
        .ends_lost = lease->terms.ends_lost,
        .takes_interactive = lease->terms.takes_interactive,
        .last_attempt = admitted_highest(&provider->admitted, lease->consumer).attempt,
        .hosts = hosts,
        .n_hosts = lease->n_hosts,
        .resources = record_copy_list(arena, &schema_lease_resource, lease->resources,
                                      lease->n_resources),
        .n_resources = lease->n_resources,
        .reason = arena_str(arena, lease->reason),
        .recall = lease->recall,
        .commits = lease->commits,
        .lost_from = lease->lost_from,
        .lost_to = lease->lost_to,
        .withheld = !lease->is_withheld          ? NULL
                    : provider->withheld != NULL ? arena_str(arena, provider->withheld)
                                                 : provider_quota_reason(lease, arena),
        .price = lease->terms.price,
        .split_ms = lease->split_ms,
        .n_hours = quota.n_hours,
        .hours_ms = is_counted ? quota.used_ms : 0,
        .hours_month_ms = is_counted ? quota.month_ms : 0,
        .hours_since_ms = lease->hours_since_ms,
    };
    fill_recalls(provider, lease, arena, state);
}

static void send_state(const struct provider *provider, const struct msg_state *state,
                       struct effects *effects)
{
    struct peer broker = {.kind = PEER_BROKER, .name = ""};
    struct msg msg = {
        .kind = MSG_STATE,
        .session = provider->session,
        .site = "",
        .state = *state,
    };
    effects_send(effects, &broker, &msg);
}

void provider_send_state(struct provider *provider, struct ledger_lease *lease,
                         int64_t now_ms, struct effects *effects)
{
    if (provider->session == 0) {
        return;
    }
    struct msg_state state;
    provider->now_ms = provider->ledger.now_ms = now_ms;
    fill_state(provider, lease, &effects->arena, &state);
    send_state(provider, &state, effects);
    lease->is_dirty = false;
    lease->sent_ms = now_ms;
    lease->n_repeats = 0;
    lease->paced_ms =
        (lease->paced_ms > now_ms ? lease->paced_ms : now_ms) + PROVIDER_STATE_GAP_MS;
}

void provider_send_unknown(struct provider *provider, const char *id,
                           struct effects *effects)
{
    if (provider->session != 0) {
        struct msg_state state = {.lease = id, .reason = ""};
        send_state(provider, &state, effects);
    }
}

void provider_session(struct provider *provider, uint64_t session, int64_t now_ms,
                      struct effects *effects)
{
    provider->session = session;
    provider_refresh(provider, now_ms, effects);
    for (int i = 0; i < provider->ledger.count; i++) {
        provider_send_state(provider, provider->ledger.items[i], now_ms, effects);
    }
}

int provider_count_leases(const struct provider *provider)
{
    return provider->ledger.count;
}

bool provider_find_lease(struct provider *provider, const char *id,
                         struct msg_state *state)
{
    const struct ledger_lease *lease = ledger_find(&provider->ledger, id);
    if (lease != NULL) {
        arena_clear(provider->shown);
        fill_state(provider, lease, provider->shown, state);
    }
    return lease != NULL;
}

const char *provider_lease_id(const struct provider *provider, int index)
{
    return provider->ledger.items[index]->lease;
}

/* ------------------------------------------------------------ recalls */

bool provider_overdue_at(const struct provider *provider, int index,
                         struct arena *arena, struct provider_overdue *overdue)
{
    const struct ledger_lease *lease = provider->ledger.items[index];
    *overdue = (struct provider_overdue){.lease = lease->lease,
                                         .is_own = lease->part == LEDGER_OWN_LEAF};
    overdue->n_slots =
        lease_recall_overdue(lease, arena, &overdue->hosts, &overdue->n_hosts);
    return overdue->n_slots > 0;
}

int provider_own_used(const struct provider *provider, const char *id, const char *name)
{
    const struct ledger_lease *lease = ledger_find(&provider->ledger, id);
    const struct ledger_host *host = ledger_find_host(&provider->ledger, name);
    const struct lease_share *entry =
        lease != NULL && host != NULL ? ledger_find_entry(lease, host) : NULL;
    return entry != NULL ? entry->provider_used : 0;
}

/* ------------------------------------------------------------ time */

void provider_refresh(struct provider *provider, int64_t now_ms,
                      struct effects *effects)
{
    bool has_thawed = false;
    provider->now_ms = provider->ledger.now_ms = now_ms;
    provider_quota_tick(provider, now_ms, effects);
    for (int i = 0; i < provider->ledger.count; i++) {
        struct ledger_lease *lease = provider->ledger.items[i];
        lease_recall_tick(lease, now_ms);
        if (lease->is_preparing && lease->frozen_until_ms <= now_ms) {
            freeze_held(provider, lease, NULL, 0);
        } else if (lease->is_frozen && lease->frozen_until_ms <= now_ms) {
            ledger_thaw(lease);
            lease->is_dirty = true;
            has_thawed = true;
        }
    }
    for (int i = 0; has_thawed && i < provider->ledger.n_hosts; i++) {
        ledger_attribute(provider->ledger.hosts[i]);
    }
    if (provider->plan != NULL) {
        reconcile(&provider->ledger, effects);
    }
}

/* The wait until an unchanged STATE is sent again. */
static int64_t pause_of(const struct provider *provider,
                        const struct ledger_lease *lease)
{
    int64_t pause_ms = lease->is_ended
                           ? PROVIDER_STATE_CALM_MS
                           : resend_wait_ms(state_waits, lease->n_repeats + 1);
    return pause_ms * provider->patience;
}

/* When STATE is due. A change is sent at once, so that the broker decides by current
 * counts, except for a lease that changes very often, which is paced. A lease that has
 * ended is repeated rarely: only a broker that has lost its disk, and the first STATE
 * of the session, needs it. */
static int64_t send_at(const struct provider *provider,
                       const struct ledger_lease *lease)
{
    if (lease->is_dirty) {
        return lease->paced_ms - PROVIDER_STATE_BURST * PROVIDER_STATE_GAP_MS;
    }
    return lease->sent_ms + pause_of(provider, lease);
}

void provider_tick(struct provider *provider, int64_t now_ms, struct effects *effects)
{
    provider_refresh(provider, now_ms, effects);
    for (int i = 0; i < provider->ledger.count; i++) {
        struct ledger_lease *lease = provider->ledger.items[i];
        if (send_at(provider, lease) <= now_ms) {
            int n_repeats = lease->is_dirty ? 0 : lease->n_repeats + 1;
            provider_send_state(provider, lease, now_ms, effects);
            lease->n_repeats = n_repeats;
        }
    }
}

int64_t provider_wake_ms(const struct provider *provider)
{
    int64_t wake_ms = INT64_MAX;
    for (int i = 0; i < provider->ledger.count; i++) {
        const struct ledger_lease *lease = provider->ledger.items[i];
        int64_t send_ms = provider->session != 0 ? send_at(provider, lease) : INT64_MAX;
        wake_ms = send_ms < wake_ms ? send_ms : wake_ms;
        if ((lease->is_frozen || lease->is_preparing) &&
            lease->frozen_until_ms < wake_ms) {
            wake_ms = lease->frozen_until_ms;
        }
        int64_t recall_ms = lease_recall_wake_ms(lease);
        wake_ms = recall_ms < wake_ms ? recall_ms : wake_ms;
        int64_t quota_ms = quota_wake_ms(&lease->quota);
        wake_ms = quota_ms < wake_ms ? quota_ms : wake_ms;
    }
    return wake_ms;
}
