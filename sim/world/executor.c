/* SPDX-License-Identifier: Apache-2.0 */
/* executor.c: a simulated host: its session with the site, what faults leave of it, and
 * the orders for its runs (sim_run.h), which are found by the next instant at which
 * they change.
 *
 * What survives a fault is what survives it on a real host: a guard that dies leaves
 * its processes and the record on disk, an agent that dies leaves guards, a machine
 * that goes down leaves its disk, or not even that. The command of JOB_CONTROLS that
 * terminates a job sends it a SIGTERM when it ends, as `kill` does. */
#include "sim/world/executor.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "model/record.h"
#include "sim/world/sim_run.h"

enum { REAPERS_MAX = 10 /* killed one after the other, before one has an end */ };

static void format_boot(struct executor *executor)
{
    snprintf(executor->boot_id, sizeof executor->boot_id, "boot-%d", executor->n_boots);
}

void executor_effects_init(struct executor_effects *effects)
{
    effects_init(&effects->batches[0]);
    effects_init(&effects->batches[1]);
    effects->filling = &effects->batches[0];
}

void executor_effects_release(struct executor_effects *effects)
{
    effects_release(&effects->batches[0]);
    effects_release(&effects->batches[1]);
}

struct executor *executor_new(const char *name, int index,
                              const struct executor_world *world, int64_t now_ms)
{
    struct executor *executor = mem_alloc(1, sizeof *executor);

    snprintf(executor->name, sizeof executor->name, "%s", name);
    executor->index = index;
    executor->world = *world;
    executor->is_agent_up = true;
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

static void free_run(struct executor *executor, struct sim_run *run)
{
    sim_run_release_slots(executor, run);
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
    free(executor);
}

/* ---- faults */

/* Another guard reaps it; the record on disk is all that it knows. */
static void reap(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    const struct guard_record disk = sim_run_disk(run);
    bool is_this_boot = run->boot == executor->n_boots;

    run->has_guard = true;
    run->boot = executor->n_boots;
    run->start_ms = (int64_t)disk.start_ms;
    exec_run_load(&run->exec, &run->spec, &disk, is_this_boot, now_ms);
    sim_run_step(executor, run, &(struct exec_event){.kind = EXEC_TIME}, now_ms);
}

/* The agent finds a run without a guard (run_dir.h). False: the run is gone. */
static bool resolve(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    const struct guard_record disk = sim_run_disk(run);

    if (disk.phase == RUN_ENDED) {
        exec_session_change(&executor->session, &run->host, &disk);
        sim_run_release_slots(executor, run);
    } else if (disk.phase == RUN_WAITING && run->boot == executor->n_boots) {
        exec_session_lose(&executor->session, &run->host,
                          executor->world.effects->filling);
        free_run(executor, run);
        return false;
    } else {
        /* A reaper may be killed, too. */
        for (int i = 0; i < REAPERS_MAX && !run->has_guard; i++) {
            reap(executor, run, now_ms);
        }
        sim_run_tell(executor, run);
    }
    return true;
}

static void step_and_plan(struct executor *executor, struct sim_run *run,
                          const struct exec_event *event, int64_t now_ms)
{
    sim_run_step(executor, run, event, now_ms);
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
    sim_run_plan_end(executor, run, now_ms);
    sim_run_tell(executor, run);
}

/* The machine goes down, with the processes of all runs. */
static void go_down(struct executor *executor, bool loses_disk)
{
    struct sim_run *next;

    for (struct sim_run *run = next_run(executor, NULL); run; run = next) {
        next = next_run(executor, run);
        run->has_guard = false;
        for (int i = 0; i < SIM_RUN_CHILDREN; i++) {
            sim_run_remove_process(&run->children[i]);
        }
        if (loses_disk) {
            remove_run(executor, run);
        } else {
            sim_run_release_slots(executor, run);
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
    if (run->exec.phase == RUN_WAITING && run->token == token) {
        run->start_ms = now_ms;
        step_and_plan(executor, run, &(struct exec_event){.kind = EXEC_GO}, now_ms);
    } else {
        sim_run_tell(executor, run);
    }
}

static void resize(struct executor *executor, struct sim_run *run,
                   const struct msg_run_resize *order, int64_t now_ms)
{
    if (!exec_resize_takes(&run->exec, order->number)) {
        sim_run_tell(executor, run);
        return;
    }
    record_copy(&run->arena, &schema_run_resize, order, &run->resize);
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
    exec_session_send(&executor->session, &msg, executor->world.effects->filling);
}

static void send_to_run(struct executor *executor, const struct msg *msg,
                        int64_t now_ms)
{
    struct sim_run *run = find_run(executor, &msg->run.run);

    if (msg->kind == MSG_OUTPUT_ASK) {
        send_output(executor, &msg->output_ask);
    } else if (!run && msg->kind == MSG_RUN_START) {
        sim_run_start(executor, &msg->run_start, now_ms);
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
    }
    executor->world.send(executor->world.arg, executor->index, msg);
}

static struct effects *take_batch(struct executor_effects *effects)
{
    struct effects *batch = effects->filling;

    effects->filling =
        batch == &effects->batches[0] ? &effects->batches[1] : &effects->batches[0];
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
        executor->session.alive_ms = SIM_RUN_NEVER;
    }
    while (is_up(executor) && (executor->world.effects->filling->count > 0 ||
                               exec_session_wake_ms(&executor->session) <= now_ms)) {
        exec_session_step(&executor->session, &tick, executor->world.effects->filling);
        struct effects *batch = take_batch(executor->world.effects);

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
        effects_clear(executor->world.effects->filling);
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
        exec_session_step(&executor->session, &event, executor->world.effects->filling);
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
                sim_run_plan_end(executor, run, now_ms);
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
            sim_run_plan_end(executor, run, now_ms);
        }
    }
    suffer(executor, now_ms);
    effects_clear(
        executor->world.effects->filling); /* there is no session to say it in */
    executor_hello(executor, now_ms);
}

/* ---- time */

/* A command that terminates the job has done so when it ends. */
static void end_process(struct executor *executor, struct sim_run *run,
                        enum exec_child child, int64_t now_ms)
{
    struct exec_event event =
        sim_run_exit(executor, run, child, run->children[child].code << 8);

    if (!run->has_guard) {
        sim_run_plan_end(executor, run, now_ms); /* nobody is there to see it */
        return;
    }
    if (child == EXEC_CONTROL_COMMAND && run->children[EXEC_COMMAND].is_alive &&
        run->exec.side.control == JOB_CONTROL_TERMINATE) {
        struct exec_event job = sim_run_exit(executor, run, EXEC_COMMAND, SIGTERM);

        sim_run_step(executor, run, &job, now_ms);
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
    while (child < SIM_RUN_CHILDREN && run->children[child].until_ms > now_ms) {
        child++;
    }
    if (child < SIM_RUN_CHILDREN) {
        end_process(executor, run, (enum exec_child)child, now_ms);
    } else {
        step_and_plan(executor, run, &(struct exec_event){.kind = EXEC_TIME}, now_ms);
    }
    run_batch(executor, now_ms);
    suffer(executor, now_ms);
}
