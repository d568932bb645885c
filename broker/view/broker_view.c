/* SPDX-License-Identifier: Apache-2.0 */
/* broker_view.c: broker_view() of broker.h: listings of leases, sites, hosts, pools and
 * reclaim delays as value trees, page by page.
 *
 * A page has at most PAGE_ROWS_MAX rows, and as JSON stays well below FRAME_MAX. A
 * lease that would not fit on a page of its own is shown with its first hosts only;
 * n_hosts says how many it has. `next` is the id of the last row.
 *
 * Order: leases by id, sites by name; delays: the one for all, those of providers by
 * name, those of leases by id. Source: docs/design/interfaces.md "JSON". */

#include <string.h>

#include "broker/broker_parts.h"
#include "broker/lease/lease.h"
#include "broker/view/broker_view.h"
#include "model/exported_resources.h"

enum {
    HOST_BYTES = 220, /* of a host as JSON with the longest numbers, without its name */
};

/* ---------------------------------------------------------------- leases */

static const char *status_of(const struct lease *lease)
{
    if (!lease_is_open(lease)) {
        return NULL;
    }
    if (lease_is_disconnected(lease)) {
        return "disc";
    }
    bool is_ok = lease->row.state == LEASE_ACTIVE || lease->row.state == LEASE_DRAINING;
    return is_ok ? "ok" : "conn";
}

static void add_host(struct arena *arena, struct value *hosts,
                     const struct host_split *from)
{
    struct value *host = value_add(arena, hosts, NULL, value_object(arena));
    struct lease_split split = lease_split_sum(from, 1);
    value_add_text(arena, host, "host", from->host);
    value_add_int(arena, host, "slots", from->n_slots);
    lease_split_show_side(arena, host, "provider", NULL, &split.provider);
    lease_split_show_side(arena, host, "consumer", NULL, &split.consumer);
    value_add_bool(arena, host, "is_down", from->is_down);
    exported_resources_show_memory(arena, host, from->spaces);
}

/* As many of the hosts as a page of their own takes, beside the lease's resources. */
static void add_hosts(struct arena *arena, struct value *row, const struct lease *lease)
{
    struct value *hosts = value_add(arena, row, "hosts", value_array(arena));
    size_t bytes = 0;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        bytes += HOST_BYTES + strlen(lease->row.hosts[i].host);
        if (bytes > PAGE_BYTES - EXPORTED_RESOURCES_BYTES) {
            break;
        }
        add_host(arena, hosts, &lease->row.hosts[i]);
    }
}

static bool has_slots(const struct row_lease *row)
{
    for (int i = 0; i < row->n_hosts; i++) {
        if (row->hosts[i].n_slots > 0) {
            return true;
        }
    }
    return false;
}

/* What keeps a lease from being made is not what changed it last. */
static const char *reason_of(const struct lease *lease, struct arena *arena)
{
    const struct row_lease *row = &lease->row;
    bool is_disconnected = lease_is_disconnected(lease);
    if (lease->withheld[0] != '\0' && !is_disconnected && lease_is_open(lease)) {
        return lease->withheld;
    }
    if (row->state != LEASE_PENDING || row->type == LEASE_POOL || is_disconnected) {
        return row->reason;
    }
    if (!has_slots(row)) {
        return "its slots are in use, or an earlier lease of these slots is still "
               "draining";
    }
    return lease->is_unnamed
               ? arena_printf(arena,
                              "no queue of %s names its hosts (HOSTS, as in allremote "
                              "or all@%s)",
                              row->consumer, row->provider)
               : arena_printf(arena, "no job of %s has started on it yet",
                              row->consumer);
}

/* What a provider has configured it says to the leader alone. -1: not known. */
static int64_t known_delay_ms(const struct broker *broker, int64_t delay_ms,
                              enum reclaim_delay_source source)
{
    bool is_override =
        source != RECLAIM_DELAY_FROM_DEFAULT && source != RECLAIM_DELAY_FROM_SITE;
    return broker->has_started || is_override ? delay_ms : -1;
}

static struct value *lease_row(const struct broker *broker, struct arena *arena,
                               const struct lease *lease)
{
    struct value *row = value_object(arena);
    const struct row_lease *from = &lease->row;
    struct lease_split split = lease_split_sum(from->hosts, from->n_hosts);
    enum reclaim_delay_source source;
    int64_t delay_ms =
        reclaim_delay_get_ms(&broker->reclaim_delays, from->id, from->provider,
                             lease->provider->reclaim_delay_ms, &source);
    bool is_judged = from->state == LEASE_ACTIVE && !lease_is_disconnected(lease) &&
                     lease->rebalance_clock.due_ms != INT64_MAX;
    value_add_text(arena, row, "id", from->id);
    value_add_text(arena, row, "policy", from->policy);
    value_add_text(arena, row, "type", msg_lease_type_name(from->type));
    value_add_text(arena, row, "state", msg_lease_state_name(from->state));
    value_add_text(arena, row, "status", broker->has_started ? status_of(lease) : NULL);
    value_add_int(arena, row, "epoch", (int64_t)from->epoch);
    lease_split_show_side(arena, row, "provider", from->provider, &split.provider);
    lease_split_show_side(arena, row, "consumer", from->consumer, &split.consumer);
    value_add_int(arena, row, "n_hosts", from->n_hosts);
    add_hosts(arena, row, lease);
    exported_resources_show(arena, row, from->resources, from->n_resources);
    value_add_duration(arena, row, "reclaim_delay_s",
                       known_delay_ms(broker, delay_ms, source));
    value_add_instant(arena, row, "next_rebalance_at",
                      is_judged ? lease->rebalance_clock.due_ms : 0);
    value_add_instant(arena, row, "registered_at", from->registered_ms);
    value_add_instant(arena, row, "made_at", from->made_ms);
    value_add_instant(arena, row, "changed_at", from->changed_ms);
    value_add_bool(arena, row, "drained", from->is_drained);
    value_add_bool(arena, row, "interactive", lease->takes_interactive);
    value_add_int(arena, row, "price", lease->price);
    value_add_known(arena, row, "hours", lease->n_hours > 0, lease->n_hours);
    value_add_known(arena, row, "hours_used", lease->n_hours > 0,
                    lease->hours_ms / QUOTA_HOUR_MS);
    value_add_known(arena, row, "behind_epoch", lease->behind_epoch != 0,
                    (int64_t)lease->behind_epoch);
    value_add_text(arena, row, "reason", reason_of(lease, arena));
    return row;
}

static bool is_asked_for(const struct lease *lease, const struct msg_query *query)
{
    bool is_in_state = query->states != 0 ? (query->states & 1 << lease->row.state) != 0
                                          : query->with_ended || lease_is_open(lease);
    return is_in_state && lease->stamp.revision >= query->since &&
           page_is_named(lease->row.id, query->name) &&
           page_is_named(lease->row.provider, query->provider) &&
           page_is_named(lease->row.consumer, query->consumer);
}

static struct value *view_leases(const struct broker *broker, struct arena *arena,
                                 const struct msg_query *query, const char **next)
{
    struct page page;
    page_init(&page, arena, "leases", query);
    const struct lease_table *leases = &broker->leases;
    int first = lease_table_find_after(leases, page_text(query->after));
    for (int i = first; i < leases->count && !page.is_full; i++) {
        const struct lease *lease = leases->items[i];
        if (is_asked_for(lease, query)) {
            page_add(&page, lease->row.id, lease_row(broker, arena, lease));
        }
    }
    *next = page_next(&page);
    return page.root;
}

/* ---------------------------------------------------------------- sites */

static void add_roles(struct arena *arena, struct value *row, int roles)
{
    static const struct {
        int role;
        const char *name;
    } names[] = {{ROLE_PROVIDER, "provider"},
                 {ROLE_CONSUMER, "consumer"},
                 {ROLE_ADMIN, "admin"}};
    struct value *array = value_add(arena, row, "roles", value_array(arena));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((roles & names[i].role) != 0) {
            value_add_text(arena, array, NULL, names[i].name);
        }
    }
}

static void add_jobs(struct arena *arena, struct value *row,
                     const struct msg_job_counts *jobs, bool is_known)
{
    struct value *counts = value_add(arena, row, "jobs", value_object(arena));
    value_add_known(arena, counts, "PEND", is_known, jobs->pend);
    value_add_known(arena, counts, "PSUSP", is_known, jobs->psusp);
    value_add_known(arena, counts, "RUN", is_known, jobs->run);
    value_add_known(arena, counts, "USUSP", is_known, jobs->ususp);
    value_add_known(arena, counts, "SSUSP", is_known, jobs->ssusp);
    value_add_known(arena, counts, "UNKWN", is_known, jobs->unkwn);
    value_add_known(arena, counts, "DONE", is_known, jobs->done);
    value_add_known(arena, counts, "EXIT", is_known, jobs->exit);
}

/* How many of its scheduler's passes took at most so many seconds. */
static void add_pass_times(struct arena *arena, struct value *row,
                           const struct msg_pass_times *times, bool is_known)
{
    const struct {
        const char *seconds;
        uint64_t count;
    } buckets[] = {{"0.0001", times->us100},  {"0.00025", times->us250},
                   {"0.001", times->us1000},  {"0.0025", times->us2500},
                   {"0.01", times->us10000},  {"0.05", times->us50000},
                   {"0.25", times->us250000}, {"1", times->us1000000}};
    struct value *within =
        value_add(arena, row, "schedule_within", value_object(arena));
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++) {
        sum += buckets[i].count;
        value_add_known(arena, within, buckets[i].seconds, is_known, (int64_t)sum);
    }
}

static struct value *site_row(const struct broker *broker, struct arena *arena,
                              const struct member *site)
{
    struct value *row = value_object(arena);
    const struct msg_usage *usage = &site->usage;
    bool is_known = site->has_usage;
    value_add_text(arena, row, "site", site->name);
    add_roles(arena, row, site->is_here ? site->roles : site->roles_allowed);
    const char *status = site->is_here ? "ok" : "disc";
    value_add_text(arena, row, "status", broker->has_started ? status : NULL);
    value_add_bool(arena, row, "drained", site->is_drained);
    struct value *slots = value_add(arena, row, "slots", value_object(arena));
    value_add_known(arena, slots, "own", is_known, usage->n_own);
    value_add_known(arena, slots, "used", is_known, usage->n_own_used);
    value_add_known(arena, slots, "lent", is_known, usage->n_lent);
    value_add_known(arena, slots, "borrowed", is_known, usage->n_borrowed);
    value_add_known(arena, slots, "idle", is_known, usage->n_idle);
    value_add_known(arena, row, "pending", is_known, usage->n_waiting);
    struct value *lost = value_add(arena, row, "journal_lost", value_object(arena));
    value_add_known(arena, lost, "commits", is_known, (int64_t)usage->lost.commits);
    value_add_known(arena, lost, "attempts", is_known, (int64_t)usage->lost.attempt);
    value_add_known(arena, lost, "jobs", is_known, (int64_t)usage->lost.job);
    add_jobs(arena, row, &usage->jobs, is_known);
    if (is_known) {
        value_add_int(arena, row, "schedule_passes", (int64_t)usage->n_passes);
        value_add_real(arena, row, "schedule_s", (double)usage->passes_us / 1e6);
    } else {
        value_add_null(arena, row, "schedule_passes");
        value_add_null(arena, row, "schedule_s");
    }
    add_pass_times(arena, row, &usage->pass_times, is_known);
    value_add_instant(arena, row, "since", site->since_ms);
    return row;
}

/* A member that only administrates has no slots, and one that is no member any more is
 * not asked for. */
static bool is_site(const struct member *member)
{
    return (member->roles_allowed & (ROLE_PROVIDER | ROLE_CONSUMER)) != 0;
}

static struct value *view_sites(const struct broker *broker, struct arena *arena,
                                const struct msg_query *query, const char **next)
{
    struct page page;
    page_init(&page, arena, "sites", query);
    const char *after = page_text(query->after);
    for (int i = 0; i < broker->members.count && !page.is_full; i++) {
        const struct member *site = broker->members.items[i];
        if (is_site(site) && strcmp(site->name, after) > 0 &&
            site->stamp.revision >= query->since &&
            page_is_named(site->name, query->name)) {
            page_add(&page, site->name, site_row(broker, arena, site));
        }
    }
    *next = page_next(&page);
    return page.root;
}

/* ---------------------------------------------------------------- reclaim delays */

/* The id of the row for all, as no name can be, and before every name. */
static const char id_of_all[] = "-";

/* The delay in force, and the override of just this scope and name. `provider` and
 * `lease` are NULL in the row for all, `lease` in that of a provider. */
static void add_delay(const struct broker *broker, struct page *page,
                      struct arena *arena, enum reclaim_scope scope,
                      const struct member *provider, const char *lease)
{
    static const char *const words[] = {[RECLAIM_ALL] = "all",
                                        [RECLAIM_PROVIDER] = "provider",
                                        [RECLAIM_LEASE] = "lease"};
    const struct reclaim_delays *delays = &broker->reclaim_delays;
    const char *site = provider != NULL ? provider->name : NULL;
    const char *name = lease != NULL ? lease : site;
    int64_t site_ms = provider != NULL ? provider->reclaim_delay_ms : 0;
    enum reclaim_delay_source source;
    int64_t delay_ms = reclaim_delay_get_ms(delays, lease, site, site_ms, &source);
    int64_t override_ms =
        reclaim_delay_find_override(delays, scope, name != NULL ? name : "");
    struct value *row = value_object(arena);
    value_add_text(arena, row, "scope", words[scope]);
    value_add_text(arena, row, "name", name);
    value_add_duration(arena, row, "delay_s", known_delay_ms(broker, delay_ms, source));
    value_add_text(arena, row, "source", reclaim_delay_source_name(source));
    value_add_duration(arena, row, "override_s", override_ms);
    value_add_bool(arena, row, "effective", override_ms >= 0);
    page_add(page, name != NULL ? name : id_of_all, row);
}

static void add_delays_of_providers(const struct broker *broker, struct page *page,
                                    struct arena *arena, const struct msg_query *query,
                                    const char *after)
{
    for (int i = 0; i < broker->members.count && !page->is_full; i++) {
        const struct member *member = broker->members.items[i];
        if ((member->roles_allowed & ROLE_PROVIDER) != 0 &&
            strcmp(member->name, after) > 0 &&
            page_is_named(member->name, query->name)) {
            add_delay(broker, page, arena, RECLAIM_PROVIDER, member, NULL);
        }
    }
}

static void add_delays_of_leases(const struct broker *broker, struct page *page,
                                 struct arena *arena, const struct msg_query *query,
                                 const char *after)
{
    const struct lease_table *leases = &broker->leases;
    for (int i = lease_table_find_after(leases, after);
         i < leases->count && !page->is_full; i++) {
        const struct lease *lease = leases->items[i];
        if (lease_is_open(lease) && lease->row.type == LEASE_SHARED &&
            page_is_named(lease->row.id, query->name)) {
            add_delay(broker, page, arena, RECLAIM_LEASE, lease->provider,
                      lease->row.id);
        }
    }
}

/* The last row of a page says where the next one begins: a lease's id has slashes. */
static struct value *view_reclaim(const struct broker *broker, struct arena *arena,
                                  const struct msg_query *query, const char **next)
{
    struct page page;
    page_init(&page, arena, "reclaim_delay", query);
    const char *after = page_text(query->after);
    bool is_among_leases = strchr(after, '/') != NULL;
    if (after[0] == '\0' && page_text(query->name)[0] == '\0') {
        add_delay(broker, &page, arena, RECLAIM_ALL, NULL, NULL);
    }
    if (!is_among_leases) {
        add_delays_of_providers(broker, &page, arena, query, after);
    }
    add_delays_of_leases(broker, &page, arena, query, is_among_leases ? after : "");
    *next = page_next(&page);
    return page.root;
}

static struct value *view_version(struct arena *arena)
{
    struct value *root = value_object(arena);
    value_add_int(arena, root, "schema_version", PAGE_SCHEMA);
    value_add_text(arena, root, "version", BROKER_VERSION);
    return root;
}

/* ---------------------------------------------------------------- all listings */

struct value *broker_view(const struct broker *broker, struct arena *arena,
                          const struct msg_query *query, int64_t now_ms,
                          const char **next)
{
    *next = "";
    if (query->kind == QUERY_POOLS) {
        return pools_view_list(broker, arena, query, now_ms, next);
    }
    if (query->kind == QUERY_PLAN) {
        return plan_view_page(broker, arena, query, now_ms, next);
    }
    if (query->kind == QUERY_SITES) {
        return view_sites(broker, arena, query, next);
    }
    if (query->kind == QUERY_HOSTS) {
        return hosts_view_page(broker, arena, query, next);
    }
    if (query->kind == QUERY_RECLAIM) {
        return view_reclaim(broker, arena, query, next);
    }
    if (query->kind == QUERY_VERSION) {
        return view_version(arena);
    }
    return view_leases(broker, arena, query, next);
}
