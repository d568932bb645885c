/* SPDX-License-Identifier: Apache-2.0 */
/* executor.c: runs by site and attempt, and by the next instant at which they change.
 * Each is stepped by the machine of real runs (exec_run), with simulated processes.
 *
 * A simulated process works for a given time and exits with a given code. It stops and
 * continues at once. It dies at the first signal that is to terminate it, or when the
 * command of JOB_CONTROLS that terminates it ends: of SIGTERM if it was killed, else of
 * SIGINT. No launch and no write to disk fails, and users of interactive jobs connect
 * at once. */
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
#include "host/exec/exec.h"
#include "model/job_rlimit.h"

enum {
    KEY_SIZE = NAME_SIZE + 24,
    CHILDREN = EXEC_NOTIFICATION + 1,
    ANSWERS_MAX = 8, /* a step has two effects with an answer at most */
};

static const int64_t never = INT64_MAX;

struct process {
    bool is_alive;
    int64_t work_ms;  /* what is left of it while it does not work */
    int64_t until_ms; /* the end of its work; never: it does not work now */
    int code;         /* exit code */
};

struct sim_run {
    char key[KEY_SIZE];
    struct arena arena;
    struct run_id run;
    const char *job_id, *lease;
    struct host_slots *hosts;
    int n_hosts;
    uint64_t token;
    struct run_spec spec;
    struct exec_run exec;
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
    UT_hash_handle hh, by_end; /* the latter while end_number is not 0 */
};

struct executor {
    char name[NAME_SIZE];
    int index;
    struct executor_world world;
    uint64_t session, next_token, next_end, seq;
    bool is_welcome;
    int n_reboots;
    const struct load_value *values; /* NULL: none to report */
    int n_values;
    struct sim_run *runs; /* in the order of START */
    struct sim_run *ends;
};

struct executor *executor_new(const char *name, int index,
                              const struct executor_world *world)
{
    struct executor *executor = mem_alloc(1, sizeof *executor);

    snprintf(executor->name, sizeof executor->name, "%s", name);
    executor->index = index;
    executor->world = *world;
    return executor;
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

static void remove_run(struct executor *executor, struct sim_run *run)
{
    if (run->phase == RUN_RUNNING || run->phase == RUN_SUSPENDED) {
        report_use(executor, run, is_using(run) ? -1 : 0, true);
    }
    set_end(executor, run, 0);
    HASH_DEL(executor->runs, run);
    arena_release(&run->arena);
    free(run);
}

void executor_reboot(struct executor *executor)
{
    struct sim_run *run, *next;

    HASH_ITER (hh, executor->runs, run, next)
        remove_run(executor, run);
    executor->n_reboots++;
}

const char *executor_name(const struct executor *executor)
{
    return executor->name;
}

void executor_free(struct executor *executor)
{
    if (executor) {
        executor_reboot(executor);
        free(executor);
    }
}

static void send(struct executor *executor, struct msg *msg)
{
    msg->session = executor->session;
    msg->site = "";
    executor->world.send(executor->world.arg, executor->index, msg);
}

static void format_key(const struct run_id *id, char *key)
{
    snprintf(key, KEY_SIZE, "%s %" PRIu64, id->site, id->attempt);
}

static struct sim_run *find_run(struct executor *executor, const struct run_id *id)
{
    char key[KEY_SIZE];
    struct sim_run *run;

    format_key(id, key);
    HASH_FIND_STR(executor->runs, key, run);
    return run;
}

static void report_run(struct executor *executor, const struct run_id *id,
                       const struct sim_run *run)
{
    struct msg msg = {.kind = MSG_RUN_STATE, .run_state = {.run = *id}};

    msg.run_state.exit.text = "";
    if (run) {
        msg.run_state.phase = run->exec.phase;
        msg.run_state.token = run->token;
        msg.run_state.start_ms = run->start_ms;
        msg.run_state.control_done = run->exec.control_done;
        msg.run_state.resize_done = run->exec.resize_done;
        msg.run_state.resize_code = run->exec.resize_code;
    }
    if (run && run->exec.phase == RUN_ENDED) {
        msg.run_state.exit = (struct run_exit){.end = run->exec.stages.end,
                                               .cause = run->exec.stages.cause,
                                               .code = run->exec.stages.code,
                                               .text = run->exec.stages.text,
                                               .start_ms = run->start_ms,
                                               .end_ms = run->end_ms};
    }
    send(executor, &msg);
}

void executor_hello(struct executor *executor, int64_t now_ms)
{
    struct msg msg = {.kind = MSG_HOST_HELLO};
    char boot_id[24];

    executor->session = ((uint64_t)now_ms << 8 | 1) > executor->session
                            ? ((uint64_t)now_ms << 8 | 1)
                            : executor->session + 1;
    executor->is_welcome = false;
    msg.host_hello.name = executor->name;
    snprintf(boot_id, sizeof boot_id, "boot-%d", executor->n_reboots);
    msg.host_hello.boot_id = boot_id;
    msg.host_hello.n_cpus = 1;
    send(executor, &msg);
    for (struct sim_run *run = executor->runs; run; run = run->hh.next) {
        report_run(executor, &run->run, run);
    }
    msg = (struct msg){.kind = MSG_HOST_SYNCED};
    send(executor, &msg);
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
    struct sim_run *run = find_run(executor, &start->run);
    long long work_ms = 0;
    int exit_code = 0;

    if (run) {
        report_run(executor, &run->run, run);
        return;
    }
    run = mem_alloc(1, sizeof *run);
    format_key(&start->run, run->key);
    arena_init_small(&run->arena);
    run->run.site = arena_str(&run->arena, start->run.site);
    run->run.attempt = start->run.attempt;
    run->job_id = arena_str(&run->arena, start->job);
    run->lease = arena_str(&run->arena, start->lease);
    run->n_hosts = start->n_hosts;
    run->hosts = copy_slots(run, start->hosts, start->n_hosts);
    if (sscanf(start->spec.command, "run %lld exit %d", &work_ms, &exit_code) < 1) {
        work_ms = 0;
    }
    if (run_spec_from_start(&run->spec, start, &run->arena, NULL) != 0) {
        abort(); /* the world checks the specs of its jobs */
    }
    exec_run_init(&run->exec, &run->spec, now_ms);
    run->job = (struct process){.work_ms = work_ms, .code = exit_code};
    run->is_exclusive = start->spec.is_exclusive;
    run->phase = RUN_WAITING;
    for (int i = 0; i < CHILDREN; i++) {
        remove_process(&run->children[i]);
    }
    run->token = ++executor->next_token;
    HASH_ADD_STR(executor->runs, key, run);
    report_run(executor, &run->run, run);
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

static struct exec_event exited(struct sim_run *run, enum exec_child child, int status)
{
    remove_process(&run->children[child]);
    return (struct exec_event){.kind = EXEC_EXITED, .child = child, .status = status};
}

static struct exec_event terminated(struct sim_run *run)
{
    return exited(run, EXEC_COMMAND, run->exec.is_killed ? SIGTERM : SIGINT);
}

/* ---- steps */

/* Returns true if there is an answer at once. */
static bool carry_out(struct executor *executor, struct sim_run *run,
                      const struct exec_effect *effect, int64_t now_ms,
                      struct exec_event *answer)
{
    struct process *command = &run->children[EXEC_COMMAND];

    switch (effect->kind) {
    case EXEC_LAUNCH:
        launch(executor, run, effect, now_ms);
        *answer = (struct exec_event){.kind = EXEC_LAUNCHED, .child = effect->child};
        return true;
    case EXEC_SAVE:
        answer->kind = EXEC_SAVED;
        return true;
    case EXEC_OPEN_GATE:
        if (run->exec.stages.stage == STAGE_JOB) {
            executor->world.begun(executor->world.arg, executor->index, run->run.site,
                                  run->job_id, run->run.attempt);
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
            *answer = terminated(run);
            return true;
        }
        break;
    case EXEC_KILL:
        *answer = exited(run, effect->child, SIGKILL);
        return true;
    case EXEC_DROP:
        remove_process(&run->children[effect->child]);
        break;
    case EXEC_CLEAR:
        answer->kind = EXEC_CLEARED;
        return true;
    case EXEC_DRAIN:
        answer->kind = EXEC_DRAINED;
        return true;
    case EXEC_ACCEPT_SLOTS:
        accept_slots(executor, run);
        break;
    case EXEC_END:
        run->end_ms = now_ms;
        break;
    case EXEC_RELEASE:
    case EXEC_WATCH_LIMITS:
    case EXEC_PUBLISH:
    case EXEC_REPORT:
        break; /* one report follows all steps */
    }
    return false;
}

static void step(struct executor *executor, struct sim_run *run,
                 const struct exec_event *event, int64_t now_ms)
{
    struct exec_event events[ANSWERS_MAX] = {*event};

    for (int at = 0, count = 1; at < count; at++) {
        struct exec_effects effects;

        exec_run_step(&run->exec, &events[at % ANSWERS_MAX], now_ms, &effects);
        for (int i = 0; i < effects.count; i++) {
            struct exec_event *answer = &events[count % ANSWERS_MAX];

            *answer = (struct exec_event){0};
            count += carry_out(executor, run, &effects.list[i], now_ms, answer);
        }
        if (run->exec.awaits_user) {
            events[count++ % ANSWERS_MAX] =
                (struct exec_event){.kind = EXEC_USER_CONNECTED};
        }
        sync_use(executor, run);
    }
}

/* The next instant at which the run changes. */
static int64_t next_change_ms(const struct sim_run *run)
{
    int64_t at_ms = exec_run_wake_ms(&run->exec);

    for (int i = 0; i < CHILDREN; i++) {
        if (run->children[i].until_ms < at_ms) {
            at_ms = run->children[i].until_ms;
        }
    }
    return at_ms;
}

static void step_and_plan(struct executor *executor, struct sim_run *run,
                          const struct exec_event *event, int64_t now_ms)
{
    step(executor, run, event, now_ms);
    int64_t at_ms = next_change_ms(run);

    set_end(executor, run, at_ms == never ? 0 : ++executor->next_end);
    if (at_ms != never) {
        executor->world.end_at(executor->world.arg, executor->index,
                               at_ms > now_ms ? at_ms : now_ms, run->end_number);
    }
}

/* ---- requests */

static void go(struct executor *executor, const struct msg_run_go *order,
               int64_t now_ms)
{
    struct sim_run *run = find_run(executor, &order->run);

    if (run && run->exec.phase == RUN_WAITING && run->token == order->token) {
        run->start_ms = now_ms;
        step_and_plan(executor, run, &(struct exec_event){.kind = EXEC_GO}, now_ms);
    }
    report_run(executor, &order->run, run);
}

static void control(struct executor *executor, const struct msg_run_control *order,
                    int64_t now_ms)
{
    struct sim_run *run = find_run(executor, &order->run);

    if (run) {
        step_and_plan(
            executor, run,
            &(struct exec_event){.kind = EXEC_CONTROL, .control = order->control},
            now_ms);
    }
    report_run(executor, &order->run, run);
}

static void resize(struct executor *executor, const struct msg_run_resize *order,
                   int64_t now_ms)
{
    struct sim_run *run = find_run(executor, &order->run);

    if (run && exec_run_takes_resize(&run->exec, order->number)) {
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
    report_run(executor, &order->run, run);
}

static void send_output(struct executor *executor, const struct msg_output_ask *ask)
{
    struct msg msg = {.kind = MSG_OUTPUT};

    msg.output.run = ask->run;
    msg.output.request = ask->request;
    msg.output.stream = ask->stream;
    msg.output.offset = ask->offset;
    msg.output.bytes = (const uint8_t *)"";
    msg.output.is_gone = !find_run(executor, &ask->run);
    msg.output.is_end = true;
    send(executor, &msg);
}

void executor_report_load(struct executor *executor)
{
    struct msg msg = {.kind = MSG_HOST_LOAD};

    msg.host_load.values = executor->values;
    msg.host_load.n_values = executor->n_values;
    if (executor->is_welcome && executor->values) {
        send(executor, &msg);
    }
}

void executor_set_load(struct executor *executor, const struct load_value *values,
                       int n_values)
{
    executor->values = values;
    executor->n_values = n_values;
    executor_report_load(executor);
}

void executor_message(struct executor *executor, const struct msg *msg, int64_t now_ms)
{
    struct sim_run *run;

    if (msg->session != executor->session) {
        return;
    }
    switch ((int)msg->kind) {
    case MSG_HOST_WELCOME:
        executor->is_welcome = msg->welcome.is_accepted;
        executor_report_load(executor);
        break;
    case MSG_ERROR: /* no such session there: HELLO again, with the next tick */
        executor->is_welcome = false;
        break;
    case MSG_RUN_START:
        start_run(executor, &msg->run_start, now_ms);
        break;
    case MSG_RUN_GO:
        go(executor, &msg->run_go, now_ms);
        break;
    case MSG_RUN_CONTROL:
        control(executor, &msg->run_control, now_ms);
        break;
    case MSG_RUN_RESIZE:
        resize(executor, &msg->run_resize, now_ms);
        break;
    case MSG_RUN_FORGET:
        run = find_run(executor, &msg->run.run);
        if (run && (run->exec.phase == RUN_ENDED || run->exec.phase == RUN_WAITING)) {
            remove_run(executor, run);
        }
        break;
    case MSG_OUTPUT_ASK:
        send_output(executor, &msg->output_ask);
        break;
    default:
        break;
    }
}

/* A command that terminates the job has done so when it ends. */
static void end_process(struct executor *executor, struct sim_run *run,
                        enum exec_child child, int64_t now_ms)
{
    struct exec_event event = exited(run, child, run->children[child].code << 8);

    if (child == EXEC_CONTROL_COMMAND && run->children[EXEC_COMMAND].is_alive &&
        run->exec.side.control == JOB_CONTROL_TERMINATE) {
        struct exec_event job = terminated(run);
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
    report_run(executor, &run->run, run);
}

void executor_tick(struct executor *executor, int64_t now_ms)
{
    struct msg msg = {.kind = MSG_HOST_ALIVE};

    if (!executor->is_welcome) {
        executor_hello(executor, now_ms);
        return;
    }
    msg.host_alive.seq = ++executor->seq;
    send(executor, &msg);
}
