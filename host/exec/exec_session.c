/* SPDX-License-Identifier: Apache-2.0 */
/* exec_session.c: see exec_session.h. */
#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include "host/exec/exec_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/digits.h"

enum {
    SILENCE_MS = 10000,
    CONNECT_AGAIN_MS = 100, /* there is no connection: HELLO waits for one */
    REPORT_AGAIN_MS = 20,   /* the connection took no more */
    REPEAT_END_MS = 5000,   /* until the site forgets the run */
    REPORTS_PER_STEP = 256,
};

static const struct resend_waits hello_waits = {.first_ms = 1000, .last_ms = 1000};

/* ---- to the site */

void exec_session_send(const struct exec_session *session, struct msg *msg,
                       struct effects *effects)
{
    msg->session = session->number;
    msg->site = "";
    effects_send(effects, &(struct peer){.kind = PEER_SITE, .name = "site"}, msg);
}

static void send_kind(const struct exec_session *session, enum msg_kind kind,
                      struct effects *effects)
{
    struct msg msg = {.kind = kind};
    exec_session_send(session, &msg, effects);
}

/* A guard of a later version may send causes that are not known here. */
static enum run_cause cause_of(const struct guard_record *record)
{
    return record->phase == RUN_ENDED && record->cause <= RUN_CAUSE_NOT_BEGUN
               ? (enum run_cause)record->cause
               : RUN_CAUSE_NONE;
}

static enum run_post post_of(const struct guard_record *record)
{
    return record->phase == RUN_ENDED && record->post <= RUN_POST_ERR
               ? (enum run_post)record->post
               : RUN_POST_NONE;
}

struct run_id exec_session_id(const struct host_run *run)
{
    return (struct run_id){run->site, run->attempt, run->nonce};
}

static void fill_state(const struct host_run *run, struct msg_run_state *state)
{
    const struct guard_record *record = &run->record;
    *state = (struct msg_run_state){
        .run = exec_session_id(run),
        .phase = record->phase,
        .token = record->token,
        .start_ms = (int64_t)record->start_ms,
        .control_done = record->control_done,
        .resize_done = record->resize_done,
        .resize_code = (int)record->resize_code,
        .exit =
            {
                .end = record->phase == RUN_ENDED ? record->end : RUN_END_NONE,
                .cause = cause_of(record),
                .code = (int)record->code,
                .start_ms = (int64_t)record->start_ms,
                .end_ms = (int64_t)record->end_ms,
                .cpu_ms = (int64_t)record->cpu_ms,
                .mem_kib = (int64_t)record->mem_kib,
                .out_bytes = (int64_t)record->out_bytes,
                .err_bytes = (int64_t)record->err_bytes,
                .text = record->text,
                .post = post_of(record),
            },
    };
}

static void send_unknown(const struct exec_session *session, const struct run_id *id,
                         struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_STATE};
    msg.run_state =
        (struct msg_run_state){.run = *id, .phase = RUN_UNKNOWN, .exit = {.text = ""}};
    exec_session_send(session, &msg, effects);
}

static void set_due(struct exec_session *session, struct host_run *run)
{
    if (!run->is_due) {
        run->is_due = true;
        DL_APPEND2(session->due, run, prev_due, next_due);
    }
}

static void clear_due(struct exec_session *session, struct host_run *run)
{
    if (run->is_due) {
        run->is_due = false;
        DL_DELETE2(session->due, run, prev_due, next_due);
    }
}

static bool knows_all_runs(const struct exec_session *session)
{
    struct host_run *run = NULL;
    while ((run = exec_session_next(session, run)) != NULL) {
        if (run->record.phase == RUN_UNKNOWN) {
            return false;
        }
    }
    return true;
}

/* The site's journal may not have the run: it is told what was started. */
static bool is_to_be_described(const struct exec_session *session,
                               const struct host_run *run)
{
    bool is_asked_for =
        !run->is_leased &&
        (run->attempt > session->list_above ||
         (run->attempt >= session->list_from && run->attempt <= session->list_to));
    return session->lists_runs && !session->is_synced &&
           (is_asked_for || session->lists_all);
}

static void describe(const struct exec_session *session, const struct host_run *run,
                     struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_FOUND};
    msg.run_start.run = exec_session_id(run);
    exec_session_send(session, &msg, effects);
}

static void report_runs(struct exec_session *session, int64_t now_ms,
                        struct effects *effects)
{
    for (int i = 0; i < REPORTS_PER_STEP && session->due != NULL; i++) {
        struct host_run *run = session->due;
        clear_due(session, run);
        if (run->record.phase != RUN_UNKNOWN) {
            struct msg msg = {.kind = MSG_RUN_STATE};
            if (is_to_be_described(session, run)) {
                describe(session, run, effects);
            }
            fill_state(run, &msg.run_state);
            exec_session_send(session, &msg, effects);
            run->reported_ms = now_ms;
        }
    }
}

/* The usage of running runs that was not reported; what does not fit waits for the next
 * message. */
static void fill_runs(struct exec_session *session, struct msg_host_load *load,
                      struct arena *arena)
{
    struct run_load *uses = NULL;
    struct host_run *run = NULL;
    while ((run = exec_session_next(session, run)) != NULL &&
           load->n_runs < RUN_LOADS_MAX) {
        if (run->record.phase == RUN_RUNNING && run->is_use_due) {
            uses =
                uses != NULL ? uses : arena_alloc(arena, RUN_LOADS_MAX, sizeof(*uses));
            uses[load->n_runs++] = (struct run_load){
                .run = exec_session_id(run),
                .cpu_ms = (int64_t)run->record.cpu_ms,
                .mem_kib = (int64_t)run->record.mem_kib,
                .rss_kib = (int64_t)run->record.rss_kib,
                .vsz_kib = (int64_t)run->record.vsz_kib,
                .n_threads = (int)run->record.n_threads,
            };
            run->is_use_due = false;
        }
    }
    load->runs = uses;
}

static void report_load(struct exec_session *session, int64_t now_ms,
                        struct effects *effects)
{
    struct msg msg = {.kind = MSG_HOST_LOAD};
    fill_runs(session, &msg.host_load, &effects->arena);
    exec_session_send(session, &msg, effects);
    session->load_ms = now_ms;
    session->is_load_due = false;
}

/* Reports what is due. After the first complete round, sends SYNCED. */
static void report(struct exec_session *session, int64_t now_ms,
                   struct effects *effects)
{
    if (!session->is_welcome || now_ms < session->report_ms) {
        return;
    }
    report_runs(session, now_ms, effects);
    if (!session->is_synced && session->due == NULL && knows_all_runs(session)) {
        session->is_synced = session->is_load_due = true;
        send_kind(session, MSG_HOST_SYNCED, effects);
    }
    if (session->is_synced && session->is_load_due) {
        report_load(session, now_ms, effects);
    }
}

void exec_session_report_load(struct exec_session *session)
{
    session->is_load_due = true;
}

static void unsend_load(struct exec_session *session, const struct msg_host_load *load)
{
    session->load_ms = 0; /* sent at the next heartbeat */
    for (int i = 0; i < load->n_runs; i++) {
        struct host_run *run = exec_session_find(session, &load->runs[i].run);
        if (run != NULL) {
            run->is_use_due = true;
        }
    }
}

void exec_session_unsent(struct exec_session *session, const struct msg *msg,
                         int64_t now_ms)
{
    struct host_run *run;
    if (msg->session != session->number) {
        return;
    }
    session->report_ms = now_ms + REPORT_AGAIN_MS;
    switch ((int)msg->kind) {
    case MSG_HOST_HELLO:
        session->received_ms = now_ms; /* nobody is there who could be silent */
        resend_set_next(&session->hello, now_ms + CONNECT_AGAIN_MS);
        break;
    case MSG_RUN_STATE:
        run = exec_session_find(session, &msg->run_state.run);
        if (run != NULL) {
            set_due(session, run);
        }
        break;
    case MSG_RUN_FOUND: /* its state is not sent either */
        break;
    case MSG_HOST_SYNCED:
        session->is_synced = false;
        break;
    case MSG_HOST_LOAD:
        unsend_load(session, &msg->host_load);
        break;
    default:
        break; /* it is asked for again, or sent again with the next heartbeat */
    }
}

/* ---- runs */

static void format_name(const struct run_id *id, char *name)
{
    size_t length = strnlen(id->site, NAME_SIZE - 1);
    memcpy(name, id->site, length);
    name[length] = '.';
    digits_write(name + length + 1, (int64_t)id->attempt);
}

void exec_session_add(struct exec_session *session, struct host_run *run,
                      const struct run_id *id)
{
    format_name(id, run->name);
    snprintf(run->site, sizeof(run->site), "%s", id->site);
    run->attempt = id->attempt;
    run->nonce = id->nonce;
    run->record.phase = RUN_UNKNOWN;
    HASH_ADD_STR(session->runs, name, run);
}

void exec_session_remove(struct exec_session *session, struct host_run *run)
{
    clear_due(session, run);
    HASH_DEL(session->runs, run);
}

struct host_run *exec_session_find(const struct exec_session *session,
                                   const struct run_id *id)
{
    char name[EXEC_SESSION_RUN_NAME_SIZE];
    struct host_run *run = NULL;
    format_name(id, name);
    HASH_FIND_STR(session->runs, name, run);
    return run;
}

struct host_run *exec_session_find_same(const struct exec_session *session,
                                        const struct run_id *id)
{
    struct host_run *run = exec_session_find(session, id);
    bool is_same = run != NULL && (run->nonce == id->nonce || run->nonce == 0);
    return is_same ? run : NULL;
}

struct host_run *exec_session_next(const struct exec_session *session,
                                   const struct host_run *run)
{
    return run == NULL ? session->runs : run->hh.next;
}

static bool is_other_use(const struct guard_record *before,
                         const struct guard_record *record)
{
    return record->cpu_ms != before->cpu_ms || record->rss_kib != before->rss_kib ||
           record->n_threads != before->n_threads;
}

/* Only the usage has changed. */
static bool is_use_only(const struct guard_record *before,
                        const struct guard_record *record)
{
    return record->phase == RUN_RUNNING && before->phase == RUN_RUNNING &&
           is_other_use(before, record) && record->token == before->token &&
           record->control_done == before->control_done &&
           record->resize_done == before->resize_done &&
           record->start_ms == before->start_ms;
}

void exec_session_change(struct exec_session *session, struct host_run *run,
                         const struct guard_record *record)
{
    bool is_known = is_use_only(&run->record, record);
    run->is_use_due = is_known || is_other_use(&(struct guard_record){0}, record);
    run->record = *record;
    if (!is_known) {
        set_due(session, run);
    }
}

void exec_session_answer(struct exec_session *session, struct host_run *run)
{
    if (run->record.phase != RUN_UNKNOWN) {
        set_due(session, run);
    }
}

void exec_session_lose(struct exec_session *session, struct host_run *run,
                       struct effects *effects)
{
    struct run_id id = exec_session_id(run);
    exec_session_remove(session, run);
    if (session->is_welcome) {
        send_unknown(session, &id, effects);
    }
}

/* ---- from the site */

static void take_welcome(struct exec_session *session, const struct msg *msg,
                         int64_t now_ms, struct effects *effects)
{
    const struct msg_welcome *welcome = &msg->welcome;
    if (session->is_welcome) {
        return; /* the answer to a repeated HELLO */
    }
    if (welcome->is_accepted) {
        session->is_welcome = true;
        session->lists_runs = welcome->lists_runs;
        session->list_from = welcome->list_from;
        session->list_to = welcome->list_to;
        session->list_above = welcome->mark.attempt;
        session->lists_all =
            welcome->lists_all || session->mark.commits > welcome->mark.commits;
        resend_end(&session->hello);
        return;
    }
    effects_log(effects, LOG_LEVEL_WARNING, "the site refuses this host: %s",
                welcome->text);
    if (welcome->min_session >= session->number) {
        session->number = welcome->min_session;
        exec_session_begin(session, hello_waits.first_ms, now_ms);
    }
}

static void take_error(struct exec_session *session, const struct msg *msg,
                       int64_t now_ms, struct effects *effects)
{
    effects_log(effects, LOG_LEVEL_WARNING, "the site refused %s: %s",
                msg_kind_name((enum msg_kind)msg->error.about), msg->error.text);
    if (msg->error.code == ERR_STALE) {
        exec_session_begin(session, hello_waits.first_ms, now_ms);
    }
}

static void pass_on(const struct msg *msg, struct effects *effects)
{
    effects_send(effects, &(struct peer){.kind = PEER_RUN}, msg);
}

static void refuse_start(const struct exec_session *session,
                         const struct msg_run_start *start, struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_STATE};
    msg.run_state = (struct msg_run_state){.run = start->run,
                                           .phase = RUN_UNKNOWN,
                                           .exit = {.text = ""},
                                           .is_refused = true};
    effects_log(effects, LOG_LEVEL_WARNING,
                "job <%s> is not started: attempt %" PRIu64 " is another run here",
                start->job, start->run.attempt);
    exec_session_send(session, &msg, effects);
}

/* The numbers of a leased run are of another site's journal. */
static void note_start(struct exec_session *session, const struct msg_run_start *start)
{
    const struct journal_mark mark = {.attempt = start->run.attempt,
                                      .job = strtoull(start->job, NULL, 10)};
    if (start->lease[0] == '\0') {
        msg_raise_mark(&session->mark, &mark);
    }
}

/* A known run answers for itself: it is not started again. */
static void take_start(struct exec_session *session, const struct msg *msg,
                       struct effects *effects)
{
    const struct msg_run_start *start = &msg->run_start;
    struct host_run *run = exec_session_find(session, &start->run);
    if (run == NULL) {
        note_start(session, start);
        pass_on(msg, effects);
    } else if (run->nonce == start->run.nonce) {
        exec_session_answer(session, run);
    } else {
        refuse_start(session, start, effects);
    }
}

static void take_order(struct exec_session *session, const struct msg *msg,
                       const struct run_id *id, struct effects *effects)
{
    struct host_run *run = exec_session_find_same(session, id);
    if (run == NULL) {
        send_unknown(session, id, effects);
    } else if (run->record.phase == RUN_ENDED) {
        exec_session_answer(session, run);
    } else {
        pass_on(msg, effects);
    }
}

/* What the site has on record with the order, it knows of for good. */
static void take_go(struct exec_session *session, const struct msg *msg,
                    struct effects *effects)
{
    msg_raise_mark(&session->mark,
                   &(struct journal_mark){.commits = msg->run_go.commits});
    take_order(session, msg, &msg->run_go.run, effects);
}

static void take_resize(struct exec_session *session, const struct msg *msg,
                        struct effects *effects)
{
    const struct msg_run_resize *resize = &msg->run_resize;
    struct host_run *run = exec_session_find_same(session, &resize->run);
    bool is_answered =
        run != NULL &&
        ((run->record.phase != RUN_RUNNING && run->record.phase != RUN_SUSPENDED) ||
         run->record.resize_done >= resize->number);
    if (is_answered) {
        exec_session_answer(session, run);
    } else {
        take_order(session, msg, &resize->run, effects);
    }
}

/* Only a run that has ended, or never began, is forgotten. */
static void take_forget(struct exec_session *session, const struct msg *msg,
                        struct effects *effects)
{
    struct host_run *run = exec_session_find_same(session, &msg->run.run);
    if (run == NULL) {
        return;
    }
    if (run->record.phase == RUN_RUNNING || run->record.phase == RUN_SUSPENDED) {
        exec_session_answer(session, run);
    } else {
        pass_on(msg, effects);
    }
}

static void take_output_ask(const struct exec_session *session, const struct msg *msg,
                            struct effects *effects)
{
    const struct msg_output_ask *ask = &msg->output_ask;
    struct msg reply = {.kind = MSG_OUTPUT};
    if (exec_session_find_same(session, &ask->run) != NULL) {
        pass_on(msg, effects);
        return;
    }
    reply.output = (struct msg_output){.run = ask->run,
                                       .request = ask->request,
                                       .stream = ask->stream,
                                       .offset = ask->offset,
                                       .bytes = (const uint8_t *)"",
                                       .is_end = true,
                                       .is_gone = true};
    exec_session_send(session, &reply, effects);
}

static void take_message(struct exec_session *session, const struct msg *msg,
                         int64_t now_ms, struct effects *effects)
{
    if (msg->session != session->number) {
        return;
    }
    session->received_ms = now_ms;
    switch ((int)msg->kind) {
    case MSG_HOST_WELCOME:
        take_welcome(session, msg, now_ms, effects);
        break;
    case MSG_ERROR:
        take_error(session, msg, now_ms, effects);
        break;
    case MSG_RUN_START:
        take_start(session, msg, effects);
        break;
    case MSG_RUN_GO:
        take_go(session, msg, effects);
        break;
    case MSG_RUN_CONTROL:
        take_order(session, msg, &msg->run_control.run, effects);
        break;
    case MSG_RUN_RESIZE:
        take_resize(session, msg, effects);
        break;
    case MSG_RUN_FORGET:
        take_forget(session, msg, effects);
        break;
    case MSG_OUTPUT_ASK:
        take_output_ask(session, msg, effects);
        break;
    case MSG_STREAM_DOWN:
        if (exec_session_find_same(session, &msg->stream_down.run) != NULL) {
            pass_on(msg, effects);
        }
        break;
    case MSG_HOST_PONG:
        msg_raise_mark(&session->mark, &msg->host_alive.mark);
        break;
    default:
        break;
    }
}

/* ---- time */

/* Above all sessions that this host has used, also before a reinstallation. */
static void choose_number(struct exec_session *session, int64_t now_ms)
{
    uint64_t by_clock = (uint64_t)now_ms << 8;
    session->number = session->number >= by_clock ? session->number + 1 : by_clock;
}

void exec_session_begin(struct exec_session *session, int64_t wait_ms, int64_t now_ms)
{
    struct host_run *run = NULL;
    choose_number(session, now_ms);
    session->is_welcome = session->is_synced = session->is_load_due = false;
    session->load_ms = session->report_ms = 0;
    session->received_ms = now_ms;
    resend_begin(&session->hello, now_ms + wait_ms);
    while ((run = exec_session_next(session, run)) != NULL) {
        run->is_use_due = is_other_use(&(struct guard_record){0}, &run->record);
        set_due(session, run);
    }
}

static void send_hello(struct exec_session *session, int64_t now_ms,
                       struct effects *effects)
{
    struct msg msg = {.kind = MSG_HOST_HELLO};
    msg.host_hello.name = session->name;
    msg.host_hello.boot_id = session->boot_id;
    msg.host_hello.n_cpus = 1;
    msg.host_hello.knows_nonces = true;
    msg.host_hello.mark = session->mark;
    msg.host_hello.topology = "";
    exec_session_send(session, &msg, effects);
    resend_sent(&session->hello, hello_waits, now_ms);
}

static void repeat_ends(struct exec_session *session, int64_t now_ms)
{
    struct host_run *run = NULL;
    while ((run = exec_session_next(session, run)) != NULL) {
        if (run->record.phase == RUN_ENDED &&
            now_ms - run->reported_ms >= REPEAT_END_MS) {
            set_due(session, run);
        }
    }
}

static void beat(struct exec_session *session, int64_t now_ms, struct effects *effects)
{
    struct msg msg = {.kind = MSG_HOST_ALIVE};
    if (now_ms - session->received_ms >= SILENCE_MS) {
        effects_log(effects, LOG_LEVEL_NOTICE, "the site is silent: a new connection");
        effects_add(effects, EFFECT_RECONNECT);
        exec_session_begin(session, 0, now_ms);
    } else if (session->is_welcome) {
        msg.host_alive.seq = ++session->seq;
        exec_session_send(session, &msg, effects);
        repeat_ends(session, now_ms);
    }
}

static void tick(struct exec_session *session, int64_t now_ms, struct effects *effects)
{
    if (now_ms >= session->alive_ms) {
        session->alive_ms = now_ms + EXEC_SESSION_ALIVE_MS;
        beat(session, now_ms, effects);
    }
    if (now_ms >= resend_wake_ms(&session->hello)) {
        send_hello(session, now_ms, effects);
    }
    report(session, now_ms, effects);
}

void exec_session_step(void *arg, const struct event *event, struct effects *effects)
{
    struct exec_session *session = arg;
    if (event->kind == EVENT_MESSAGE) {
        take_message(session, event->msg, event->now_ms, effects);
    } else if (event->kind == EVENT_TICK) {
        tick(session, event->now_ms, effects);
    }
}

static bool has_reports(const struct exec_session *session)
{
    return session->is_welcome &&
           (session->due != NULL ||
            (session->is_synced ? session->is_load_due : knows_all_runs(session)));
}

int64_t exec_session_wake_ms(const void *arg)
{
    const struct exec_session *session = arg;
    int64_t wake_ms = resend_wake_ms(&session->hello);
    wake_ms = session->alive_ms < wake_ms ? session->alive_ms : wake_ms;
    return has_reports(session) && session->report_ms < wake_ms ? session->report_ms
                                                                : wake_ms;
}

void exec_session_init(struct exec_session *session, const char *name,
                       const char *boot_id, int64_t now_ms)
{
    *session = (struct exec_session){.name = name,
                                     .boot_id = boot_id,
                                     .alive_ms = now_ms + EXEC_SESSION_ALIVE_MS,
                                     .received_ms = now_ms};
}
