/* SPDX-License-Identifier: Apache-2.0 */
/* site_dispatch.c: see site_dispatch.h. Each handler passes its message to one
 * part. The table at the end says which peers may send a message, and whether it must
 * belong to the current session of its sender. */
#include "site/site_dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "site/api/site_api.h"
#include "site/client/site_client.h"
#include "site/exchange/exchange.h"
#include "site/site_parts.h"
#include "site/site_reload.h"

/* A message that is dispatched. */
struct call {
    const struct peer *from;
    const struct msg *msg;
    int host; /* its index, for messages of a host's session */
    int64_t now_ms;
};

typedef void (*handler_fn)(struct site *site, const struct call *call,
                           struct effects *effects);

/* What the requests of clients act on. */
static struct site_api api_of(struct site *site)
{
    return (struct site_api){
        .config = site->config,
        .jobs = site->jobs,
        .queues = site->queues,
        .fairshare = site->fairshare,
        .resreq_cache = site->resreq_cache,
        .rusage_sources = &site->rusage_sources,
        .capacity = site->capacity,
        .hosts = site->hosts,
        .runs = site->runs,
        .consumer = site->consumer,
        .uplink = site->uplink,
        .waiters = site->waiters,
        .terminals = site->terminals,
        .pass_request = &site->pass_request,
        .last_job = &site->last_job,
        .loss = &site->loss,
        .life = site->life,
        .history = site->history,
        .host_admin = &site->host_admin,
        .provider = site->provider,
        .now_ms = site->now_ms,
        .local_ms = site->now_ms + site->utc_offset_ms,
        .resize_requests = site->resize_requests,
    };
}

struct site_view site_dispatch_view(struct site *site, int64_t now_ms)
{
    return (struct site_view){
        .config = site->config,
        .jobs = site->jobs,
        .queues = site->queues,
        .limits = site->limits,
        .fairshare = site->fairshare,
        .hosts = site->hosts,
        .capacity = site->capacity,
        .host_status = &site->host_status,
        .host_resources = site->host_resources,
        .host_admin = &site->host_admin,
        .runs = site->runs,
        .reservations = site->reservations,
        .claims = site->claims,
        .resize_requests = site->resize_requests,
        .load_suspend = site->load_suspend,
        .rusage_sources = &site->rusage_sources,
        .provider = site->provider,
        .export_select = site->export_select,
        .consumer = site->consumer,
        .uplink = site->uplink,
        .resreq_cache = site->resreq_cache,
        .host_lists = site->host_lists,
        .now_ms = now_ms,
        .event_ms = site->now_ms,
        .local_ms = site->now_ms + site->utc_offset_ms,
    };
}

/* ---- how far the journal is */

/* The greatest step of a number that is believed: a peer that lies cannot use up the
 * numbers of the site. */
enum { MARK_STEP_MAX = 1000000000 };

static bool is_number_believed(uint64_t present, uint64_t told)
{
    return told <= present ||
           (told <= present + MARK_STEP_MAX && told <= TOLD_NUMBER_MAX);
}

static bool is_believed(const struct journal_mark *present,
                        const struct journal_mark *mark)
{
    return is_number_believed(present->commits, mark->commits) &&
           is_number_believed(present->attempt, mark->attempt) &&
           is_number_believed(present->job, mark->job);
}

static void log_awaiting(const struct site *site, struct effects *effects)
{
    const char *unknown = host_table_unknown(site->hosts);
    if (unknown != NULL) {
        effects_log(effects, LOG_LEVEL_WARNING,
                    "nothing starts: host \"%s\" is not in the site's configuration, "
                    "and may have a run that the journal has lost; add it to the "
                    "configuration, or `sublet runs --accept-loss`",
                    unknown);
    } else if (host_table_is_awaiting(site->hosts)) {
        effects_log(effects, LOG_LEVEL_WARNING,
                    "nothing starts before all hosts of this site have connected: one "
                    "that is away may have a run that the journal has lost; if it will "
                    "not come back, `sublet runs --accept-loss`");
    }
}

/* The journal is compared with what another knows of it. */
static void learn_mark(struct site *site, const struct journal_mark *mark,
                       const char *who, struct effects *effects)
{
    struct journal_loss *loss = &site->loss;
    loss->present.attempt = job_dispatch_last_attempt(site->life);
    loss->present.job = site->last_job;
    if (!is_believed(&loss->present, mark)) {
        effects_log(effects, LOG_LEVEL_ERROR,
                    "the journal position that %s reports is impossible: ignored", who);
        return;
    }
    if (journal_loss_learn(loss, mark, who, effects)) {
        job_dispatch_raise(site->life, loss->present.attempt);
        site->last_job = loss->present.job;
        runs_host_doubt(site->runs, effects);
        provider_doubt(site->provider, loss->present.commits, effects);
        site_dispatch_sync_mark(site, site->now_ms);
        log_awaiting(site, effects);
    } else if (mark->commits > 0) {
        runs_host_vouch(site->runs, site->now_ms, effects);
    }
}

void site_dispatch_sync_hosts(struct site *site)
{
    host_admin_sync(&site->host_admin, site->hosts, site->provider,
                    site->now_ms + site->utc_offset_ms);
    pass_request_set(&site->pass_request);
}

void site_dispatch_sync_mark(struct site *site, int64_t now_ms)
{
    struct journal_loss *loss = &site->loss;
    loss->present.attempt = job_dispatch_last_attempt(site->life);
    loss->present.job = site->last_job;
    bool was_awaiting = host_table_is_awaiting(site->hosts);
    host_table_set_mark(site->hosts, &loss->present, loss->from, loss->to,
                        journal_loss_is_alarm(loss));
    if (host_table_is_awaiting(site->hosts) != was_awaiting) {
        site_dispatch_sync_hosts(site);
    }
    runs_set_commits(site->runs, loss->present.commits);
    consumer_set_commits(site->consumer, loss->present.commits);
    provider_set_commits(site->provider, loss->present.commits);
    runs_orphan_keep(site->runs, loss->from, loss->to);
    job_table_doubt(site->jobs, journal_loss_doubted_to(loss));
    consumer_doubt(site->consumer, loss->doubted_attempt);
    orphan_keep(site->consumer, loss->from, loss->to, journal_loss_is_alarm(loss),
                now_ms);
}

/* ---- from the broker */

static void on_welcome(struct site *site, const struct call *call,
                       struct effects *effects)
{
    if (site_uplink_welcome(site->uplink, call->msg, call->now_ms, effects)) {
        learn_mark(site, &call->msg->welcome.mark, "the broker", effects);
        uint64_t session = site_uplink_session(site->uplink);
        effects_log(effects, LOG_LEVEL_NOTICE, "connected to the broker");
        provider_session(site->provider, session, call->now_ms, effects);
        consumer_session(site->consumer, session, call->now_ms, effects);
        lending_new_session(site->lending, call->now_ms);
        borrowed_load_mark(&site->borrowed_load, true, call->now_ms);
        /* Their requests were sent in the last session and will not be answered. */
        waiters_expire(site->waiters, WAITER_BROKER, call->now_ms);
        pass_request_set(&site->pass_request);
    }
}

static void on_pong(struct site *site, const struct call *call, struct effects *effects)
{
    (void)effects;
    site_uplink_pong(site->uplink, call->msg, call->now_ms);
}

static void on_error(struct site *site, const struct call *call,
                     struct effects *effects)
{
    const struct msg_error *error = &call->msg->error;
    uint64_t session = site_uplink_session(site->uplink);
    bool is_stale = call->from->kind == PEER_BROKER && error->code == ERR_STALE;
    if (is_stale && (call->msg->session == session || call->msg->session == 0)) {
        if (site_uplink_stale(site->uplink, call->now_ms)) {
            consumer_broker_lost(site->consumer);
            pass_request_set(&site->pass_request);
        }
        return;
    }
    effects_log(effects, LOG_LEVEL_WARNING, "%s was refused: %s: %s",
                msg_kind_name((enum msg_kind)error->about), err_name(error->code),
                error->text);
}

static void on_contract_change(struct site *site, const struct call *call,
                               struct effects *effects)
{
    provider_broker_message(site->provider, call->msg, call->now_ms, effects);
    pass_request_set(&site->pass_request);
}

static void on_evict(struct site *site, const struct call *call,
                     struct effects *effects)
{
    lending_evict(site->lending, &call->msg->evict, call->now_ms, effects);
}

static void on_contract(struct site *site, const struct call *call,
                        struct effects *effects)
{
    const char *lease = call->msg->contract.lease;
    struct msg_contract before = {0}, after = {0};
    bool was_known = consumer_find_contract(site->consumer, lease, &before);
    consumer_contract(site->consumer, call->msg, call->now_ms, effects);
    borrowed_load_check_soon(&site->borrowed_load, call->now_ms);
    bool is_known = consumer_find_contract(site->consumer, lease, &after);
    if (before.n_recalls > 0 && after.n_recalls == 0) {
        recall_enforce_forget(site->recall_enforce, lease);
    }
    if (was_known != is_known || before.epoch != after.epoch ||
        before.state != after.state || before.is_made != after.is_made ||
        before.is_provider_here != after.is_provider_here) {
        job_table_retry_all(site->jobs);
        pass_request_set(&site->pass_request);
    }
    pass_request_set(&site->pass_request);
}

static void on_consumer_request(struct site *site, const struct call *call,
                                struct effects *effects)
{
    lending_request(site->lending, call->msg, call->now_ms, effects);
}

/* A provider may report only on runs of this site's jobs that it was given. */
static bool is_from_its_provider(const struct site *site, const struct msg *msg,
                                 const struct run_id *run)
{
    if (strcmp(run->site, site->config->name) != 0) {
        return false;
    }
    const struct job *job = job_table_find_attempt(site->jobs, run->attempt);
    size_t length = strlen(msg->site);
    return job == NULL ||
           (strncmp(job->lease, msg->site, length) == 0 && job->lease[length] == '/');
}

static void tell_consumer(struct site *site, const struct call *call,
                          struct effects *effects)
{
    struct report_queue reports;
    report_queue_init(&reports, &effects->arena);
    consumer_message(site->consumer, call->msg, call->now_ms, effects,
                     report_queue_collect, &reports);
    report_queue_apply(&reports, site->life, &site->pass_request, call->now_ms,
                       effects);
}

/* Only a site that lends to this one, or runs the job of that attempt, can know of
 * attempts that the journal has lost. */
static bool may_know_mark(const struct site *site, const struct msg *msg,
                          const struct run_id *run)
{
    struct msg_contract contract;
    size_t length = strlen(msg->site);
    bool may = job_table_find_attempt(site->jobs, run->attempt) != NULL &&
               is_from_its_provider(site, msg, run);
    for (int i = 0; !may && consumer_contract_at(site->consumer, i, &contract); i++) {
        may = strncmp(contract.lease, msg->site, length) == 0 &&
              contract.lease[length] == '/';
    }
    return may;
}

static void on_attempt_state(struct site *site, const struct call *call,
                             struct effects *effects)
{
    const struct msg_attempt_state *state = &call->msg->attempt_state;
    if (strcmp(state->run.site, site->config->name) == 0 &&
        may_know_mark(site, call->msg, &state->run)) {
        learn_mark(site, &state->mark, call->msg->site, effects);
    }
    if (is_from_its_provider(site, call->msg, &state->run)) {
        tell_consumer(site, call, effects);
    }
}

static void on_attempt_found(struct site *site, const struct call *call,
                             struct effects *effects)
{
    if (orphan_found(site->consumer, call->msg, call->now_ms, effects)) {
        pass_request_set(&site->pass_request);
    }
}

static void on_output(struct site *site, const struct call *call,
                      struct effects *effects)
{
    struct site_api api = api_of(site);
    const struct msg_output *output = &call->msg->output;
    bool is_ours = strcmp(output->run.site, site->config->name) == 0;
    if (call->from->kind == PEER_HOST && !is_ours) {
        lending_forward_output(site->lending, call->msg, effects);
    } else if (call->from->kind == PEER_HOST) {
        peek_output(&api, output, effects);
    } else if (is_from_its_provider(site, call->msg, &output->run) &&
               !peek_output(&api, output, effects)) {
        tell_consumer(site, call, effects);
    }
}

static void on_stream_down(struct site *site, const struct call *call,
                           struct effects *effects)
{
    if (call->from->kind == PEER_BROKER) {
        lending_request(site->lending, call->msg, call->now_ms, effects);
    } else {
        terminals_stream_down(site->terminals, call->from, &call->msg->stream_down,
                              effects);
    }
}

static void on_stream_up(struct site *site, const struct call *call,
                         struct effects *effects)
{
    const struct msg_stream_up *up = &call->msg->stream_up;
    bool is_ours = strcmp(up->run.site, site->config->name) == 0;
    if (call->from->kind == PEER_HOST && !is_ours) {
        lending_stream_up(site->lending, call->host, up, effects);
    } else if (call->from->kind == PEER_HOST ||
               is_from_its_provider(site, call->msg, &up->run)) {
        terminals_stream_up(site->terminals, call->host, up, effects);
    }
}

/* Load reports cause at most one pass in this time, however many hosts report. */
enum { LOAD_LOOK_MS = 5000 };

static void look_at_load(struct site *site, bool is_first, int64_t now_ms)
{
    load_suspend_mark(site->load_suspend, true);
    if (is_first || now_ms - site->load_ms >= LOAD_LOOK_MS) {
        site->load_ms = now_ms;
        pass_request_set(&site->pass_request);
    }
}

static void on_lease_load(struct site *site, const struct call *call,
                          struct effects *effects)
{
    bool is_first = false;
    if (borrowed_load_receive(&site->borrowed_load, call->msg, &is_first, effects)) {
        if (borrowed_resources_has_thresholds(
                host_resources_borrowed(site->host_resources))) {
            load_suspend_enable(site->load_suspend);
        }
        look_at_load(site, is_first, call->now_ms);
    }
}

static void on_lease_load_ask(struct site *site, const struct call *call,
                              struct effects *effects)
{
    borrowed_load_answer(&site->borrowed_load, call->msg, call->now_ms, effects);
}

static void on_ledger_ask(struct site *site, const struct call *call,
                          struct effects *effects)
{
    struct site_api api = api_of(site);
    ledger_request_asked(&api, call->msg, effects);
}

static void on_ledger(struct site *site, const struct call *call,
                      struct effects *effects)
{
    struct site_api api = api_of(site);
    ledger_request_answered(&api, call->msg, effects);
}

static void on_reply(struct site *site, const struct call *call,
                     struct effects *effects)
{
    forward_reply(site->waiters, &call->msg->reply, effects);
}

/* ---- from hosts */

static void on_host_hello(struct site *site, const struct call *call,
                          struct effects *effects)
{
    const struct msg_host_hello *hello = &call->msg->host_hello;
    site_dispatch_sync_mark(site, call->now_ms); /* for WELCOME */
    const char *unknown = host_table_unknown(site->hosts);
    int host =
        host_table_hello(site->hosts, call->from, call->msg, call->now_ms, effects);
    if (host_table_unknown(site->hosts) != unknown) {
        site_dispatch_sync_hosts(site);
        log_awaiting(site, effects);
    }
    if (host >= 0) {
        effects_log(effects, LOG_LEVEL_INFO, "host %s is connected",
                    host_table_name(site->hosts, host));
        learn_mark(site, &hello->mark,
                   arena_printf(&effects->arena, "host %s", hello->name), effects);
        runs_host_hello(site->runs, host, &effects->arena);
        pass_request_set(&site->pass_request);
    }
}

static void on_host_synced(struct site *site, const struct call *call,
                           struct effects *effects)
{
    bool was_awaiting = host_table_is_awaiting(site->hosts);
    host_table_synced(site->hosts, call->host);
    runs_host_synced(site->runs, call->host, call->now_ms, effects);
    if (host_table_is_awaiting(site->hosts) != was_awaiting) {
        site_dispatch_sync_hosts(site);
    }
    host_admin_sync_host(&site->host_admin, site->hosts, site->provider, call->host,
                         site->now_ms + site->utc_offset_ms);
    pass_request_set(&site->pass_request);
}

static void on_host_alive(struct site *site, const struct call *call,
                          struct effects *effects)
{
    if (host_table_is_stuck(site->hosts, call->host, call->now_ms)) {
        host_table_refuse(call->from, call->msg, effects);
        return;
    }
    struct msg msg = {.kind = MSG_HOST_PONG};
    msg.host_alive.seq = call->msg->host_alive.seq;
    msg.host_alive.mark = site->loss.present;
    msg.host_alive.mark.attempt = job_dispatch_last_attempt(site->life);
    msg.host_alive.mark.job = site->last_job;
    host_table_send(site->hosts, call->host, &msg, effects);
}

/* What this site's own jobs on the host use. */
static void take_use(struct site *site, const struct call *call)
{
    const struct msg_host_load *load = &call->msg->host_load;
    for (int i = 0; i < load->n_runs; i++) {
        const struct run *run = runs_find(site->runs, &load->runs[i].run);
        if (run == NULL || run->host != call->host ||
            !run_table_is_own(runs_table(site->runs), run)) {
            continue;
        }
        struct job *job = job_table_find_attempt(site->jobs, load->runs[i].run.attempt);
        if (job != NULL) {
            job->usage = (struct job_usage){.mem_kib = load->runs[i].mem_kib,
                                            .rss_kib = load->runs[i].rss_kib,
                                            .vsz_kib = load->runs[i].vsz_kib,
                                            .n_threads = load->runs[i].n_threads};
            fairshare_ledger_set_cpu_used(site->fairshare, job, load->runs[i].cpu_ms,
                                          call->now_ms);
        }
    }
}

static void on_host_load(struct site *site, const struct call *call,
                         struct effects *effects)
{
    const struct resource_table *table = host_resources_table(site->host_resources);
    bool is_first = !host_resources_is_reported(site->host_resources, call->host);
    bool had_rates = resource_table_has(table, call->host, RESOURCE_UT);
    unsigned sides = load_suspend_exceeded(site->load_suspend, call->host);
    const char *unknown =
        host_resources_report(site->host_resources, call->host, &call->msg->host_load);
    take_use(site, call);
    if (host_table_set_foreign(site->hosts, call->host, call->msg->host_load.n_foreign,
                               call->msg->host_load.is_out)) {
        host_admin_sync_host(&site->host_admin, site->hosts, site->provider, call->host,
                             site->now_ms + site->utc_offset_ms);
        capacity_sync_provider(site->capacity);
    }
    site_reload_count_cpus(site, call->host, call->now_ms, effects);
    bool is_better = !had_rates && resource_table_has(table, call->host, RESOURCE_UT);
    lease_resources_update_host(&site->lease_resources, call->host);
    bool is_turned = load_suspend_exceeded(site->load_suspend, call->host) != sides;
    borrowed_load_mark(&site->borrowed_load, is_first || is_better || is_turned,
                       call->now_ms);
    if (is_first && unknown != NULL) {
        effects_log(effects, LOG_LEVEL_WARNING,
                    "host %s reports \"%s\", which is not a resource here or has a "
                    "value of another type: ignored",
                    host_table_name(site->hosts, call->host), unknown);
    }
    look_at_load(site, is_first, call->now_ms);
    export_select_mark(site->export_select);
}

/* A host has a run of this site's own. */
static void learn_run(struct site *site, const struct call *call,
                      const struct run_id *run, uint64_t job, struct effects *effects)
{
    if (strcmp(run->site, site->config->name) == 0) {
        const char *who = arena_printf(&effects->arena, "host %s",
                                       host_table_name(site->hosts, call->host));
        learn_mark(site, &(struct journal_mark){.attempt = run->attempt, .job = job},
                   who, effects);
    }
}

static void on_run_found(struct site *site, const struct call *call,
                         struct effects *effects)
{
    const struct msg_run_start *start = &call->msg->run_start;
    learn_run(site, call, &start->run, strtoull(start->job, NULL, 10), effects);
    runs_orphan_found(site->runs, call->host, start, call->now_ms, effects);
    pass_request_set(&site->pass_request);
}

static void on_run_state(struct site *site, const struct call *call,
                         struct effects *effects)
{
    const struct msg_run_state *state = &call->msg->run_state;
    if (state->phase != RUN_UNKNOWN) {
        learn_run(site, call, &state->run, 0, effects);
    }
    if (state->phase == RUN_ENDED || state->phase == RUN_UNKNOWN) {
        pass_request_set(&site->pass_request);
    }
    runs_host_state(site->runs, call->host, &call->msg->run_state, call->now_ms,
                    effects);
}

/* ---- from clients */

static void on_wait(struct site *site, const struct call *call, struct effects *effects)
{
    wait_request(site->waiters, site->jobs, call->from, &call->msg->wait, effects);
}

static void refuse(const struct call *call, struct effects *effects);

/* What the broker may read, for its API. */
static bool is_for_broker(enum query_kind kind)
{
    return kind == QUERY_USAGE || kind == QUERY_OVERVIEW;
}

static void on_query(struct site *site, const struct call *call,
                     struct effects *effects)
{
    if (call->from->kind == PEER_BROKER && !is_for_broker(call->msg->query.kind)) {
        refuse(call, effects);
        return;
    }
    struct site_api api = api_of(site);
    struct site_view view = site_dispatch_view(site, call->now_ms);
    query_request(&api, &view, call->from, call->msg, effects);
}

/* ---------------------------------------------------------------- dispatch */

enum {
    BROKER = 1 << PEER_BROKER,
    HOST = 1 << PEER_HOST,
    CLIENT = 1 << PEER_CLIENT,
};

struct route {
    handler_fn handler; /* NULL: a site does not accept it */
    int peers;          /* which peers may send it */
    bool is_in_session; /* of the uplink or the host: otherwise it counts for nothing */
};

static const struct route routes[MSG_KINDS] = {
    [MSG_WELCOME] = {on_welcome, BROKER, false},
    [MSG_PONG] = {on_pong, BROKER, true},
    [MSG_ERROR] = {on_error, BROKER | HOST, false},
    [MSG_STATE_ASK] = {on_contract_change, BROKER, true},
    [MSG_FREEZE] = {on_contract_change, BROKER, true},
    [MSG_PROPOSE] = {on_contract_change, BROKER, true},
    [MSG_DRAIN] = {on_contract_change, BROKER, true},
    [MSG_LEASE_OPEN] = {on_contract_change, BROKER, true},
    [MSG_RECALL] = {on_contract_change, BROKER, true},
    [MSG_EVICT] = {on_evict, BROKER, true},
    [MSG_CONTRACT] = {on_contract, BROKER, true},
    [MSG_START] = {on_consumer_request, BROKER, true},
    [MSG_ATTEMPT_ASK] = {on_consumer_request, BROKER, true},
    [MSG_ATTEMPT_CONTROL] = {on_consumer_request, BROKER, true},
    [MSG_ATTEMPT_ACK] = {on_consumer_request, BROKER, true},
    [MSG_ATTEMPT_STATE] = {on_attempt_state, BROKER, true},
    [MSG_OUTPUT_ASK] = {on_consumer_request, BROKER, true},
    [MSG_ATTEMPT_FOUND] = {on_attempt_found, BROKER, true},
    [MSG_OUTPUT] = {on_output, BROKER | HOST, true},
    [MSG_LEASE_LOAD] = {on_lease_load, BROKER, true},
    [MSG_LEASE_LOAD_ASK] = {on_lease_load_ask, BROKER, true},
    [MSG_LEDGER_ASK] = {on_ledger_ask, BROKER, true},
    [MSG_LEDGER] = {on_ledger, BROKER, true},
    [MSG_REPLY] = {on_reply, BROKER, false},
    [MSG_HOST_HELLO] = {on_host_hello, HOST, false},
    [MSG_HOST_SYNCED] = {on_host_synced, HOST, true},
    [MSG_HOST_ALIVE] = {on_host_alive, HOST, true},
    [MSG_HOST_LOAD] = {on_host_load, HOST, true},
    [MSG_RUN_STATE] = {on_run_state, HOST, true},
    [MSG_RUN_FOUND] = {on_run_found, HOST, true},
    [MSG_STREAM_UP] = {on_stream_up, BROKER | HOST, true},
    [MSG_WAIT] = {on_wait, CLIENT, false},
    [MSG_STREAM_DOWN] = {on_stream_down, BROKER | CLIENT, true},
    [MSG_QUERY] = {on_query, BROKER | CLIENT, true},
};

/* Requests of clients that act on the parts in struct site_api alone. */
static site_api_fn *const requests[MSG_KINDS] = {
    [MSG_SUBMIT] = submit_request,
    [MSG_JOB_CONTROL] = job_signal_request,
    [MSG_JOB_MOVE] = job_move_request,
    [MSG_JOB_MODIFY] = job_modify_request,
    [MSG_JOB_RESIZE] = job_resize_request,
    [MSG_QUEUE_CONTROL] = queue_control_request,
    [MSG_JOB_PEEK] = peek_request,
    [MSG_SET_RECLAIM] = forward_request,
    [MSG_SET_DRAIN] = forward_request,
    [MSG_REBALANCE] = forward_request,
    [MSG_RECONFIG] = reconfig_request,
    [MSG_HOST_CONTROL] = host_control_request,
    [MSG_ORPHAN] = orphan_request,
    [MSG_STEP_DOWN] = forward_request,
    [MSG_JOB_GROUP] = job_group_order_request,
};

static void refuse(const struct call *call, struct effects *effects)
{
    if (call->from->kind == PEER_CLIENT) {
        struct msg msg = {.kind = MSG_ERROR, .site = ""};
        msg.error.code = ERR_DENIED;
        msg.error.text = "a client of a site may not send this message";
        msg.error.about = (int)call->msg->kind;
        effects_send(effects, call->from, &msg);
    } else {
        effects_log(effects, LOG_LEVEL_DEBUG,
                    "%s may not be sent by this peer: ignored",
                    msg_kind_name(call->msg->kind));
    }
}

/* True if the message belongs to the current session of its sender. A client has no
 * session. */
static bool is_current(struct site *site, struct call *call, struct effects *effects)
{
    if (call->from->kind == PEER_CLIENT) {
        return true;
    }
    if (call->from->kind == PEER_BROKER) {
        return site_uplink_is_up(site->uplink) &&
               call->msg->session == site_uplink_session(site->uplink);
    }
    call->host = host_table_find_session(site->hosts, call->from, call->msg->session);
    if (call->host < 0) {
        host_table_refuse(call->from, call->msg, effects);
        return false;
    }
    if (host_table_heard(site->hosts, call->host, call->now_ms)) {
        const char *name = host_table_name(site->hosts, call->host);
        effects_log(effects, LOG_LEVEL_NOTICE, "host %s is back", name);
        host_admin_sync_host(&site->host_admin, site->hosts, site->provider, call->host,
                             site->now_ms + site->utc_offset_ms);
        runs_host_back(site->runs, call->host, call->now_ms, effects);
        pass_request_set(&site->pass_request);
    }
    return true;
}

void site_dispatch_message(struct site *site, const struct event *event,
                           struct effects *effects)
{
    struct call call = {
        .from = &event->from, .msg = event->msg, .host = -1, .now_ms = event->now_ms};
    bool is_known = (unsigned)event->msg->kind < MSG_KINDS;
    const struct route *route = is_known ? &routes[event->msg->kind] : NULL;
    if (is_known && event->from.kind == PEER_CLIENT &&
        requests[event->msg->kind] != NULL) {
        struct site_api api = api_of(site);
        api.nonce = event->nonce;
        requests[event->msg->kind](&api, call.from, call.msg, effects);
        if (event->msg->kind == MSG_ORPHAN) {
            site_dispatch_sync_mark(site, call.now_ms); /* the alarm may be over */
        }
    } else if (route == NULL || route->handler == NULL ||
               (route->peers & 1 << event->from.kind) == 0) {
        refuse(&call, effects);
    } else if (!route->is_in_session || is_current(site, &call, effects)) {
        route->handler(site, &call, effects);
    }
}
