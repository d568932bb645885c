/* SPDX-License-Identifier: Apache-2.0 */
/* exec_run.c: see exec.h.
 *
 * Example: a job with one post-exec command, killed while it runs.
 *
 *     event                 effects
 *     GO                    LAUNCH
 *     LAUNCHED              SAVE
 *     SAVED                 WATCH_LIMITS OPEN_GATE REPORT
 *     CONTROL kill          TERMINATE(SIGINT) PUBLISH
 *     TIME                  TERMINATE(SIGTERM)        it has ignored SIGINT
 *     EXITED                CLEAR
 *     CLEARED               RELEASE LAUNCH            the post-exec command
 *     LAUNCHED, SAVED       SAVE, OPEN_GATE REPORT
 *     EXITED                CLEAR
 *     CLEARED               RELEASE END */
#include "host/exec/exec_step.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
    SAVE_AGAIN_MS = 1000, /* after a write failed, mostly on a full disk ... */
    SAVE_AGAIN_MAX_MS = 60000,
    SAVE_UNTIL_MS = 24 * 3600 * 1000, /* ... and after the end not for ever */
    CLEAR_MAX_MS = 30000, /* processes that SIGKILL does not end, in the kernel */
    CLEAR_AGAIN_MS = 50,
};

bool exec_run_is_suspended(const struct exec_run *run)
{
    return run->phase == RUN_SUSPENDED && run->stages.stage != STAGE_REPORT &&
           run->stages.stage != STAGE_POST_EXEC;
}

/* ---- from one command to the next */

static void end(const struct exec_step *step)
{
    step->run->phase = RUN_ENDED;
    step->run->save_ms = EXEC_NEVER;
    exec_step_add_kind(step, EXEC_END);
}

/* The run ends without a command of it having begun. */
static void end_unstarted(const struct exec_step *step, enum run_end how, int code,
                          const char *text)
{
    struct stages *stages = &step->run->stages;
    stages->stage = STAGE_DONE;
    stages->is_decided = true;
    stages->end = how;
    stages->code = code;
    snprintf(stages->text, sizeof(stages->text), "%s", text);
    end(step);
}

/* No process of the run is left while post-exec commands run, nor after the end. */
static void clear(const struct exec_step *step)
{
    if (step->run->stages.stage == STAGE_DONE) {
        escalation_init(&step->run->escalation);
        step->run->stage_until_ms = EXEC_NEVER;
    }
    step->run->is_clearing = true;
    step->run->clear_until_ms = step->now_ms + CLEAR_MAX_MS;
    step->run->clear_ms = step->now_ms + CLEAR_AGAIN_MS;
    exec_step_add_kind(step, EXEC_CLEAR);
}

static void next_command(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    if (exec_step_is_at_job(run) && step->now_ms >= run->end_by_ms) {
        /* Other jobs need its slots before it starts. */
        stages_advance(&run->stages,
                       &(struct stage_outcome){.is_late = true, .failure = ""});
        run->has_started = true;
    } else if (stages_command(&run->stages) != NULL) {
        exec_step_add_child(step, EXEC_LAUNCH, EXEC_COMMAND);
        return;
    }
    clear(step);
}

/* The run limit also ends the job before other jobs need its slots. */
static void cut_run_limit(struct exec_run *run, int64_t now_ms)
{
    int64_t left_ms = run->end_by_ms - now_ms;
    if (run->end_by_ms != EXEC_NEVER &&
        (run->run_limit_ms == 0 || left_ms < run->run_limit_ms)) {
        run->run_limit_ms = left_ms > 0 ? left_ms : 1;
    }
}

static void set_deadlines(struct exec_run *run, int64_t now_ms)
{
    int64_t limit_ms = stages_limit_ms(&run->stages);
    escalation_init(&run->escalation);
    run->is_killed = run->is_late = false;
    if (run->stages.at == 0) {
        run->stage_until_ms =
            limit_ms == JOB_RLIMIT_NONE ? EXEC_NEVER : now_ms + limit_ms;
        if (run->stages.stage == STAGE_PRE_EXEC &&
            run->end_by_ms < run->stage_until_ms) {
            run->stage_until_ms = run->end_by_ms;
        }
    }
    if (exec_step_is_at_job(run)) {
        run->ran_ms = 0;
        run->running_since_ms = now_ms;
        cut_run_limit(run, now_ms);
    }
}

/* The first signal of a kill. */
static int first_signal(const struct run_control *control)
{
    return control->signal == SIGKILL ? SIGKILL : SIGINT;
}

/* The limits that an order repeats. A job that has run for longer ends at once. */
static void change_limits(const struct exec_step *step,
                          const struct run_control *control)
{
    struct exec_run *run = step->run;
    if (control->run_limit_ms != 0) {
        bool runs = exec_step_is_at_job(run) && run->phase == RUN_RUNNING;
        int64_t ran_ms =
            run->ran_ms + (runs ? step->now_ms - run->running_since_ms : 0);
        int64_t left_ms = run->end_by_ms != EXEC_NEVER ? run->end_by_ms - step->now_ms
                                                       : control->run_limit_ms;
        int64_t limit_ms = ran_ms + left_ms < control->run_limit_ms
                               ? ran_ms + left_ms
                               : control->run_limit_ms;
        run->is_warned = run->is_warned && limit_ms <= run->run_limit_ms;
        run->run_limit_ms = limit_ms > 0 ? limit_ms : 1;
    }
    if (control->mem_limit_kib != 0 && control->mem_limit_kib != run->mem_limit_kib) {
        run->mem_limit_kib = control->mem_limit_kib;
        exec_step_add_kind(step, EXEC_CHANGE_LIMITS);
    }
}

static void apply_control(const struct exec_step *step,
                          const struct run_control *control)
{
    struct exec_run *run = step->run;
    change_limits(step, control);
    switch (control->action) {
    case CONTROL_SIGNAL:
        if (control->signal == 0) {
            break;
        }
        /* A job to be suspended gets no signals: it was to be resumed first, and the
         * request to suspend it was overtaken. */
        exec_suspend_resume_all(step);
        exec_step_add_signal(step, EXEC_SIGNAL, control->signal);
        break;
    case CONTROL_SUSPEND:
        /* A job that is being terminated is not suspended. */
        if (!escalation_is_on(&run->escalation) && run->phase == RUN_RUNNING) {
            exec_suspend_begin(step, control);
            return;
        }
        break;
    case CONTROL_RESUME:
        exec_suspend_resume(step);
        break;
    case CONTROL_KILL:
        run->is_killed = run->was_killed = true;
        exec_terminate_begin(step, first_signal(control));
        break;
    }
    run->control_done = control->number;
    exec_step_publish(step);
}

/* The command is at its gate, and the record says that it has begun. */
static void begin_command(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    struct run_control pending = run->pending;
    set_deadlines(run, step->now_ms);
    run->has_started = true;
    if (exec_step_is_at_job(run)) {
        exec_step_add_kind(step, EXEC_WATCH_LIMITS);
    }
    run->awaits_user = exec_step_is_at_job(run) && run->is_interactive;
    if (!run->awaits_user) {
        exec_step_add_kind(step, EXEC_OPEN_GATE);
    }
    exec_step_add_kind(step, EXEC_REPORT);
    if (exec_run_is_suspended(run)) {
        exec_step_add_kind(step, EXEC_STOP);
    }
    run->pending.number = 0;
    if (pending.number > 0) {
        apply_control(step, &pending);
    }
}

static void advance(const struct exec_step *step, const struct stage_outcome *outcome)
{
    struct exec_run *run = step->run;
    stages_advance(&run->stages, outcome);
    if (run->stages.is_decided) {
        clear(step);
    } else {
        next_command(step);
    }
}

static void end_command(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    struct stage_outcome outcome = {.status = run->ended.status,
                                    .is_killed = run->is_killed,
                                    .is_late = run->is_late,
                                    .failure = run->ended.failure};
    if (exec_step_is_at_job(run) && run->is_at_limit) {
        outcome.cause = RUN_CAUSE_RUN_LIMIT;
    } else if (exec_step_is_at_job(run) && !run->is_killed) {
        outcome.cause = run->ended.cause;
    }
    exec_side_drop(step);
    exec_resize_abandon(step);
    run->is_over = run->awaits_user = false;
    advance(step, &outcome);
}

/* Remaining output goes before the report of the end: after that the user's side stops
 * asking. A kill discards it. */
static void end_or_drain(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    bool is_discarded = run->pending.number > 0 && run->pending.action == CONTROL_KILL;
    if (run->pending.number > 0) {
        run->control_done = run->pending.number;
    }
    if (run->is_interactive && !is_discarded) {
        run->is_draining = true;
        exec_step_add_kind(step, EXEC_DRAIN);
    } else {
        end(step);
    }
}

static void on_cleared(const struct exec_step *step, bool is_clear)
{
    struct exec_run *run = step->run;
    run->is_clearing = false;
    exec_step_add_kind(step, EXEC_RELEASE);
    if (run->stages.stage != STAGE_DONE) {
        next_command(step);
        return;
    }
    if (!is_clear) {
        size_t used = strlen(run->stages.text);
        snprintf(run->stages.text + used, sizeof(run->stages.text) - used,
                 "%ssome of its processes cannot be killed", used > 0 ? "; " : "");
    }
    end_or_drain(step);
}

/* ---- children */

static void on_exited(const struct exec_step *step, const struct exec_event *event)
{
    struct exec_run *run = step->run;
    if (event->child == EXEC_NOTIFICATION && run->resize.is_running) {
        exec_resize_on_exited(step, event->status);
        return;
    }
    if (event->child == EXEC_COMMAND) {
        run->is_over = true;
        run->ended.status = event->status;
        run->ended.cause = event->cause;
        snprintf(run->ended.failure, sizeof(run->ended.failure), "%s",
                 event->failure != NULL ? event->failure : "");
    } else if (event->child == EXEC_CONTROL_COMMAND && run->side.is_running) {
        run->side.is_running = false;
        if (run->side.control == JOB_CONTROL_WARN) {
            return;
        }
        if (exec_suspend_is_stopping(run)) {
            exec_suspend_stop(step);
        } else if (escalation_is_on(&run->escalation)) {
            escalation_postpone(&run->escalation, step->now_ms + run->spec->grace_ms);
        }
    }
}

static void on_side_failed(const struct exec_step *step, const char *failure)
{
    struct exec_run *run = step->run;
    run->side.is_running = false;
    snprintf(run->stages.text, sizeof(run->stages.text), "JOB_CONTROLS: %s: %.200s",
             job_control_name(run->side.control), failure);
    if (run->side.control == JOB_CONTROL_SUSPEND) {
        exec_suspend_stop(step);
    } else if (run->side.control == JOB_CONTROL_TERMINATE) {
        escalation_init(&run->escalation);
        escalation_begin(&run->escalation, run->side.signal, step->now_ms);
        exec_terminate_escalate(step);
    }
}

static void on_launch_failed(const struct exec_step *step,
                             const struct exec_event *event)
{
    struct exec_run *run = step->run;
    switch (event->child) {
    case EXEC_COMMAND:
        if (run->has_started) {
            advance(step, &(struct stage_outcome){.failure = event->failure});
        } else {
            end_unstarted(step, RUN_END_FAILED, 0, event->failure);
        }
        break;
    case EXEC_CONTROL_COMMAND:
        on_side_failed(step, event->failure);
        break;
    case EXEC_NOTIFICATION:
        exec_resize_answer(step, RESIZE_NOT_NOW);
        exec_step_publish(step);
        break;
    }
}

/* ---- requests */

static void go(const struct exec_step *step, const char *failure)
{
    if (step->run->phase != RUN_WAITING) {
        exec_step_add_kind(step, EXEC_REPORT);
    } else if (failure != NULL && failure[0] != '\0') {
        end_unstarted(step, RUN_END_FAILED, 0, failure);
    } else {
        step->run->phase = RUN_RUNNING;
        step->run->is_interactive = step->run->spec->interaction != INTERACTION_NONE;
        next_command(step);
    }
}

/* Only output is left: a kill discards it. */
static void control_draining(const struct exec_step *step,
                             const struct run_control *control)
{
    step->run->control_done = control->number;
    if (control->action == CONTROL_KILL) {
        step->run->is_draining = false;
        end(step);
    } else {
        exec_step_publish(step);
    }
}

/* Its directory is the agent's from now on. */
static void withdraw(const struct exec_step *step)
{
    if (step->run->phase == RUN_WAITING || step->run->phase == RUN_ENDED) {
        step->run->is_gone = true;
    } else {
        exec_step_add_kind(step, EXEC_REPORT);
    }
}

/* Carried out with the next command. No other request replaces a kill. */
static void postpone_control(struct exec_run *run, const struct run_control *control)
{
    bool is_kill = run->pending.number > 0 && run->pending.action == CONTROL_KILL;
    if (control->number > run->pending.number && !is_kill) {
        run->pending = *control;
    }
}

static void on_control(const struct exec_step *step, const struct run_control *control)
{
    struct exec_run *run = step->run;
    bool is_new = control->number > run->control_done &&
                  !(run->suspend.until_ms != EXEC_NEVER &&
                    control->number <= run->suspend.number);
    /* The site does not suspend during a resize, and repeats the request. */
    bool waits_for_resize =
        control->action == CONTROL_SUSPEND && run->resize.is_running;
    if (!is_new || waits_for_resize || run->phase == RUN_ENDED) {
        exec_step_add_kind(step, EXEC_REPORT);
    } else if (run->is_draining) {
        control_draining(step, control);
    } else if (run->phase != RUN_WAITING && !run->is_clearing) {
        apply_control(step, control);
    } else if (run->phase == RUN_WAITING && control->action == CONTROL_KILL) {
        run->control_done = control->number;
        end_unstarted(step, RUN_END_SIGNALLED, first_signal(control),
                      "killed before it started");
    } else {
        postpone_control(run, control);
        exec_step_add_kind(step, EXEC_REPORT);
    }
}

/* ---- deadlines
 *
 * Each is computed from the state of the run, so code that changes the state need not
 * maintain it. A suspended run is not resumed for a limit. Order: deadlines that are
 * due at the same time go from the top down. */

static int64_t side_at(const struct exec_run *run)
{
    return run->side.is_running ? run->side.until_ms : EXEC_NEVER;
}

static void kill_side(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    snprintf(run->stages.text, sizeof(run->stages.text),
             "the %s command of JOB_CONTROLS took too long and was ended",
             job_control_name(run->side.control));
    run->side.until_ms = EXEC_NEVER;
    exec_step_add_child(step, EXEC_KILL, EXEC_CONTROL_COMMAND);
}

static int64_t notification_at(const struct exec_run *run)
{
    return run->resize.is_running ? run->resize.until_ms : EXEC_NEVER;
}

static void kill_notification(const struct exec_step *step)
{
    step->run->resize.until_ms = EXEC_NEVER;
    exec_step_add_child(step, EXEC_KILL, EXEC_NOTIFICATION);
}

static int64_t limit_at(const struct exec_run *run)
{
    if (run->phase != RUN_RUNNING || run->run_limit_ms == 0 ||
        !exec_step_is_at_job(run) || escalation_is_on(&run->escalation)) {
        return EXEC_NEVER;
    }
    return run->running_since_ms + run->run_limit_ms - run->ran_ms;
}

static void terminate_at_limit(const struct exec_step *step)
{
    step->run->is_at_limit = true;
    exec_terminate_begin(step, SIGINT);
}

static int64_t warn_at(const struct exec_run *run)
{
    int64_t before_ms = run->spec->limits.values[JOB_RLIMIT_WARNING];
    int64_t at_ms = limit_at(run);
    bool is_due = !run->is_warned && before_ms != JOB_RLIMIT_NONE &&
                  at_ms != EXEC_NEVER && !run->side.is_running &&
                  !run->resize.is_running &&
                  exec_side_control(run, JOB_CONTROL_WARN) != NULL;
    return is_due ? at_ms - before_ms : EXEC_NEVER;
}

static void warn(const struct exec_step *step)
{
    const char *what = exec_side_control(step->run, JOB_CONTROL_WARN);
    int signal = job_control_signal(what);
    step->run->is_warned = true;
    if (signal == 0) {
        exec_side_launch(step, JOB_CONTROL_WARN, 0);
    } else {
        exec_step_add_signal(step, EXEC_SIGNAL, signal);
    }
}

static int64_t stage_at(const struct exec_run *run)
{
    return exec_run_is_suspended(run) ? EXEC_NEVER : run->stage_until_ms;
}

static void terminate_late(const struct exec_step *step)
{
    step->run->stage_until_ms = EXEC_NEVER;
    step->run->is_late = true;
    exec_terminate_begin(step, SIGINT);
}

static int64_t escalate_at(const struct exec_run *run)
{
    return run->escalation.next_ms;
}

static int64_t stop_at(const struct exec_run *run)
{
    return exec_suspend_is_stopping(run) ? run->suspend.until_ms : EXEC_NEVER;
}

static int64_t clear_at(const struct exec_run *run)
{
    return run->is_clearing ? run->clear_ms : EXEC_NEVER;
}

static void clear_again(const struct exec_step *step)
{
    if (step->now_ms >= step->run->clear_until_ms) {
        on_cleared(step, false);
    } else {
        step->run->clear_ms = step->now_ms + CLEAR_AGAIN_MS;
        exec_step_add_kind(step, EXEC_CLEAR);
    }
}

static int64_t give_up_at(const struct exec_run *run)
{
    return run->phase == RUN_WAITING ? run->give_up_ms : EXEC_NEVER;
}

static void give_up(const struct exec_step *step)
{
    step->run->is_gone = true;
    exec_step_add_kind(step, EXEC_REMOVE);
}

static int64_t save_at(const struct exec_run *run)
{
    return run->save_ms;
}

static void save_again(const struct exec_step *step)
{
    step->run->save_ms = EXEC_NEVER;
    exec_step_add_kind(step, EXEC_WRITE);
}

/* The last one is also due after the end. */
static const struct deadline {
    int64_t (*at)(const struct exec_run *run);
    void (*on_due)(const struct exec_step *step);
} deadlines[] = {
    {side_at, kill_side},           {notification_at, kill_notification},
    {limit_at, terminate_at_limit}, {warn_at, warn},
    {stage_at, terminate_late},     {escalate_at, exec_terminate_escalate},
    {stop_at, exec_suspend_stop},   {clear_at, clear_again},
    {give_up_at, give_up},          {save_at, save_again},
};
enum { DEADLINES = sizeof(deadlines) / sizeof(deadlines[0]) };

static int first_deadline(const struct exec_run *run)
{
    return run->is_gone ? DEADLINES : run->phase == RUN_ENDED ? DEADLINES - 1 : 0;
}

int64_t exec_run_wake_ms(const struct exec_run *run)
{
    int64_t wake_ms = EXEC_NEVER;
    for (int i = first_deadline(run); i < DEADLINES; i++) {
        int64_t at_ms = deadlines[i].at(run);
        wake_ms = at_ms < wake_ms ? at_ms : wake_ms;
    }
    return wake_ms;
}

static void on_time(const struct exec_step *step)
{
    for (int i = first_deadline(step->run); i < DEADLINES; i++) {
        if (i >= first_deadline(step->run) &&
            step->now_ms >= deadlines[i].at(step->run)) {
            deadlines[i].on_due(step);
        }
    }
}

bool exec_run_is_over(const struct exec_run *run)
{
    return run->is_gone || (run->phase == RUN_ENDED && run->save_ms == EXEC_NEVER);
}

/* ---- the step */

/* Waits a tenth of the time for which nothing could be written. After a day the agent
 * finds a run without a guard: it says so, and buries it. */
static void on_unsaved(const struct exec_step *step)
{
    struct exec_run *run = step->run;
    if (run->unsaved_ms == 0 ||
        step->now_ms - run->unsaved_ms > 2 * SAVE_AGAIN_MAX_MS) {
        run->unsaved_since_ms = step->now_ms;
    }
    run->unsaved_ms = step->now_ms;
    int64_t since_ms = step->now_ms - run->unsaved_since_ms, wait_ms = since_ms / 10;
    wait_ms = wait_ms < SAVE_AGAIN_MS       ? SAVE_AGAIN_MS
              : wait_ms > SAVE_AGAIN_MAX_MS ? SAVE_AGAIN_MAX_MS
                                            : wait_ms;
    bool is_hopeless = run->phase == RUN_ENDED && since_ms >= SAVE_UNTIL_MS;
    run->save_ms = is_hopeless ? EXEC_NEVER : step->now_ms + wait_ms;
}

void exec_run_init(struct exec_run *run, const struct run_spec *spec, int64_t now_ms)
{
    *run = (struct exec_run){
        .spec = spec,
        .phase = RUN_WAITING,
        .end_by_ms =
            spec->end_within_ms > 0 ? now_ms + spec->end_within_ms : EXEC_NEVER,
        .run_limit_ms = spec->run_limit_ms,
        .n_slots = spec->n_slots,
        .stage_until_ms = EXEC_NEVER,
        .give_up_ms = EXEC_NEVER,
        .save_ms = EXEC_NEVER,
        .suspend = {.until_ms = EXEC_NEVER},
    };
    stages_init(&run->stages, spec);
    escalation_init(&run->escalation);
}

void exec_run_load(struct exec_run *run, const struct run_spec *spec,
                   const struct guard_record *record, bool is_this_boot, int64_t now_ms)
{
    bool is_decided = record->end != RUN_END_NONE;
    exec_run_init(run, spec, now_ms);
    stages_init_post_exec(&run->stages, spec, record);
    if (!is_decided) {
        run->stages.end = RUN_END_LOST;
        snprintf(run->stages.text, sizeof(run->stages.text), "%s",
                 is_this_boot ? "its guard died without an exit record"
                              : "the machine went down while it ran");
    }
    if (is_decided || !is_this_boot || record->start_ms == 0) {
        run->stages.has_post_failed = !is_decided || spec->n_post_execs > 0;
        run->stages.stage = STAGE_DONE;
    }
    /* Others may have the slots of a suspended run: it never claims them again. */
    run->phase = record->phase == RUN_SUSPENDED ? RUN_SUSPENDED : RUN_RUNNING;
    run->has_started = record->start_ms != 0;
    run->is_reaped = true;
    run->is_clearing = true;
    run->clear_ms = now_ms;
    run->clear_until_ms = now_ms + CLEAR_MAX_MS;
    run->control_done = record->control_done;
    run->resize_done = record->resize_done;
    run->resize_code = (int)record->resize_code;
}

void exec_run_fill_record(const struct exec_run *run, struct guard_record *record)
{
    record->phase = run->phase;
    record->control_done = run->control_done;
    record->resize_done = run->resize_done;
    record->resize_code = (uint64_t)run->resize_code;
    if (run->phase == RUN_ENDED && run->has_started) {
        record->post = run->stages.has_post_failed ? RUN_POST_ERR : RUN_POST_DONE;
    }
    if (run->stages.is_decided) {
        record->end = run->stages.end;
        record->cause = run->stages.cause;
        record->code = (uint64_t)run->stages.code;
        guard_record_set_text(record, run->stages.text);
    }
}

void exec_run_step(struct exec_run *run, const struct exec_event *event, int64_t now_ms,
                   struct exec_effects *effects)
{
    const struct exec_step step = {run, effects, now_ms};
    effects->count = 0;
    switch (event->kind) {
    case EXEC_GO:
        go(&step, event->failure);
        break;
    case EXEC_CONTROL:
        on_control(&step, &event->control);
        break;
    case EXEC_RESIZE:
        exec_resize_begin(&step, &event->resize);
        break;
    case EXEC_LAUNCHED:
        if (event->child == EXEC_COMMAND) {
            exec_step_add_kind(&step, EXEC_SAVE);
        }
        break;
    case EXEC_LAUNCH_FAILED:
        on_launch_failed(&step, event);
        break;
    case EXEC_SAVED:
        begin_command(&step);
        break;
    case EXEC_EXITED:
        on_exited(&step, event);
        break;
    case EXEC_STOPPED:
        exec_suspend_on_stopped(&step);
        break;
    case EXEC_CLEARED:
        if (run->is_clearing) {
            on_cleared(&step, true);
        }
        break;
    case EXEC_LIMIT_EXCEEDED:
        if (!escalation_is_on(&run->escalation)) {
            exec_terminate_begin(&step, event->cause == RUN_CAUSE_CPU_LIMIT ? SIGXCPU
                                                                            : SIGINT);
        }
        break;
    case EXEC_USER_CONNECTED:
        exec_step_open_gate(&step);
        break;
    case EXEC_DRAINED:
        if (run->is_draining) {
            run->is_draining = false;
            end(&step);
        }
        break;
    case EXEC_UNSAVED:
        on_unsaved(&step);
        break;
    case EXEC_HOMELESS:
        run->save_ms = EXEC_NEVER;
        break;
    case EXEC_ALONE:
        run->give_up_ms = now_ms + run->spec->wait_ms;
        break;
    case EXEC_ATTENDED:
        run->give_up_ms = EXEC_NEVER;
        break;
    case EXEC_WITHDRAWN:
        withdraw(&step);
        break;
    case EXEC_TIME:
        on_time(&step);
        break;
    }
    if (run->is_over && !exec_terminate_is_running(run)) {
        end_command(&step);
    }
}
