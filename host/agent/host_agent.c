/* SPDX-License-Identifier: Apache-2.0 */
/* host_agent.c: see host_agent.h. */
#include "host/agent/host_agent.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/agent/host_streams.h"
#include "host/agent/host_topology.h"
#include "host/agent/mark_file.h"
#include "host/agent/start_file.h"
#include "host/exec/exec_session.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum { MESSAGES_PER_BATCH = 256, LOG_BURST = 5 };

struct host_agent {
    zloop_t *loop;
    const struct host_spool *spool;
    struct load *load;
    struct wire_client *client;
    struct host_runs *runs;
    struct host_streams *streams;
    struct exec_session session;
    struct journal_mark stored; /* in the mark file */
    char *topology;             /* of this machine */
    struct shell *shell;
    bool is_full; /* the connection accepts no more messages in this batch */
    struct log_limit logged;
    uint8_t bytes[OUTPUT_CHUNK_MAX];
};

/* ---- from the site */

static int64_t collect(void *arg)
{
    struct host_agent *agent = arg;
    static const struct peer site = {.kind = PEER_SITE, .name = "site"};
    wire_client_drain(agent->client, MESSAGES_PER_BATCH, &site, shell_take_message,
                      shell_refuse_message, agent->shell);
    return INT64_MAX;
}

/* ---- to the site */

/* The processors that this process may use. */
static int count_cpus(void)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
        return CPU_COUNT(&cpus);
    }
    return (int)sysconf(_SC_NPROCESSORS_ONLN); /* there are more than the set holds */
}

static int send_filled(struct host_agent *agent, const struct msg *msg, struct err *err)
{
    int code = wire_client_send(agent->client, msg, err);
    agent->is_full = code == ERR_AWAY;
    return code;
}

/* A run of an earlier version cannot be described: its state follows all the same. */
static int send_found(struct host_agent *agent, const struct run_id *id,
                      struct err *err)
{
    struct arena arena;
    struct msg msg = {
        .kind = MSG_RUN_FOUND, .session = agent->session.number, .site = ""};
    const struct host_run *run = exec_session_find(&agent->session, id);
    int dir = run == NULL ? -1 : host_runs_open(agent->runs, run);
    int code = 0;
    arena_init(&arena);
    if (dir >= 0 && start_file_read(dir, &arena, &msg.run_start, err) == 0) {
        code = send_filled(agent, &msg, err);
    }
    if (dir >= 0) {
        close(dir);
    }
    arena_release(&arena);
    return code;
}

/* After a message that the connection does not take, none of this batch is sent, so
 * that SYNCED never overtakes the state of a run. */
static int send_to_site(void *arg, const struct peer *to, const struct msg *msg,
                        struct err *err)
{
    (void)to;
    struct host_agent *agent = arg;
    struct msg filled = *msg;
    if (agent->is_full) {
        return err_set(err, ERR_AWAY, "the connection accepts no more messages");
    }
    if (msg->kind == MSG_HOST_HELLO) {
        filled.host_hello.n_cpus = count_cpus();
        filled.host_hello.topology = agent->topology;
    } else if (msg->kind == MSG_HOST_LOAD) {
        load_fill(agent->load, &filled.host_load);
    } else if (msg->kind == MSG_RUN_FOUND) {
        return send_found(agent, &msg->run_start.run, err);
    }
    return send_filled(agent, &filled, err);
}

static void take_unsent(void *arg, const struct msg *msg)
{
    struct host_agent *agent = arg;
    if (agent->is_full) {
        exec_session_unsent(&agent->session, msg, daemon_now_ms());
    }
}

static void end_batch(void *arg, const struct effects *effects, int64_t begin_ns,
                      int64_t end_ns)
{
    (void)effects;
    (void)begin_ns;
    (void)end_ns;
    struct host_agent *agent = arg;
    agent->is_full = false;
    if (msg_raise_mark(&agent->stored, &agent->session.mark)) {
        mark_file_write(agent->spool->path, &agent->stored);
    }
}

static void reconnect(void *arg, struct effect *effect, struct effects *more)
{
    (void)effect;
    (void)more;
    struct host_agent *agent = arg;
    struct err err;
    zsock_t *old = wire_client_socket(agent->client);
    if (old != NULL) {
        shell_remove_source(agent->shell, old);
    }
    if (wire_client_reopen(agent->client, &err) != 0) {
        log_line(LOG_LEVEL_ERROR, "no connection to the site: %s", err.text);
        return;
    }
    shell_add_source(agent->shell, wire_client_socket(agent->client), collect, agent);
}

static void log_text(void *arg, struct effect *effect, struct effects *more)
{
    (void)more;
    struct host_agent *agent = arg;
    if (log_limit_pass(&agent->logged, daemon_now_ms())) {
        log_line(effect->log.level, "%s", effect->log.text);
    }
}

/* What is not sent now is requested again by the user's side. */
static void send_stream(void *arg, const struct msg_stream_up *up)
{
    struct host_agent *agent = arg;
    struct msg msg = {.kind = MSG_STREAM_UP, .stream_up = *up};
    if (agent->session.is_synced) {
        exec_session_send(&agent->session, &msg, shell_effects(agent->shell));
        shell_run_batch(agent->shell);
    }
}

/* ---- to runs */

static void send_output(struct host_agent *agent, const struct host_run *run,
                        const struct msg_output_ask *ask)
{
    struct msg reply = {.kind = MSG_OUTPUT};
    bool has_begun = run->record.start_ms != 0;
    host_spool_read_output(agent->spool, run->name, has_begun, ask, agent->bytes,
                           &reply.output);
    exec_session_send(&agent->session, &reply, shell_effects(agent->shell));
}

/* Returns true if the run will answer. */
static bool pass_on(struct host_agent *agent, struct host_run *run,
                    const struct msg *msg)
{
    switch ((int)msg->kind) {
    case MSG_RUN_START: /* it was started by a copy of the message in this batch */
        return false;
    case MSG_RUN_GO:
        return host_runs_go(agent->runs, run, msg->run_go.token);
    case MSG_RUN_CONTROL:
        return host_runs_control(agent->runs, run, &msg->run_control.control);
    case MSG_RUN_RESIZE:
        return host_runs_resize(agent->runs, run, &msg->run_resize);
    case MSG_RUN_FORGET:
        return host_runs_forget(agent->runs, run);
    case MSG_OUTPUT_ASK:
        send_output(agent, run, &msg->output_ask);
        return true;
    default:
        host_streams_down(agent->streams, run, &msg->stream_down);
        return true;
    }
}

static const struct run_id *run_of(const struct msg *msg)
{
    switch ((int)msg->kind) {
    case MSG_RUN_START:
        return &msg->run_start.run;
    case MSG_RUN_GO:
        return &msg->run_go.run;
    case MSG_RUN_CONTROL:
        return &msg->run_control.run;
    case MSG_RUN_RESIZE:
        return &msg->run_resize.run;
    case MSG_RUN_FORGET:
        return &msg->run.run;
    case MSG_OUTPUT_ASK:
        return &msg->output_ask.run;
    default:
        return &msg->stream_down.run;
    }
}

static int send_to_run(void *arg, const struct peer *to, const struct msg *msg,
                       struct err *err)
{
    (void)to;
    (void)err;
    struct host_agent *agent = arg;
    struct host_run *run = exec_session_find(&agent->session, run_of(msg));
    if (run == NULL && msg->kind == MSG_RUN_START) {
        host_runs_start(agent->runs, &msg->run_start);
    } else if (run != NULL && !pass_on(agent, run, msg)) {
        exec_session_answer(&agent->session, run);
    }
    return 0;
}

/* ---- time */

static int on_timer(zloop_t *loop, int timer, void *arg)
{
    (void)loop;
    (void)timer;
    struct host_agent *agent = arg;
    struct exec_session *session = &agent->session;
    host_runs_tick(agent->runs);
    if (session->is_synced &&
        load_is_due(agent->load, session->load_ms, daemon_now_ms())) {
        exec_session_report_load(session);
    }
    shell_run_batch(agent->shell);
    return 0;
}

/* ---- life */

struct host_agent *host_agent_new(zloop_t *loop, const char *name, const char *boot_id,
                                  const struct host_spool *spool, struct load *load,
                                  struct wire_client *client)
{
    struct host_agent *agent = mem_alloc(1, sizeof(*agent));
    agent->loop = loop;
    agent->spool = spool;
    agent->load = load;
    agent->client = client;
    agent->logged.burst = LOG_BURST;
    agent->topology = host_topology_read();
    exec_session_init(&agent->session, name, boot_id, daemon_now_ms());
    agent->session.mark = agent->stored = mark_file_read(spool->path);
    agent->shell = shell_new(loop, &(struct shell_machine){
                                       .machine = &agent->session,
                                       .step = exec_session_step,
                                       .wake_ms = exec_session_wake_ms,
                                   });
    shell_route(agent->shell, PEER_SITE, send_to_site, agent);
    shell_route(agent->shell, PEER_RUN, send_to_run, agent);
    shell_set_unsent(agent->shell, take_unsent, agent);
    shell_set_counter(agent->shell, end_batch, agent);
    shell_handle(agent->shell, EFFECT_RECONNECT, reconnect, agent);
    shell_handle(agent->shell, EFFECT_LOG, log_text, agent);
    return agent;
}

void host_agent_free(struct host_agent *agent)
{
    if (agent != NULL) {
        host_streams_free(agent->streams);
        shell_free(agent->shell);
        free(agent->topology);
    }
    free(agent);
}

struct exec_session *host_agent_session(struct host_agent *agent)
{
    return &agent->session;
}

struct shell *host_agent_shell(struct host_agent *agent)
{
    return agent->shell;
}

int host_agent_start(struct host_agent *agent, struct host_runs *runs, struct err *err)
{
    zsock_t *socket = wire_client_socket(agent->client);
    agent->runs = runs;
    agent->streams = host_streams_new(agent->loop, runs, send_stream, agent);
    if (socket == NULL ||
        zloop_timer(agent->loop, EXEC_SESSION_ALIVE_MS, 0, on_timer, agent) < 0) {
        return err_set(err, ERR_IO, "the connection to the site cannot be polled");
    }
    exec_session_begin(&agent->session, 0, daemon_now_ms());
    shell_add_source(agent->shell, socket, collect, agent);
    shell_run_batch(agent->shell);
    return 0;
}
