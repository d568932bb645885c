/* SPDX-License-Identifier: Apache-2.0 */
/* site.c: the composition: parts in order, the table of messages, the tick. */
#include "site/site.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "site/controls.h"
#include "site/forward.h"
#include "site/lending.h"
#include "site/parts.h"
#include "site/peek.h"
#include "site/requests.h"
#include "site/site_copy.h"
#include "site/turns.h"
#include "site/usage.h"
#include "site/wait.h"

/* ---------------------------------------------------------------- life */

static void run_changed(void *arg, struct run *run, int64_t now_ms,
                        struct effects *effects)
{
    struct site *site = arg;
    if (run->record == RUN_RECORD_ENDED) {
        schedule_mark(site->schedule);
    }
    if (run_table_is_own(runs_table(site->runs), run)) {
        turns_run_changed(site, run, now_ms, effects);
    } else {
        lending_run_changed(site, run, now_ms, effects);
    }
}

struct site *site_new(const struct site_config *from)
{
    struct site *site = mem_alloc(1, sizeof(*site));
    arena_init(&site->config_arena);
    site->config = site_copy_config(&site->config_arena, from);
    const struct site_config *config = site->config;
    struct runs_setting runs_setting = {
        .site = config->name,
        .is_root = config->daemon_uid == 0,
        .lease_account = config->lease_account,
    };
    struct site_uplink_setting uplink_setting = {
        .name = config->name,
        .roles = config->roles,
        .reclaim_delay_ms = config->reclaim_delay_ms,
        .is_alone = config->is_alone,
    };
    site->jobs = jobs_new(config->queues, config->n_queues);
    site->hosts = site_hosts_new(config->hosts, config->n_hosts);
    site->runs = runs_new(&runs_setting, site->hosts, run_changed, site);
    site->provider = provider_new(config->name, config->freeze_timeout_ms);
    site->consumer = consumer_new(config->name);
    site->uplink = site_uplink_new(&uplink_setting);
    site->schedule = schedule_new();
    site->waiters = waiters_new();
    site->lending_ms = INT64_MAX;
    return site;
}

void site_free(struct site *site)
{
    if (site == NULL) {
        return;
    }
    waiters_free(site->waiters);
    schedule_free(site->schedule);
    site_uplink_free(site->uplink);
    consumer_free(site->consumer);
    provider_free(site->provider);
    runs_free(site->runs);
    site_hosts_free(site->hosts);
    jobs_free(site->jobs);
    arena_release(&site->config_arena);
    free(site);
}

static void load_counter(struct site *site, const struct row_counter *counter)
{
    const struct {
        const char *name;
        uint64_t *value;
    } counters[] = {{"boot", &site->boot},
                    {"job", &site->last_job},
                    {"attempt", &site->last_attempt}};
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        if (strcmp(counters[i].name, counter->name) == 0) {
            *counters[i].value = counter->value;
        }
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
        provider_load(site->provider, row);
        break;
    case ROW_JOB:
        jobs_load(site->jobs, &row->job);
        break;
    case ROW_JOB_STATE:
        jobs_load_state(site->jobs, &row->job_state);
        break;
    case ROW_RUN:
        runs_load(site->runs, &row->run);
        if (row->run.lease[0] != '\0') {
            provider_load(site->provider, row);
        }
        break;
    case ROW_OVERRIDE:
    case ROW_LEASE:
    case ROW_HISTORY:
    case ROW_KINDS:
        break; /* the broker's */
    }
}

void site_start(struct site *site, int64_t now_ms, struct effects *effects)
{
    site->now_ms = now_ms;
    site->boot++;
    effects_store(effects,
                  &(struct row){.kind = ROW_COUNTER,
                                .counter = {.name = "boot", .value = site->boot}});
    jobs_start(site->jobs);
    site_hosts_start(site->hosts, now_ms);
    site_uplink_start(site->uplink, site->boot, now_ms);
    schedule_tell_use(site);
    provider_export(site->provider, &site->config->exports, now_ms, effects);
    turns_restore(site, now_ms, effects);
}

/* ---------------------------------------------------------------- what is said */

/* A message on its way through the table. */
struct call {
    const struct peer *from;
    const struct msg *msg;
    int host; /* its index, for messages of a host's session */
    int64_t now_ms;
};

typedef void (*handler_fn)(struct site *site, const struct call *call,
                           struct effects *effects);

/* News of the consumer's, kept until it is done speaking. */
struct reports {
    struct arena *arena;
    struct consumer_report *items;
    int count, capacity;
};

static void collect_report(void *arg, const struct consumer_report *report)
{
    struct reports *reports = arg;
    if (reports->count == reports->capacity) {
        int capacity = reports->capacity == 0 ? 8 : reports->capacity * 2;
        struct consumer_report *items =
            arena_alloc(reports->arena, (size_t)capacity, sizeof(*items));
        if (reports->count > 0) {
            memcpy(items, reports->items, (size_t)reports->count * sizeof(*items));
        }
        reports->items = items;
        reports->capacity = capacity;
    }
    struct consumer_report *copy = &reports->items[reports->count++];
    *copy = *report;
    copy->exit.text = arena_str(reports->arena, report->exit.text);
    copy->reason = arena_str(reports->arena, report->reason);
    copy->bytes = report->n_bytes > 0 ? arena_copy(reports->arena, report->bytes,
                                                   (size_t)report->n_bytes)
                                      : NULL;
}

static void take_reports(struct site *site, const struct reports *reports,
                         int64_t now_ms, struct effects *effects)
{
    for (int i = 0; i < reports->count; i++) {
        turns_report(site, &reports->items[i], now_ms, effects);
    }
    if (reports->count > 0) {
        schedule_mark(site->schedule);
    }
}

/* ---- from the broker */

static void lose_broker(struct site *site)
{
    consumer_broker_lost(site->consumer);
    schedule_mark(site->schedule);
}

static void on_welcome(struct site *site, const struct call *call,
                       struct effects *effects)
{
    if (site_uplink_welcome(site->uplink, call->msg, call->now_ms, effects)) {
        uint64_t session = site_uplink_session(site->uplink);
        effects_log(effects, LOG_LEVEL_NOTICE, "connected to the broker");
        provider_session(site->provider, session, call->now_ms, effects);
        consumer_session(site->consumer, session, call->now_ms, effects);
        lending_session(site, call->now_ms);
        schedule_mark(site->schedule);
    }
}

static void on_pong(struct site *site, const struct call *call, struct effects *effects)
{
    (void)effects;
    site_uplink_pong(site->uplink, call->now_ms);
}

static void on_error(struct site *site, const struct call *call,
                     struct effects *effects)
{
    const struct msg_error *error = &call->msg->error;
    uint64_t session = site_uplink_session(site->uplink);
    bool is_stale = call->from->kind == PEER_BROKER && error->code == ERR_STALE;
    if (is_stale && (call->msg->session == session || call->msg->session == 0)) {
        if (site_uplink_stale(site->uplink, call->now_ms)) {
            lose_broker(site);
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
    schedule_mark(site->schedule);
}

static bool find_contract(const struct site *site, const char *lease,
                          struct msg_contract *contract)
{
    for (int i = 0; i < consumer_count_contracts(site->consumer); i++) {
        if (consumer_contract_at(site->consumer, i, contract) &&
            strcmp(contract->lease, lease) == 0) {
            return true;
        }
    }
    return false;
}

static void on_contract(struct site *site, const struct call *call,
                        struct effects *effects)
{
    const char *lease = call->msg->contract.lease;
    struct msg_contract before = {0}, after = {0};
    bool was_known = find_contract(site, lease, &before);
    consumer_contract(site->consumer, call->msg, call->now_ms, effects);
    bool is_known = find_contract(site, lease, &after);
    if (was_known != is_known || before.epoch != after.epoch ||
        before.state != after.state || before.is_made != after.is_made ||
        before.is_provider_here != after.is_provider_here) {
        schedule_mark_contracts(site->schedule);
    }
    schedule_mark(site->schedule);
}

static void on_start(struct site *site, const struct call *call,
                     struct effects *effects)
{
    lending_start(site, call->msg, call->now_ms, effects);
}

static void on_attempt_ask(struct site *site, const struct call *call,
                           struct effects *effects)
{
    lending_ask(site, call->msg, effects);
}

static void on_attempt_control(struct site *site, const struct call *call,
                               struct effects *effects)
{
    lending_control(site, call->msg, call->now_ms, effects);
}

static void on_attempt_ack(struct site *site, const struct call *call,
                           struct effects *effects)
{
    lending_acknowledge(site, call->msg, effects);
}

static void on_output_ask(struct site *site, const struct call *call,
                          struct effects *effects)
{
    lending_output(site, call->msg, effects);
}

/* What a provider says is about a run of ours, and about one that we gave to it. */
static bool is_from_its_provider(const struct site *site, const struct msg *msg,
                                 const struct run_id *run)
{
    if (strcmp(run->site, site->config->name) != 0) {
        return false;
    }
    const struct job *job = jobs_find_attempt(site->jobs, run->attempt);
    size_t length = strlen(msg->site);
    return job == NULL ||
           (strncmp(job->lease, msg->site, length) == 0 && job->lease[length] == '/');
}

static void tell_consumer(struct site *site, const struct call *call,
                          struct effects *effects)
{
    struct reports reports = {.arena = &effects->arena};
    consumer_message(site->consumer, call->msg, call->now_ms, effects, collect_report,
                     &reports);
    take_reports(site, &reports, call->now_ms, effects);
}

static void on_attempt_state(struct site *site, const struct call *call,
                             struct effects *effects)
{
    if (is_from_its_provider(site, call->msg, &call->msg->attempt_state.run)) {
        tell_consumer(site, call, effects);
    }
}

static void on_output(struct site *site, const struct call *call,
                      struct effects *effects)
{
    const struct msg_output *output = &call->msg->output;
    bool is_ours = strcmp(output->run.site, site->config->name) == 0;
    if (call->from->kind == PEER_HOST && !is_ours) {
        lending_pass_output(site, call->msg, effects);
    } else if (call->from->kind == PEER_HOST) {
        peek_output(site, output, effects);
    } else if (is_from_its_provider(site, call->msg, &output->run) &&
               !peek_output(site, output, effects)) {
        tell_consumer(site, call, effects);
    }
}

static void on_reply(struct site *site, const struct call *call,
                     struct effects *effects)
{
    forward_reply(site, &call->msg->reply, effects);
}

/* ---- from hosts */

static void on_host_hello(struct site *site, const struct call *call,
                          struct effects *effects)
{
    int host =
        site_hosts_hello(site->hosts, call->from, call->msg, call->now_ms, effects);
    if (host >= 0) {
        effects_log(effects, LOG_LEVEL_INFO, "host %s is here",
                    site_hosts_name(site->hosts, host));
        runs_host_hello(site->runs, host);
        schedule_mark(site->schedule);
    }
}

static void on_host_synced(struct site *site, const struct call *call,
                           struct effects *effects)
{
    site_hosts_synced(site->hosts, call->host);
    runs_host_synced(site->runs, call->host, call->now_ms, effects);
    provider_set_down(site->provider, site_hosts_name(site->hosts, call->host), false);
    schedule_mark(site->schedule);
}

static void on_host_alive(struct site *site, const struct call *call,
                          struct effects *effects)
{
    if (site_hosts_is_stuck(site->hosts, call->host, call->now_ms)) {
        site_hosts_refuse(call->from, call->msg, effects);
        return;
    }
    struct msg msg = {.kind = MSG_HOST_PONG};
    msg.host_alive.seq = call->msg->host_alive.seq;
    site_hosts_send(site->hosts, call->host, &msg, effects);
}

static void on_run_state(struct site *site, const struct call *call,
                         struct effects *effects)
{
    runs_host_state(site->runs, call->host, &call->msg->run_state, call->now_ms,
                    effects);
}

/* ---- from clients */

static void on_submit(struct site *site, const struct call *call,
                      struct effects *effects)
{
    requests_submit(site, call->from, &call->msg->submit, call->now_ms, effects);
}

static void on_job_control(struct site *site, const struct call *call,
                           struct effects *effects)
{
    controls_request(site, call->from, &call->msg->job_control, call->now_ms, effects);
}

static void on_wait(struct site *site, const struct call *call, struct effects *effects)
{
    wait_request(site, call->from, &call->msg->wait, effects);
}

static void on_peek(struct site *site, const struct call *call, struct effects *effects)
{
    peek_request(site, call->from, &call->msg->peek, call->now_ms, effects);
}

static void on_query(struct site *site, const struct call *call,
                     struct effects *effects)
{
    requests_query(site, call->from, &call->msg->query, call->now_ms, effects);
}

static void on_set_reclaim(struct site *site, const struct call *call,
                           struct effects *effects)
{
    forward_request(site, call->from, call->msg, call->msg->set_reclaim.request,
                    call->now_ms, effects);
}

/* ---------------------------------------------------------------- dispatch */

enum {
    BROKER = 1 << PEER_BROKER,
    HOST = 1 << PEER_HOST,
    CLIENT = 1 << PEER_CLIENT,
};

struct route {
    handler_fn handler; /* NULL: not for a site */
    int peers;          /* who may say it */
    bool is_in_session; /* of the uplink or the host: otherwise it counts for nothing */
};

static const struct route routes[MSG_KINDS] = {
    [MSG_WELCOME] = {on_welcome, BROKER, false},
    [MSG_PONG] = {on_pong, BROKER, true},
    [MSG_ERROR] = {on_error, BROKER | HOST, false},
    [MSG_STATE_ASK] = {on_contract_change, BROKER, true},
    [MSG_FREEZE] = {on_contract_change, BROKER, true},
    [MSG_PROPOSE] = {on_contract_change, BROKER, true},
    [MSG_CONTRACT] = {on_contract, BROKER, true},
    [MSG_START] = {on_start, BROKER, true},
    [MSG_ATTEMPT_ASK] = {on_attempt_ask, BROKER, true},
    [MSG_ATTEMPT_CONTROL] = {on_attempt_control, BROKER, true},
    [MSG_ATTEMPT_ACK] = {on_attempt_ack, BROKER, true},
    [MSG_ATTEMPT_STATE] = {on_attempt_state, BROKER, true},
    [MSG_OUTPUT_ASK] = {on_output_ask, BROKER, true},
    [MSG_OUTPUT] = {on_output, BROKER | HOST, true},
    [MSG_REPLY] = {on_reply, BROKER, false},
    [MSG_HOST_HELLO] = {on_host_hello, HOST, false},
    [MSG_HOST_SYNCED] = {on_host_synced, HOST, true},
    [MSG_HOST_ALIVE] = {on_host_alive, HOST, true},
    [MSG_RUN_STATE] = {on_run_state, HOST, true},
    [MSG_SUBMIT] = {on_submit, CLIENT, false},
    [MSG_JOB_CONTROL] = {on_job_control, CLIENT, false},
    [MSG_WAIT] = {on_wait, CLIENT, false},
    [MSG_JOB_PEEK] = {on_peek, CLIENT, false},
    [MSG_QUERY] = {on_query, CLIENT, false},
    [MSG_SET_RECLAIM] = {on_set_reclaim, CLIENT, false},
};

static void refuse(const struct call *call, struct effects *effects)
{
    if (call->from->kind == PEER_CLIENT) {
        struct msg msg = {.kind = MSG_ERROR, .site = ""};
        msg.error.code = ERR_DENIED;
        msg.error.text = "this is not for a client of a site to say";
        msg.error.about = (int)call->msg->kind;
        effects_send(effects, call->from, &msg);
    } else {
        effects_log(effects, LOG_LEVEL_DEBUG,
                    "%s is not for its sender to say: ignored",
                    msg_kind_name(call->msg->kind));
    }
}

/* True where the message belongs to the session that its sender has now. */
static bool is_current(struct site *site, struct call *call, struct effects *effects)
{
    if (call->from->kind == PEER_BROKER) {
        return site_uplink_is_up(site->uplink) &&
               call->msg->session == site_uplink_session(site->uplink);
    }
    call->host = site_hosts_speaker(site->hosts, call->from, call->msg->session);
    if (call->host < 0) {
        site_hosts_refuse(call->from, call->msg, effects);
        return false;
    }
    if (site_hosts_heard(site->hosts, call->host, call->now_ms)) {
        const char *name = site_hosts_name(site->hosts, call->host);
        effects_log(effects, LOG_LEVEL_NOTICE, "host %s is back", name);
        provider_set_down(site->provider, name, false);
        runs_host_back(site->runs, call->host, call->now_ms, effects);
        schedule_mark(site->schedule);
    }
    return true;
}

static void take_message(struct site *site, const struct event *event,
                         struct effects *effects)
{
    struct call call = {
        .from = &event->from, .msg = event->msg, .host = -1, .now_ms = event->now_ms};
    const struct route *route =
        (unsigned)event->msg->kind < MSG_KINDS ? &routes[event->msg->kind] : NULL;
    if (route == NULL || route->handler == NULL ||
        (route->peers & 1 << event->from.kind) == 0) {
        refuse(&call, effects);
    } else if (!route->is_in_session || is_current(site, &call, effects)) {
        route->handler(site, &call, effects);
    }
}

/* ---------------------------------------------------------------- time */

static void answer_late(struct site *site, int64_t now_ms, struct effects *effects)
{
    struct waiter waiter;
    while (waiters_take_late(site->waiters, now_ms, &waiter)) {
        struct peer to = {.kind = PEER_CLIENT, .name = "", .link = waiter.link};
        effects_reply_error(effects, &to, waiter.request, ERR_AWAY, "%s",
                            waiter.kind == WAITER_BROKER
                                ? "the broker cannot be reached, try again later"
                                : "the job's host does not answer, try again later");
    }
}

static void lose_hosts(struct site *site, int64_t now_ms, struct effects *effects)
{
    for (int host; (host = site_hosts_tick(site->hosts, now_ms)) >= 0;) {
        const char *name = site_hosts_name(site->hosts, host);
        effects_log(effects, LOG_LEVEL_WARNING, "host %s is silent: unavailable", name);
        provider_set_down(site->provider, name, true);
        runs_host_away(site->runs, host, now_ms, effects);
        schedule_mark(site->schedule);
    }
}

static void tick_consumer(struct site *site, int64_t now_ms, struct effects *effects)
{
    struct reports reports = {.arena = &effects->arena};
    consumer_tick(site->consumer, now_ms, effects, collect_report, &reports);
    take_reports(site, &reports, now_ms, effects);
}

static void tick(struct site *site, int64_t now_ms, struct effects *effects)
{
    if (site_uplink_tick(site->uplink, provider_count_books(site->provider), now_ms,
                         effects)) {
        lose_broker(site);
    }
    lose_hosts(site, now_ms, effects);
    runs_tick(site->runs, now_ms, effects);
    tick_consumer(site, now_ms, effects);
    answer_late(site, now_ms, effects);
    turns_clean(site, now_ms, effects);
    if (provider_wake_ms(site->provider) <= now_ms) {
        schedule_mark(site->schedule); /* a freeze may have lapsed */
        provider_tick(site->provider, now_ms, effects);
    }
    schedule_run(site, now_ms, effects);
    provider_tick(site->provider, now_ms, effects);
    lending_tick(site, now_ms, effects);
    if (site_uplink_wants_usage(site->uplink, now_ms)) {
        struct msg_usage usage;
        usage_read(site, &effects->arena, &usage);
        site_uplink_usage(site->uplink, &usage, now_ms, effects);
    }
    runs_sweep(site->runs);
}

void site_step(struct site *site, const struct event *event, struct effects *effects)
{
    site->now_ms = event->now_ms;
    switch (event->kind) {
    case EVENT_TICK:
        tick(site, event->now_ms, effects);
        break;
    case EVENT_MESSAGE:
        take_message(site, event, effects);
        break;
    case EVENT_GONE:
        if (event->from.kind == PEER_CLIENT) {
            waiters_drop(site->waiters, event->from.link);
        }
        break;
    case EVENT_WRITTEN:
        turns_written(site, event->written.job, event->written.error, event->now_ms,
                      effects);
        break;
    }
}

int64_t site_wake_ms(const struct site *site)
{
    int64_t oldest_ms = jobs_oldest_end_ms(site->jobs);
    const int64_t wakes[] = {
        site_uplink_wake_ms(site->uplink),
        site_hosts_wake_ms(site->hosts),
        runs_wake_ms(site->runs),
        provider_wake_ms(site->provider),
        consumer_wake_ms(site->consumer),
        waiters_wake_ms(site->waiters),
        schedule_wake_ms(site->schedule, site->now_ms),
        site->lending_ms,
        oldest_ms == INT64_MAX ? INT64_MAX : oldest_ms + site->config->clean_period_ms,
    };
    int64_t wake_ms = INT64_MAX;
    for (size_t i = 0; i < sizeof(wakes) / sizeof(wakes[0]); i++) {
        wake_ms = wakes[i] < wake_ms ? wakes[i] : wake_ms;
    }
    return wake_ms;
}

/* ---------------------------------------------------------------- looking in */

int site_count_jobs(const struct site *site)
{
    return jobs_count(site->jobs);
}

void site_job_at(const struct site *site, int index, struct site_job *job)
{
    const struct job *at = jobs_at(site->jobs, index);
    *job = (struct site_job){.id = at->id,
                             .state = at->state,
                             .attempt = at->attempt,
                             .lease = at->lease,
                             .n_slots = at->spec->n_slots};
}

const struct provider *site_provider(const struct site *site)
{
    return site->provider;
}

const struct consumer *site_consumer(const struct site *site)
{
    return site->consumer;
}

void site_host_used(const struct site *site, const char *host, int *own, int *consumers)
{
    int index = site_hosts_find(site->hosts, host);
    *own = *consumers = 0;
    if (index >= 0) {
        run_table_used(runs_table(site->runs), index, own, consumers);
    }
}
