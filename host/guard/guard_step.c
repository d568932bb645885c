/* SPDX-License-Identifier: Apache-2.0 */
/* guard_step.c: see guard_run.h. */
#include "host/guard/guard_run.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/run_dir/run_dir.h"

/* ---- launch and kill */

/* Launches a child beside the command, which is not stopped or signalled with it. */
static int launch_aside_child(struct guard_run *run, const struct exec_effect *effect,
                              struct err *err)
{
    pid_t *pid = &run->aside[effect->child];
    struct control_command_context context = {.dir = run->dir,
                                              .spec = &run->spec,
                                              .account = &run->account,
                                              .procs = &run->procs,
                                              .reasons = run->exec.suspend.causes};
    int code = effect->child == EXEC_NOTIFICATION
                   ? resize_command_launch(run, pid, err)
                   : control_command_launch(effect->control, &context, pid, err);
    if (code != 0) {
        *pid = 0;
    }
    run->procs.except = *pid;
    return code;
}

/* Its end is not awaited any more; guard_command_collect reaps it. */
static void forget_child(struct guard_run *run, enum exec_child child)
{
    run->aside[child] = 0;
    run->procs.except = 0;
}

static struct exec_event launched(const struct exec_effect *effect, int code,
                                  const struct err *err)
{
    return (struct exec_event){.kind = code == 0 ? EXEC_LAUNCHED : EXEC_LAUNCH_FAILED,
                               .child = effect->child,
                               .failure = err->text};
}

/* ---- the end */

static void drain(struct guard_run *run)
{
    stdio_relay_end(run->relay,
                    run->exec.was_killed ? STDIO_RELAY_DRAIN_KILLED_MS
                                         : STDIO_RELAY_DRAIN_MS,
                    kernel_clock_now_ms());
}

/* Returns false if the record is not on disk. */
static bool end_run(struct guard_run *run)
{
    if (!run->exec.has_started) {
        guard_command_release(run);
        run->record.start_ms = 0;
    }
    run->record.end_ms = kernel_clock_wall_ms();
    run_dir_measure_output(run->dir, &run->record);
    return guard_run_publish(run);
}

/* A write of the record failed, or did not: true if there is an answer. */
static bool answer_saved(const struct guard_run *run, bool is_saved,
                         struct exec_event *answer)
{
    struct stat status;
    bool is_homeless = fstat(run->dir, &status) == 0 && status.st_nlink == 0;
    answer->kind = is_homeless ? EXEC_HOMELESS : EXEC_UNSAVED;
    return !is_saved;
}

/* ---- effects */

/* Returns true if there is an answer at once. */
static bool carry_out(void *arg, const struct exec_effect *effect, struct err *err,
                      struct exec_event *answer)
{
    struct guard_run *run = arg;
    int code;
    switch (effect->kind) {
    case EXEC_LAUNCH:
        code = effect->child == EXEC_COMMAND ? guard_command_launch(run, err)
                                             : launch_aside_child(run, effect, err);
        *answer = launched(effect, code, err);
        return true;
    case EXEC_SAVE:
        code = guard_command_save(run, err);
        *answer = launched(effect, code, err);
        answer->kind = code == 0 ? EXEC_SAVED : EXEC_LAUNCH_FAILED;
        return true;
    case EXEC_WATCH_LIMITS:
        rlimit_watch_begin(&run->rlimits, &run->spec.limits, &run->procs,
                           kernel_clock_now_ms());
        break;
    case EXEC_CHANGE_LIMITS:
        run->spec.limits.values[JOB_RLIMIT_MEM] = run->exec.mem_limit_kib;
        if (run->exec.stages.stage == STAGE_JOB && run->rlimits.limits != NULL) {
            rlimit_watch_change(&run->rlimits, &run->procs, kernel_clock_now_ms());
        }
        break;
    case EXEC_OPEN_GATE:
        launch_release(&run->launched);
        break;
    case EXEC_SIGNAL:
        procs_signal(&run->procs, effect->signal);
        break;
    case EXEC_TERMINATE:
        if (effect->signal == SIGKILL) {
            procs_kill(&run->procs);
        } else {
            procs_signal(&run->procs, effect->signal);
        }
        break;
    case EXEC_STOP:
        answer->kind = EXEC_STOPPED;
        return procs_stop(&run->procs);
    case EXEC_CONTINUE:
        procs_resume(&run->procs);
        if (effect->signal != 0) {
            procs_signal(&run->procs, effect->signal);
        }
        break;
    case EXEC_KILL:
        process_kill_session(run->aside[effect->child]);
        break;
    case EXEC_DROP:
        process_kill_session(run->aside[effect->child]);
        forget_child(run, effect->child);
        break;
    case EXEC_CLEAR:
        answer->kind = EXEC_CLEARED;
        return guard_command_clear(run);
    case EXEC_RELEASE:
        guard_command_release(run);
        break;
    case EXEC_DRAIN:
        drain(run);
        answer->kind = EXEC_DRAINED;
        return stdio_relay_is_drained(run->relay, kernel_clock_now_ms());
    case EXEC_ACCEPT_SLOTS:
        resize_command_accept(run);
        break;
    case EXEC_PUBLISH:
        return answer_saved(run, guard_run_publish(run), answer);
    case EXEC_WRITE:
        return answer_saved(run, guard_run_save(run), answer);
    case EXEC_REMOVE:
        run_dir_empty(run->dir);
        rmdir(run->path);
        break;
    case EXEC_REPORT:
        guard_link_push(&run->link, &run->record);
        break;
    case EXEC_END:
        return answer_saved(run, end_run(run), answer);
    }
    return false;
}

static int64_t now_ms(void *arg)
{
    (void)arg;
    return kernel_clock_now_ms();
}

static void on_step(void *arg, const struct exec_event *event,
                    const struct exec_effects *effects)
{
    (void)event;
    (void)effects;
    struct guard_run *run = arg;
    exec_run_fill_record(&run->exec, &run->record);
}

void guard_step(struct guard_run *run, const struct exec_event *event)
{
    exec_loop_run(&run->exec, event,
                  &(struct exec_executor){now_ms, on_step, carry_out, run});
}

void guard_step_kind(struct guard_run *run, enum exec_event_kind kind)
{
    guard_step(run, &(struct exec_event){.kind = kind});
}

/* ---- children */

static void end_child(struct guard_run *run, enum exec_child child, int status)
{
    char failure[GUARD_RECORD_TEXT_SIZE] = "";
    struct exec_event event = {
        .kind = EXEC_EXITED, .child = child, .status = status, .failure = failure};
    if (child != EXEC_COMMAND) {
        forget_child(run, child);
    } else {
        launch_has_failed(&run->launched, failure, sizeof(failure));
        if (run->exec.stages.stage == STAGE_JOB) {
            event.cause = rlimit_watch_cause(&run->rlimits, &run->procs, status);
        }
        run->rlimits.check_at = GUARD_RUN_NEVER;
    }
    guard_step(run, &event);
}

void guard_step_on_child(struct guard_run *run)
{
    /* The end of the job counts before that of a command for it. */
    static const enum exec_child order[] = {EXEC_NOTIFICATION, EXEC_COMMAND,
                                            EXEC_CONTROL_COMMAND};
    struct guard_command_ends ends;
    guard_command_collect(run, &ends);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        enum exec_child child = order[i];
        bool is_dropped = child != EXEC_COMMAND && run->aside[child] == 0;
        if (ends.has_ended[child] && !is_dropped) {
            end_child(run, child, ends.status[child]);
        }
    }
    if (run->exec.is_clearing && guard_command_clear(run)) {
        guard_step_kind(run, EXEC_CLEARED);
    }
}

/* ---- requests */

static void go(struct guard_run *run)
{
    struct err err = {0};
    struct exec_event event = {.kind = EXEC_GO, .failure = err.text};
    if (run->spec.interaction != INTERACTION_NONE &&
        stdio_relay_new(&run->relay, run->spec.is_leased, &err) != 0) {
        run->relay = NULL;
    }
    run->record.start_ms = kernel_clock_wall_ms();
    guard_step(run, &event);
}

static void control(struct guard_run *run, const struct guard_request *request)
{
    struct exec_event event = {
        .kind = EXEC_CONTROL,
        .control = {.number = request->number,
                    .action = (enum control_action)request->action,
                    .signal = request->signal,
                    .reasons = (int)request->reasons,
                    .run_limit_ms = request->run_limit_ms,
                    .mem_limit_kib = request->mem_limit_kib}};
    bool has_limits = request->run_limit_ms > 0 || request->mem_limit_kib > 0;
    bool is_valid =
        request->action <= CONTROL_KILL && request->signal >= 0 &&
        request->reasons <= SUSPEND_CAUSES && request->signal < NSIG &&
        request->run_limit_ms >= 0 && request->mem_limit_kib >= 0 &&
        (request->action != CONTROL_SIGNAL || request->signal > 0 || has_limits);
    if (is_valid) {
        guard_step(run, &event);
    } else {
        guard_link_push(&run->link, &run->record);
    }
}

static void resize(struct guard_run *run, const struct guard_request *request)
{
    if (!exec_resize_takes(&run->exec, request->number) ||
        !resize_command_read(run, request->number)) {
        guard_link_push(&run->link, &run->record);
        return;
    }
    const struct resize_request *resize = &run->resize.request;
    guard_step(run, &(struct exec_event){
                        .kind = EXEC_RESIZE,
                        .resize = {.number = request->number,
                                   .n_slots = resize->n_slots,
                                   .has_command = resize->command[0] != '\0'}});
}

void guard_step_on_request(void *arg, const struct guard_request *request)
{
    struct guard_run *run = arg;
    bool is_waiting = run->exec.phase == RUN_WAITING;
    if (request->kind == GUARD_REQUEST_GO && is_waiting &&
        request->token == run->record.token) {
        go(run);
    } else if (request->kind == GUARD_REQUEST_CONTROL) {
        control(run, request);
    } else if (request->kind == GUARD_REQUEST_RESIZE) {
        resize(run, request);
    } else if (request->kind == GUARD_REQUEST_END) {
        guard_step_kind(run, EXEC_WITHDRAWN);
    } else {
        guard_link_push(&run->link, &run->record);
    }
}
