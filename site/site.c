/* SPDX-License-Identifier: Apache-2.0 */
/* site.c: composes the site: creates its parts in order, loads their rows, and runs the
 * tick. */
#include "site/site.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "site/api/site_api.h"
#include "site/exchange/exchange.h"
#include "site/job/history.h"
#include "site/job/job_group.h"
#include "site/lifecycle/lifecycle.h"
#include "site/site_dispatch.h"
#include "site/site_lent.h"
#include "site/site_parts.h"
#include "site/site_reload.h"

/* ---------------------------------------------------------------- life */

static void run_changed(void *arg, struct run *run, int64_t now_ms,
                        struct effects *effects)
{
    struct site *site = arg;
    if (run->record == RUN_RECORD_ENDED) {
        pass_request_set(&site->pass_request);
    }
    if (run_table_is_own(runs_table(site->runs), run)) {
        job_report_run(site->life, run, now_ms, effects);
    } else {
        lending_run_changed(site->lending, run, now_ms, effects);
    }
}

/* What is known of the resources of hosts, exported and borrowed. */
static void new_resources(struct site *site)
{
    site->export_select = export_select_new(&(struct export_select_parts){
        .config = site->config,
        .host_resources = site->host_resources,
        .hosts = site->hosts,
        .runs = site->runs,
        .provider = site->provider,
        .pass_request = &site->pass_request,
    });
    site->lease_resources =
        (struct lease_resources){.parts = {
                                     .config = site->config,
                                     .host_resources = site->host_resources,
                                     .provider = site->provider,
                                     .consumer = site->consumer,
                                     .pass_request = &site->pass_request,
                                 }};
    borrowed_load_init(&site->borrowed_load, &(struct borrowed_load_parts){
                                                 .config = site->config,
                                                 .host_resources = site->host_resources,
                                                 .hosts = site->hosts,
                                                 .provider = site->provider,
                                                 .consumer = site->consumer,
                                                 .uplink = site->uplink,
                                             });
}

/* The parts of a pass, and what suspends jobs between passes. */
static void new_pass(struct site *site)
{
    site->claims = preempt_claims_new(&(struct preempt_claims_parts){
        .config = site->config,
        .jobs = site->jobs,
        .queues = site->queues,
        .limits = site->limits,
        .hosts = site->hosts,
        .life = site->life,
    });
    site->load_suspend = load_suspend_new(&(struct load_suspend_parts){
        .config = site->config,
        .host_resources = site->host_resources,
        .hosts = site->hosts,
        .jobs = site->jobs,
        .runs = site->runs,
        .life = site->life,
        .pass_request = &site->pass_request,
    });
    site->time_windows.parts = (struct time_windows_parts){
        .config = site->config,
        .queues = site->queues,
        .hosts = site->hosts,
        .jobs = site->jobs,
        .life = site->life,
        .pass_request = &site->pass_request,
    };
    site->reservations = reservation_table_new(&(struct reservation_table_parts){
        .config = site->config,
        .jobs = site->jobs,
        .hosts = site->hosts,
        .life = site->life,
        .pass_request = &site->pass_request,
    });
}

struct site *site_new(const struct site_config *from)
{
    struct site *site = mem_alloc(1, sizeof(*site));
    arena_init(&site->config_arena);
    site->config = arena_copy(&site->config_arena, from, sizeof(*from));
    const struct site_config *config = site->config;
    site->name = dup_text(config->name);
    struct runs_setting runs_setting = {
        .site = site->name,
        .is_root = config->daemon_uid == 0,
        .lease_account = config->lease_account,
        .lease_uids = config->lease_uids,
        .users = &config->users,
        .terminate_ms = config->terminate_ms,
    };
    struct site_uplink_setting uplink_setting = site_uplink_setting_of(config);
    uplink_setting.name = site->name;
    site->limits = limits_new(config->limits, config->n_limits);
    site->fairshare = fairshare_ledger_new(config);
    site->host_resources = host_resources_new(config);
    site->rusage = rusage_ledger_new(host_resources_catalogue(site->host_resources));
    site->jobs = job_table_new(config->queues, config->n_queues, &config->raise,
                               site->limits, site->fairshare, site->rusage);
    site->queues = queue_table_new(config->queues, config->n_queues);
    site->hosts = host_table_new(config->hosts, config->n_hosts);
    site->runs = runs_new(&runs_setting, site->hosts, run_changed, site);
    site->provider = provider_new(config->name, config->freeze_timeout_ms);
    provider_set_hour(site->provider, config->hour_ms);
    provider_set_users(site->provider, &config->users);
    provider_withhold(site->provider, config->withheld);
    site->consumer = consumer_new(config->name);
    consumer_set_start_timeout(site->consumer, config->start_timeout_ms);
    site->uplink = site_uplink_new(&uplink_setting);
    if (config->patience > 1) {
        host_table_set_patience(site->hosts, config->patience);
        provider_set_patience(site->provider, config->patience);
        consumer_set_patience(site->consumer, config->patience);
    }
    site->resreq_cache = resreq_cache_new(config, site->host_resources);
    site->host_lists = host_list_cache_new(&config->groups);
    site->scheduler = scheduler_new();
    pass_request_set(&site->pass_request);
    site->accept_times = accept_times_new();
    accept_times_set_interval(site->accept_times, config->accept_ms);
    site->capacity =
        capacity_new(&(struct capacity_parts){.config = config,
                                              .hosts = site->hosts,
                                              .runs = site->runs,
                                              .provider = site->provider,
                                              .consumer = site->consumer,
                                              .accept_times = site->accept_times,
                                              .host_admin = &site->host_admin,
                                              .jobs = site->jobs,
                                              .resreq_cache = site->resreq_cache});
    site->waiters = waiters_new();
    site->terminals = terminals_new(&(struct terminals_parts){
        .site = site->name,
        .jobs = site->jobs,
        .runs = site->runs,
        .hosts = site->hosts,
        .consumer = site->consumer,
        .uplink = site->uplink,
    });
    site->history = history_new(site->jobs, config->history_period_ms);
    site->resize_requests = resize_requests_new(&(struct resize_requests_parts){
        .config = site->config,
        .jobs = site->jobs,
        .runs = site->runs,
        .hosts = site->hosts,
        .accept_times = site->accept_times,
        .history = site->history,
        .pass_request = &site->pass_request,
    });
    site->life = lifecycle_new(&(struct lifecycle_parts){
        .site = site->name,
        .config = config,
        .host_resources = site->host_resources,
        .jobs = site->jobs,
        .runs = site->runs,
        .consumer = site->consumer,
        .fairshare = site->fairshare,
        .accept_times = site->accept_times,
        .history = site->history,
        .terminals = site->terminals,
        .waiters = site->waiters,
        .pass_request = &site->pass_request,
        .resize_requests = site->resize_requests,
    });
    site->lending = lending_new(&(struct lending_parts){
        .site = site->name,
        .runs = site->runs,
        .hosts = site->hosts,
        .provider = site->provider,
        .uplink = site->uplink,
        .history = site->history,
        .pass_request = &site->pass_request,
        .is_slurm = config->is_slurm,
    });
    site->recall_enforce = recall_enforce_new(&(struct recall_enforce_parts){
        .config = config,
        .jobs = site->jobs,
        .runs = site->runs,
        .provider = site->provider,
        .consumer = site->consumer,
        .lending = site->lending,
        .life = site->life,
    });
    new_resources(site);
    new_pass(site);
    site_lent_begin(site);
    site_reload_connect(site);
    return site;
}

void site_free(struct site *site)
{
    if (site == NULL) {
        return;
    }
    recall_enforce_free(site->recall_enforce);
    lending_free(site->lending);
    lifecycle_free(site->life);
    history_free(site->history);
    host_admin_release(&site->host_admin);
    waiters_free(site->waiters);
    terminals_free(site->terminals);
    scheduler_free(site->scheduler);
    capacity_free(site->capacity);
    accept_times_free(site->accept_times);
    preempt_claims_free(site->claims);
    load_suspend_free(site->load_suspend);
    reservation_table_free(site->reservations);
    resize_requests_free(site->resize_requests);
    site_uplink_free(site->uplink);
    consumer_free(site->consumer);
    provider_free(site->provider);
    export_select_free(site->export_select);
    runs_free(site->runs);
    resreq_cache_free(site->resreq_cache);
    host_list_cache_free(site->host_lists);
    host_resources_free(site->host_resources);
    host_table_free(site->hosts);
    queue_table_free(site->queues);
    job_table_free(site->jobs);
    fairshare_ledger_free(site->fairshare);
    rusage_ledger_free(site->rusage);
    dup_free(site->name);
    limits_free(site->limits);
    arena_release(&site->config_arena);
    free(site);
}

static void load_counter(struct site *site, const struct row_counter *counter)
{
    if (strcmp(counter->name, "boot") == 0) {
        site->boot = counter->value;
    } else if (strcmp(counter->name, "job") == 0) {
        site->last_job = counter->value;
    } else if (strcmp(counter->name, "attempt") == 0) {
        job_dispatch_load_counter(site->life, counter->value);
    } else if (!site_uplink_load(site->uplink, counter)) {
        journal_loss_load(&site->loss, counter);
    }
}

void site_load(struct site *site, const struct row *row)
{
    switch (row->kind) {
    case ROW_COUNTER:
        load_counter(site, &row->counter);
        break;
    case ROW_BOOK:
    case ROW_HIGH:
    case ROW_QUOTA:
        provider_load(site->provider, row);
        break;
    case ROW_QUEUE:
        queue_table_load(site->queues, &row->queue);
        break;
    case ROW_JOB:
        job_load_submission(site->jobs, &row->job);
        break;
    case ROW_JOB_STATE:
        job_load_state(site->jobs, &row->job_state);
        break;
    case ROW_RUN:
        job_dispatch_load_run(site->life, &row->run);
        if (row->run.lease[0] != '\0') {
            provider_load(site->provider, row);
        }
        break;
    case ROW_CLOSED:
        host_admin_load(&site->host_admin, &row->closed);
        break;
    case ROW_JOB_GROUP:
        job_group_load(job_table_groups(site->jobs), &row->job_group);
        break;
    case ROW_PICK:
        export_select_load(site->export_select, &row->pick);
        break;
    case ROW_CPUS:
        host_table_load_cpus(site->hosts, &row->cpus);
        break;
    case ROW_LEASE_ACCOUNT:
        runs_load_account(site->runs, &row->lease_account);
        break;
    case ROW_SHARE:
        fairshare_ledger_load(site->fairshare, &row->share);
        break;
    case ROW_OVERRIDE:
    case ROW_LEASE:
    case ROW_SITE:
    case ROW_POOL:
    case ROW_KEPT:
    case ROW_HOURS:
    case ROW_HISTORY:
    case ROW_JOB_EVENT:
    case ROW_KINDS:
        break; /* the broker's */
    }
}

/* The site was down for long, or the clock is wrong: what is removed by its age stays
 * for as long as an administrator needs to see the message. */
static void doubt_clock(struct site *site, int64_t gap_ms, int64_t now_ms,
                        struct effects *effects)
{
    enum { DAY_MS = 24 * 3600 * 1000 };
    history_hold(site->history, now_ms + DAY_MS);
    effects_log(effects, LOG_LEVEL_WARNING,
                "the clock is %lld hours %s the newest entry of the journal: if it is "
                "wrong, set it and restart; ended jobs are kept for another "
                "CLEAN_PERIOD, and all events of jobs for another day",
                (long long)(llabs(gap_ms) / 3600000),
                gap_ms > 0 ? "ahead of" : "behind");
}

void site_start(struct site *site, int64_t now_ms, struct effects *effects)
{
    int before = effects->count;
    site->now_ms = now_ms;
    history_set_time(site->history, now_ms);
    site->boot++;
    effects_store(effects,
                  &(struct row){.kind = ROW_COUNTER,
                                .counter = {.name = "boot", .value = site->boot}});
    site->loss.loaded_job = site->last_job;
    site->loss.loaded_attempt = job_dispatch_last_attempt(site->life);
    int64_t gap_ms = job_table_start(site->jobs, now_ms);
    if (gap_ms != 0) {
        doubt_clock(site, gap_ms, now_ms, effects);
    }
    fairshare_ledger_start(site->fairshare, now_ms, effects);
    host_table_start(site->hosts, now_ms);
    site_uplink_start(site->uplink, site->boot, now_ms);
    /* The first look at the configuration may begin epochs. */
    provider_set_commits(site->provider, site->loss.present.commits);
    site_reload_start(site, now_ms, effects);
    capacity_sync_provider(site->capacity);
    host_admin_sync(&site->host_admin, site->hosts, site->provider,
                    site->now_ms + site->utc_offset_ms);
    export_select_begin(site->export_select, now_ms, effects);
    site_dispatch_sync_mark(site, now_ms);
    job_dispatch_restore(site->life, now_ms, effects);
    accept_times_load(site->accept_times, site->jobs, now_ms);
    terminals_start(site->terminals, now_ms);
    history_record(site->history, before, effects);
}

/* ---------------------------------------------------------------- time */

static void answer_late(struct site *site, int64_t now_ms, struct effects *effects)
{
    struct waiter waiter;
    while (waiters_take_late(site->waiters, now_ms, &waiter)) {
        struct peer to = {.kind = PEER_CLIENT, .name = "", .link = waiter.link};
        effects_reply_error(effects, &to, waiter.request, ERR_AWAY, "%s",
                            waiter.kind == WAITER_BROKER
                                ? site_uplink_trouble(site->uplink)
                                : "the job's host does not answer, try again later");
    }
}

static void lose_hosts(struct site *site, int64_t now_ms, struct effects *effects)
{
    bool was_awaiting = host_table_is_awaiting(site->hosts);
    for (int host; (host = host_table_tick(site->hosts, now_ms)) >= 0;) {
        const char *name = host_table_name(site->hosts, host);
        effects_log(effects, LOG_LEVEL_WARNING, "host %s is silent: unavailable", name);
        host_admin_sync_host(&site->host_admin, site->hosts, site->provider, host,
                             site->now_ms + site->utc_offset_ms);
        runs_host_away(site->runs, host, now_ms, effects);
        host_resources_disconnect(site->host_resources, host);
        pass_request_set(&site->pass_request);
    }
    if (host_table_is_awaiting(site->hosts) != was_awaiting) {
        site_dispatch_sync_hosts(site);
    }
}

static void tick_consumer(struct site *site, int64_t now_ms, struct effects *effects)
{
    struct report_queue reports;
    report_queue_init(&reports, &effects->arena);
    if (consumer_end_avoiding(site->consumer, now_ms)) {
        pass_request_set(&site->pass_request);
    }
    consumer_tick(site->consumer, now_ms, effects, report_queue_collect, &reports);
    report_queue_apply(&reports, site->life, &site->pass_request, now_ms, effects);
}

static void tick(struct site *site, int64_t now_ms, struct effects *effects)
{
    if (site_uplink_tick(site->uplink, provider_count_leases(site->provider), now_ms,
                         effects)) {
        consumer_broker_lost(site->consumer);
        pass_request_set(&site->pass_request);
    }
    lose_hosts(site, now_ms, effects);
    runs_tick(site->runs, now_ms, effects);
    recall_enforce_tick(site->recall_enforce, now_ms, effects);
    tick_consumer(site, now_ms, effects);
    answer_late(site, now_ms, effects);
    export_select_tick(site->export_select, now_ms, effects);
    job_end_clean(site->life, now_ms, effects);
    if (provider_wake_ms(site->provider) <= now_ms) {
        pass_request_set(&site->pass_request); /* a freeze may have lapsed */
        provider_tick(site->provider, now_ms, effects);
    }
    lease_resources_refresh(&site->lease_resources, effects);
    fairshare_ledger_tick(site->fairshare, now_ms, effects);
    if (time_windows_have_changed(&site->time_windows, now_ms, site->utc_offset_ms)) {
        host_admin_sync(&site->host_admin, site->hosts, site->provider,
                        site->now_ms + site->utc_offset_ms);
        time_windows_apply(&site->time_windows, now_ms, effects);
    }
    lifecycle_kill_tick(site->life, now_ms, effects);
    job_end_expired(site->life, now_ms, effects);
    load_suspend_tick(site->load_suspend, now_ms, effects);
    site->has_scheduled =
        scheduler_run(site->scheduler, now_ms, site->utc_offset_ms, effects);
    if (site->has_scheduled) {
        load_suspend_mark(site->load_suspend, false);
    }
    fairshare_ledger_tick(site->fairshare, now_ms, effects);
    provider_tick(site->provider, now_ms, effects);
    lease_resources_refresh(&site->lease_resources,
                            effects); /* for what has just changed */
    recall_enforce_tick(site->recall_enforce, now_ms, effects);
    lending_tick(site->lending, now_ms, effects);
    borrowed_load_tick(&site->borrowed_load, now_ms, effects);
    if (site_uplink_wants_usage(site->uplink, now_ms)) {
        struct msg_usage usage;
        const struct site_usage_parts parts = {
            .config = site->config,
            .hosts = site->hosts,
            .runs = site->runs,
            .provider = site->provider,
            .consumer = site->consumer,
            .jobs = site->jobs,
            .queues = site->queues,
            .limits = site->limits,
            .capacity = site->capacity,
            .scheduler = site->scheduler,
            .local_ms = now_ms + site->utc_offset_ms,
        };
        site_usage_read(&parts, &effects->arena, &usage);
        usage.n_passes = site->n_passes;
        usage.passes_us = site->passes_us;
        usage.pass_times = site->pass_times;
        usage.mark = site->loss.present;
        usage.mark.attempt = job_dispatch_last_attempt(site->life);
        usage.mark.job = site->last_job;
        usage.lost = site->loss.lost;
        site_uplink_usage(site->uplink, &usage, now_ms, effects);
    }
    hangup_late(site->terminals, site->jobs, site->life, now_ms, effects);
    terminals_tick(site->terminals, now_ms, effects);
    runs_sweep(site->runs);
    site_reload_tick(site, now_ms, effects);
}

/* A pass above the last bound is counted in n_passes only. */
static void count_pass(struct site *site, int64_t took_us)
{
    struct msg_pass_times *times = &site->pass_times;
    const struct {
        int64_t bound_us;
        uint64_t *count;
    } buckets[] = {{100, &times->us100},       {250, &times->us250},
                   {1000, &times->us1000},     {2500, &times->us2500},
                   {10000, &times->us10000},   {50000, &times->us50000},
                   {250000, &times->us250000}, {1000000, &times->us1000000}};
    site->n_passes++;
    site->passes_us += (uint64_t)took_us;
    for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++) {
        if (took_us <= buckets[i].bound_us) {
            (*buckets[i].count)++;
            return;
        }
    }
}

uint64_t site_count_overloads(const struct site *site)
{
    return load_suspend_count(site->load_suspend);
}

uint64_t site_count_preemptions(const struct site *site)
{
    return preempt_claims_count_preempted(site->claims);
}

bool site_is_connected(const struct site *site)
{
    return site_uplink_is_up(site->uplink);
}

static bool has_stores(const struct effects *effects)
{
    for (int i = 0; i < effects->count; i++) {
        if (effects->items[i].kind == EFFECT_STORE) {
            return true;
        }
    }
    return false;
}

/* A batch that stores something is a commit, and ends with a tick. */
static void count_commit(struct site *site, struct effects *effects)
{
    if (has_stores(effects)) {
        site_uplink_store(site->uplink, site->now_ms, effects);
        journal_loss_count_commit(&site->loss, effects);
        consumer_set_commits(site->consumer, site->loss.present.commits);
        provider_set_commits(site->provider, site->loss.present.commits);
        runs_set_commits(site->runs, site->loss.present.commits);
    }
}

void site_step(struct site *site, const struct event *event, struct effects *effects)
{
    int before = effects->count;
    site->now_ms = event->now_ms;
    history_set_time(site->history, event->now_ms);
    switch (event->kind) {
    case EVENT_TICK:
        if (site->has_scheduled) {
            count_pass(site, event->last_tick_us);
        }
        site->utc_offset_ms = event->utc_offset_ms;
        tick(site, event->now_ms, effects);
        break;
    case EVENT_MESSAGE:
        site_dispatch_message(site, event, effects);
        break;
    case EVENT_GONE:
        if (event->from.kind == PEER_CLIENT) {
            waiters_remove_link(site->waiters, event->from.link);
            hangup_gone(site->terminals, site->jobs, site->life, event->from.link,
                        event->now_ms, effects);
        }
        break;
    case EVENT_WRITTEN:
        job_report_written(site->life, event->written.job, event->written.error,
                           event->now_ms, effects);
        break;
    }
    history_record(site->history, before, effects);
    if (event->kind == EVENT_TICK) {
        count_commit(site, effects);
    }
}

int64_t site_wake_ms(const struct site *site)
{
    int64_t oldest_ms = job_clean_oldest_end_ms(site->jobs);
    const int64_t wakes[] = {
        site_uplink_wake_ms(site->uplink),
        host_table_wake_ms(site->hosts),
        runs_wake_ms(site->runs),
        provider_wake_ms(site->provider),
        export_select_wake_ms(site->export_select),
        consumer_wake_ms(site->consumer),
        waiters_wake_ms(site->waiters),
        terminals_wake_ms(site->terminals),
        scheduler_wake_ms(site->scheduler, site->now_ms),
        lending_wake_ms(site->lending),
        recall_enforce_wake_ms(site->recall_enforce),
        lifecycle_kill_wake_ms(site->life),
        borrowed_load_wake_ms(&site->borrowed_load),
        time_windows_wake_ms(&site->time_windows, site->now_ms),
        load_suspend_wake_ms(site->load_suspend, site->now_ms),
        oldest_ms == INT64_MAX ? INT64_MAX : oldest_ms + site->config->clean_period_ms,
    };
    int64_t wake_ms = INT64_MAX;
    for (size_t i = 0; i < sizeof(wakes) / sizeof(wakes[0]); i++) {
        wake_ms = wakes[i] < wake_ms ? wakes[i] : wake_ms;
    }
    return wake_ms;
}

/* ---------------------------------------------------------------- looking in */

struct value *site_view(struct site *site, struct arena *arena,
                        const struct msg_query *query, int64_t now_ms,
                        const char **next)
{
    struct site_view view = site_dispatch_view(site, now_ms);
    return site_view_list(&view, arena, query, next);
}

bool site_has_reserved(const struct site *site)
{
    return rusage_ledger_has_any(site->rusage);
}

void site_list_reserved(const struct site *site, rusage_held_fn fn, void *arg)
{
    rusage_ledger_list(site->rusage, site->now_ms, fn, arg);
}

void site_count_reasons(const struct site *site, int64_t *counts)
{
    job_pending_count_reasons(site->jobs, counts);
}

int site_count_jobs(const struct site *site)
{
    return job_table_count(site->jobs);
}

void site_job_at(const struct site *site, int index, struct site_job *job)
{
    const struct job *at = job_table_at(site->jobs, index);
    *job =
        (struct site_job){.id = at->id,
                          .index = at->index,
                          .queue = job_queue_name(at),
                          .state = at->state,
                          .attempt = at->attempt,
                          .lease = at->lease,
                          .n_slots = job_slots(at),
                          .is_interactive = at->spec->interaction != INTERACTION_NONE,
                          .is_killed = at->is_killed,
                          .start_ms = at->start_ms,
                          .recall_ms = at->recall_ms};
}

struct provider *site_provider(struct site *site)
{
    return site->provider;
}

const struct consumer *site_consumer(const struct site *site)
{
    return site->consumer;
}

bool site_is_admin(const struct site *site, const struct peer *from)
{
    return permission_is_admin(site->config, from);
}

bool site_has_host(const struct site *site, const char *host)
{
    return host_table_find(site->hosts, host) >= 0;
}

void site_set_trouble(struct site *site, const char *why)
{
    site_uplink_set_trouble(site->uplink, why);
}

bool site_has_leaving(const struct site *site, const char *host)
{
    int index = host_table_find(site->hosts, host);
    return index >= 0 && site->config->hosts[index].is_leaving;
}

void site_host_used(const struct site *site, const char *host, int *own, int *consumers)
{
    int index = host_table_find(site->hosts, host);
    *own = *consumers = 0;
    if (index >= 0) {
        const struct run_table_use *use = run_table_use(runs_table(site->runs), index);
        *own = use->own;
        *consumers = use->consumers;
    }
}
