/* SPDX-License-Identifier: Apache-2.0 */
/* host_agent.c: see host_agent.h. */
#include "host/agent/host_agent.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/resend.h"
#include "host/agent/host_streams.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum {
    CONNECT_LOOK_MS = 100, /* checks for a connection to send it on */
    ALIVE_MS = 2000,
    SILENCE_MS = 10000,
    FLUSH_MS = 20,        /* after the connection took no more */
    REPEAT_END_MS = 5000, /* until the site forgets the run */
    MESSAGES_PER_TURN = 256,
    LOG_BURST = 5,
};

static const struct resend_waits hello_waits = {.first_ms = 1000, .last_ms = 1000};

struct host_agent {
    zloop_t *loop;
    const char *name;
    const char *boot_id;
    const struct host_spool *spool;
    struct load *load;
    struct wire_client *client;
    struct host_runs *runs;
    struct host_streams *streams;

    uint64_t session;
    bool is_welcome;
    bool is_synced;
    bool needs_session; /* at the end of this step */
    uint64_t seq;
    int64_t received_ms;
    struct resend hello;
    int64_t load_ms; /* when the load was last sent; 0: not in this session */
    int flush_timer; /* -1: not set */
    struct log_limit refused, unwelcome;
    uint8_t bytes[OUTPUT_CHUNK_MAX];
    struct run_load use[RUN_LOADS_MAX]; /* of one HOST_LOAD */
};

/* ---- to the site */

static int send_to_site(struct host_agent *agent, struct msg *msg)
{
    struct err err;
    msg->session = agent->session;
    msg->site = "";
    int code = wire_client_send(agent->client, msg, &err);
    if (code != 0 && code != ERR_AWAY) {
        log_line(LOG_LEVEL_ERROR, "%s cannot be sent: %s", msg_kind_name(msg->kind),
                 err.text);
    }
    return code;
}

/* A guard of a later version may send causes that are not known here. */
static enum run_cause cause_of(const struct guard_record *record)
{
    return record->phase == RUN_ENDED && record->cause <= RUN_CAUSE_PRE_EXEC
               ? (enum run_cause)record->cause
               : RUN_CAUSE_NONE;
}

static void fill_state(const struct host_run *run, struct msg *msg)
{
    const struct guard_record *record = &run->record;
    msg->kind = MSG_RUN_STATE;
    msg->run_state = (struct msg_run_state){
        .run = {run->site, run->attempt},
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
            },
    };
}

static void send_unknown(struct host_agent *agent, const struct run_id *run)
{
    struct msg msg = {.kind = MSG_RUN_STATE};
    msg.run_state =
        (struct msg_run_state){.run = *run, .phase = RUN_UNKNOWN, .exit = {.text = ""}};
    send_to_site(agent, &msg);
}

static void flush(struct host_agent *agent);

static int on_flush(zloop_t *loop, int timer, void *arg)
{
    (void)loop;
    (void)timer;
    struct host_agent *agent = arg;
    agent->flush_timer = -1;
    flush(agent);
    return 0;
}

static void flush_later(struct host_agent *agent)
{
    if (agent->flush_timer < 0) {
        agent->flush_timer = zloop_timer(agent->loop, FLUSH_MS, 1, on_flush, agent);
    }
}

/* Returns false if the connection takes no more now. */
static bool report(struct host_agent *agent, struct host_run *run)
{
    struct msg msg = {0};
    fill_state(run, &msg);
    if (send_to_site(agent, &msg) == ERR_AWAY) {
        flush_later(agent);
        return false;
    }
    run->is_reported = true;
    run->reported_ms = daemon_now_ms();
    return true;
}

/* CPU time of running runs that was not reported; what does not fit waits for the next
 * message. */
static void fill_runs(struct host_agent *agent, struct msg_host_load *load)
{
    struct host_run *run = NULL;
    load->runs = agent->use;
    while ((run = host_runs_next(agent->runs, run)) != NULL &&
           load->n_runs < RUN_LOADS_MAX) {
        if (run->record.phase == RUN_RUNNING && !run->is_use_reported) {
            agent->use[load->n_runs++] = (struct run_load){
                .run = {run->site, run->attempt},
                .cpu_ms = (int64_t)run->record.cpu_ms,
            };
        }
    }
}

static void mark_use_reported(struct host_agent *agent,
                              const struct msg_host_load *load)
{
    for (int i = 0; i < load->n_runs; i++) {
        host_runs_find(agent->runs, &load->runs[i].run)->is_use_reported = true;
    }
}

/* A load that cannot be sent now is sent at the next heartbeat. */
static void report_load(struct host_agent *agent)
{
    struct msg msg = {.kind = MSG_HOST_LOAD};
    load_fill(agent->load, &msg.host_load);
    fill_runs(agent, &msg.host_load);
    if (send_to_site(agent, &msg) == 0) {
        agent->load_ms = daemon_now_ms();
        mark_use_reported(agent, &msg.host_load);
    } else {
        agent->load_ms = 0;
    }
}

/* Reports all runs that are not reported. After the first complete round, sends SYNCED.
 */
static void flush(struct host_agent *agent)
{
    if (!agent->is_welcome) {
        return;
    }
    bool is_complete = true;
    struct host_run *run = NULL;
    while ((run = host_runs_next(agent->runs, run)) != NULL) {
        if (run->record.phase == RUN_UNKNOWN) {
            is_complete = false; /* reported when its guard answers */
        } else if (!run->is_reported && !report(agent, run)) {
            return;
        }
    }
    if (is_complete && !agent->is_synced) {
        struct msg msg = {.kind = MSG_HOST_SYNCED};
        agent->is_synced = send_to_site(agent, &msg) == 0;
        if (agent->is_synced) {
            report_load(agent);
        } else {
            flush_later(agent);
        }
    }
}

void host_agent_on_change(void *arg, struct host_run *run, bool is_gone)
{
    struct host_agent *agent = arg;
    if (!agent->is_welcome) {
        return;
    }
    if (is_gone) {
        send_unknown(agent, &(struct run_id){run->site, run->attempt});
        if (!agent->is_synced) {
            flush_later(agent);
        }
    } else if (agent->is_synced) {
        report(agent, run);
    } else {
        flush(agent);
    }
}

/* ---- from the site */

/* A run that is not known yet is reported once it is. */
static void answer(struct host_agent *agent, struct host_run *run)
{
    if (run->record.phase != RUN_UNKNOWN) {
        report(agent, run);
    }
}

static void take_welcome(struct host_agent *agent, const struct msg *msg)
{
    const struct msg_welcome *welcome = &msg->welcome;
    if (agent->is_welcome) {
        return; /* the answer to a repeated HELLO */
    }
    if (welcome->is_accepted) {
        agent->is_welcome = true;
        resend_end(&agent->hello);
        flush(agent);
        return;
    }
    if (log_limit_pass(&agent->unwelcome, daemon_now_ms())) {
        log_line(LOG_LEVEL_WARNING, "the site refuses this host: %s", welcome->text);
    }
    if (welcome->min_session >= agent->session) {
        agent->session = welcome->min_session;
        agent->needs_session = true;
    }
}

static void take_pong(struct host_agent *agent, const struct msg *msg)
{
    (void)agent; /* its arrival is all that counts */
    (void)msg;
}

static void take_error(struct host_agent *agent, const struct msg *msg)
{
    if (log_limit_pass(&agent->refused, daemon_now_ms())) {
        log_line(LOG_LEVEL_WARNING, "the site refused %s: %s",
                 msg_kind_name((enum msg_kind)msg->error.about), msg->error.text);
    }
    if (msg->error.code == ERR_STALE) {
        agent->needs_session = true;
    }
}

static void take_start(struct host_agent *agent, const struct msg *msg)
{
    struct host_run *run = host_runs_find(agent->runs, &msg->run_start.run);
    if (run != NULL) {
        answer(agent, run);
    } else {
        host_runs_start(agent->runs, &msg->run_start);
    }
}

/* Passes a request on to the guard of its run, or answers it. */
static void take_request(struct host_agent *agent, const struct msg *msg,
                         const struct run_id *id)
{
    struct host_run *run = host_runs_find(agent->runs, id);
    if (run == NULL) {
        send_unknown(agent, id);
        return;
    }
    bool is_passed_on =
        msg->kind == MSG_RUN_GO ? host_runs_go(agent->runs, run, msg->run_go.token)
        : msg->kind == MSG_RUN_CONTROL
            ? host_runs_control(agent->runs, run, &msg->run_control.control)
            : host_runs_resize(agent->runs, run, &msg->run_resize);
    if (!is_passed_on) {
        answer(agent, run);
    }
}

static void take_go(struct host_agent *agent, const struct msg *msg)
{
    take_request(agent, msg, &msg->run_go.run);
}

static void take_control(struct host_agent *agent, const struct msg *msg)
{
    take_request(agent, msg, &msg->run_control.run);
}

static void take_resize(struct host_agent *agent, const struct msg *msg)
{
    take_request(agent, msg, &msg->run_resize.run);
}

static void take_forget(struct host_agent *agent, const struct msg *msg)
{
    struct host_run *run = host_runs_find(agent->runs, &msg->run.run);
    if (run != NULL && !host_runs_forget(agent->runs, run)) {
        answer(agent, run);
    }
}

static void take_output_ask(struct host_agent *agent, const struct msg *msg)
{
    const struct msg_output_ask *ask = &msg->output_ask;
    const struct host_run *run = host_runs_find(agent->runs, &ask->run);
    struct msg reply = {.kind = MSG_OUTPUT};
    if (run == NULL) {
        reply.output = (struct msg_output){.run = ask->run,
                                           .request = ask->request,
                                           .stream = ask->stream,
                                           .offset = ask->offset,
                                           .bytes = agent->bytes,
                                           .is_end = true,
                                           .is_gone = true};
    } else {
        bool has_begun = run->record.start_ms != 0;
        host_spool_read_output(agent->spool, run->name, has_begun, ask, agent->bytes,
                               &reply.output);
    }
    send_to_site(agent, &reply);
}

static void take_stream(struct host_agent *agent, const struct msg *msg)
{
    host_streams_down(agent->streams, &msg->stream_down);
}

/* What is not sent now is requested again by the user's side. */
static void send_stream(void *arg, const struct msg_stream_up *up)
{
    struct host_agent *agent = arg;
    struct msg msg = {.kind = MSG_STREAM_UP, .stream_up = *up};
    if (agent->is_synced) {
        send_to_site(agent, &msg);
    }
}

static const struct {
    enum msg_kind kind;
    void (*take)(struct host_agent *agent, const struct msg *msg);
} handlers[] = {
    {MSG_HOST_WELCOME, take_welcome},
    {MSG_HOST_PONG, take_pong},
    {MSG_ERROR, take_error},
    {MSG_RUN_START, take_start},
    {MSG_RUN_GO, take_go},
    {MSG_RUN_CONTROL, take_control},
    {MSG_RUN_RESIZE, take_resize},
    {MSG_RUN_FORGET, take_forget},
    {MSG_OUTPUT_ASK, take_output_ask},
    {MSG_STREAM_DOWN, take_stream},
};

static void on_message(void *arg, const struct peer *from, const struct msg *msg)
{
    (void)from;
    struct host_agent *agent = arg;
    if (msg->session != agent->session) {
        return;
    }
    agent->received_ms = daemon_now_ms();
    for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        if (handlers[i].kind == msg->kind) {
            handlers[i].take(agent, msg);
            return;
        }
    }
}

static void on_refused(void *arg, const struct peer *from, const struct err *err)
{
    (void)from;
    struct host_agent *agent = arg;
    if (log_limit_pass(&agent->refused, daemon_now_ms())) {
        log_line(LOG_LEVEL_WARNING, "a message of the site is refused: %s", err->text);
    }
}

/* ---- sessions */

/* Above all sessions that this host has used, also before a reinstallation. */
static void choose_session(struct host_agent *agent)
{
    uint64_t by_clock = (uint64_t)daemon_now_ms() << 8;
    agent->session = agent->session >= by_clock ? agent->session + 1 : by_clock;
}

static void begin_session(struct host_agent *agent)
{
    choose_session(agent);
    agent->is_welcome = false;
    agent->is_synced = false;
    agent->needs_session = false;
    agent->load_ms = 0;
    agent->received_ms = daemon_now_ms();
    resend_begin(&agent->hello, agent->received_ms);
    struct host_run *run = NULL;
    while ((run = host_runs_next(agent->runs, run)) != NULL) {
        run->is_reported = run->is_use_reported = false;
    }
}

/* The processors that this process may use. */
static int count_cpus(void)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
        return CPU_COUNT(&cpus);
    }
    return (int)sysconf(_SC_NPROCESSORS_ONLN); /* there are more than the set holds */
}

static void send_hello(struct host_agent *agent)
{
    int64_t now = daemon_now_ms();
    if (resend_wake_ms(&agent->hello) > now) {
        return;
    }
    struct msg msg = {.kind = MSG_HOST_HELLO};
    msg.host_hello.name = agent->name;
    msg.host_hello.boot_id = agent->boot_id;
    msg.host_hello.n_cpus = count_cpus();
    if (send_to_site(agent, &msg) == 0) {
        resend_sent(&agent->hello, hello_waits, now);
    } else {
        agent->received_ms = now; /* there is no connection, and libzmq keeps trying */
    }
}

static int on_readable(zloop_t *loop, zsock_t *socket, void *arg);

static int listen_to_site(struct host_agent *agent)
{
    zsock_t *socket = wire_client_socket(agent->client);
    return socket == NULL ? -1 : zloop_reader(agent->loop, socket, on_readable, agent);
}

static void reopen(struct host_agent *agent)
{
    struct err err = {.text = "its socket cannot be polled"};
    log_line(LOG_LEVEL_NOTICE, "the site is silent: a new connection");
    zsock_t *old = wire_client_socket(agent->client);
    if (old != NULL) {
        zloop_reader_end(agent->loop, old);
    }
    if (wire_client_reopen(agent->client, &err) != 0 || listen_to_site(agent) != 0) {
        log_line(LOG_LEVEL_ERROR, "no connection to the site: %s", err.text);
    }
    begin_session(agent);
}

static int on_readable(zloop_t *loop, zsock_t *socket, void *arg)
{
    (void)loop;
    (void)socket;
    static const struct peer site = {.kind = PEER_SITE, .name = "site"};
    struct host_agent *agent = arg;
    wire_client_drain(agent->client, MESSAGES_PER_TURN, &site, on_message, on_refused,
                      agent);
    if (agent->needs_session) {
        begin_session(agent);
        resend_sent(&agent->hello, hello_waits, daemon_now_ms()); /* not at once */
    }
    return 0;
}

/* ---- time */

static int on_connect_look(zloop_t *loop, int timer, void *arg)
{
    (void)loop;
    (void)timer;
    struct host_agent *agent = arg;
    send_hello(agent);
    return 0;
}

static void repeat_ends(struct host_agent *agent)
{
    int64_t now = daemon_now_ms();
    struct host_run *run = NULL;
    while ((run = host_runs_next(agent->runs, run)) != NULL) {
        if (run->record.phase == RUN_ENDED && now - run->reported_ms >= REPEAT_END_MS) {
            run->is_reported = false;
        }
    }
    flush(agent);
}

static int on_alive(zloop_t *loop, int timer, void *arg)
{
    (void)loop;
    (void)timer;
    struct host_agent *agent = arg;
    host_runs_tick(agent->runs);
    if (daemon_now_ms() - agent->received_ms >= SILENCE_MS) {
        reopen(agent);
    } else if (agent->is_welcome) {
        struct msg msg = {.kind = MSG_HOST_ALIVE};
        msg.host_alive.seq = ++agent->seq;
        send_to_site(agent, &msg);
        repeat_ends(agent);
        if (agent->is_synced &&
            load_is_due(agent->load, agent->load_ms, daemon_now_ms())) {
            report_load(agent);
        }
    }
    return 0;
}

struct host_agent *host_agent_new(zloop_t *loop, const char *name, const char *boot_id,
                                  const struct host_spool *spool, struct load *load,
                                  struct wire_client *client)
{
    struct host_agent *agent = mem_alloc(1, sizeof(*agent));
    agent->loop = loop;
    agent->name = name;
    agent->boot_id = boot_id;
    agent->spool = spool;
    agent->load = load;
    agent->client = client;
    agent->flush_timer = -1;
    agent->refused.burst = LOG_BURST;
    agent->unwelcome.burst = LOG_BURST;
    return agent;
}

void host_agent_free(struct host_agent *agent)
{
    if (agent != NULL) {
        host_streams_free(agent->streams);
    }
    free(agent);
}

int host_agent_start(struct host_agent *agent, struct host_runs *runs, struct err *err)
{
    agent->runs = runs;
    agent->streams = host_streams_new(agent->loop, runs, send_stream, agent);
    begin_session(agent);
    if (listen_to_site(agent) != 0 ||
        zloop_timer(agent->loop, CONNECT_LOOK_MS, 0, on_connect_look, agent) < 0 ||
        zloop_timer(agent->loop, ALIVE_MS, 0, on_alive, agent) < 0) {
        return err_set(err, ERR_IO, "the connection to the site cannot be polled");
    }
    return 0;
}
