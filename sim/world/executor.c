/* SPDX-License-Identifier: Apache-2.0 */
/* executor.c: runs of a session, and by the next instant at which they change. Session
 * and runs are stepped by the machines of real hosts (exec_session, exec_run), with
 * simulated processes.
 *
 * What survives a fault is what survives it on a real host: a guard that dies leaves
 * its processes and the record on disk, an agent that dies leaves guards, a machine
 * that goes down leaves its disk, or not even that.
 *
 * A simulated process works for a given time and exits with a given code. It stops and
 * continues at once. It dies of the first signal that is to terminate it: as a rule of
 * SIGINT. The command of JOB_CONTROLS that terminates it sends it a SIGTERM when it
 * ends, as `kill` does. No launch and no write to disk fails, and users of interactive
 * jobs connect at once. */
#include "sim/world/executor.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "base/arena.h"
#include "base/bounds.h"
#include "host/exec/exec_session.h"
#include "model/job_rlimit.h"
#include "model/record.h"

enum {
    CHILDREN = EXEC_NOTIFICATION + 1,
    REAPERS_MAX = 10, /* killed one after the other, before one has an end */
};

static const int64_t never = INT64_MAX;

struct process {
    bool is_alive;
    int64_t work_ms;  /* what is left of it while it does not work */
    int64_t until_ms; /* the end of its work; never: it does not work now */
    int code;         /* exit code */
};

/* `host` is first: it is what the session knows. */
struct sim_run {
    struct host_run host;
    struct arena arena;
    struct run_id run;
    struct msg_run_start start; /* as it came */
    const char *job_id, *name, *lease;
    struct host_slots *hosts;
    int n_hosts;
    struct run_spec spec;
    struct exec_run exec;
    struct guard_record disk; /* the record, as it was last written */
    bool has_guard;
    int boot;             /* the guard's */
    enum run_phase phase; /* as far as its use of slots was reported */
    struct process job;   /* when it starts */
    struct process children[CHILDREN];
    uint64_t end_number; /* number of the valid end; older ones are ignored */
    bool is_exclusive;
    int64_t start_ms, end_ms;
    /* The last resize; the slots of a growth are in use while the job is notified. */
    struct msg_run_resize resize;
    bool is_growing;
    struct host_slots *hosts_before;
    int n_before;
    UT_hash_handle by_end; /* while end_number is not 0 */
};

struct executor {
    char name[NAME_SIZE], boot_id[24];
    int index;
    struct executor_world world;
    struct exec_session session;
    struct effects effects[2], *filling;
    uint64_t next_token, next_end;
    int n_boots;
    bool is_agent_up, is_alone;      /* guards know that it is not up */
    enum executor_fault fault;       /* drawn in this step, and not done yet */
    const struct load_value *values; /* NULL: none to report */
    int n_values;
    struct sim_run *ends;
};

static void format_boot(struct executor *executor)
{
    snprintf(executor->boot_id, sizeof executor->boot_id, "boot-%d", executor->n_boots);
}

struct executor *executor_new(const char *name, int index,
                              const struct executor_world *world, int64_t now_ms)
{
    struct executor *executor = mem_alloc(1, sizeof *executor);

    snprintf(executor->name, sizeof executor->name, "%s", name);
    executor->index = index;
    executor->world = *world;
    executor->is_agent_up = true;
    effects_init(&executor->effects[0]);
    effects_init(&executor->effects[1]);
    executor->filling = &executor->effects[0];
    format_boot(executor);
    exec_session_init(&executor->session, executor->name, executor->boot_id, now_ms);
    return executor;
}

/* Walks over all runs; NULL begins and ends. */
static struct sim_run *next_run(const struct executor *executor,
                                const struct sim_run *run)
{
    return (struct sim_run *)exec_session_next(&executor->session,
                                               run ? &run->host : NULL);
}

static struct sim_run *find_run(struct executor *executor, const struct run_id *id)
{
    return (struct sim_run *)exec_session_find(&executor->session, id);
}

static void set_end(struct executor *executor, struct sim_run *run, uint64_t number)
{
    if (run->end_number) {
        HASH_DELETE(by_end, executor->ends, run);
    }
    run->end_number = number;
    if (number) {
        HASH_ADD(by_end, executor->ends, end_number, sizeof run->end_number, run);
    }
}

static bool is_using(const struct sim_run *run)
{
    return run->phase == RUN_RUNNING;
}

/* `sign` 0: the run ended while it was not using its slots. */
static void report_use(struct executor *executor, const struct sim_run *run, int sign,
                       bool is_over)
{
    for (int i = 0; i < run->n_hosts; i++) {
        const struct executor_use use = {.host = run->hosts[i].host,
                                         .lease = run->lease,
                                         .n_slots = sign * run->hosts[i].n_slots,
                                         .n_gone = is_over ? run->hosts[i].n_slots : 0,
                                         .is_exclusive = run->is_exclusive,
                                         .is_again = run->phase == RUN_SUSPENDED};
        executor->world.used(executor->world.arg, executor->index, &use);
    }
}

static bool has_host(const struct sim_run *run, const char *host)
{
    for (int i = 0; i < run->n_hosts; i++) {
        if (!strcmp(run->hosts[i].host, host)) {
            return true;
        }
    }
    return false;
}

/* Reports the slots that a resize adds (`sign` 1) or releases. The run's hosts exclude
 * them. */
static void report_resize(struct executor *executor, const struct sim_run *run,
                          int sign)
{
    for (int i = 0; i < run->resize.n_hosts; i++) {
        const struct host_slots *hosts = &run->resize.hosts[i];
        const struct executor_use use = {.host = hosts->host,
                                         .lease = run->lease,
                                         .n_slots = sign * hosts->n_slots,
                                         .n_gone = sign < 0 ? hosts->n_slots : 0,
                                         .is_exclusive = run->is_exclusive,
                                         .is_part = has_host(run, hosts->host)};
        executor->world.used(executor->world.arg, executor->index, &use);
    }
}

/* It uses no slots any more, whatever becomes of its record. */
static void release_slots(struct executor *executor, struct sim_run *run)
{
    if (run->phase == RUN_RUNNING || run->phase == RUN_SUSPENDED) {
        report_use(executor, run, is_using(run) ? -1 : 0, true);
        run->phase = RUN_ENDED;
    }
    set_end(executor, run, 0);
}

static void free_run(struct executor *executor, struct sim_run *run)
{
    release_slots(executor, run);
    arena_release(&run->arena);
    free(run);
}

static void remove_run(struct executor *executor, struct sim_run *run)
{
    exec_session_remove(&executor->session, &run->host);
    free_run(executor, run);
}

const char *executor_name(const struct executor *executor)
{
    return executor->name;
}

void executor_free(struct executor *executor)
{
    struct sim_run *run;

    if (!executor) {
        return;
    }
    while ((run = next_run(executor, NULL))) {
        remove_run(executor, run);
    }
    effects_release(&executor->effects[0]);
    effects_release(&executor->effects[1]);
    free(executor);
}

/* ---- records */

/* The record as the guard of the run has it in memory. */
static struct guard_record record_of(const struct sim_run *run)
{
    struct guard_record record = {.token = run->disk.token,
                                  .start_ms = (uint64_t)run->start_ms,
                                  .end_ms = (uint64_t)run->end_ms};

    exec_run_fill_record(&run->exec, &record);
    return record;
}

/* The guard reports to its agent. */
static void tell(struct executor *executor, struct sim_run *run)
{
    if (executor->is_agent_up && run->has_guard) {
        struct guard_record record = record_of(run);

        exec_session_change(&executor->session, &run->host, &record);
    }
}

static struct host_slots *copy_slots(struct sim_run *run,
                                     const struct host_slots *hosts, int n_hosts)
{
    struct host_slots *copies =
        arena_alloc(&run->arena, (size_t)n_hosts + 1, sizeof *copies);

    for (int i = 0; i < n_hosts; i++) {
        copies[i].host = arena_str(&run->arena, hosts[i].host);
        copies[i].n_slots = hosts[i].n_slots;
    }
    return copies;
}

static void remove_process(struct process *process)
{
    process->is_alive = false;
    process->until_ms = never;
}

static void start_run(struct executor *executor, const struct msg_run_start *start,
                      int64_t now_ms)
{
    struct sim_run *run = mem_alloc(1, sizeof *run);
    long long work_ms = 0;
    int exit_code = 0;

    arena_init_small(&run->arena);
    run->run.site = arena_str(&run->arena, start->run.site);
    run->run.attempt = start->run.attempt;
    run->run.nonce = start->run.nonce;
    record_copy(&run->arena, &schema_run_start, start, &run->start);
    run->job_id = arena_str(&run->arena, start->job);
    run->name = arena_str(&run->arena, start->spec.name);
    run->lease = arena_str(&run->arena, start->lease);
    run->n_hosts = start->n_hosts;
    run->hosts = copy_slots(run, start->hosts, start->n_hosts);
    if (sscanf(start->spec.command, "run %lld exit %d", &work_ms, &exit_code) < 1) {
        work_ms = 0;
    }
    if (run_spec_from_start(&run->spec, start, &run->arena, NULL) != 0) {
        abort(); /* the world checks the specs of its jobs */
    }
    run->spec.wait_ms = EXEC_GO_WAIT_MS;
    exec_run_init(&run->exec, &run->spec, now_ms);
    run->job = (struct process){.work_ms = work_ms, .code = exit_code};
    run->is_exclusive = start->spec.is_exclusive;
    run->phase = RUN_WAITING;
    for (int i = 0; i < CHILDREN; i++) {
        remove_process(&run->children[i]);
    }
    run->has_guard = true;
    run->boot = executor->n_boots;
    run->disk.token = ++executor->next_token;
    run->disk = record_of(run);
    exec_session_add(&executor->session, &run->host, &run->run);
    run->host.is_leased = run->lease[0] != '\0';
    tell(executor, run);
}

/* ---- use of slots */

static void grow(struct executor *executor, struct sim_run *run)
{
    report_resize(executor, run, 1);
    run->hosts_before = run->hosts;
    run->n_before = run->n_hosts;
    run->hosts = (struct host_slots *)run->resize.all;
    run->n_hosts = run->resize.n_all;
}

static void accept_slots(struct executor *executor, struct sim_run *run)
{
    if (run->resize.event == RESIZE_GROW && !run->is_growing) {
        grow(executor, run);
    } else if (run->resize.event != RESIZE_GROW) {
        run->hosts = (struct host_slots *)run->resize.all;
        run->n_hosts = run->resize.n_all;
        report_resize(executor, run, -1);
    }
    run->is_growing = false;
}

static void set_phase(struct executor *executor, struct sim_run *run,
                      enum run_phase phase)
{
    if (phase == RUN_RUNNING) {
        report_use(executor, run, 1, false);
    } else {
        report_use(executor, run, is_using(run) ? -1 : 0, phase == RUN_ENDED);
    }
    run->phase = phase;
}

/* After a step. A run uses its slots from its first command on. */
static void sync_use(struct executor *executor, struct sim_run *run)
{
    if (!run->has_guard || run->phase == RUN_ENDED) {
        return;
    }
    if (run->is_growing && !run->exec.resize.is_running && run->exec.resize_code != 0) {
        run->is_growing = false;
        run->hosts = run->hosts_before;
        run->n_hosts = run->n_before;
        report_resize(executor, run, -1);
    }
    if (run->phase != RUN_WAITING && run->phase != run->exec.phase) {
        set_phase(executor, run, run->exec.phase);
    }
}

/* ---- simulated processes */

/* "notify 1500 exit 3" is the command of a scenario's job. For others the world
 * decides. */
static struct executor_command notification(const struct executor *executor,
                                            const char *text)
{
    struct executor_command command = {.ms = 0};
    long long ms = 0;

    if (sscanf(text, "notify %lld exit %d", &ms, &command.code) < 1) {
        executor->world.command(executor->world.arg, text, &command);
    } else {
        command.ms = ms;
    }
    return command;
}

static void launch(struct executor *executor, struct sim_run *run,
                   const struct exec_effect *effect, int64_t now_ms)
{
    struct process *process = &run->children[effect->child];
    const char *text = stages_command(&run->exec.stages);
    struct executor_command command = {.ms = run->job.work_ms, .code = run->job.code};

    if (effect->child == EXEC_CONTROL_COMMAND) {
        text = run->spec.controls[effect->control];
    }
    if (effect->child == EXEC_NOTIFICATION) {
        command = notification(executor, run->resize.command);
    } else if (effect->child != EXEC_COMMAND || run->exec.stages.stage != STAGE_JOB) {
        executor->world.command(executor->world.arg, text, &command);
    }
    *process = (struct process){true, command.ms, never, command.code};
    if (effect->child != EXEC_COMMAND) {
        process->until_ms = now_ms + command.ms;
    } else if (run->phase == RUN_WAITING) {
        set_phase(executor, run, RUN_RUNNING);
    }
    if (effect->child == EXEC_NOTIFICATION && run->resize.event == RESIZE_GROW) {
        grow(executor, run);
        run->is_growing = true;
    }
}

static void set_to_work(struct process *process, int64_t now_ms)
{
    if (process->is_alive && process->until_ms == never) {
        process->until_ms = now_ms + process->work_ms;
    }
}

static void halt(struct process *process, int64_t now_ms)
{
    if (process->until_ms != never) {
        process->work_ms = process->until_ms - now_ms;
        process->until_ms = never;
    }
}

static struct exec_event exited(struct executor *executor, struct sim_run *run,
                                enum exec_child child, int status)
{
    if (child == EXEC_COMMAND && run->exec.stages.stage == STAGE_JOB &&
        executor->world.exited) {
        executor->world.exited(executor->world.arg, executor->index, &run->run, status);
    }
    remove_process(&run->children[child]);
    return (struct exec_event){.kind = EXEC_EXITED, .child = child, .status = status};
}

/* ---- steps */

/* A run while it is stepped. */
struct stepped {
    struct executor *executor;
    struct sim_run *run;
    int64_t now_ms;
};

static int64_t now_ms_of(void *arg)
{
    return ((struct stepped *)arg)->now_ms;
}

static void on_step(void *arg, const struct exec_event *event,
                    const struct exec_effects *effects)
{
    struct stepped *at = arg;

    (void)event, (void)effects;
    sync_use(at->executor, at->run);
}

static void save(struct sim_run *run)
{
    run->disk = record_of(run);
}

/* A fault may come between any two effects of a run. What follows the death of its
 * guard, or of the machine, is not done any more. */
static bool has_died(struct executor *executor, struct sim_run *run)
{
    enum executor_fault fault = EXECUTOR_FAULT_NONE;

    if (run->has_guard && executor->fault == EXECUTOR_FAULT_NONE &&
        executor->world.fault) {
        fault = executor->world.fault(executor->world.arg, executor->index);
    }
    if (fault == EXECUTOR_FAULT_GUARD) {
        run->has_guard = false;
    } else if (fault == EXECUTOR_FAULT_AGENT) {
        executor->is_agent_up = false;
    } else if (fault != EXECUTOR_FAULT_NONE) {
        executor->fault = fault;
    }
    return !run->has_guard || executor->fault != EXECUTOR_FAULT_NONE;
}

/* Returns true if there is an answer at once. */
static bool carry_out(void *arg, const struct exec_effect *effect, struct err *err,
                      struct exec_event *answer)
{
    struct stepped *at = arg;
    struct executor *executor = at->executor;
    struct sim_run *run = at->run;
    int64_t now_ms = at->now_ms;
    struct process *command = &run->children[EXEC_COMMAND];

    (void)err;
    if (has_died(executor, run)) {
        return false;
    }
    switch (effect->kind) {
    case EXEC_LAUNCH:
        launch(executor, run, effect, now_ms);
        *answer = (struct exec_event){.kind = EXEC_LAUNCHED, .child = effect->child};
        return true;
    case EXEC_SAVE:
        save(run);
        answer->kind = EXEC_SAVED;
        return true;
    case EXEC_OPEN_GATE:
        if (run->exec.stages.stage == STAGE_JOB) {
            executor->world.begun(executor->world.arg, executor->index, run->run.site,
                                  run->job_id, run->name);
        }
        set_to_work(command, now_ms);
        break;
    case EXEC_SIGNAL: /* it stops a job that is to be suspended */
        answer->kind = EXEC_STOPPED;
        if (run->exec.suspend.until_ms == EXEC_NEVER) {
            break;
        }
        halt(command, now_ms);
        return true;
    case EXEC_STOP:
        halt(command, now_ms);
        answer->kind = EXEC_STOPPED;
        return true;
    case EXEC_CONTINUE:
        set_to_work(command, now_ms);
        break;
    case EXEC_TERMINATE:
        if (command->is_alive) {
            *answer = exited(executor, run, EXEC_COMMAND, effect->signal);
            return true;
        }
        break;
    case EXEC_KILL:
        *answer = exited(executor, run, effect->child, SIGKILL);
        return true;
    case EXEC_DROP:
        remove_process(&run->children[effect->child]);
        break;
    case EXEC_CLEAR:
        for (int i = 0; i < CHILDREN; i++) {
            remove_process(&run->children[i]);
        }
        answer->kind = EXEC_CLEARED;
        return true;
    case EXEC_DRAIN:
        answer->kind = EXEC_DRAINED;
        return true;
    case EXEC_ACCEPT_SLOTS:
        accept_slots(executor, run);
        break;
    case EXEC_END:
        run->start_ms = run->exec.has_started ? run->start_ms : 0;
        run->end_ms = now_ms;
        save(run);
        break;
    case EXEC_PUBLISH:
    case EXEC_WRITE:
        save(run);
        break;
    case EXEC_REMOVE: /* see step_and_plan */
    case EXEC_RELEASE:
    case EXEC_WATCH_LIMITS:
    case EXEC_REPORT:
        break; /* one report follows all steps */
    }
    return false;
}

static void step(struct executor *executor, struct sim_run *run,
                 const struct exec_event *event, int64_t now_ms)
{
    struct stepped stepped = {executor, run, now_ms};
    struct exec_executor loop = {now_ms_of, on_step, carry_out, &stepped};

    exec_loop_run(&run->exec, event, &loop);
    if (run->exec.awaits_user && run->has_guard) {
        exec_loop_run(&run->exec, &(struct exec_event){.kind = EXEC_USER_CONNECTED},
                      &loop);
    }
}

/* The next instant at which the run changes. */
static int64_t next_change_ms(const struct sim_run *run)
{
    int64_t at_ms = run->has_guard ? exec_run_wake_ms(&run->exec) : never;

    for (int i = 0; i < CHILDREN; i++) {
        if (run->children[i].until_ms < at_ms) {
            at_ms = run->children[i].until_ms;
        }
    }
    return at_ms;
}

static void plan_end(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    int64_t at_ms = next_change_ms(run);

    set_end(executor, run, at_ms == never ? 0 : ++executor->next_end);
    if (at_ms != never) {
        executor->world.end_at(executor->world.arg, executor->index,
                               at_ms > now_ms ? at_ms : now_ms, run->end_number);
    }
}

/* ---- faults */

/* Another guard reaps it; the record on disk is all that it knows. */
static void reap(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    bool is_this_boot = run->boot == executor->n_boots;

    run->has_guard = true;
    run->boot = executor->n_boots;
    run->start_ms = (int64_t)run->disk.start_ms;
    exec_run_load(&run->exec, &run->spec, &run->disk, is_this_boot, now_ms);
    step(executor, run, &(struct exec_event){.kind = EXEC_TIME}, now_ms);
}

/* The agent finds a run without a guard (run_dir.h). False: the run is gone. */
static bool resolve(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    if (run->disk.phase == RUN_ENDED) {
        exec_session_change(&executor->session, &run->host, &run->disk);
        release_slots(executor, run);
    } else if (run->disk.phase == RUN_WAITING && run->boot == executor->n_boots) {
        exec_session_lose(&executor->session, &run->host, executor->filling);
        free_run(executor, run);
        return false;
    } else {
        /* A reaper may be killed, too. */
        for (int i = 0; i < REAPERS_MAX && !run->has_guard; i++) {
            reap(executor, run, now_ms);
        }
        tell(executor, run);
    }
    return true;
}

static void step_and_plan(struct executor *executor, struct sim_run *run,
                          const struct exec_event *event, int64_t now_ms)
{
    step(executor, run, event, now_ms);
    if (executor->fault != EXECUTOR_FAULT_NONE) {
        return;
    }
    if (run->exec.is_gone) {
        remove_run(executor, run);
        return;
    }
    if (!run->has_guard && executor->is_agent_up && !resolve(executor, run, now_ms)) {
        return;
    }
    plan_end(executor, run, now_ms);
    tell(executor, run);
}

/* The machine goes down, with the processes of all runs. */
static void go_down(struct executor *executor, bool loses_disk)
{
    struct sim_run *next;

    for (struct sim_run *run = next_run(executor, NULL); run; run = next) {
        next = next_run(executor, run);
        run->has_guard = false;
        for (int i = 0; i < CHILDREN; i++) {
            remove_process(&run->children[i]);
        }
        if (loses_disk) {
            remove_run(executor, run);
        } else {
            release_slots(executor, run);
        }
    }
    executor->fault = EXECUTOR_FAULT_NONE;
    executor->is_agent_up = false;
    executor->n_boots++;
    format_boot(executor);
}

void executor_reboot(struct executor *executor)
{
    go_down(executor, true);
    executor->is_agent_up = true;
    executor->is_alone = false;
}

/* Guards notice that their agent is gone, or there again. */
static void attend(struct executor *executor, int64_t now_ms)
{
    const struct exec_event event = {.kind = executor->is_agent_up ? EXEC_ATTENDED
                                                                   : EXEC_ALONE};
    struct sim_run *next;

    executor->is_alone = !executor->is_agent_up;
    for (struct sim_run *run = next_run(executor, NULL); run; run = next) {
        next = next_run(executor, run);
        if (run->has_guard) {
            step_and_plan(executor, run, &event, now_ms);
        }
    }
}

/* Ends what is under way: a fault was drawn in a step. */
static void suffer(struct executor *executor, int64_t now_ms)
{
    if (executor->fault != EXECUTOR_FAULT_NONE) {
        go_down(executor, executor->fault == EXECUTOR_FAULT_DISK);
    }
    if (!executor->is_agent_up && !executor->is_alone) {
        attend(executor, now_ms);
    }
}

/* ---- orders */

static void go(struct executor *executor, struct sim_run *run, uint64_t token,
               int64_t now_ms)
{
    if (run->exec.phase == RUN_WAITING && run->disk.token == token) {
        run->start_ms = now_ms;
        step_and_plan(executor, run, &(struct exec_event){.kind = EXEC_GO}, now_ms);
    } else {
        tell(executor, run);
    }
}

static void resize(struct executor *executor, struct sim_run *run,
                   const struct msg_run_resize *order, int64_t now_ms)
{
    if (!exec_resize_takes(&run->exec, order->number)) {
        tell(executor, run);
        return;
    }
    run->resize = *order;
    run->resize.command = arena_str(&run->arena, order->command);
    run->resize.hosts = copy_slots(run, order->hosts, order->n_hosts);
    run->resize.all = copy_slots(run, order->all, order->n_all);
    step_and_plan(executor, run,
                  &(struct exec_event){
                      .kind = EXEC_RESIZE,
                      .resize = {.number = order->number,
                                 .n_slots = msg_sum_slots(order->all, order->n_all),
                                 .has_command = order->command[0] != '\0'}},
                  now_ms);
}

static void send_output(struct executor *executor, const struct msg_output_ask *ask)
{
    struct msg msg = {.kind = MSG_OUTPUT};

    msg.output.run = ask->run;
    msg.output.request = ask->request;
    msg.output.stream = ask->stream;
    msg.output.offset = ask->offset;
    msg.output.bytes = (const uint8_t *)"";
    msg.output.is_end = true;
    exec_session_send(&executor->session, &msg, executor->filling);
}

static void send_to_run(struct executor *executor, const struct msg *msg,
                        int64_t now_ms)
{
    struct sim_run *run = find_run(executor, &msg->run.run);

    if (msg->kind == MSG_OUTPUT_ASK) {
        send_output(executor, &msg->output_ask);
    } else if (!run && msg->kind == MSG_RUN_START) {
        start_run(executor, &msg->run_start, now_ms);
    } else if (run && msg->kind == MSG_RUN_GO) {
        go(executor, run, msg->run_go.token, now_ms);
    } else if (run && msg->kind == MSG_RUN_CONTROL) {
        step_and_plan(executor, run,
                      &(struct exec_event){.kind = EXEC_CONTROL,
                                           .control = msg->run_control.control},
                      now_ms);
    } else if (run && msg->kind == MSG_RUN_RESIZE) {
        resize(executor, run, &msg->run_resize, now_ms);
    } else if (run && msg->kind == MSG_RUN_FORGET) {
        remove_run(executor, run);
    }
}

/* ---- the session */

static void send_to_site(struct executor *executor, struct msg *msg)
{
    if (msg->kind == MSG_HOST_LOAD) {
        if (!executor->values) {
            return; /* it has nothing to report */
        }
        msg->host_load.values = executor->values;
        msg->host_load.n_values = executor->n_values;
    }
    if (msg->kind == MSG_RUN_FOUND) {
        const struct sim_run *run = find_run(executor, &msg->run_start.run);

        if (!run) {
            return;
        }
        msg->run_start = run->start;
        msg->run_start.hosts = run->hosts;
        msg->run_start.n_hosts = run->n_hosts;
    }
    executor->world.send(executor->world.arg, executor->index, msg);
}

static struct effects *take_batch(struct executor *executor)
{
    struct effects *batch = executor->filling;

    executor->filling =
        batch == &executor->effects[0] ? &executor->effects[1] : &executor->effects[0];
    return batch;
}

static bool is_up(const struct executor *executor)
{
    return executor->is_agent_up && executor->fault == EXECUTOR_FAULT_NONE;
}

/* As sys/shell.h: steps a tick, carries out the batch, until nothing is due. */
static void run_batch(struct executor *executor, int64_t now_ms)
{
    const struct event tick = {.kind = EVENT_TICK, .now_ms = now_ms};

    if (executor->world.is_calm) {
        executor->session.alive_ms = never;
    }
    while (is_up(executor) && (executor->filling->count > 0 ||
                               exec_session_wake_ms(&executor->session) <= now_ms)) {
        exec_session_step(&executor->session, &tick, executor->filling);
        struct effects *batch = take_batch(executor);

        for (int i = 0; i < batch->count && is_up(executor); i++) {
            struct effect *effect = &batch->items[i];

            if (effect->kind == EFFECT_SEND && effect->send.to.kind == PEER_RUN) {
                send_to_run(executor, &effect->send.msg, now_ms);
            } else if (effect->kind == EFFECT_SEND) {
                send_to_site(executor, &effect->send.msg);
            }
        }
        effects_clear(batch);
    }
    suffer(executor, now_ms);
    if (!executor->is_agent_up) {
        effects_clear(executor->filling);
    }
}

void executor_hello(struct executor *executor, int64_t now_ms)
{
    if (executor->is_agent_up) {
        exec_session_begin(&executor->session, 0, now_ms);
        run_batch(executor, now_ms);
    }
}

void executor_message(struct executor *executor, const struct msg *msg, int64_t now_ms)
{
    const struct event event = {.kind = EVENT_MESSAGE, .now_ms = now_ms, .msg = msg};

    if (executor->is_agent_up) {
        exec_session_step(&executor->session, &event, executor->filling);
        run_batch(executor, now_ms);
    }
}

void executor_tick(struct executor *executor, int64_t now_ms)
{
    run_batch(executor, now_ms);
}

void executor_report_load(struct executor *executor, int64_t now_ms)
{
    exec_session_report_load(&executor->session);
    run_batch(executor, now_ms);
}

void executor_set_load(struct executor *executor, const struct load_value *values,
                       int n_values, int64_t now_ms)
{
    executor->values = values;
    executor->n_values = n_values;
    executor_report_load(executor, now_ms);
}

void executor_fail(struct executor *executor, enum executor_fault fault, int64_t now_ms)
{
    struct sim_run *next;

    switch (fault) {
    case EXECUTOR_FAULT_NONE:
        break;
    case EXECUTOR_FAULT_GUARD:
        for (struct sim_run *run = next_run(executor, NULL); run; run = next) {
            next = next_run(executor, run);
            run->has_guard = run->has_guard && run->exec.phase == RUN_ENDED;
            if (!run->has_guard && executor->is_agent_up &&
                resolve(executor, run, now_ms)) {
                plan_end(executor, run, now_ms);
            }
        }
        run_batch(executor, now_ms);
        break;
    case EXECUTOR_FAULT_AGENT:
        executor->is_agent_up = false;
        suffer(executor, now_ms);
        break;
    case EXECUTOR_FAULT_MACHINE:
    case EXECUTOR_FAULT_DISK:
        go_down(executor, fault == EXECUTOR_FAULT_DISK);
        break;
    }
}

bool executor_is_up(const struct executor *executor)
{
    return executor->is_agent_up;
}

bool executor_is_connected(const struct executor *executor)
{
    return executor->is_agent_up && executor->session.is_welcome;
}

void executor_return(struct executor *executor, int64_t now_ms)
{
    struct sim_run *next;

    if (executor->is_agent_up) {
        return;
    }
    executor->is_agent_up = true;
    executor->is_alone = false;
    for (struct sim_run *run = next_run(executor, NULL); run && is_up(executor);
         run = next) {
        next = next_run(executor, run);
        if (run->has_guard) {
            step_and_plan(executor, run, &(struct exec_event){.kind = EXEC_ATTENDED},
                          now_ms);
        } else if (resolve(executor, run, now_ms)) {
            plan_end(executor, run, now_ms);
        }
    }
    suffer(executor, now_ms);
    effects_clear(executor->filling); /* there is no session to say it in */
    executor_hello(executor, now_ms);
}

/* ---- time */

/* A command that terminates the job has done so when it ends. */
static void end_process(struct executor *executor, struct sim_run *run,
                        enum exec_child child, int64_t now_ms)
{
    struct exec_event event =
        exited(executor, run, child, run->children[child].code << 8);

    if (!run->has_guard) {
        plan_end(executor, run, now_ms); /* nobody is there to see it */
        return;
    }
    if (child == EXEC_CONTROL_COMMAND && run->children[EXEC_COMMAND].is_alive &&
        run->exec.side.control == JOB_CONTROL_TERMINATE) {
        struct exec_event job = exited(executor, run, EXEC_COMMAND, SIGTERM);

        step(executor, run, &job, now_ms);
    }
    step_and_plan(executor, run, &event, now_ms);
}

void executor_run_end(struct executor *executor, uint64_t number, int64_t now_ms)
{
    struct sim_run *run;
    int child = 0;

    HASH_FIND(by_end, executor->ends, &number, sizeof number, run);
    if (!run) {
        return;
    }
    while (child < CHILDREN && run->children[child].until_ms > now_ms) {
        child++;
    }
    if (child < CHILDREN) {
        end_process(executor, run, (enum exec_child)child, now_ms);
    } else {
        step_and_plan(executor, run, &(struct exec_event){.kind = EXEC_TIME}, now_ms);
    }
    run_batch(executor, now_ms);
    suffer(executor, now_ms);
}
