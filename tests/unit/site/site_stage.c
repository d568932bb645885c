/* SPDX-License-Identifier: Apache-2.0 */
/* site_stage.c: see site_stage.h. */
#include "tests/unit/site/site_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/job_id.h"
#include "site/config/site_config.h"

static const char standard[] = "Begin Site\n"
                               "NAME = south\n"
                               "SPOOL = /nowhere\n"
                               "BROKER = tcp://127.0.0.1:1\n"
                               "KEY = k\n"
                               "BROKER_KEY = b\n"
                               "ADMINS = root olga ops\n"
                               "End Site\n"
                               "Begin UserGroup\n"
                               "GROUP_NAME GROUP_MEMBER\n"
                               "ops (pia)\n"
                               "End UserGroup\n"
                               "Begin Host\n"
                               "HOST_NAME MXJ\n"
                               "s1 2\n"
                               "s2 2\n"
                               "End Host\n"
                               "Begin Queue\n"
                               "QUEUE_NAME = normal\n"
                               "PRIORITY = 30\n"
                               "HOSTS = all allremote\n"
                               "End Queue\n"
                               "Begin Queue\n"
                               "QUEUE_NAME = local\n"
                               "PRIORITY = 40\n"
                               "End Queue\n"
                               "Begin Queue\n"
                               "QUEUE_NAME = lease\n"
                               "HOSTS = allremote\n"
                               "End Queue\n";

/* ---------------------------------------------------------------- journal */

static const char *key_of_row(const struct row *row, uint64_t *number)
{
    *number = 0;
    switch (row->kind) {
    case ROW_COUNTER:
        return row->counter.name;
    case ROW_BOOK:
        return row->book.lease;
    case ROW_CLOSED:
        return row->closed.host;
    case ROW_JOB_GROUP:
        return row->job_group.path;
    case ROW_PICK:
        return row->pick.policy;
    case ROW_CPUS:
        return row->cpus.host;
    case ROW_HIGH:
        return row->high.consumer;
    case ROW_QUEUE:
        return row->queue.name;
    case ROW_JOB:
        *number = row->job.id;
        return "";
    case ROW_JOB_STATE:
        *number = job_id_key(row->job_state.id, row->job_state.index);
        return "";
    case ROW_RUN:
        *number = row->run.run.attempt;
        return row->run.run.site;
    case ROW_SHARE:
        return row->share.account;
    case ROW_LEASE_ACCOUNT:
        return row->lease_account.user;
    case ROW_QUOTA:
        return row->quota.name;
    case ROW_OVERRIDE:
    case ROW_LEASE:
    case ROW_SITE:
    case ROW_POOL:
    case ROW_KEPT:
    case ROW_HOURS:
    case ROW_HISTORY:
    case ROW_JOB_EVENT:
    case ROW_KINDS:
        break;
    }
    fail_msg("a row of kind %d", (int)row->kind);
    return "";
}

static bool is_same_key(const struct row *a, const struct row *b)
{
    uint64_t a_number, b_number;
    return a->kind == b->kind &&
           strcmp(key_of_row(a, &a_number), key_of_row(b, &b_number)) == 0 &&
           a_number == b_number &&
           (a->kind != ROW_SHARE || strcmp(a->share.scope, b->share.scope) == 0);
}

static int find_row(const struct site_stage *stage, const struct row *row)
{
    for (int i = 0; i < stage->n_rows; i++) {
        if (is_same_key(&stage->rows[i].row, row)) {
            return i;
        }
    }
    return -1;
}

static void drop_row(struct site_stage *stage, const struct row *row)
{
    int at = find_row(stage, row);
    if (at >= 0) {
        arena_release(&stage->rows[at].arena);
        stage->n_rows--;
        memmove(&stage->rows[at], &stage->rows[at + 1],
                (size_t)(stage->n_rows - at) * sizeof(*stage->rows));
    }
}

/* With all its states. */
static void drop_job(struct site_stage *stage, uint64_t id)
{
    drop_row(stage, &(struct row){.kind = ROW_JOB, .job = {.id = id}});
    for (int i = stage->n_rows - 1; i >= 0; i--) {
        const struct row *row = &stage->rows[i].row;
        if (row->kind == ROW_JOB_STATE && row->job_state.id == id) {
            drop_row(stage, row);
        }
    }
}

static bool is_gone(const struct row *row)
{
    return (row->kind == ROW_BOOK && row->book.is_gone) ||
           (row->kind == ROW_JOB_STATE && row->job_state.is_gone) ||
           (row->kind == ROW_RUN && row->run.is_gone) ||
           (row->kind == ROW_CLOSED && !row->closed.is_closed) ||
           (row->kind == ROW_JOB_GROUP && row->job_group.is_gone) ||
           (row->kind == ROW_PICK && row->pick.is_gone) ||
           (row->kind == ROW_CPUS && row->cpus.is_gone) ||
           (row->kind == ROW_LEASE_ACCOUNT && row->lease_account.is_gone) ||
           (row->kind == ROW_QUOTA && row->quota.is_gone) ||
           (row->kind == ROW_SHARE && row->share.is_gone);
}

static void hear_history(struct site_stage *stage, const struct row_job_event *event)
{
    struct arena *arena = &stage->arena;
    bool is_first = stage->told == NULL || stage->told[0] == '\0';
    if (event->is_trim) {
        return;
    }
    stage->told =
        arena_printf(arena, "%s%s%s%s%s", is_first ? "" : stage->told,
                     is_first ? "" : "; ", job_id_text(arena, event->id, event->index),
                     event->site[0] != '\0' ? "@" : "", event->site);
    stage->told =
        arena_printf(arena, "%s %s", stage->told, row_job_event_name(event->event));
    for (int i = 0; i < event->n_hosts; i++) {
        stage->told = arena_printf(arena, "%s %s=%d", stage->told, event->hosts[i].host,
                                   event->hosts[i].n_slots);
    }
    if (event->reason[0] != '\0') {
        stage->told = arena_printf(arena, "%s (%s)", stage->told, event->reason);
    }
}

static void commit_row(struct site_stage *stage, const struct row *row)
{
    struct stage_row kept;
    if (row->kind == ROW_JOB_EVENT) {
        hear_history(stage, &row->job_event);
        return; /* never loaded */
    }
    int at = find_row(stage, row);
    struct row merged = at >= 0 ? row_merge(row, &stage->rows[at].row) : *row;
    arena_init(&kept.arena);
    row_copy(&kept.arena, &merged, &kept.row);
    drop_row(stage, row);
    if (is_gone(row)) {
        arena_release(&kept.arena);
        if (row->kind == ROW_JOB_STATE) {
            drop_job(stage, row->job_state.id);
        }
        return;
    }
    if (stage->n_rows == stage->rows_capacity) {
        stage->rows_capacity = stage->rows_capacity * 2 + 16;
        stage->rows =
            mem_grow(stage->rows, (size_t)stage->rows_capacity, sizeof(*stage->rows));
    }
    stage->rows[stage->n_rows++] = kept;
}

static void commit(struct site_stage *stage)
{
    for (int i = 0; i < stage->effects.count; i++) {
        if (stage->effects.items[i].kind == EFFECT_STORE) {
            commit_row(stage, &stage->effects.items[i].row);
        }
    }
}

/* ---------------------------------------------------------------- batches */

static void tick(struct site_stage *stage)
{
    struct event event = {.kind = EVENT_TICK,
                          .now_ms = stage->now_ms,
                          .utc_offset_ms = stage->utc_offset_ms};
    site_step(stage->site, &event, &stage->effects);
}

static void start(struct site_stage *stage)
{
    stage->site = site_new(&stage->config);
    for (int kind = 0; kind < ROW_KINDS; kind++) {
        for (int i = 0; i < stage->n_rows; i++) {
            if ((int)stage->rows[i].row.kind == kind) {
                site_load(stage->site, &stage->rows[i].row);
            }
        }
    }
    effects_clear(&stage->effects);
    stage->started_ms = stage->now_ms;
    site_start(stage->site, stage->now_ms, &stage->effects);
    tick(stage);
    commit(stage);
    stage->session = 0;
}

static struct site_config read_config(struct site_stage *stage, const char *text)
{
    struct site_setup setup;
    struct conf conf;
    conf_init(&conf, &stage->arena);
    conf_read(&conf, "site.conf", text, strlen(text));
    conf_check(&conf);
    assert_true(site_config_read(&conf, &setup));
    for (const struct conf_diag *diag = conf.diags; diag != NULL; diag = diag->next) {
        if (diag->severity == CONF_ERROR) {
            fail_msg("%s:%d: %s", diag->file, diag->line, diag->text);
        }
    }
    return setup.config;
}

void site_stage_init_text(struct site_stage *stage, const char *text)
{
    memset(stage, 0, sizeof(*stage));
    arena_init(&stage->arena);
    effects_init(&stage->effects);
    stage->config = read_config(stage, text);
    stage->now_ms = 100000;
    stage->host_session = 1000;
    start(stage);
}

void site_stage_init(struct site_stage *stage)
{
    site_stage_init_text(stage, standard);
}

bool site_stage_reload(struct site_stage *stage, const char *text)
{
    struct site_config config = read_config(stage, text);
    struct err err;
    if (site_reload_check(stage->site, &config, &err) < 0) {
        return false;
    }
    stage->config = config;
    effects_clear(&stage->effects);
    site_reload(stage->site, &config, ++stage->now_ms, &stage->effects);
    tick(stage);
    commit(stage);
    return true;
}

void site_stage_release(struct site_stage *stage)
{
    site_free(stage->site);
    for (int i = 0; i < stage->n_rows; i++) {
        arena_release(&stage->rows[i].arena);
    }
    free(stage->rows);
    effects_release(&stage->effects);
    arena_release(&stage->arena);
}

void site_stage_restart(struct site_stage *stage)
{
    site_free(stage->site);
    start(stage);
}

void site_stage_restart_text(struct site_stage *stage, const char *text)
{
    site_free(stage->site);
    stage->config = read_config(stage, text);
    start(stage);
}

void site_stage_event(struct site_stage *stage, const struct event *event)
{
    struct event copy = *event;
    effects_clear(&stage->effects);
    copy.now_ms = ++stage->now_ms;
    site_step(stage->site, &copy, &stage->effects);
    tick(stage);
    commit(stage);
}

void site_stage_message(struct site_stage *stage, const struct peer *from,
                        const struct msg *msg)
{
    struct event event = {
        .kind = EVENT_MESSAGE, .from = *from, .msg = msg, .nonce = stage->nonce};
    site_stage_event(stage, &event);
}

void site_stage_lose_message(struct site_stage *stage, const struct peer *from,
                             const struct msg *msg)
{
    struct event event = {
        .kind = EVENT_MESSAGE, .now_ms = stage->now_ms, .from = *from, .msg = msg};
    effects_clear(&stage->effects);
    site_step(stage->site, &event, &stage->effects);
    tick(stage);
    site_stage_restart(stage);
}

void site_stage_pass(struct site_stage *stage, int64_t ms)
{
    int64_t until_ms = stage->now_ms + ms;
    effects_clear(&stage->effects);
    for (int guard = 0; guard < 100000; guard++) {
        int64_t wake_ms = site_wake_ms(stage->site);
        if (wake_ms > until_ms) {
            break;
        }
        stage->now_ms = wake_ms > stage->now_ms ? wake_ms : stage->now_ms + 1;
        tick(stage);
    }
    stage->now_ms = until_ms;
    tick(stage);
    commit(stage);
}

void site_stage_settle(struct site_stage *stage)
{
    site_stage_pass(stage, stage->started_ms + 15000 - stage->now_ms);
}

/* ---------------------------------------------------------------- looking */

const struct msg *site_stage_sent(const struct site_stage *stage, enum msg_kind kind,
                                  int n)
{
    for (int i = 0; i < stage->effects.count; i++) {
        const struct effect *effect = &stage->effects.items[i];
        if (effect->kind == EFFECT_SEND && effect->send.msg.kind == kind && n-- == 0) {
            return &effect->send.msg;
        }
    }
    return NULL;
}

int site_stage_count(const struct site_stage *stage, enum msg_kind kind)
{
    int count = 0;
    while (site_stage_sent(stage, kind, count) != NULL) {
        count++;
    }
    return count;
}

const struct effect *site_stage_effect(const struct site_stage *stage,
                                       enum effect_kind kind)
{
    for (int i = 0; i < stage->effects.count; i++) {
        if (stage->effects.items[i].kind == kind) {
            return &stage->effects.items[i];
        }
    }
    return NULL;
}

const struct row_job_state *site_stage_job_row(const struct site_stage *stage,
                                               uint64_t id)
{
    struct row key = {.kind = ROW_JOB_STATE, .job_state = {.id = id}};
    int at = find_row(stage, &key);
    return at >= 0 ? &stage->rows[at].row.job_state : NULL;
}

const struct row_run *site_stage_run_row(const struct site_stage *stage,
                                         const char *site, uint64_t attempt)
{
    struct row key = {.kind = ROW_RUN, .run = {.run = {site, attempt}}};
    int at = find_row(stage, &key);
    return at >= 0 ? &stage->rows[at].row.run : NULL;
}

int site_stage_count_rows(const struct site_stage *stage, enum row_kind kind)
{
    int count = 0;
    for (int i = 0; i < stage->n_rows; i++) {
        count += stage->rows[i].row.kind == kind;
    }
    return count;
}

/* ---------------------------------------------------------------- hosts */

struct peer site_stage_host(const char *name)
{
    return (struct peer){
        .kind = PEER_HOST, .name = name, .link = (uint64_t)(unsigned char)name[1]};
}

static void host_says(struct site_stage *stage, const char *host, struct msg *msg)
{
    struct peer from = site_stage_host(host);
    msg->session = stage->host_session;
    msg->site = "";
    site_stage_message(stage, &from, msg);
}

void site_stage_host_hello(struct site_stage *stage, const char *host)
{
    struct msg msg = {.kind = MSG_HOST_HELLO};
    msg.host_hello.name = host;
    msg.host_hello.boot_id = "boot-1";
    host_says(stage, host, &msg);
}

void site_stage_host_synced(struct site_stage *stage, const char *host)
{
    struct msg msg = {.kind = MSG_HOST_SYNCED};
    host_says(stage, host, &msg);
}

void site_stage_host_up(struct site_stage *stage, const char *host)
{
    site_stage_host_hello(stage, host);
    site_stage_host_synced(stage, host);
}

void site_stage_host_alive(struct site_stage *stage, const char *host)
{
    struct msg msg = {.kind = MSG_HOST_ALIVE};
    host_says(stage, host, &msg);
}

void site_stage_run_state(struct site_stage *stage, const char *host, const char *site,
                          uint64_t attempt, const struct msg_run_state *fill)
{
    struct msg msg = {.kind = MSG_RUN_STATE, .run_state = *fill};
    msg.run_state.run = (struct run_id){site, attempt, stage->nonce};
    if (msg.run_state.exit.text == NULL) {
        msg.run_state.exit.text = "";
    }
    host_says(stage, host, &msg);
}

void site_stage_waiting(struct site_stage *stage, const char *host, uint64_t attempt,
                        uint64_t token)
{
    site_stage_run_state(stage, host, "south", attempt,
                         &(struct msg_run_state){.phase = RUN_WAITING, .token = token});
}

void site_stage_running(struct site_stage *stage, const char *host, uint64_t attempt,
                        uint64_t token)
{
    site_stage_run_state(stage, host, "south", attempt,
                         &(struct msg_run_state){.phase = RUN_RUNNING,
                                                 .token = token,
                                                 .start_ms = stage->now_ms});
}

void site_stage_exited(struct site_stage *stage, const char *host, uint64_t attempt,
                       int code)
{
    site_stage_run_state(stage, host, "south", attempt,
                         &(struct msg_run_state){.phase = RUN_ENDED,
                                                 .exit = {.end = RUN_END_EXITED,
                                                          .code = code,
                                                          .start_ms = stage->now_ms,
                                                          .end_ms = stage->now_ms}});
}

/* ---------------------------------------------------------------- broker */

void site_stage_broker(struct site_stage *stage, struct msg *msg)
{
    struct peer from = {.kind = PEER_BROKER, .name = ""};
    msg->session = stage->session;
    if (msg->site == NULL) {
        msg->site = "";
    }
    site_stage_message(stage, &from, msg);
}

void site_stage_broker_up(struct site_stage *stage)
{
    struct msg msg = {.kind = MSG_WELCOME};
    const struct msg *hello;
    site_stage_pass(stage, 1000);
    hello = site_stage_sent(stage, MSG_HELLO, 0);
    assert_non_null(hello);
    stage->session = hello->session;
    msg.welcome.is_accepted = true;
    msg.welcome.text = "";
    site_stage_broker(stage, &msg);
}

void site_stage_contract(struct site_stage *stage, uint64_t epoch,
                         enum lease_state state, int n_held, bool is_made)
{
    struct host_split split = {
        .host = "n1", .n_slots = 4, .provider = 4 - n_held, .consumer = n_held};
    struct msg msg = {.kind = MSG_CONTRACT};
    msg.contract = (struct msg_contract){
        .lease = "north/spare/south",
        .revision = (uint64_t)stage->now_ms,
        .epoch = epoch,
        .type = LEASE_SHARED,
        .state = state,
        .is_made = is_made,
        .is_provider_here = true,
        .hosts = &split,
        .n_hosts = 1,
    };
    site_stage_broker(stage, &msg);
}

void site_stage_attempt(struct site_stage *stage, uint64_t attempt,
                        const struct msg_attempt_state *fill)
{
    struct msg msg = {
        .kind = MSG_ATTEMPT_STATE, .site = "north", .attempt_state = *fill};
    msg.attempt_state.run = (struct run_id){"south", attempt, stage->nonce};
    if (msg.attempt_state.reason == NULL) {
        msg.attempt_state.reason = "";
    }
    if (msg.attempt_state.exit.text == NULL) {
        msg.attempt_state.exit.text = "";
    }
    site_stage_broker(stage, &msg);
}

void site_stage_attempt_is(struct site_stage *stage, uint64_t attempt,
                           enum attempt_state state)
{
    struct msg_attempt_state fill = {.state = state};
    if (state == ATTEMPT_RUNNING || state == ATTEMPT_SUSPENDED) {
        fill.start_ms = stage->now_ms;
    }
    site_stage_attempt(stage, attempt, &fill);
}

/* ---------------------------------------------------------------- users */

struct peer site_stage_user(const char *name)
{
    static const struct {
        const char *name;
        int64_t uid;
    } users[] = {{"root", 0},   {"ana", 1001}, {"bob", 1002},  {"olga", 1003},
                 {"pia", 1004}, {"eve", 1005}, {"gil", 1006},  {"hal", 1007},
                 {"kim", 1008}, {"lou", 1009}, {"quinn", 1010}};
    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
        if (strcmp(users[i].name, name) == 0) {
            return (struct peer){.kind = PEER_CLIENT,
                                 .name = name,
                                 .link = (uint64_t)users[i].uid + 1,
                                 .uid = users[i].uid,
                                 .gid = users[i].uid};
        }
    }
    fail_msg("no user %s", name);
    return (struct peer){.kind = PEER_NONE};
}

struct job_spec site_stage_spec(const char *queue, const char *command)
{
    return (struct job_spec){
        .name = "",
        .user = "",
        .queue = queue,
        .command = command,
        .cwd = "/home/ana",
        .in_file = "",
        .out_file = "",
        .err_file = "",
        .n_slots = 1,
    };
}

uint64_t site_stage_submit_spec(struct site_stage *stage, const char *user,
                                const struct job_spec *spec)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++stage->request;
    msg.submit.spec = *spec;
    site_stage_message(stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(stage);
    if (reply->code != 0) {
        return 0;
    }
    return (uint64_t)value_find(reply->value, "job")->number;
}

uint64_t site_stage_submit(struct site_stage *stage, const char *queue,
                           const char *command)
{
    struct job_spec spec = site_stage_spec(queue, command);
    return site_stage_submit_spec(stage, "ana", &spec);
}

const struct msg_reply *site_stage_reply(const struct site_stage *stage)
{
    for (int i = 0;; i++) {
        const struct msg *msg = site_stage_sent(stage, MSG_REPLY, i);
        if (msg == NULL) {
            return NULL;
        }
        if (msg->reply.request == stage->request) {
            return &msg->reply;
        }
    }
}

const struct msg_reply *site_stage_control(struct site_stage *stage, const char *user,
                                           const char *job, enum control_action action,
                                           int signal)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_JOB_CONTROL, .site = ""};
    msg.job_control.request = ++stage->request;
    msg.job_control.action = action;
    msg.job_control.signal = signal;
    msg.job_control.jobs = &job;
    msg.job_control.n_jobs = 1;
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

const struct msg_reply *site_stage_query(struct site_stage *stage,
                                         const struct msg_query *query)
{
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_QUERY, .site = "", .query = *query};
    const char **texts[] = {&msg.query.name, &msg.query.user, &msg.query.queue,
                            &msg.query.host, &msg.query.after};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        *texts[i] = *texts[i] != NULL ? *texts[i] : "";
    }
    msg.query.request = ++stage->request;
    site_stage_message(stage, &from, &msg);
    return site_stage_reply(stage);
}

/* ---------------------------------------------------------------- jobs */

static const struct value *job_value(struct site_stage *stage, uint64_t id,
                                     const char *path)
{
    char name[24];
    const char *next;
    struct msg_query query = {.kind = QUERY_JOBS,
                              .name = name,
                              .user = "",
                              .queue = "",
                              .host = "",
                              .after = ""};
    snprintf(name, sizeof(name), "%llu", (unsigned long long)id);
    const struct value *view =
        site_view(stage->site, &stage->arena, &query, stage->now_ms, &next);
    const struct value *row = value_find(view, "jobs")->first;
    assert_non_null(row);
    const struct value *value = value_find(row, path);
    assert_non_null(value);
    return value;
}

const char *site_stage_job_text(struct site_stage *stage, uint64_t id, const char *path)
{
    const struct value *value = job_value(stage, id, path);
    return value->kind == VALUE_TEXT ? value->text : "";
}

int64_t site_stage_job_int(struct site_stage *stage, uint64_t id, const char *path)
{
    const struct value *value = job_value(stage, id, path);
    return value->kind == VALUE_INT ? value->number : -1;
}

static struct site_job job_of(const struct site_stage *stage, uint64_t id)
{
    struct site_job job = {0};
    for (int i = 0; i < site_count_jobs(stage->site); i++) {
        site_job_at(stage->site, i, &job);
        if (job.id == id) {
            return job;
        }
    }
    fail_msg("no job %llu", (unsigned long long)id);
    return job;
}

enum job_state site_stage_state(const struct site_stage *stage, uint64_t id)
{
    return job_of(stage, id).state;
}

uint64_t site_stage_attempt_of(const struct site_stage *stage, uint64_t id)
{
    return job_of(stage, id).attempt;
}
