/* SPDX-License-Identifier: Apache-2.0 */
/* lending.c: see exchange.h. */
#include "site/exchange/exchange.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct lending {
    struct lending_parts parts;
    int64_t wake_ms; /* when ends that are not acknowledged are sent again */
};

struct lending *lending_new(const struct lending_parts *parts)
{
    struct lending *lending = mem_alloc(1, sizeof(*lending));
    lending->parts = *parts;
    lending->wake_ms = INT64_MAX;
    return lending;
}

void lending_free(struct lending *lending)
{
    free(lending);
}

int64_t lending_wake_ms(const struct lending *lending)
{
    return lending->wake_ms;
}

enum {
    /* Ends of one consumer that it has not acknowledged. A consumer takes them within
     * seconds; one that never does gets nothing new, or it would fill the journal. */
    UNACKNOWLEDGED_MAX = 10000,
    LISTED_MAX = 50, /* runs in one answer: each is a message with a whole spec */
};

/* ---------------------------------------------------------------- telling */

static enum attempt_state state_of(const struct run *run)
{
    if (run->record == RUN_RECORD_ENDED) {
        return ATTEMPT_ENDED;
    }
    switch (run->phase) {
    case RUN_RUNNING:
        return ATTEMPT_RUNNING;
    case RUN_SUSPENDED:
        return ATTEMPT_SUSPENDED;
    case RUN_UNKNOWN:
    case RUN_WAITING:
    case RUN_ENDED:
        break;
    }
    return ATTEMPT_TAKEN;
}

static void send_state(const struct lending *lending,
                       const struct msg_attempt_state *state, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct msg msg = {.kind = MSG_ATTEMPT_STATE, .attempt_state = *state};
    msg.site = arena_str(arena, state->run.site);
    msg.attempt_state.run.site = msg.site;
    if (state->run.nonce != 0) { /* a consumer of an earlier version knows no marks */
        msg.attempt_state.mark = provider_run_mark(lending->parts.provider, msg.site);
    }
    msg.attempt_state.reason =
        state->reason != NULL ? arena_str(arena, state->reason) : "";
    msg.attempt_state.exit.text =
        state->exit.text != NULL ? arena_str(arena, state->exit.text) : "";
    site_uplink_send(lending->parts.uplink, &msg, effects);
}

static void tell(const struct lending *lending, const struct run *run,
                 struct effects *effects)
{
    struct msg_attempt_state state = {
        .run = run->id,
        .state = state_of(run),
        .start_ms = run->start_ms,
        .control_done = run->control_done,
        .reason = "",
        .use = run->use,
    };
    if (run->record == RUN_RECORD_ENDED) {
        state.exit = run->exit;
        state.start_ms = run->exit.start_ms;
    }
    send_state(lending, &state, effects);
}

/* About an attempt without a run. */
static void tell_nothing(const struct lending *lending, const struct run_id *id,
                         struct effects *effects)
{
    send_state(lending,
               &(struct msg_attempt_state){
                   .run = *id,
                   .state = provider_run_unknown_state(lending->parts.provider, id)},
               effects);
}

/* An end was reported, and is reported again until it is acknowledged. */
static void plan_telling(struct lending *lending, struct run *run, int64_t now_ms)
{
    static const struct resend_waits waits = {.first_ms = 2000, .last_ms = 30000};
    resend_sent(&run->report, waits, now_ms);
    if (run->report.next_ms < lending->wake_ms) {
        lending->wake_ms = run->report.next_ms;
    }
}

void lending_count_use(struct lending *lending, const struct run *run, int64_t now_ms,
                       struct effects *effects)
{
    if (run->record != RUN_RECORD_ENDED) {
        provider_run_set_yielded(lending->parts.provider, &run->id, run->is_suspended,
                                 now_ms, effects);
    }
}

void lending_run_changed(struct lending *lending, struct run *run, int64_t now_ms,
                         struct effects *effects)
{
    if (run->is_away) {
        return; /* the consumer knows as much as we do */
    }
    if (run->record == RUN_RECORD_ENDED) {
        provider_run_ended(lending->parts.provider, &run->id);
        history_consumer_run_end(lending->parts.history, run, effects);
        pass_request_set(lending->parts.pass_request);
        plan_telling(lending, run, now_ms);
    }
    lending_count_use(lending, run, now_ms, effects);
    tell(lending, run, effects);
}

static bool is_untold(const struct lending *lending, const struct run *run)
{
    return run != NULL && run->record == RUN_RECORD_ENDED &&
           !run_table_is_own(runs_table(lending->parts.runs), run);
}

void lending_new_session(struct lending *lending, int64_t now_ms)
{
    const struct run_table *table = runs_table(lending->parts.runs);
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (is_untold(lending, run)) {
            resend_begin(&run->report, now_ms);
            lending->wake_ms = now_ms;
        }
    }
}

void lending_tick(struct lending *lending, int64_t now_ms, struct effects *effects)
{
    if (now_ms < lending->wake_ms) {
        return;
    }
    lending->wake_ms = INT64_MAX;
    if (!site_uplink_is_up(lending->parts.uplink)) {
        return; /* the next session begins with it */
    }
    const struct run_table *table = runs_table(lending->parts.runs);
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (!is_untold(lending, run)) {
            continue;
        }
        if (run->report.next_ms <= now_ms) {
            tell(lending, run, effects);
            plan_telling(lending, run, now_ms);
        } else if (run->report.next_ms < lending->wake_ms) {
            lending->wake_ms = run->report.next_ms;
        }
    }
}

/* ---------------------------------------------------------------- questions */

static int count_untold(const struct lending *lending, const char *consumer)
{
    int count = 0;
    const struct run_table *table = runs_table(lending->parts.runs);
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        count += is_untold(lending, run) && strcmp(run->id.site, consumer) == 0;
    }
    return count;
}

static void take(struct lending *lending, const struct msg_start *start, int64_t now_ms,
                 struct effects *effects)
{
    struct row_run row = {
        .run = start->run,
        .job = start->job,
        .lease = start->lease,
        .record = RUN_RECORD_TAKEN,
        .hosts = start->hosts,
        .n_hosts = start->n_hosts,
        .priority = start->priority,
        .end_by_ms = start->end_within_ms > 0 ? now_ms + start->end_within_ms : 0,
        .spec = &start->spec, /* its files are the consumer's: the host opens none */
        .exit = {.text = ""},
        .binding = "",
    };
    struct run *run = runs_add(lending->parts.runs, &row, NULL, now_ms, effects);
    history_consumer_run(lending->parts.history, run, effects);
    pass_request_set(lending->parts.pass_request);
    tell(lending, run, effects);
}

static void on_start(struct lending *lending, const struct msg *msg, struct run *known,
                     int64_t now_ms, struct effects *effects)
{
    const struct msg_start *start = &msg->start;
    const char *user = start->spec.user != NULL ? start->spec.user : "";
    const char *reason =
        runs_account_has(lending->parts.runs, start->run.site, user, now_ms)
            ? NULL
            : arena_printf(&effects->arena,
                           "user %s of %s has no account at %s: LEASE_UIDS has no "
                           "unused number",
                           user, start->run.site, lending->parts.site);
    if (lending->parts.is_slurm && start->n_hosts > 1) {
        reason = "a job of a lease runs on one node of Slurm";
    }
    if (known != NULL) {
        tell(lending, known, effects);
        return;
    }
    if (run_table_count(runs_table(lending->parts.runs)) >= UNACKNOWLEDGED_MAX &&
        count_untold(lending, start->run.site) >= UNACKNOWLEDGED_MAX) {
        effects_log(effects, LOG_LEVEL_WARNING,
                    "%s does not acknowledge the ends of jobs: its START is ignored",
                    start->run.site);
        return;
    }
    switch (
        provider_run_start(lending->parts.provider, start, now_ms, effects, &reason)) {
    case PROVIDER_ADMITTED:
        take(lending, start, now_ms, effects);
        break;
    case PROVIDER_KNOWN:
        tell_nothing(lending, &start->run, effects);
        break;
    case PROVIDER_REFUSED:
        send_state(lending,
                   &(struct msg_attempt_state){
                       .run = start->run, .state = ATTEMPT_REFUSED, .reason = reason},
                   effects);
        break;
    }
}

/* The consumer has waited for longer than START_TIMEOUT: true if the run has ended by
 * this, or there is none. */
static bool withdraw(struct lending *lending, const struct run_id *id, struct run *run,
                     int64_t now_ms, struct effects *effects)
{
    if (run != NULL && !runs_withdraw(lending->parts.runs, run, now_ms, effects)) {
        return false;
    }
    if (run != NULL) {
        history_consumer_run_end(lending->parts.history, run, effects);
        provider_run_ended(lending->parts.provider, id);
        provider_run_forgotten(lending->parts.provider, id);
        pass_request_set(lending->parts.pass_request);
    }
    provider_run_withdraw(lending->parts.provider, id, effects);
    return true;
}

/* The consumer's journal may have lost them: each is described as it was started. What
 * an answer leaves out is asked for again. */
static void list_runs(const struct lending *lending, const struct msg_attempt *ask,
                      struct effects *effects)
{
    const struct run_table *table = runs_table(lending->parts.runs);
    int n_told = 0;
    for (int i = 0; i < run_table_count(table) && n_told < LISTED_MAX; i++) {
        const struct run *run = run_table_at(table, i);
        if (run == NULL || run->is_orphan || strcmp(run->id.site, ask->run.site) != 0 ||
            run->id.attempt < ask->run.attempt || run->id.attempt > ask->list_to) {
            continue;
        }
        struct msg msg = {.kind = MSG_ATTEMPT_FOUND};
        msg.site = arena_str(&effects->arena, run->id.site);
        msg.start = (struct msg_start){.run = run->id,
                                       .lease = run->lease,
                                       .job = run->job,
                                       .hosts = run->hosts,
                                       .n_hosts = run->n_hosts,
                                       .spec = *run->spec,
                                       .priority = run->priority};
        site_uplink_send(lending->parts.uplink, &msg, effects);
        tell(lending, run, effects);
        n_told++;
    }
}

static void on_ask(struct lending *lending, const struct msg *msg, struct run *run,
                   int64_t now_ms, struct effects *effects)
{
    if (msg->attempt.lists) {
        list_runs(lending, &msg->attempt, effects);
        return;
    }
    if (msg->attempt.is_withdrawn &&
        withdraw(lending, &msg->attempt.run, run, now_ms, effects)) {
        run = NULL;
    }
    if (run != NULL) {
        tell(lending, run, effects);
    } else {
        tell_nothing(lending, &msg->attempt.run, effects);
    }
}

static void on_control(struct lending *lending, const struct msg *msg, struct run *run,
                       int64_t now_ms, struct effects *effects)
{
    const struct msg_attempt_control *order = &msg->lifecycle_control;
    if (run == NULL) {
        tell_nothing(lending, &order->run, effects);
        return;
    }
    if (run->is_suspended && order->control.action != CONTROL_SUSPEND &&
        order->control.action != CONTROL_KILL &&
        !provider_run_may_resume(lending->parts.provider, &run->id)) {
        tell(lending, run, effects); /* others use its slots: it is asked for again */
        return;
    }
    bool was_ended = run->record == RUN_RECORD_ENDED;
    runs_control(lending->parts.runs, run, &order->control, now_ms, effects);
    lending_count_use(lending, run, now_ms, effects);
    if (was_ended || run->record != RUN_RECORD_ENDED) {
        tell(lending, run, effects); /* an end by the order was told */
    }
}

static void on_ack(struct lending *lending, const struct msg *msg, struct run *run,
                   int64_t now_ms, struct effects *effects)
{
    (void)now_ms;
    if (run != NULL && run->record == RUN_RECORD_ENDED) {
        provider_run_acknowledged(lending->parts.provider, &msg->attempt, effects);
        runs_forget(lending->parts.runs, run, effects);
    }
}

/* ---------------------------------------------------------------- output */

static void send_output(const struct lending *lending, const struct msg_output *output,
                        struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct msg msg = {.kind = MSG_OUTPUT, .output = *output};
    msg.site = arena_str(arena, output->run.site);
    msg.output.run.site = msg.site;
    msg.output.bytes = output->n_bytes > 0
                           ? arena_copy(arena, output->bytes, (size_t)output->n_bytes)
                           : (const uint8_t *)"";
    site_uplink_send(lending->parts.uplink, &msg, effects);
}

static void on_output_ask(struct lending *lending, const struct msg *msg,
                          struct run *run, int64_t now_ms, struct effects *effects)
{
    const struct msg_output_ask *ask = &msg->output_ask;
    (void)now_ms;
    if (run == NULL) {
        send_output(lending,
                    &(struct msg_output){.run = ask->run,
                                         .request = ask->request,
                                         .stream = ask->stream,
                                         .offset = ask->offset,
                                         .is_end = true,
                                         .is_gone = true},
                    effects);
        return;
    }
    if (run->host < 0 || !host_table_is_ready(lending->parts.hosts, run->host)) {
        return; /* it will ask again */
    }
    struct msg passed = {.kind = MSG_OUTPUT_ASK, .output_ask = *ask};
    host_table_send(lending->parts.hosts, run->host, &passed, effects);
}

/* ---------------------------------------------------------------- terminals */

/* True: an interactive run that has not ended, on a host that is connected. */
static bool is_open(const struct lending *lending, const struct run *run)
{
    return run != NULL && run->record != RUN_RECORD_ENDED &&
           run->spec->interaction != INTERACTION_NONE && run->host >= 0 &&
           host_table_is_ready(lending->parts.hosts, run->host);
}

static void on_stream_down(struct lending *lending, const struct msg *msg,
                           struct run *run, int64_t now_ms, struct effects *effects)
{
    const struct msg_stream_down *down = &msg->stream_down;
    (void)now_ms;
    if (is_open(lending, run)) {
        struct msg passed = {.kind = MSG_STREAM_DOWN, .stream_down = *down};
        passed.stream_down.run = run->id;
        passed.stream_down.job = "";
        host_table_send(lending->parts.hosts, run->host, &passed, effects);
    }
}

/* ---------------------------------------------------------------- dispatch */

/* `run`: the run that the message names; NULL: it is not known, or another run has its
 * number. */
typedef void (*handler_fn)(struct lending *lending, const struct msg *msg,
                           struct run *run, int64_t now_ms, struct effects *effects);

static const struct {
    handler_fn handler;
    size_t run; /* offset of the id of the run in the message */
} handlers[MSG_KINDS] = {
    [MSG_START] = {on_start, offsetof(struct msg, start.run)},
    [MSG_ATTEMPT_ASK] = {on_ask, offsetof(struct msg, attempt.run)},
    [MSG_ATTEMPT_CONTROL] = {on_control, offsetof(struct msg, lifecycle_control.run)},
    [MSG_ATTEMPT_ACK] = {on_ack, offsetof(struct msg, attempt.run)},
    [MSG_OUTPUT_ASK] = {on_output_ask, offsetof(struct msg, output_ask.run)},
    [MSG_STREAM_DOWN] = {on_stream_down, offsetof(struct msg, stream_down.run)},
};

void lending_request(struct lending *lending, const struct msg *msg, int64_t now_ms,
                     struct effects *effects)
{
    const void *at = (const char *)msg + handlers[msg->kind].run;
    const struct run_id *id = at;
    if (strcmp(id->site, msg->site) != 0 ||
        strcmp(id->site, lending->parts.site) == 0) {
        effects_log(effects, LOG_LEVEL_WARNING, "%s from %s names a run of %s: ignored",
                    msg_kind_name(msg->kind), msg->site, id->site);
        return;
    }
    struct run *run = runs_find(lending->parts.runs, id);
    if (run == NULL && host_table_is_awaiting(lending->parts.hosts)) {
        return; /* a host that is awaited may have it: it is asked for again */
    }
    if (run != NULL && run->is_orphan && msg->kind != MSG_OUTPUT_ASK) {
        tell(lending, run, effects); /* it is being ended */
        return;
    }
    bool is_another = run != NULL && run->id.nonce != id->nonce &&
                      (run->id.nonce != 0 || msg->kind == MSG_START);
    handlers[msg->kind].handler(lending, msg, is_another ? NULL : run, now_ms, effects);
}

/* ---------------------------------------------------------------- from hosts */

void lending_forward_output(struct lending *lending, const struct msg *msg,
                            struct effects *effects)
{
    /* The number of the request is the consumer's own, and it has the run's name: what
     * was asked need not be kept here. */
    if (runs_find(lending->parts.runs, &msg->output.run) != NULL) {
        send_output(lending, &msg->output, effects);
    }
}

void lending_stream_up(struct lending *lending, int host,
                       const struct msg_stream_up *up, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const struct run *run = runs_find(lending->parts.runs, &up->run);
    if (!is_open(lending, run) || run->host != host ||
        run_table_is_own(runs_table(lending->parts.runs), run)) {
        return;
    }
    struct msg msg = {.kind = MSG_STREAM_UP, .stream_up = *up};
    msg.site = arena_str(arena, up->run.site);
    msg.stream_up.run.site = msg.site;
    msg.stream_up.job = msg.stream_up.note = "";
    msg.stream_up.bytes = arena_copy(arena, up->bytes, (size_t)up->n_bytes);
    site_uplink_send(lending->parts.uplink, &msg, effects);
}

void lending_evict(struct lending *lending, const struct msg_evict *evict,
                   int64_t now_ms, struct effects *effects)
{
    const struct run_table *table = runs_table(lending->parts.runs);
    struct msg_state book;
    int count = 0;
    if (!provider_find_lease(lending->parts.provider, evict->lease, &book) ||
        !book.ends_lost) {
        return;
    }
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (run != NULL && run->record != RUN_RECORD_ENDED &&
            strcmp(run->lease, evict->lease) == 0 &&
            run->id.attempt <= evict->attempt && run->exit.end != RUN_END_LOST) {
            runs_evict(lending->parts.runs, run, now_ms, effects);
            lending_count_use(lending, run, now_ms, effects);
            count++;
        }
    }
    if (count > 0) {
        effects_log(effects, LOG_LEVEL_NOTICE,
                    "lease %s: its consumer is lost: jobs ended: %d", evict->lease,
                    count);
    }
}
