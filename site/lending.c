/* SPDX-License-Identifier: Apache-2.0 */
/* lending.c: see lending.h. */
#include "site/lending.h"

#include <string.h>

#include "site/history.h"
#include "site/parts.h"

enum {
    TELL_MS = 2000,      /* an end is told again after it, doubling ... */
    TELL_MAX_MS = 30000, /* ... up to this */
    /* Ends of one consumer that it has not acknowledged. A consumer takes them within
     * seconds; one that never does gets nothing new, or it would fill the journal. */
    UNACKNOWLEDGED_MAX = 10000,
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

static void send_state(const struct site *site, const struct msg_attempt_state *state,
                       struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct msg msg = {.kind = MSG_ATTEMPT_STATE, .attempt_state = *state};
    msg.site = arena_str(arena, state->run.site);
    msg.attempt_state.run.site = msg.site;
    msg.attempt_state.reason =
        state->reason != NULL ? arena_str(arena, state->reason) : "";
    msg.attempt_state.exit.text =
        state->exit.text != NULL ? arena_str(arena, state->exit.text) : "";
    site_uplink_send(site->uplink, &msg, effects);
}

static void tell(const struct site *site, const struct run *run,
                 struct effects *effects)
{
    struct msg_attempt_state state = {
        .run = run->id,
        .state = state_of(run),
        .start_ms = run->start_ms,
        .control_done = run->control_done,
        .reason = "",
    };
    if (run->record == RUN_RECORD_ENDED) {
        state.exit = run->exit;
        state.start_ms = run->exit.start_ms;
    }
    send_state(site, &state, effects);
}

/* About an attempt without a run. */
static void tell_nothing(const struct site *site, const struct run_id *id,
                         struct effects *effects)
{
    send_state(site,
               &(struct msg_attempt_state){
                   .run = *id, .state = provider_unknown(site->provider, id)},
               effects);
}

static void plan_telling(struct site *site, struct run *run, int64_t now_ms)
{
    int64_t pause_ms = TELL_MS;
    for (int i = 0; i < run->n_told && pause_ms < TELL_MAX_MS; i++) {
        pause_ms *= 2;
    }
    run->n_told++;
    run->tell_ms = now_ms + (pause_ms < TELL_MAX_MS ? pause_ms : TELL_MAX_MS);
    if (run->tell_ms < site->lending_ms) {
        site->lending_ms = run->tell_ms;
    }
}

void lending_count(struct site *site, const struct run *run)
{
    if (run->record != RUN_RECORD_ENDED) {
        provider_run_still(site->provider, &run->id, run->is_still);
    }
}

void lending_run_changed(struct site *site, struct run *run, int64_t now_ms,
                         struct effects *effects)
{
    if (run->is_away) {
        return; /* the consumer knows as much as we do */
    }
    if (run->record == RUN_RECORD_ENDED) {
        provider_run_ended(site->provider, &run->id);
        history_run_ended(site, run, effects);
        pass_request_set(&site->pass_request);
        plan_telling(site, run, now_ms);
    }
    lending_count(site, run);
    tell(site, run, effects);
}

static bool is_untold(const struct site *site, const struct run *run)
{
    return run != NULL && run->record == RUN_RECORD_ENDED &&
           !run_table_is_own(runs_table(site->runs), run);
}

void lending_session(struct site *site, int64_t now_ms)
{
    const struct run_table *table = runs_table(site->runs);
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (is_untold(site, run)) {
            run->n_told = 0;
            run->tell_ms = now_ms;
            site->lending_ms = now_ms;
        }
    }
}

void lending_tick(struct site *site, int64_t now_ms, struct effects *effects)
{
    if (now_ms < site->lending_ms) {
        return;
    }
    site->lending_ms = INT64_MAX;
    if (!site_uplink_is_up(site->uplink)) {
        return; /* the next session begins with it */
    }
    const struct run_table *table = runs_table(site->runs);
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (!is_untold(site, run)) {
            continue;
        }
        if (run->tell_ms <= now_ms) {
            tell(site, run, effects);
            plan_telling(site, run, now_ms);
        } else if (run->tell_ms < site->lending_ms) {
            site->lending_ms = run->tell_ms;
        }
    }
}

/* ---------------------------------------------------------------- questions */

/* A consumer speaks of its own runs only. */
static bool is_its_own(const struct site *site, const struct msg *msg,
                       const struct run_id *id, struct effects *effects)
{
    if (strcmp(id->site, msg->site) == 0 && strcmp(id->site, site->config->name) != 0) {
        return true;
    }
    effects_log(effects, LOG_LEVEL_WARNING, "%s from %s speaks of a run of %s: ignored",
                msg_kind_name(msg->kind), msg->site, id->site);
    return false;
}

static int count_untold(const struct site *site, const char *consumer)
{
    int count = 0;
    const struct run_table *table = runs_table(site->runs);
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        count += is_untold(site, run) && strcmp(run->id.site, consumer) == 0;
    }
    return count;
}

static void take(struct site *site, const struct msg_start *start, int64_t now_ms,
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
    };
    struct run *run = runs_add(site->runs, &row, NULL, now_ms, effects);
    history_taken(site, run, effects);
    pass_request_set(&site->pass_request);
    tell(site, run, effects);
}

void lending_start(struct site *site, const struct msg *msg, int64_t now_ms,
                   struct effects *effects)
{
    const struct msg_start *start = &msg->start;
    const char *reason = "";
    if (!is_its_own(site, msg, &start->run, effects)) {
        return;
    }
    const struct run *known = runs_find(site->runs, &start->run);
    if (known != NULL) {
        tell(site, known, effects);
        return;
    }
    if (run_table_count(runs_table(site->runs)) >= UNACKNOWLEDGED_MAX &&
        count_untold(site, start->run.site) >= UNACKNOWLEDGED_MAX) {
        effects_log(effects, LOG_LEVEL_WARNING,
                    "%s acknowledges no ends: its start is not looked at",
                    start->run.site);
        return;
    }
    switch (provider_start(site->provider, start, now_ms, effects, &reason)) {
    case PROVIDER_TAKEN:
        take(site, start, now_ms, effects);
        break;
    case PROVIDER_KNOWN:
        tell_nothing(site, &start->run, effects);
        break;
    case PROVIDER_REFUSED:
        send_state(site,
                   &(struct msg_attempt_state){
                       .run = start->run, .state = ATTEMPT_REFUSED, .reason = reason},
                   effects);
        break;
    }
}

void lending_ask(struct site *site, const struct msg *msg, struct effects *effects)
{
    const struct run_id *id = &msg->attempt.run;
    if (!is_its_own(site, msg, id, effects)) {
        return;
    }
    const struct run *run = runs_find(site->runs, id);
    if (run != NULL) {
        tell(site, run, effects);
    } else {
        tell_nothing(site, id, effects);
    }
}

void lending_control(struct site *site, const struct msg *msg, int64_t now_ms,
                     struct effects *effects)
{
    const struct msg_attempt_control *order = &msg->attempt_control;
    if (!is_its_own(site, msg, &order->run, effects)) {
        return;
    }
    struct run *run = runs_find(site->runs, &order->run);
    if (run == NULL) {
        tell_nothing(site, &order->run, effects);
        return;
    }
    if (run->is_still && order->control.action != CONTROL_SUSPEND &&
        order->control.action != CONTROL_KILL &&
        !provider_may_resume(site->provider, &run->id)) {
        tell(site, run, effects); /* others use its slots: it is asked for again */
        return;
    }
    bool was_ended = run->record == RUN_RECORD_ENDED;
    runs_control(site->runs, run, &order->control, now_ms, effects);
    lending_count(site, run);
    if (was_ended || run->record != RUN_RECORD_ENDED) {
        tell(site, run, effects); /* an end by the order was told */
    }
}

void lending_acknowledge(struct site *site, const struct msg *msg,
                         struct effects *effects)
{
    const struct run_id *id = &msg->attempt.run;
    if (!is_its_own(site, msg, id, effects)) {
        return;
    }
    struct run *run = runs_find(site->runs, id);
    if (run != NULL && run->record == RUN_RECORD_ENDED) {
        provider_run_forgotten(site->provider, id);
        runs_forget(site->runs, run, effects);
    }
}

/* ---------------------------------------------------------------- output */

static void send_output(const struct site *site, const struct msg_output *output,
                        struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct msg msg = {.kind = MSG_OUTPUT, .output = *output};
    msg.site = arena_str(arena, output->run.site);
    msg.output.run.site = msg.site;
    msg.output.bytes = output->n_bytes > 0
                           ? arena_copy(arena, output->bytes, (size_t)output->n_bytes)
                           : (const uint8_t *)"";
    site_uplink_send(site->uplink, &msg, effects);
}

void lending_output(struct site *site, const struct msg *msg, struct effects *effects)
{
    const struct msg_output_ask *ask = &msg->output_ask;
    if (!is_its_own(site, msg, &ask->run, effects)) {
        return;
    }
    const struct run *run = runs_find(site->runs, &ask->run);
    if (run == NULL) {
        send_output(site,
                    &(struct msg_output){.run = ask->run,
                                         .request = ask->request,
                                         .stream = ask->stream,
                                         .offset = ask->offset,
                                         .is_end = true,
                                         .is_gone = true},
                    effects);
        return;
    }
    if (run->host < 0 || !site_hosts_is_ready(site->hosts, run->host)) {
        return; /* it will ask again */
    }
    struct msg passed = {.kind = MSG_OUTPUT_ASK, .output_ask = *ask};
    passed.output_ask.run.site = arena_str(&effects->arena, ask->run.site);
    site_hosts_send(site->hosts, run->host, &passed, effects);
}

void lending_pass_output(struct site *site, const struct msg *msg,
                         struct effects *effects)
{
    /* The number of the request is the consumer's own, and it has the run's name: what
     * was asked need not be kept here. */
    if (runs_find(site->runs, &msg->output.run) != NULL) {
        send_output(site, &msg->output, effects);
    }
}

/* ---------------------------------------------------------------- terminals */

/* A run that goes on; of an earlier contract too, which its slots are still held by. */
static const struct run *find_open(const struct site *site, const struct run_id *id)
{
    const struct run *run = runs_find(site->runs, id);
    bool is_open = run != NULL && run->record != RUN_RECORD_ENDED &&
                   run->spec->interaction != INTERACTION_NONE && run->host >= 0 &&
                   site_hosts_is_ready(site->hosts, run->host);
    return is_open ? run : NULL;
}

void lending_stream_down(struct site *site, const struct msg *msg,
                         struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const struct msg_stream_down *down = &msg->stream_down;
    if (!is_its_own(site, msg, &down->run, effects)) {
        return;
    }
    const struct run *run = find_open(site, &down->run);
    if (run != NULL) {
        struct msg passed = {.kind = MSG_STREAM_DOWN, .stream_down = *down};
        passed.stream_down.run = run->id;
        passed.stream_down.job = "";
        passed.stream_down.bytes =
            arena_copy(arena, down->bytes, (size_t)down->n_bytes);
        site_hosts_send(site->hosts, run->host, &passed, effects);
    }
}

void lending_stream_up(struct site *site, int host, const struct msg_stream_up *up,
                       struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const struct run *run = find_open(site, &up->run);
    if (run == NULL || run->host != host ||
        run_table_is_own(runs_table(site->runs), run)) {
        return;
    }
    struct msg msg = {.kind = MSG_STREAM_UP, .stream_up = *up};
    msg.site = arena_str(arena, up->run.site);
    msg.stream_up.run.site = msg.site;
    msg.stream_up.job = msg.stream_up.note = "";
    msg.stream_up.bytes = arena_copy(arena, up->bytes, (size_t)up->n_bytes);
    site_uplink_send(site->uplink, &msg, effects);
}

void lending_evict(struct site *site, const struct msg_evict *evict, int64_t now_ms,
                   struct effects *effects)
{
    const struct run_table *table = runs_table(site->runs);
    struct msg_state book;
    int count = 0;
    if (!provider_find_book(site->provider, evict->lease, &book) || !book.ends_lost) {
        return;
    }
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (run != NULL && run->record != RUN_RECORD_ENDED &&
            strcmp(run->lease, evict->lease) == 0 &&
            run->id.attempt <= evict->attempt && run->exit.end != RUN_END_LOST) {
            runs_evict(site->runs, run, now_ms, effects);
            lending_count(site, run);
            count++;
        }
    }
    if (count > 0) {
        effects_log(effects, LOG_LEVEL_NOTICE,
                    "lease %s: its consumer is lost: jobs ended: %d", evict->lease,
                    count);
    }
}
