/* SPDX-License-Identifier: Apache-2.0 */
/* sim_run.c: see sim_run.h. */
#include "sim/world/sim_run.h"

#include <signal.h>
#include <stdio.h>

#include "model/job_rlimit.h"
#include "model/record.h"
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
    for (int i = 0; i < run->start.n_hosts; i++) {
        const struct executor_use use = {.host = run->start.hosts[i].host,
                                         .lease = run->start.lease,
                                         .n_slots = sign * run->start.hosts[i].n_slots,
                                         .n_gone =
                                             is_over ? run->start.hosts[i].n_slots : 0,
                                         .is_exclusive = run->is_exclusive,
                                         .is_again = run->phase == RUN_SUSPENDED};
        executor->world.used(executor->world.arg, executor->index, &use);
    }
}

static bool has_host(const struct sim_run *run, const char *host)
{
    for (int i = 0; i < run->start.n_hosts; i++) {
        if (!strcmp(run->start.hosts[i].host, host)) {
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
                                         .lease = run->start.lease,
                                         .n_slots = sign * hosts->n_slots,
                                         .n_gone = sign < 0 ? hosts->n_slots : 0,
                                         .is_exclusive = run->is_exclusive,
                                         .is_part = has_host(run, hosts->host)};
        executor->world.used(executor->world.arg, executor->index, &use);
    }
}

void sim_run_release_slots(struct executor *executor, struct sim_run *run)
{
    if (run->phase == RUN_RUNNING || run->phase == RUN_SUSPENDED) {
        report_use(executor, run, is_using(run) ? -1 : 0, true);
        run->phase = RUN_ENDED;
    }
    set_end(executor, run, 0);
}

/* ---- records */

/* The record as the guard of the run has it in memory. */
static struct guard_record record_of(const struct sim_run *run)
{
    struct guard_record record = {.token = run->token,
                                  .start_ms = (uint64_t)run->start_ms,
                                  .end_ms = (uint64_t)run->end_ms};

    exec_run_fill_record(&run->exec, &record);
    return record;
}

static void save(struct sim_run *run)
{
    const struct guard_record record = record_of(run);

    memcpy(run->disk, &record, sizeof run->disk);
}

struct guard_record sim_run_disk(const struct sim_run *run)
{
    struct guard_record record = {.token = 0};

    memcpy(&record, run->disk, sizeof run->disk);
    return record;
}

void sim_run_tell(struct executor *executor, struct sim_run *run)
{
    if (executor->is_agent_up && run->has_guard) {
        struct guard_record record = record_of(run);

        exec_session_change(&executor->session, &run->host, &record);
    }
}

void sim_run_remove_process(struct sim_process *process)
{
    process->is_alive = false;
    process->until_ms = SIM_RUN_NEVER;
}

void sim_run_start(struct executor *executor, const struct msg_run_start *start,
                   int64_t now_ms)
{
    struct sim_run *run = mem_alloc(1, sizeof *run);
    long long work_ms = 0;
    int exit_code = 0;

    arena_init_small(&run->arena);
    record_copy(&run->arena, &schema_run_start, start, &run->start);
    if (sscanf(start->spec.command, "run %lld exit %d", &work_ms, &exit_code) < 1) {
        work_ms = 0;
    }
    if (run_spec_from_start(&run->spec, &run->start, NULL) != 0) {
        abort(); /* the world checks the specs of its jobs */
    }
    run->spec.wait_ms = EXEC_GO_WAIT_MS;
    exec_run_init(&run->exec, &run->spec, now_ms);
    run->job = (struct sim_process){.work_ms = work_ms, .code = exit_code};
    run->is_exclusive = start->spec.is_exclusive;
    run->phase = RUN_WAITING;
    for (int i = 0; i < SIM_RUN_CHILDREN; i++) {
        sim_run_remove_process(&run->children[i]);
    }
    run->has_guard = true;
    run->boot = executor->n_boots;
    run->token = ++executor->next_token;
    save(run);
    exec_session_add(&executor->session, &run->host, &run->start.run);
    run->host.is_leased = run->start.lease[0] != '\0';
    sim_run_tell(executor, run);
}

/* ---- use of slots */

static void grow(struct executor *executor, struct sim_run *run)
{
    report_resize(executor, run, 1);
    run->hosts_before = run->start.hosts;
    run->n_before = run->start.n_hosts;
    run->start.hosts = run->resize.all;
    run->start.n_hosts = run->resize.n_all;
}

static void accept_slots(struct executor *executor, struct sim_run *run)
{
    if (run->resize.event == RESIZE_GROW && !run->is_growing) {
        grow(executor, run);
    } else if (run->resize.event != RESIZE_GROW) {
        run->start.hosts = run->resize.all;
        run->start.n_hosts = run->resize.n_all;
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
        run->start.hosts = run->hosts_before;
        run->start.n_hosts = run->n_before;
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
    struct sim_process *process = &run->children[effect->child];
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
    *process = (struct sim_process){true, command.ms, SIM_RUN_NEVER, command.code};
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

static void set_to_work(struct sim_process *process, int64_t now_ms)
{
    if (process->is_alive && process->until_ms == SIM_RUN_NEVER) {
        process->until_ms = now_ms + process->work_ms;
    }
}

static void halt(struct sim_process *process, int64_t now_ms)
{
    if (process->until_ms != SIM_RUN_NEVER) {
        process->work_ms = process->until_ms - now_ms;
        process->until_ms = SIM_RUN_NEVER;
    }
}

struct exec_event sim_run_exit(struct executor *executor, struct sim_run *run,
                               enum exec_child child, int status)
{
    if (child == EXEC_COMMAND && run->exec.stages.stage == STAGE_JOB &&
        executor->world.exited) {
        executor->world.exited(executor->world.arg, executor->index, &run->start.run,
                               status);
    }
    sim_run_remove_process(&run->children[child]);
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
    struct sim_process *command = &run->children[EXEC_COMMAND];

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
            executor->world.begun(executor->world.arg, executor->index,
                                  run->start.run.site, run->start.job,
                                  run->start.spec.name);
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
            *answer = sim_run_exit(executor, run, EXEC_COMMAND, effect->signal);
            return true;
        }
        break;
    case EXEC_KILL:
        *answer = sim_run_exit(executor, run, effect->child, SIGKILL);
        return true;
    case EXEC_DROP:
        sim_run_remove_process(&run->children[effect->child]);
        break;
    case EXEC_CLEAR:
        for (int i = 0; i < SIM_RUN_CHILDREN; i++) {
            sim_run_remove_process(&run->children[i]);
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
    case EXEC_CHANGE_LIMITS:
    case EXEC_REPORT:
        break; /* one report follows all steps */
    }
    return false;
}

void sim_run_step(struct executor *executor, struct sim_run *run,
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
    int64_t at_ms = run->has_guard ? exec_run_wake_ms(&run->exec) : SIM_RUN_NEVER;

    for (int i = 0; i < SIM_RUN_CHILDREN; i++) {
        if (run->children[i].until_ms < at_ms) {
            at_ms = run->children[i].until_ms;
        }
    }
    return at_ms;
}

void sim_run_plan_end(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    int64_t at_ms = next_change_ms(run);

    set_end(executor, run, at_ms == SIM_RUN_NEVER ? 0 : ++executor->next_end);
    if (at_ms != SIM_RUN_NEVER) {
        executor->world.end_at(executor->world.arg, executor->index,
                               at_ms > now_ms ? at_ms : now_ms, run->end_number);
    }
}
