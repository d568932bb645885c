/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_hosts.c: see slurm_hosts.h. */
#include "slurm/io/slurm_hosts.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slurm/io/slurm_spool.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum { STEP_MS = 100 }; /* how late a change of contracts may be seen */

struct slurm_hosts {
    zloop_t *loop;
    struct shell *shell;
    struct slurm_hosts_setting setting;
    struct slurm_spool spool;
    struct slurm_agent *agent;
    struct child *child; /* the command that runs; NULL: none */
    struct err failure;  /* of one that could not begin */
    bool has_failure;
    int polled[CHILD_FDS]; /* descriptors of the child in the loop; -1: none */
    struct effects inbox;  /* SENDs of the site's machine, until the next step */
    int timer;
    const struct slurm_answers *seen; /* the last ones that `seen` was told of */
};

/* ---------------------------------------------------------------- io */

static void send_to_site(void *arg, const char *node, const struct msg *msg)
{
    struct slurm_hosts *hosts = arg;
    struct peer from = {.kind = PEER_HOST, .name = node, .roles = HOST_PROOF_LOCAL};
    shell_take_message(hosts->shell, &from, msg);
}

static void command(void *arg, const char *const *words)
{
    struct slurm_hosts *hosts = arg;
    hosts->has_failure = slurm_child_new(&hosts->setting.place, words, daemon_now_ms(),
                                         &hosts->child, &hosts->failure) < 0;
}

static int make_run(void *arg, const struct slurm_run_record *record,
                    const struct msg_run_start *start, struct err *err)
{
    struct slurm_hosts *hosts = arg;
    return slurm_spool_make(&hosts->spool, record, start, err);
}

static bool look(void *arg, const struct run_id *run, struct slurm_run_files *files)
{
    struct slurm_hosts *hosts = arg;
    return slurm_spool_look(&hosts->spool, run, files);
}

static bool claim(void *arg, const struct run_id *run)
{
    struct slurm_hosts *hosts = arg;
    return slurm_spool_claim(&hosts->spool, run);
}

static void remove_run(void *arg, const struct run_id *run)
{
    struct slurm_hosts *hosts = arg;
    slurm_spool_remove(&hosts->spool, run);
}

static void keep_control(void *arg, const struct run_id *run, uint64_t number)
{
    struct slurm_hosts *hosts = arg;
    slurm_spool_keep_control(&hosts->spool, run, number);
}

static const char *group(void *arg, const char *account, struct arena *arena)
{
    (void)arg;
    const struct passwd *entry = account[0] != '\0' ? getpwnam(account) : NULL;
    return entry != NULL ? arena_printf(arena, "%lu", (unsigned long)entry->pw_gid)
                         : "";
}

static const char *script(void *arg, const struct run_id *run, struct arena *arena)
{
    struct slurm_hosts *hosts = arg;
    return slurm_spool_script(&hosts->spool, run, arena);
}

static void read_output(void *arg, const struct msg_output_ask *ask,
                        struct msg_output *output, struct arena *arena)
{
    struct slurm_hosts *hosts = arg;
    slurm_spool_read_output(&hosts->spool, ask, output, arena);
}

static bool read_start(void *arg, const struct run_id *run, struct msg_run_start *start,
                       struct arena *arena)
{
    struct slurm_hosts *hosts = arg;
    return slurm_spool_read_start(&hosts->spool, run, start, arena);
}

static void held(void *arg, const struct slurm_contract *contract,
                 const char *const *nodes, int n_nodes)
{
    struct slurm_hosts *hosts = arg;
    hosts->setting.held(hosts->setting.arg, contract, nodes, n_nodes);
}

static void waiting(void *arg, int n_cpus)
{
    struct slurm_hosts *hosts = arg;
    hosts->setting.waiting(hosts->setting.arg, n_cpus);
}

static void write_log(void *arg, enum log_level level, const char *text)
{
    (void)arg;
    log_line(level, "%s", text);
}

/* ---------------------------------------------------------------- steps */

static int on_child(zloop_t *loop, zmq_pollitem_t *item, void *arg);

/* The loop waits for the descriptors that the child has now. */
static void poll_child(struct slurm_hosts *hosts)
{
    struct pollfd fds[CHILD_FDS];
    for (int i = 0; i < CHILD_FDS; i++) {
        fds[i].fd = -1;
    }
    if (hosts->child != NULL) {
        child_fds(hosts->child, fds);
    }
    for (int i = 0; i < CHILD_FDS; i++) {
        zmq_pollitem_t old = {.fd = hosts->polled[i], .events = ZMQ_POLLIN};
        zmq_pollitem_t now = {.fd = fds[i].fd, .events = ZMQ_POLLIN};
        if (hosts->polled[i] >= 0) {
            zloop_poller_end(hosts->loop, &old);
        }
        if (fds[i].fd >= 0 && zloop_poller(hosts->loop, &now, on_child, hosts) != 0) {
            fds[i].fd = -1; /* the timer looks at it */
        }
        hosts->polled[i] = fds[i].fd;
    }
}

/* Passes on what the command that has ended has said. The next one may begin at once,
 * and fail to. */
static void end_child(struct slurm_hosts *hosts, int64_t now_ms)
{
    enum { COMMANDS_MAX = 16 }; /* the rest with the next step */
    for (int i = 0; i < COMMANDS_MAX; i++) {
        struct child *child = hosts->child;
        struct err err = hosts->failure;
        const char *text = "";
        int rc = hosts->has_failure ? err.code : 0;
        if (!hosts->has_failure && (child == NULL || !child_step(child, now_ms))) {
            return;
        }
        if (child != NULL) {
            rc = child_output(child, &text, &err);
        }
        hosts->child = NULL;
        hosts->has_failure = false;
        slurm_agent_done(hosts->agent, rc, text, &err, now_ms);
        child_free(child);
    }
}

static void deliver(struct slurm_hosts *hosts, int64_t now_ms)
{
    for (int i = 0; i < hosts->inbox.count; i++) {
        const struct effect *effect = &hosts->inbox.items[i];
        slurm_agent_message(hosts->agent, effect->send.to.name, &effect->send.msg,
                            now_ms);
    }
    effects_clear(&hosts->inbox);
}

static void step(struct slurm_hosts *hosts)
{
    int64_t now_ms = daemon_now_ms();
    hosts->setting.refresh(hosts->setting.arg, now_ms);
    deliver(hosts, now_ms);
    end_child(hosts, now_ms);
    if (slurm_agent_wake_ms(hosts->agent) <= now_ms) {
        slurm_agent_tick(hosts->agent, now_ms);
    }
    poll_child(hosts);
    shell_run_batch(hosts->shell);
    const struct slurm_answers *seen = slurm_agent_answers(hosts->agent);
    if (seen != hosts->seen) {
        hosts->seen = seen;
        hosts->setting.seen(hosts->setting.arg, &seen->nodes);
    }
}

static int on_child(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    (void)loop;
    (void)item;
    step(arg);
    return 0;
}

static int on_timer(zloop_t *loop, int timer, void *arg)
{
    (void)loop;
    (void)timer;
    step(arg);
    return 0;
}

/* During a batch: the agent gets it after that. */
static int send_to_node(void *arg, const struct peer *to, const struct msg *msg,
                        struct err *err)
{
    struct slurm_hosts *hosts = arg;
    (void)err;
    effects_send(&hosts->inbox, to, msg);
    return 0;
}

/* ---------------------------------------------------------------- life */

static void load_run(void *arg, const struct slurm_run_record *record)
{
    struct slurm_hosts *hosts = arg;
    slurm_agent_load(hosts->agent, record, daemon_now_ms());
}

int slurm_hosts_new(zloop_t *loop, struct shell *shell,
                    const struct slurm_hosts_setting *setting,
                    struct slurm_hosts **hosts, struct err *err)
{
    struct slurm_hosts *made = mem_alloc(1, sizeof(*made));
    *made = (struct slurm_hosts){
        .loop = loop, .shell = shell, .setting = *setting, .timer = -1};
    effects_init(&made->inbox);
    for (int i = 0; i < CHILD_FDS; i++) {
        made->polled[i] = -1;
    }
    int rc = slurm_spool_open(&made->spool, setting->spool, err);
    if (rc < 0) {
        effects_release(&made->inbox);
        free(made);
        return rc;
    }
    const struct slurm_agent_io io = {
        .arg = made,
        .send = send_to_site,
        .command = command,
        .make_run = make_run,
        .look = look,
        .claim = claim,
        .remove_run = remove_run,
        .keep_control = keep_control,
        .group = group,
        .script = script,
        .read_output = read_output,
        .read_start = read_start,
        .held = held,
        .waiting = waiting,
        .log = write_log,
    };
    made->agent = slurm_agent_new(&setting->agent, &io);
    slurm_spool_list(&made->spool, load_run, made);
    shell_route(shell, PEER_HOST, send_to_node, made);
    made->timer = zloop_timer(loop, STEP_MS, 0, on_timer, made);
    *hosts = made;
    return 0;
}

void slurm_hosts_free(struct slurm_hosts *hosts)
{
    if (hosts == NULL) {
        return;
    }
    child_free(hosts->child);
    hosts->child = NULL;
    poll_child(hosts);
    if (hosts->timer >= 0) {
        zloop_timer_end(hosts->loop, hosts->timer);
    }
    slurm_agent_free(hosts->agent);
    slurm_spool_close(&hosts->spool);
    effects_release(&hosts->inbox);
    free(hosts);
}

void slurm_hosts_set_nodes(struct slurm_hosts *hosts, const char *const *names,
                           int n_names)
{
    slurm_agent_set_nodes(hosts->agent, names, n_names, daemon_now_ms());
}

void slurm_hosts_set_contracts(struct slurm_hosts *hosts,
                               const struct slurm_contract *contracts, int n_contracts)
{
    slurm_agent_set_contracts(hosts->agent, contracts, n_contracts, daemon_now_ms());
}
