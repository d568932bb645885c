/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_agent_run.c: the table of runs, the site's orders about them, and the commands
 * that carry these out. */
#include "slurm/slurm_agent_parts.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "model/job_rlimit.h"

enum {
    AGAIN_MS = 5000,       /* an order whose effect is not seen */
    KILL_AGAIN_MS = 30000, /* slurmctld sends SIGKILL after KillWait */
    MINUTE_MS = 60000,
};

/* ---------------------------------------------------------------- the table */

static void copy_record(struct agent_run *run, const struct slurm_run_record *from)
{
    struct arena *arena = &run->arena;
    run->record = *from;
    run->record.run.site = arena_str(arena, from->run.site);
    run->record.node = arena_str(arena, from->node);
    run->record.lease = arena_str(arena, from->lease);
    run->record.account = arena_str(arena, from->account);
}

struct agent_run *slurm_agent_run_add(struct slurm_agent *agent,
                                      struct agent_node *node,
                                      const struct slurm_run_record *record)
{
    struct agent_run *run = mem_alloc(1, sizeof(*run));
    *run = (struct agent_run){.node = node, .look_ms = INT64_MAX};
    arena_init_small(&run->arena);
    copy_record(run, record);
    exec_session_add(&node->session, &run->run, &record->run);
    run->run.nonce = record->run.nonce;
    run->run.is_leased = true;
    run->run.record.token = record->token;
    run->run.record.control_done = record->control_done;
    agent->runs = mem_room(agent->runs, agent->n_runs, &agent->runs_capacity,
                           sizeof(*agent->runs));
    agent->runs[agent->n_runs++] = run;
    return run;
}

void slurm_agent_run_free(struct slurm_agent *agent, struct agent_run *run)
{
    for (int i = 0; i < agent->n_runs; i++) {
        if (agent->runs[i] == run) {
            memmove(&agent->runs[i], &agent->runs[i + 1],
                    (size_t)(agent->n_runs - i - 1) * sizeof(struct agent_run *));
            agent->n_runs--;
            break;
        }
    }
    agent->about = agent->about == run ? NULL : agent->about;
    exec_session_remove(&run->node->session, &run->run);
    arena_release(&run->arena);
    free(run);
}

static struct agent_run *find(struct agent_node *node, const struct run_id *id)
{
    return (struct agent_run *)exec_session_find_same(&node->session, id);
}

/* ---------------------------------------------------------------- orders of the site
 */

static void fail_start(struct slurm_agent *agent, struct agent_run *run,
                       const char *text)
{
    slurm_agent_io_log(agent, LOG_LEVEL_WARNING, "run %s cannot be started: %s",
                       run->run.name, text);
    slurm_agent_state_end(agent, run, RUN_END_FAILED, 0, agent->now_ms, text);
}

/* The lesser of two limits, of which 0 is none. */
static int64_t least(int64_t a, int64_t b)
{
    return a == 0 ? b : b == 0 || a < b ? a : b;
}

/* 0: none. What cannot be read is refused with the script. */
static int64_t mem_limit_of(const struct msg_run_start *start)
{
    enum { KIB_OF_MIB = 1024 };
    struct job_rlimits limits;
    if (job_rlimits_read(start->spec.limits, start->spec.n_limits, &limits, NULL) < 0 ||
        limits.values[JOB_RLIMIT_MEM] == JOB_RLIMIT_NONE) {
        return 0;
    }
    int64_t mib = (limits.values[JOB_RLIMIT_MEM] + KIB_OF_MIB - 1) / KIB_OF_MIB;
    return mib > 0 ? mib : 1;
}

static void start(struct slurm_agent *agent, struct agent_node *node,
                  const struct msg_run_start *start)
{
    struct slurm_run_record record = {
        .run = start->run,
        .node = node->name,
        .lease = start->lease,
        .account = start->account,
        .token = (rng_next(&agent->rng) >> 1) | 1,
        .n_slots = start->n_hosts > 0 ? start->hosts[0].n_slots : 1,
        .run_limit_ms = least(start->spec.run_limit_ms, start->end_within_ms),
        .mem_limit_mib = mem_limit_of(start),
    };
    struct err err;
    if (exec_session_find(&node->session, &start->run) != NULL) {
        return; /* two of one batch */
    }
    struct agent_run *run = slurm_agent_run_add(agent, node, &record);
    run->is_new = true;
    if (start->lease[0] == '\0') {
        fail_start(agent, run, "Slurm starts the site's own jobs, expected sbatch");
    } else if (strcmp(start->account, "root") == 0) {
        fail_start(agent, run, "its user has no account here");
    } else if (start->n_hosts != 1) {
        fail_start(agent, run, "a job on several nodes of Slurm is not supported");
    } else if (agent->io.make_run(agent->io.arg, &run->record, start, &err) < 0) {
        fail_start(agent, run, err.text);
    } else {
        struct guard_record waiting = run->run.record;
        waiting.phase = RUN_WAITING;
        slurm_agent_state_change(run, &waiting);
    }
}

static void go(struct slurm_agent *agent, struct agent_run *run, uint64_t token)
{
    if (run->run.record.phase != RUN_WAITING || token != run->record.token) {
        exec_session_answer(&run->node->session, &run->run);
        return;
    }
    run->look_ms = run->has_go ? run->look_ms : agent->now_ms;
    run->has_go = true;
}

static void control(struct slurm_agent *agent, struct agent_run *run,
                    const struct run_control *order)
{
    struct run_id id = exec_session_id(&run->run);
    if (order->number <= run->run.record.control_done) {
        exec_session_answer(&run->node->session, &run->run);
        return;
    }
    if (order->number <= run->order.number) {
        return; /* it is being carried out */
    }
    run->order = *order;
    run->order_ms = agent->now_ms;
    run->is_ordered = false;
    if (order->action == CONTROL_KILL && run->run.record.phase == RUN_WAITING &&
        agent->io.claim(agent->io.arg, &id)) {
        slurm_agent_state_end(agent, run, RUN_END_SIGNALLED, SIGKILL, agent->now_ms,
                              "");
    }
}

/* Only a run that has ended or never began. What slurmctld may start of it later finds
 * no directory. */
static void forget(struct slurm_agent *agent, struct agent_run *run)
{
    struct run_id id = exec_session_id(&run->run);
    if (run->run.record.phase == RUN_WAITING && !agent->io.claim(agent->io.arg, &id)) {
        exec_session_answer(&run->node->session, &run->run);
        return;
    }
    agent->io.remove_run(agent->io.arg, &id);
    slurm_agent_run_free(agent, run);
}

static void give_output(struct slurm_agent *agent, struct agent_node *node,
                        const struct msg_output_ask *ask)
{
    struct msg reply = {.kind = MSG_OUTPUT};
    const struct agent_run *run = find(node, &ask->run);
    reply.output = (struct msg_output){.run = ask->run,
                                       .request = ask->request,
                                       .stream = ask->stream,
                                       .offset = ask->offset,
                                       .bytes = (const uint8_t *)"",
                                       .is_end = true};
    if (run != NULL && run->run.record.start_ms != 0) {
        agent->io.read_output(agent->io.arg, ask, &reply.output, &agent->effects.arena);
    }
    exec_session_send(&node->session, &reply, &agent->effects);
}

static void refuse_resize(struct agent_run *run, uint64_t number)
{
    struct guard_record record = run->run.record;
    record.resize_done = number;
    record.resize_code = RESIZE_NOT_NOW;
    slurm_agent_state_change(run, &record);
}

void slurm_agent_run_message(struct slurm_agent *agent, struct agent_node *node,
                             const struct msg *msg)
{
    struct agent_run *run = NULL;
    switch ((int)msg->kind) {
    case MSG_RUN_START:
        start(agent, node, &msg->run_start);
        break;
    case MSG_RUN_GO:
        run = find(node, &msg->run_go.run);
        if (run != NULL) {
            go(agent, run, msg->run_go.token);
        }
        break;
    case MSG_RUN_CONTROL:
        run = find(node, &msg->run_control.run);
        if (run != NULL) {
            control(agent, run, &msg->run_control.control);
        }
        break;
    case MSG_RUN_RESIZE:
        run = find(node, &msg->run_resize.run);
        if (run != NULL) {
            refuse_resize(run, msg->run_resize.number);
        }
        break;
    case MSG_RUN_FORGET:
        run = find(node, &msg->run.run);
        if (run != NULL) {
            forget(agent, run);
        }
        break;
    case MSG_OUTPUT_ASK:
        give_output(agent, node, &msg->output_ask);
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------- commands */

/* "PROVIDER/POLICY/CONSUMER" of the contract. */
static bool is_of_lease(const struct slurm_agent *agent,
                        const struct slurm_contract *contract, const char *lease)
{
    size_t n_site = strlen(agent->config.site);
    size_t n_policy = strlen(contract->policy);
    return strncmp(lease, agent->config.site, n_site) == 0 && lease[n_site] == '/' &&
           strncmp(lease + n_site + 1, contract->policy, n_policy) == 0 &&
           lease[n_site + 1 + n_policy] == '/' &&
           strcmp(lease + n_site + n_policy + 2, contract->consumer) == 0;
}

/* The reservation to submit into; NULL: the node is not reserved for the consumer yet.
 */
static const char *find_reservation(struct slurm_agent *agent,
                                    const struct agent_run *run)
{
    for (int i = 0; i < agent->n_contracts && agent->known != NULL; i++) {
        if (is_of_lease(agent, &agent->contracts[i], run->record.lease)) {
            return slurm_use_find_reservation(
                &agent->command, agent->known, agent->config.site, &agent->contracts[i],
                slurm_agent_account_of(agent, run), run->record.node);
        }
    }
    return NULL;
}

/* The job's part of the node's memory, so that Slurm does not give it all of it, or its
 * own limit if that is smaller. 0: Slurm's default. */
static int64_t memory_of(const struct slurm_agent *agent, const struct agent_run *run)
{
    int index = slurm_use_find_node(&agent->known->nodes, run->record.node);
    if (index < 0) {
        return 0;
    }
    const struct slurm_node *node = &agent->known->nodes.items[index];
    int64_t part_mib =
        node->cpus > 0 ? node->mem_mib * run->record.n_slots / node->cpus : 0;
    return part_mib > 0 ? least(part_mib, run->record.mem_limit_mib) : 0;
}

static bool submit(struct slurm_agent *agent, struct agent_run *run)
{
    struct run_id id = exec_session_id(&run->run);
    const char *reservation = find_reservation(agent, run);
    if (reservation == NULL) {
        return false;
    }
    struct slurm_run_order order = {
        .site = agent->config.site,
        .run = id,
        .user = run->record.account,
        .group = agent->io.group(agent->io.arg, run->record.account, &agent->command),
        .reservation = reservation,
        .node = run->record.node,
        .n_slots = run->record.n_slots,
        .mem_mib = memory_of(agent, run),
        /* A minute more than its limit, which the agent watches more closely. */
        .limit_min = run->record.run_limit_ms == 0
                         ? 0
                         : (run->record.run_limit_ms + MINUTE_MS - 1) / MINUTE_MS + 1,
        .partition = agent->config.partition,
        .account = agent->config.account,
        .output = "/dev/null", /* the script has files of its own */
        .error = "/dev/null",
        .script = agent->io.script(agent->io.arg, &id, &agent->command),
    };
    agent->about = run;
    slurm_agent_io_begin(agent, AGENT_SUBMIT,
                         slurm_run_submit_command(&agent->command, &order));
    return true;
}

static const char *signal_name(struct arena *arena, const struct run_control *order)
{
    return order->action == CONTROL_SUSPEND  ? "STOP"
           : order->action == CONTROL_RESUME ? "CONT"
                                             : arena_printf(arena, "%d", order->signal);
}

static bool give_order(struct slurm_agent *agent, struct agent_run *run)
{
    struct arena *arena = &agent->command;
    bool is_killed = slurm_agent_is_killed(run);
    bool is_due = (is_killed || slurm_agent_has_order(run)) && run->job_id != 0 &&
                  agent->now_ms >= run->order_ms &&
                  (run->run.record.phase == RUN_RUNNING ||
                   run->run.record.phase == RUN_SUSPENDED);
    if (!is_due) {
        return false;
    }
    run->order_ms = agent->now_ms + (is_killed ? KILL_AGAIN_MS : AGAIN_MS);
    agent->about = run;
    slurm_agent_io_begin(
        agent, AGENT_RUN_ORDER,
        is_killed ? slurm_run_kill_command(arena, run->job_id)
                  : slurm_run_signal_command(arena, run->job_id,
                                             signal_name(arena, &run->order)));
    return true;
}

bool slurm_agent_run_act(struct slurm_agent *agent)
{
    for (int i = 0; i < agent->n_runs; i++) {
        struct agent_run *run = agent->runs[i];
        bool is_to_submit = run->has_go && run->job_id == 0 && !run->is_uncertain &&
                            run->run.record.phase == RUN_WAITING &&
                            agent->now_ms >= run->order_ms;
        if (give_order(agent, run) || (is_to_submit && submit(agent, run))) {
            return true;
        }
    }
    return false;
}

void slurm_agent_run_submitted(struct slurm_agent *agent, int rc, const char *text,
                               const struct err *err)
{
    struct agent_run *run = agent->about;
    if (run == NULL) {
        return;
    }
    run->absent_ms = 0;
    if (rc == 0 && (run->job_id = strtoll(text, NULL, 10)) > 0) {
        run->look_ms = agent->now_ms; /* its files tell that it has begun */
        return;
    }
    slurm_agent_io_log(agent, LOG_LEVEL_WARNING, "run %s: %s", run->run.name,
                       rc == 0 ? "sbatch printed no number" : err->text);
    run->job_id = 0;
    /* It may have been taken all the same: the list says so. */
    run->is_uncertain = true;
    run->order_ms = agent->now_ms + AGAIN_MS;
    slurm_agent_state_list_soon(agent);
}

void slurm_agent_run_ordered(struct slurm_agent *agent, int rc, const struct err *err)
{
    struct agent_run *run = agent->about;
    if (run == NULL) {
        return;
    }
    if (rc < 0) {
        slurm_agent_io_log(agent, LOG_LEVEL_WARNING, "run %s: %s", run->run.name,
                           err->text);
    }
    run->is_ordered = rc == 0;
    if (rc == 0 && run->order.action == CONTROL_SIGNAL && slurm_agent_has_order(run)) {
        slurm_agent_state_set_done(agent, run, run->run.record.phase);
    }
    slurm_agent_state_list_soon(agent);
}
