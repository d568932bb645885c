/* SPDX-License-Identifier: Apache-2.0 */
/* executor.c: runs by site and attempt, and by planned end; the same phases as in
 * host/, without processes. */
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
    ACTION_MAX_MS = 60000, /* limit of a command of JOB_CONTROLS */
};

static const int64_t never = INT64_MAX;

static const struct stage_outcome killed = {
    .status = SIGTERM, .is_killed = true, .failure = ""};

struct sim_run {
    char key[KEY_SIZE];
    struct arena arena;
    struct run_id run;
    const char *job, *lease;
    struct host_slots *hosts;
    int n_hosts;
    enum run_phase phase;
    uint64_t token, control_done;
    struct run_spec spec;
    struct stages stages;
    uint64_t end_number;    /* number of the valid end; older ones are ignored */
    int64_t job_ms;         /* the job's work ... */
    int64_t end_by_ms;      /* ... and its latest end; never: none */
    int64_t work_ms;        /* remaining work of the command, or of the job ... */
    int64_t work_until_ms;  /* ... and its end; never: it does not run now */
    int64_t stage_until_ms; /* end of the time of its stage */
    int code;               /* its exit code */
    bool is_exclusive;
    bool is_limited; /* its run limit ends it before its work is done */
    int64_t start_ms;
    int exit_code;
    /* The running command of JOB_CONTROLS, and its end; never: none. */
    enum job_control action;
    int64_t action_until_ms;
    uint64_t action_number; /* of the order */
    /* A resize, and the end of its notification command; never: none. */
    int64_t notify_until_ms;
    struct msg_run_resize resize;
    struct host_slots *hosts_before;
    int n_before, notify_code;
    uint64_t resize_done;
    int resize_code;
    struct run_exit exit;
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
        msg.run_state.phase = run->phase;
        msg.run_state.token = run->token;
        msg.run_state.start_ms = run->start_ms;
        msg.run_state.control_done = run->control_done;
        msg.run_state.exit = run->exit;
        msg.run_state.resize_done = run->resize_done;
        msg.run_state.resize_code = run->resize_code;
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
    run->job = arena_str(&run->arena, start->job);
    run->lease = arena_str(&run->arena, start->lease);
    run->n_hosts = start->n_hosts;
    run->hosts = copy_slots(run, start->hosts, start->n_hosts);
    if (sscanf(start->spec.command, "run %lld exit %d", &work_ms, &exit_code) < 1) {
        work_ms = 0;
    }
    if (run_spec_from_start(&run->spec, start, &run->arena, NULL) != 0) {
        abort(); /* the world checks the specs of its jobs */
    }
    stages_init(&run->stages, &run->spec);
    run->end_by_ms = start->end_within_ms > 0 ? now_ms + start->end_within_ms : never;
    run->job_ms = work_ms;
    run->exit_code = exit_code;
    run->is_exclusive = start->spec.is_exclusive;
    run->work_until_ms = run->stage_until_ms = run->action_until_ms = never;
    run->notify_until_ms = never;
    run->phase = RUN_WAITING;
    run->token = ++executor->next_token;
    run->exit.text = "";
    HASH_ADD_STR(executor->runs, key, run);
    report_run(executor, &run->run, run);
}

/* ---- one command after the other */

/* Plans the next instant at which the run changes. */
static void plan_end(struct executor *executor, struct sim_run *run)
{
    int64_t at_ms = run->work_until_ms;

    if (at_ms != never && run->stage_until_ms < at_ms) {
        at_ms = run->stage_until_ms;
    }
    at_ms = run->action_until_ms < at_ms ? run->action_until_ms : at_ms;
    at_ms = run->notify_until_ms < at_ms ? run->notify_until_ms : at_ms;
    set_end(executor, run, at_ms == never ? 0 : ++executor->next_end);
    if (at_ms != never) {
        executor->world.end_at(executor->world.arg, executor->index, at_ms,
                               run->end_number);
    }
}

static void suspend_work(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    run->work_ms = run->work_until_ms - now_ms;
    run->work_until_ms = never;
    report_use(executor, run, -1, false);
    run->phase = RUN_SUSPENDED;
}

static void resume_work(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    if (run->phase != RUN_RUNNING) {
        report_use(executor, run, 1, false);
    }
    run->phase = RUN_RUNNING;
    run->work_until_ms = now_ms + run->work_ms;
    if (run->stage_until_ms < now_ms) {
        run->stage_until_ms = now_ms;
    }
}

/* Shortens the job's work to its run limit, or to the time at which other jobs need its
 * slots. */
static void cut_job(struct sim_run *run, int64_t now_ms,
                    struct executor_command *command)
{
    int64_t limit_ms = run->spec.run_limit_ms,
            most_ms = limit_ms > 0 ? limit_ms : never;

    if (run->end_by_ms != never && run->end_by_ms - now_ms < most_ms) {
        most_ms = run->end_by_ms - now_ms;
    }
    run->is_limited = command->ms > most_ms;
    command->ms = run->is_limited ? most_ms : command->ms;
}

/* Starts the current command of the stage. Post-execution commands are not suspended.
 */
static void start_command(struct executor *executor, struct sim_run *run,
                          int64_t now_ms)
{
    const struct stages *stages = &run->stages;
    struct executor_command command = {.ms = run->job_ms, .code = run->exit_code};

    if (stages->stage != STAGE_JOB) {
        executor->world.command(executor->world.arg, stages_command(stages), &command);
    } else {
        cut_job(run, now_ms, &command);
        executor->world.begun(executor->world.arg, executor->index, run->run.site,
                              run->job, run->run.attempt);
    }
    if (stages->at == 0) {
        int64_t limit_ms = stages_limit_ms(stages);

        run->stage_until_ms = limit_ms == JOB_RLIMIT_NONE ? never : now_ms + limit_ms;
        if (stages->stage == STAGE_PRE_EXEC && run->end_by_ms < run->stage_until_ms) {
            run->stage_until_ms = run->end_by_ms;
        }
    }
    run->work_ms = command.ms;
    run->work_until_ms = now_ms + command.ms;
    run->code = command.code;
}

/* The notification command has ended or could not run: `code` decides about the slots.
 */
static void end_resize(struct executor *executor, struct sim_run *run, int code)
{
    bool is_growth = run->resize.event == RESIZE_GROW;

    run->notify_until_ms = never;
    run->resize_done = run->resize.number;
    run->resize_code = code;
    if (is_growth == (code == 0)) {
        return; /* the slots were added, or are retained */
    }
    run->hosts = is_growth ? run->hosts_before : (struct host_slots *)run->resize.all;
    run->n_hosts = is_growth ? run->n_before : run->resize.n_all;
    report_resize(executor, run, -1);
}

static void end_run(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    report_use(executor, run, is_using(run) ? -1 : 0, true);
    run->phase = RUN_ENDED;
    run->exit = (struct run_exit){.end = run->stages.end,
                                  .cause = run->stages.cause,
                                  .code = run->stages.code,
                                  .text = run->stages.text,
                                  .start_ms = run->start_ms,
                                  .end_ms = now_ms};
}

/* Skips a job whose slots other jobs need before it starts. */
static void skip_job(struct sim_run *run, int64_t now_ms)
{
    if (run->stages.stage == STAGE_JOB && now_ms >= run->end_by_ms) {
        stages_advance(&run->stages,
                       &(struct stage_outcome){.is_late = true, .failure = ""});
    }
}

static void end_command(struct executor *executor, struct sim_run *run,
                        const struct stage_outcome *outcome, int64_t now_ms)
{
    if (run->notify_until_ms != never) {
        end_resize(executor, run, RESIZE_NOT_NOW);
    }
    run->work_until_ms = run->action_until_ms = never;
    stages_advance(&run->stages, outcome);
    skip_job(run, now_ms);
    if (run->stages.stage == STAGE_DONE) {
        end_run(executor, run, now_ms);
    } else {
        start_command(executor, run, now_ms);
    }
}

static void go(struct executor *executor, const struct msg_run_go *order,
               int64_t now_ms)
{
    struct sim_run *run = find_run(executor, &order->run);

    if (run && run->phase == RUN_WAITING && run->token == order->token) {
        run->start_ms = now_ms;
        skip_job(run, now_ms);
        if (run->stages.stage == STAGE_DONE) {
            end_run(executor, run, now_ms);
        } else {
            start_command(executor, run, now_ms);
            resume_work(executor, run, now_ms);
            plan_end(executor, run);
        }
    }
    report_run(executor, &order->run, run);
}

/* ---- orders */

/* Starts a command of JOB_CONTROLS; false if there is none for this action. */
static bool start_action(struct executor *executor, struct sim_run *run,
                         enum job_control action, uint64_t number, int64_t now_ms)
{
    const char *text = run->spec.controls[action];
    struct executor_command command;

    if (!text || job_control_signal(text) != 0 || run->stages.stage != STAGE_JOB) {
        return false;
    }
    executor->world.command(executor->world.arg, text, &command);
    run->action = action;
    run->action_until_ms =
        now_ms + (command.ms < ACTION_MAX_MS ? command.ms : ACTION_MAX_MS);
    run->action_number = number;
    return true;
}

static bool is_in_action(const struct sim_run *run, enum job_control action)
{
    return run->action_until_ms != never && run->action == action;
}

static void kill_run(struct executor *executor, struct sim_run *run,
                     const struct run_control *wanted, int64_t now_ms)
{
    bool is_hard = wanted->signal == SIGKILL;

    if (run->phase == RUN_SUSPENDED && !is_hard) {
        resume_work(executor, run, now_ms); /* so that it receives the signal */
    }
    if (!is_hard &&
        (is_in_action(run, JOB_CONTROL_TERMINATE) ||
         start_action(executor, run, JOB_CONTROL_TERMINATE, wanted->number, now_ms))) {
        return;
    }
    end_command(executor, run, &killed, now_ms);
}

static void carry_out(struct executor *executor, struct sim_run *run,
                      const struct run_control *wanted, int64_t now_ms)
{
    switch (wanted->action) {
    case CONTROL_SUSPEND:
        if (run->phase != RUN_RUNNING || is_in_action(run, JOB_CONTROL_TERMINATE)) {
            break;
        }
        if (start_action(executor, run, JOB_CONTROL_SUSPEND, wanted->number, now_ms)) {
            return; /* the order is done when the command is */
        }
        suspend_work(executor, run, now_ms);
        break;
    case CONTROL_RESUME:
    case CONTROL_SIGNAL:
        run->action_until_ms = never;
        if (run->phase == RUN_SUSPENDED) {
            resume_work(executor, run, now_ms);
        }
        break;
    case CONTROL_KILL:
        kill_run(executor, run, wanted, now_ms);
        break;
    }
    run->control_done = wanted->number;
}

static void control(struct executor *executor, const struct msg_run_control *order,
                    int64_t now_ms)
{
    struct sim_run *run = find_run(executor, &order->run);
    const struct run_control *wanted = &order->control;
    bool is_begun = run && run->phase != RUN_WAITING;
    bool is_known = is_begun && (wanted->number <= run->control_done ||
                                 (is_in_action(run, JOB_CONTROL_SUSPEND) &&
                                  wanted->number <= run->action_number));

    if (is_begun && !is_known) {
        if (run->phase == RUN_ENDED) {
            run->control_done =
                wanted->number; /* too late: RUN_STATE reports the end */
        } else {
            carry_out(executor, run, wanted, now_ms);
            plan_end(executor, run);
        }
    }
    report_run(executor, &order->run, run);
}

/* "notify 1500 exit 3" is the command of a scenario's job. For others the world
 * decides. */
static struct executor_command notification(const struct executor *executor,
                                            const char *text)
{
    struct executor_command command = {.ms = 0};
    long long ms = 0;

    if (text[0] && sscanf(text, "notify %lld exit %d", &ms, &command.code) < 1) {
        executor->world.command(executor->world.arg, text, &command);
    } else {
        command.ms = ms;
    }
    return command;
}

static void begin_resize(struct executor *executor, struct sim_run *run,
                         const struct msg_run_resize *order, int64_t now_ms)
{
    bool can = run->phase == RUN_RUNNING && run->action_until_ms == never &&
               run->stages.stage == STAGE_JOB;
    struct executor_command command = notification(executor, order->command);

    run->resize = *order;
    run->resize.hosts = copy_slots(run, order->hosts, order->n_hosts);
    run->resize.all = copy_slots(run, order->all, order->n_all);
    if (!can) {
        run->resize_done = order->number;
        run->resize_code = RESIZE_NOT_NOW;
        return;
    }
    if (order->event == RESIZE_GROW) {
        report_resize(executor, run, 1);
        run->hosts_before = run->hosts;
        run->n_before = run->n_hosts;
        run->hosts = (struct host_slots *)run->resize.all;
        run->n_hosts = order->n_all;
    }
    run->notify_code = command.code;
    run->notify_until_ms = now_ms + command.ms;
    if (command.ms == 0) {
        end_resize(executor, run, command.code);
    }
}

static void resize(struct executor *executor, const struct msg_run_resize *order,
                   int64_t now_ms)
{
    struct sim_run *run = find_run(executor, &order->run);
    bool has_begun = run && (run->phase == RUN_RUNNING || run->phase == RUN_SUSPENDED);

    if (has_begun && order->number > run->resize_done &&
        (run->notify_until_ms == never || order->number > run->resize.number)) {
        begin_resize(executor, run, order, now_ms);
        plan_end(executor, run);
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
        if (run && (run->phase == RUN_ENDED || run->phase == RUN_WAITING)) {
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

/* The command of JOB_CONTROLS has ended: the job is suspended, resumed or ended. */
static void end_action(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    run->action_until_ms = never;
    if (run->action == JOB_CONTROL_SUSPEND) {
        suspend_work(executor, run, now_ms);
        run->control_done = run->action_number;
    } else {
        end_command(executor, run, &killed, now_ms);
    }
}

/* The command has done its work, or reached the run limit. */
static void end_work(struct executor *executor, struct sim_run *run, int64_t now_ms)
{
    struct stage_outcome outcome = {.status = run->code << 8, .failure = ""};

    if (run->stages.stage == STAGE_JOB && run->is_limited) {
        outcome.status = SIGINT;
        outcome.cause = RUN_CAUSE_RUN_LIMIT;
    }
    end_command(executor, run, &outcome, now_ms);
}

void executor_run_end(struct executor *executor, uint64_t number, int64_t now_ms)
{
    struct sim_run *run;

    HASH_FIND(by_end, executor->ends, &number, sizeof number, run);
    if (!run) {
        return;
    }
    if (run->work_until_ms <= now_ms) {
        end_work(executor, run, now_ms);
    } else if (run->action_until_ms <= now_ms) {
        end_action(executor, run, now_ms);
    } else if (run->notify_until_ms <= now_ms) {
        end_resize(executor, run, run->notify_code);
    } else {
        run->stage_until_ms = never;
        end_command(
            executor, run,
            &(struct stage_outcome){.status = SIGINT, .is_late = true, .failure = ""},
            now_ms);
    }
    plan_end(executor, run);
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
