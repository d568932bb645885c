/* SPDX-License-Identifier: Apache-2.0 */
/* site_reload.c: another configuration for a running site (site.h: site_reload).
 *
 * Each part gets what has changed for it: the job table the queues, the host table and
 * the runs the hosts, the provider the export policies, the uplink what HELLO says.
 * Running jobs are not touched. A host that is not configured any more stays, after
 * the configured ones, closed and without slots, until the last job on it has ended.
 *
 * Layer: site. */
#include "site/site_reload.h"

#include <string.h>

#include "site/site_lent.h"
#include "site/site_parts.h"

static bool is_configured(const struct site_config *config, const char *host)
{
    for (int i = 0; i < config->n_hosts; i++) {
        if (strcmp(config->hosts[i].name, host) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_used(const struct site *site, int host)
{
    const struct run_table_use *use = run_table_use(runs_table(site->runs), host);
    return use->own + use->consumers + use->own_suspended + use->consumers_suspended >
           0;
}

/* How many hosts the run has slots on; 0: it has ended. */
static int count_used_hosts(const struct run *run)
{
    bool is_over = run == NULL || run->record == RUN_RECORD_ENDED || run->is_forgotten;
    return is_over ? 0 : run->n_hosts;
}

/* No configuration of this process had the run's k-th host. */
static bool is_unconfigured(const struct site *site, const struct run *run, int k)
{
    return k == 0 ? run->host < 0
                  : host_table_find(site->hosts, run->hosts[k].host) < 0;
}

static int count_unconfigured(const struct site *site)
{
    const struct run_table *table = runs_table(site->runs);
    int count = 0;
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        for (int k = 0; k < count_used_hosts(run); k++) {
            count += is_unconfigured(site, run, k);
        }
    }
    return count;
}

/* Hosts with slots of runs that no configuration of this process had: they were removed
 * while the daemon was down, or it died while they were leaving. */
static void list_unconfigured(const struct site *site, struct arena *arena,
                              struct site_config *config, struct site_host *hosts)
{
    const struct run_table *table = runs_table(site->runs);
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        for (int k = 0; k < count_used_hosts(run); k++) {
            const char *name = run->hosts[k].host;
            if (is_unconfigured(site, run, k) && !is_configured(config, name)) {
                hosts[config->n_hosts++] = (struct site_host){
                    .name = arena_str(arena, name),
                    .type = "",
                    .model = "",
                    .is_leaving = true,
                };
            }
        }
    }
}

/* Resources that a site defines may have other ids in another configuration, or none.
 */
static struct load_thresholds copy_thresholds(struct arena *arena,
                                              const struct load_thresholds *from,
                                              const struct resources *before,
                                              const struct resources *now)
{
    struct load_threshold *items =
        arena_copy(arena, from->items, (size_t)from->n_items * sizeof(*from->items));
    struct load_thresholds to = {.items = items};
    for (int i = 0; i < from->n_items; i++) {
        const char *name = resources_at(before, from->items[i].id)->name;
        int id = resources_find(now, name, strlen(name));
        int at = to.n_items;
        if (id < 0) {
            continue;
        }
        for (; at > 0 && items[at - 1].id > id; at--) {
            items[at] = items[at - 1];
        }
        items[at] = from->items[i];
        items[at].id = id;
        to.n_items++;
    }
    return to;
}

static void copy_windows(struct arena *arena, struct window_list *list)
{
    list->items =
        arena_copy(arena, list->items, (size_t)list->n_items * sizeof(*list->items));
    list->text = arena_str(arena, list->text);
}

/* A copy: the configuration that the host was in is freed. */
static struct site_host leaving_host(struct arena *arena, const struct site_host *old,
                                     int max)
{
    struct site_host host = *old;
    host.name = arena_str(arena, old->name);
    host.type = arena_str(arena, old->type);
    host.model = arena_str(arena, old->model);
    copy_windows(arena, &host.run_windows);
    copy_windows(arena, &host.dispatch_windows);
    host.n_stay = old->is_leaving ? old->n_stay : max;
    host.max = 0;
    host.is_counted = false;
    host.is_leaving = true;
    return host;
}

/* The configured hosts, then those that are leaving. */
static void list_hosts(const struct site *site, struct arena *arena,
                       struct site_config *config)
{
    int n_old = site->config->n_hosts;
    size_t n_max =
        (size_t)config->n_hosts + (size_t)n_old + (size_t)count_unconfigured(site);
    struct site_host *hosts = arena_alloc(arena, n_max, sizeof(*hosts));
    int n_hosts = 0;
    for (int i = 0; i < config->n_hosts; i++) {
        if (!config->hosts[i].is_leaving) {
            hosts[n_hosts++] = config->hosts[i];
        }
    }
    struct site_config listed = {.hosts = hosts, .n_hosts = n_hosts};
    for (int i = 0; i < n_old; i++) {
        const struct site_host *old = &site->config->hosts[i];
        if (!is_configured(&listed, old->name) && is_used(site, i)) {
            struct resources *now = resource_config_catalogue(&config->resource_config);
            hosts[n_hosts] = leaving_host(arena, old, host_table_max(site->hosts, i));
            hosts[n_hosts++].thresholds =
                copy_thresholds(arena, &old->thresholds,
                                host_resources_catalogue(site->host_resources), now);
            resources_free(now);
        }
    }
    config->hosts = hosts;
    config->n_hosts = n_hosts;
    list_unconfigured(site, arena, config, hosts);
}

/* The provider no longer counts the use of hosts that were removed. */
static void drop_hosts(struct site *site, const struct site_config *before)
{
    for (int i = 0; i < before->n_hosts; i++) {
        if (!is_configured(site->config, before->hosts[i].name)) {
            provider_set_local_used(site->provider, before->hosts[i].name, 0, 0);
            provider_set_local_yielded(site->provider, before->hosts[i].name, 0);
        }
    }
}

static void change_queues(struct site *site, int64_t now_ms, struct effects *effects)
{
    const struct site_config *config = site->config;
    struct limits *old = site->limits;
    site->limits = limits_new(config->limits, config->n_limits);
    struct fairshare_ledger *before = site->fairshare;
    fairshare_ledger_tick(before, now_ms, effects);
    site->fairshare = fairshare_ledger_new(config);
    fairshare_ledger_inherit(site->fairshare, before, now_ms);
    job_table_reload(site->jobs, config->queues, config->n_queues, &config->raise,
                     site->limits, site->fairshare);
    lifecycle_reload(site->life, config, site->fairshare);
    recall_enforce_reload(site->recall_enforce, config);
    history_reload(site->history, config->history_period_ms);
    fairshare_ledger_settle(site->fairshare);
    fairshare_ledger_free(before);
    queue_table_reload(site->queues, config->queues, config->n_queues);
    limits_free(old);
}

static void change_hosts(struct site *site, const struct site_config *before,
                         int64_t now_ms, struct effects *effects)
{
    struct arena arena;
    arena_init(&arena);
    int *places = arena_alloc(&arena, (size_t)before->n_hosts, sizeof(*places));
    host_table_change(site->hosts, site->config->hosts, site->config->n_hosts, places,
                      now_ms, effects);
    runs_change_hosts(site->runs, places);
    arena_release(&arena);
    drop_hosts(site, before);
    site->n_leaving = 0;
    for (int i = 0; i < site->config->n_hosts; i++) {
        site->n_leaving += site->config->hosts[i].is_leaving;
    }
}

/* Resources or hosts have changed. Hosts report their load again within a period
 * (HOST_LOAD), and providers are asked about borrowed hosts. Until then it is unknown.
 */
static void change_resources(struct site *site, int64_t now_ms)
{
    resreq_cache_free(site->resreq_cache);
    host_resources_free(site->host_resources);
    site->host_resources = host_resources_new(site->config);
    site->resreq_cache = resreq_cache_new(site->config, site->host_resources);
    lifecycle_reload_resources(site->life, site->host_resources);
    load_suspend_reload(site->load_suspend, site->config, site->host_resources);
    rusage_ledger_reload(site->rusage, host_resources_catalogue(site->host_resources));
    lease_resources_reload(&site->lease_resources, site->config, site->host_resources);
    export_select_reload(site->export_select, site->config, site->host_resources);
    borrowed_load_reload(&site->borrowed_load, site->config, site->host_resources);
    borrowed_load_check_soon(&site->borrowed_load, now_ms);
}

static void change_groups(struct site *site)
{
    host_list_cache_free(site->host_lists);
    site->host_lists = host_list_cache_new(&site->config->groups);
}

static void change_uplink(struct site *site, int64_t now_ms, struct effects *effects)
{
    struct site_uplink_setting setting = site_uplink_setting_of(site->config);
    setting.name = site->name;
    if (site_uplink_change(site->uplink, &setting, now_ms)) {
        consumer_broker_lost(site->consumer);
        provider_session(site->provider, 0, now_ms, effects);
    }
}

void site_reload_connect(struct site *site)
{
    site->rusage_sources = (struct rusage_sources){
        .config = site->config,
        .ledger = site->rusage,
        .host_resources = site->host_resources,
        .hosts = site->hosts,
        .consumer = site->consumer,
        .life = site->life,
    };
    site->host_status = (struct host_status_parts){
        .config = site->config,
        .jobs = site->jobs,
        .hosts = site->hosts,
        .host_admin = &site->host_admin,
        .runs = site->runs,
        .consumer = site->consumer,
        .capacity = site->capacity,
        .load_suspend = site->load_suspend,
    };
    site->resreq_cache->status = &site->host_status;
    scheduler_set_parts(site->scheduler,
                        &(struct scheduler_parts){
                            .pass =
                                {
                                    .config = site->config,
                                    .jobs = site->jobs,
                                    .queues = site->queues,
                                    .limits = site->limits,
                                    .fairshare = site->fairshare,
                                    .capacity = site->capacity,
                                    .rusage_sources = &site->rusage_sources,
                                    .resreq_cache = site->resreq_cache,
                                    .host_lists = site->host_lists,
                                    .resize_requests = site->resize_requests,
                                    .claims = site->claims,
                                    .load_suspend = site->load_suspend,
                                    .reservations = site->reservations,
                                },
                            .provider = site->provider,
                            .life = site->life,
                            .pass_request = &site->pass_request,
                        });
}

static void apply(struct site *site, const struct site_config *from, int64_t now_ms,
                  struct effects *effects)
{
    struct arena old_arena = site->config_arena;
    const struct site_config *before = site->config;
    arena_init(&site->config_arena);
    struct site_config *config = arena_copy(&site->config_arena, from, sizeof(*from));
    list_hosts(site, &site->config_arena, config);
    site->config = config;

    change_queues(site, now_ms, effects);
    runs_reload(site->runs,
                &(struct runs_setting){.lease_account = site->config->lease_account,
                                       .lease_uids = site->config->lease_uids,
                                       .users = &site->config->users,
                                       .terminate_ms = site->config->terminate_ms});
    provider_set_users(site->provider, &site->config->users);
    provider_withhold(site->provider, site->config->withheld);
    consumer_set_start_timeout(site->consumer, site->config->start_timeout_ms);
    change_hosts(site, before, now_ms, effects);
    site_lent_begin(site);
    change_resources(site, now_ms);
    change_groups(site);
    accept_times_set_interval(site->accept_times, site->config->accept_ms);
    capacity_reload(site->capacity, site->config, site->resreq_cache);
    preempt_claims_reload(site->claims, site->config, site->limits);
    reservation_table_reload(site->reservations, site->config);
    provider_set_freeze_timeout(site->provider, site->config->freeze_timeout_ms);
    capacity_sync_provider(site->capacity);
    host_admin_sync(&site->host_admin, site->hosts, site->provider,
                    site->now_ms + site->utc_offset_ms);
    resize_requests_reload(site->resize_requests, site->config);
    time_windows_reload(&site->time_windows, site->config);
    export_select_begin(site->export_select, now_ms, effects);
    change_uplink(site, now_ms, effects);
    site_reload_connect(site);
    pass_request_set(&site->pass_request);
    arena_release(&old_arena);
}

int site_reload_check(const struct site *site, const struct site_config *from,
                      struct err *err)
{
    if (strcmp(from->name, site->name) != 0) {
        return err_set(err, ERR_STATE,
                       "NAME of section Site: \"%s\", but this site is \"%s\"; a site "
                       "keeps its name",
                       from->name, site->name);
    }
    return from->is_alone == site->config->is_alone
               ? 0
               : err_set(err, ERR_STATE,
                         "BROKER of section Site: it is read at the start only; "
                         "restart the daemon to change it");
}

void site_reload(struct site *site, const struct site_config *from, int64_t now_ms,
                 struct effects *effects)
{
    site->now_ms = now_ms;
    history_set_time(site->history, now_ms);
    apply(site, from, now_ms, effects);
    effects_log(effects, LOG_LEVEL_NOTICE, "the configuration was reloaded");
}

void site_reload_count_cpus(struct site *site, int host, int64_t now_ms,
                            struct effects *effects)
{
    struct row_cpus cpus;
    if (!host_resources_cpus(site->host_resources, host, &cpus) ||
        !host_table_set_cpus(site->hosts, host, &cpus, effects)) {
        return;
    }
    effects_log(effects, LOG_LEVEL_NOTICE, "host %s has %d slots, one for each CPU",
                host_table_name(site->hosts, host), host_table_max(site->hosts, host));
    capacity_sync_provider(site->capacity);
    export_select_begin(site->export_select, now_ms, effects);
    pass_request_set(&site->pass_request);
}

void site_reload_start(struct site *site, int64_t now_ms, struct effects *effects)
{
    if (count_unconfigured(site) > 0) {
        apply(site, site->config, now_ms, effects);
    }
}

void site_reload_tick(struct site *site, int64_t now_ms, struct effects *effects)
{
    bool is_one_idle = false;
    for (int i = 0; site->n_leaving > 0 && i < site->config->n_hosts; i++) {
        is_one_idle =
            is_one_idle || (site->config->hosts[i].is_leaving && !is_used(site, i));
    }
    if (is_one_idle) {
        apply(site, site->config, now_ms, effects);
    }
}
