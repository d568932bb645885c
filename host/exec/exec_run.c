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
#include "host/exec/exec.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum {
    TSTP_GRACE_MS = 1000, /* from SIGTSTP to SIGSTOP: the launcher of a parallel job
                             passes the signal on, an interactive job leaves its
                             terminal in order */
    SUSPEND_RETRY_MS =
        500, /* a process that is deep in the kernel could not be stopped */
    CONTROL_COMMAND_MAX_MS = 60000,
    NOTIFICATION_MAX_MS = 600000,
    CLEAR_MAX_MS = 30000, /* processes that SIGKILL does not end, in the kernel */
    CLEAR_AGAIN_MS = 50,
};

/* A step: the run, what is to be done, and when. */
struct step {
    struct exec_run *run;
    struct exec_effects *effects;
    int64_t now_ms;
};

static void add(const struct step *step, struct exec_effect effect)
{
    assert(step->effects->count < EXEC_EFFECTS_MAX);
    step->effects->list[step->effects->count++] = effect;
}

static void add_kind(const struct step *step, enum exec_effect_kind kind)
{
    add(step, (struct exec_effect){.kind = kind});
}

static void add_signal(const struct step *step, enum exec_effect_kind kind, int signal)
{
    add(step, (struct exec_effect){.kind = kind, .signal = signal});
}

static void add_child(const struct step *step, enum exec_effect_kind kind,
                      enum exec_child child)
{
    add(step, (struct exec_effect){
                  .kind = kind, .child = child, .control = step->run->side.control});
}

static bool is_at_job(const struct exec_run *run)
{
    return run->stages.stage == STAGE_JOB;
}

/* ---- commands of JOB_CONTROLS */

/* The command or signal of JOB_CONTROLS for the job itself; NULL: none. */
static const char *control_of(const struct exec_run *run, enum job_control control)
{
    return is_at_job(run) ? run->spec->controls[control] : NULL;
}

static void drop_side(const struct step *step)
{
    if (step->run->side.is_running) {
        step->run->side.is_running = false;
        add_child(step, EXEC_DROP, EXEC_CONTROL_COMMAND);
    }
}

/* A command that still runs is dropped: the latest request counts. */
static void launch_side(const struct step *step, enum job_control control, int signal)
{
    struct exec_run *run = step->run;
    drop_side(step);
    run->side.is_running = true;
    run->side.control = control;
    run->side.signal = signal;
    run->side.until_ms = step->now_ms + CONTROL_COMMAND_MAX_MS;
    add_child(step, EXEC_LAUNCH, EXEC_CONTROL_COMMAND);
}

/* ---- resize */

bool exec_run_takes_resize(const struct exec_run *run, uint64_t number)
{
    return (run->phase == RUN_RUNNING || run->phase == RUN_SUSPENDED) &&
           number > run->resize_done && !run->resize.is_running;
}

static void answer_resize(const struct step *step, int code)
{
    struct exec_run *run = step->run;
    run->resize.is_running = false;
    run->resize_done = run->resize.request.number;
    run->resize_code = code;
    if (code == 0) {
        run->n_slots = run->resize.request.n_slots;
        add_kind(step, EXEC_ACCEPT_SLOTS);
    }
}

static bool may_be_notified(const struct exec_run *run)
{
    return run->phase == RUN_RUNNING && is_at_job(run) &&
           run->suspend.until_ms == EXEC_NEVER && !escalation_is_on(&run->escalation) &&
           !run->side.is_running;
}

static void resize(const struct step *step, const struct exec_resize *request)
{
    struct exec_run *run = step->run;
    if (!exec_run_takes_resize(run, request->number)) {
        add_kind(step, EXEC_REPORT);
        return;
    }
    run->resize.request = *request;
    if (may_be_notified(run) && request->has_command) {
        run->resize.is_running = true;
        run->resize.until_ms = step->now_ms + NOTIFICATION_MAX_MS;
        add_child(step, EXEC_LAUNCH, EXEC_NOTIFICATION);
        return;
    }
    answer_resize(step, may_be_notified(run) ? 0 : RESIZE_NOT_NOW);
    add_kind(step, EXEC_PUBLISH);
}

/* The job ends, or is to be terminated. */
static void abandon_resize(const struct step *step)
{
    if (step->run->resize.is_running) {
        add_child(step, EXEC_DROP, EXEC_NOTIFICATION);
        answer_resize(step, RESIZE_NOT_NOW);
    }
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- suspend and resume */

bool exec_run_is_suspended(const struct exec_run *run)
{
    return run->phase == RUN_SUSPENDED && run->stages.stage != STAGE_POST_EXEC;
}

static bool is_stopping(const struct exec_run *run)
{
    return run->phase == RUN_RUNNING && run->suspend.until_ms != EXEC_NEVER;
}

static void stop(const struct step *step)
{
    step->run->suspend.until_ms = step->now_ms;
    add_kind(step, EXEC_STOP);
}

static void on_stopped(const struct step *step, bool is_stopped)
{
    struct exec_run *run = step->run;
    if (!is_stopping(run)) {
        return;
    }
    if (!is_stopped) {
        run->suspend.until_ms = step->now_ms + SUSPEND_RETRY_MS;
        return;
    }
    run->suspend.until_ms = EXEC_NEVER;
    run->ran_ms += step->now_ms - run->running_since_ms;
    run->phase = RUN_SUSPENDED;
    run->control_done = run->suspend.number;
    add_kind(step, EXEC_PUBLISH);
}

static void begin_suspend(const struct step *step, const struct run_control *control)
{
    struct exec_run *run = step->run;
    const char *what = control_of(run, JOB_CONTROL_SUSPEND);
    bool is_interactive = run->spec->interaction != INTERACTION_NONE;
    int tstp = run->n_slots > 1 || is_interactive ? SIGTSTP : 0;
    int signal = what != NULL ? job_control_signal(what) : tstp;
    run->suspend.number = control->number;
    run->suspend.causes = control->reasons;
    run->suspend.is_signalled = what != NULL || signal != 0;
    if (what != NULL && signal == 0) {
        launch_side(step, JOB_CONTROL_SUSPEND, 0);
        run->suspend.until_ms = run->side.until_ms; /* or once it has ended */
    } else if (signal == 0 || signal == SIGSTOP) {
        stop(step);
    } else {
        run->suspend.until_ms = step->now_ms + TSTP_GRACE_MS;
        add_signal(step, EXEC_SIGNAL, signal);
    }
}

static void resume_all(const struct step *step)
{
    struct exec_run *run = step->run;
    bool was_stopping = run->suspend.until_ms != EXEC_NEVER;
    run->suspend.until_ms = EXEC_NEVER;
    drop_side(step);
    if (run->phase == RUN_SUSPENDED) {
        run->running_since_ms = step->now_ms;
        run->phase = RUN_RUNNING;
        was_stopping = true;
    }
    if (was_stopping) {
        add_signal(step, EXEC_CONTINUE, run->suspend.is_signalled ? SIGCONT : 0);
        run->suspend.is_signalled = false;
    }
}

/* A resume by request also does what JOB_CONTROLS says. */
static void resume(const struct step *step)
{
    struct exec_run *run = step->run;
    bool was_suspended =
        run->phase == RUN_SUSPENDED || run->suspend.until_ms != EXEC_NEVER;
    const char *what = control_of(run, JOB_CONTROL_RESUME);
    resume_all(step);
    if (!was_suspended || what == NULL) {
        return;
    }
    int signal = job_control_signal(what);
    if (signal != 0) {
        add_signal(step, EXEC_SIGNAL, signal);
    } else {
        launch_side(step, JOB_CONTROL_RESUME, 0);
    }
}

/* ---- termination */

static void escalate(const struct step *step)
{
    struct exec_run *run = step->run;
    int signal = escalation_next(&run->escalation, run->spec->grace_ms, step->now_ms);
    if (signal != 0) {
        add_signal(step, EXEC_TERMINATE, signal);
    }
}

/* Terminates by JOB_CONTROLS; the default signals follow after JOB_TERMINATE_INTERVAL.
 * Returns false if JOB_CONTROLS has nothing for this. */
static bool terminate_by_control(const struct step *step, int first_signal)
{
    struct exec_run *run = step->run;
    const char *what = control_of(run, JOB_CONTROL_TERMINATE);
    if (what == NULL || escalation_is_on(&run->escalation)) {
        return what != NULL;
    }
    int signal = job_control_signal(what);
    if (signal != 0) {
        add_signal(step, EXEC_TERMINATE, signal);
        escalation_postpone(&run->escalation, step->now_ms + run->spec->grace_ms);
    } else {
        launch_side(step, JOB_CONTROL_TERMINATE, first_signal);
        escalation_postpone(&run->escalation, run->side.until_ms);
    }
    return true;
}

/* The command that terminates the job still runs. */
static bool is_terminating(const struct exec_run *run)
{
    return run->side.is_running && run->side.control == JOB_CONTROL_TERMINATE;
}

/* At the gate the job gets no signals. */
static void open_gate(const struct step *step)
{
    if (step->run->awaits_user) {
        step->run->awaits_user = false;
        add_kind(step, EXEC_OPEN_GATE);
    }
}

/* Terminates the current command, beginning with this signal. A suspended command is
 * resumed, or it could not react to the signals, except for SIGKILL: its slots may be
 * in use by other jobs. */
static void terminate(const struct step *step, int signal)
{
    struct exec_run *run = step->run;
    abandon_resize(step);
    open_gate(step);
    if (signal == SIGKILL) {
        run->suspend.until_ms = EXEC_NEVER;
        drop_side(step);
    } else if (!is_terminating(run)) {
        resume_all(step);
    }
    if (signal == SIGKILL || !terminate_by_control(step, signal)) {
        escalation_begin(&run->escalation, signal, step->now_ms);
        escalate(step);
    }
}

/* ---- from one command to the next */

static void end(const struct step *step)
{
    step->run->phase = RUN_ENDED;
    add_kind(step, EXEC_END);
}

/* The run ends without a command of it having begun. */
static void end_unstarted(const struct step *step, enum run_end how, int code,
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
static void clear(const struct step *step)
{
    if (step->run->stages.stage == STAGE_DONE) {
        escalation_init(&step->run->escalation);
        step->run->stage_until_ms = EXEC_NEVER;
    }
    step->run->is_clearing = true;
    step->run->clear_until_ms = step->now_ms + CLEAR_MAX_MS;
    step->run->clear_ms = step->now_ms + CLEAR_AGAIN_MS;
    add_kind(step, EXEC_CLEAR);
}

static void next_command(const struct step *step)
{
    struct exec_run *run = step->run;
    if (is_at_job(run) && step->now_ms >= run->end_by_ms) {
        /* Other jobs need its slots before it starts. */
        stages_advance(&run->stages,
                       &(struct stage_outcome){.is_late = true, .failure = ""});
        run->has_started = true;
    } else if (stages_command(&run->stages) != NULL) {
        add_child(step, EXEC_LAUNCH, EXEC_COMMAND);
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
    if (is_at_job(run)) {
        run->ran_ms = 0;
        run->running_since_ms = now_ms;
        cut_run_limit(run, now_ms);
    }
}

static void apply_control(const struct step *step, const struct run_control *control)
{
    struct exec_run *run = step->run;
    switch (control->action) {
    case CONTROL_SIGNAL:
        /* A job to be suspended gets no signals: it was to be resumed first, and the
         * request to suspend it was overtaken. */
        resume_all(step);
        add_signal(step, EXEC_SIGNAL, control->signal);
        break;
    case CONTROL_SUSPEND:
        /* A job that is being terminated is not suspended. */
        if (!escalation_is_on(&run->escalation) && run->phase == RUN_RUNNING) {
            begin_suspend(step, control);
            return;
        }
        break;
    case CONTROL_RESUME:
        resume(step);
        break;
    case CONTROL_KILL:
        run->is_killed = run->was_killed = true;
        terminate(step, control->signal == SIGKILL ? SIGKILL : SIGINT);
        break;
    }
    run->control_done = control->number;
    add_kind(step, EXEC_PUBLISH);
}

/* The command is at its gate, and the record says that it has begun. */
static void begin_command(const struct step *step)
{
    struct exec_run *run = step->run;
    struct run_control pending = run->pending;
    set_deadlines(run, step->now_ms);
    run->has_started = true;
    if (is_at_job(run)) {
        add_kind(step, EXEC_WATCH_LIMITS);
    }
    run->awaits_user = is_at_job(run) && run->is_interactive;
    if (!run->awaits_user) {
        add_kind(step, EXEC_OPEN_GATE);
    }
    add_kind(step, EXEC_REPORT);
    if (exec_run_is_suspended(run)) {
        add_kind(step, EXEC_STOP);
    }
    run->pending.number = 0;
    if (pending.number > 0) {
        apply_control(step, &pending);
    }
}

static void advance(const struct step *step, const struct stage_outcome *outcome)
{
    struct exec_run *run = step->run;
    stages_advance(&run->stages, outcome);
    if (run->stages.is_decided) {
        clear(step);
    } else {
        next_command(step);
    }
}

static void end_command(const struct step *step)
{
    struct exec_run *run = step->run;
    struct stage_outcome outcome = {.status = run->ended.status,
                                    .is_killed = run->is_killed,
                                    .is_late = run->is_late,
                                    .failure = run->ended.failure};
    if (is_at_job(run) && run->is_at_limit) {
        outcome.cause = RUN_CAUSE_RUN_LIMIT;
    } else if (is_at_job(run) && !run->is_killed) {
        outcome.cause = run->ended.cause;
    }
    drop_side(step);
    abandon_resize(step);
    run->is_over = run->awaits_user = false;
    advance(step, &outcome);
}

/* Remaining output goes before the report of the end: after that the user's side stops
 * asking. A kill discards it. */
static void end_or_drain(const struct step *step)
{
    struct exec_run *run = step->run;
    bool is_discarded = run->pending.number > 0 && run->pending.action == CONTROL_KILL;
    if (run->pending.number > 0) {
        run->control_done = run->pending.number;
    }
    if (run->is_interactive && !is_discarded) {
        run->is_draining = true;
        add_kind(step, EXEC_DRAIN);
    } else {
        end(step);
    }
}

static void on_cleared(const struct step *step, bool is_clear)
{
    struct exec_run *run = step->run;
    run->is_clearing = false;
    add_kind(step, EXEC_RELEASE);
    if (run->stages.stage != STAGE_DONE) {
        next_command(step);
        return;
    }
    if (!is_clear) {
        snprintf(run->stages.text, sizeof(run->stages.text),
                 "some of its processes cannot be killed");
    }
    end_or_drain(step);
}

/* ---- children */

static void on_exited(const struct step *step, const struct exec_event *event)
{
    struct exec_run *run = step->run;
    if (event->child == EXEC_NOTIFICATION && run->resize.is_running) {
        answer_resize(step, code_of(event->status));
        add_kind(step, EXEC_PUBLISH);
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
        if (is_stopping(run)) {
            stop(step);
        } else if (escalation_is_on(&run->escalation)) {
            escalation_postpone(&run->escalation, step->now_ms + run->spec->grace_ms);
        }
    }
}

static void on_side_failed(const struct step *step, const char *failure)
{
    struct exec_run *run = step->run;
    run->side.is_running = false;
    snprintf(run->stages.text, sizeof(run->stages.text), "JOB_CONTROLS: %s: %.200s",
             job_control_name(run->side.control), failure);
    if (run->side.control == JOB_CONTROL_SUSPEND) {
        stop(step);
    } else if (run->side.control == JOB_CONTROL_TERMINATE) {
        escalation_init(&run->escalation);
        escalation_begin(&run->escalation, run->side.signal, step->now_ms);
        escalate(step);
    }
}

static void on_launch_failed(const struct step *step, const struct exec_event *event)
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
        answer_resize(step, RESIZE_NOT_NOW);
        add_kind(step, EXEC_PUBLISH);
        break;
    }
}

/* ---- requests */

static void go(const struct step *step, const char *failure)
{
    if (step->run->phase != RUN_WAITING) {
        add_kind(step, EXEC_REPORT);
    } else if (failure != NULL && failure[0] != '\0') {
        end_unstarted(step, RUN_END_FAILED, 0, failure);
    } else {
        step->run->phase = RUN_RUNNING;
        step->run->is_interactive = step->run->spec->interaction != INTERACTION_NONE;
        next_command(step);
    }
}

/* Only output is left: a kill discards it. */
static void control_draining(const struct step *step, const struct run_control *control)
{
    step->run->control_done = control->number;
    if (control->action == CONTROL_KILL) {
        step->run->is_draining = false;
        end(step);
    } else {
        add_kind(step, EXEC_PUBLISH);
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

static void on_control(const struct step *step, const struct run_control *control)
{
    struct exec_run *run = step->run;
    bool is_new = control->number > run->control_done &&
                  !(run->suspend.until_ms != EXEC_NEVER &&
                    control->number <= run->suspend.number);
    /* The site does not suspend during a resize, and repeats the request. */
    bool waits_for_resize =
        control->action == CONTROL_SUSPEND && run->resize.is_running;
    if (!is_new || waits_for_resize || run->phase == RUN_ENDED) {
        add_kind(step, EXEC_REPORT);
    } else if (run->is_draining) {
        control_draining(step, control);
    } else if (run->phase != RUN_WAITING && !run->is_clearing) {
        apply_control(step, control);
    } else if (run->phase == RUN_WAITING && control->action == CONTROL_KILL) {
        run->control_done = control->number;
        end_unstarted(step, RUN_END_SIGNALLED, SIGTERM, "killed before it started");
    } else {
        postpone_control(run, control);
        add_kind(step, EXEC_REPORT);
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

static void kill_side(const struct step *step)
{
    struct exec_run *run = step->run;
    snprintf(run->stages.text, sizeof(run->stages.text),
             "the %s command of JOB_CONTROLS took too long and was ended",
             job_control_name(run->side.control));
    run->side.until_ms = EXEC_NEVER;
    add_child(step, EXEC_KILL, EXEC_CONTROL_COMMAND);
}

static int64_t notification_at(const struct exec_run *run)
{
    return run->resize.is_running ? run->resize.until_ms : EXEC_NEVER;
}

static void kill_notification(const struct step *step)
{
    step->run->resize.until_ms = EXEC_NEVER;
    add_child(step, EXEC_KILL, EXEC_NOTIFICATION);
}

static int64_t limit_at(const struct exec_run *run)
{
    if (run->phase != RUN_RUNNING || run->run_limit_ms == 0 || !is_at_job(run) ||
        escalation_is_on(&run->escalation)) {
        return EXEC_NEVER;
    }
    return run->running_since_ms + run->run_limit_ms - run->ran_ms;
}

static void terminate_at_limit(const struct step *step)
{
    step->run->is_at_limit = true;
    terminate(step, SIGINT);
}

static int64_t stage_at(const struct exec_run *run)
{
    return exec_run_is_suspended(run) ? EXEC_NEVER : run->stage_until_ms;
}

static void terminate_late(const struct step *step)
{
    step->run->stage_until_ms = EXEC_NEVER;
    step->run->is_late = true;
    terminate(step, SIGINT);
}

static int64_t escalate_at(const struct exec_run *run)
{
    return run->escalation.next_ms;
}

static int64_t stop_at(const struct exec_run *run)
{
    return is_stopping(run) ? run->suspend.until_ms : EXEC_NEVER;
}

static int64_t clear_at(const struct exec_run *run)
{
    return run->is_clearing ? run->clear_ms : EXEC_NEVER;
}

static void clear_again(const struct step *step)
{
    if (step->now_ms >= step->run->clear_until_ms) {
        on_cleared(step, false);
    } else {
        step->run->clear_ms = step->now_ms + CLEAR_AGAIN_MS;
        add_kind(step, EXEC_CLEAR);
    }
}

static const struct deadline {
    int64_t (*at)(const struct exec_run *run);
    void (*on_due)(const struct step *step);
} deadlines[] = {
    {side_at, kill_side},           {notification_at, kill_notification},
    {limit_at, terminate_at_limit}, {stage_at, terminate_late},
    {escalate_at, escalate},        {stop_at, stop},
    {clear_at, clear_again},
};
enum { DEADLINES = sizeof(deadlines) / sizeof(deadlines[0]) };

int64_t exec_run_wake_ms(const struct exec_run *run)
{
    int64_t wake_ms = EXEC_NEVER;
    for (int i = 0; i < DEADLINES && run->phase != RUN_ENDED; i++) {
        int64_t at_ms = deadlines[i].at(run);
        wake_ms = at_ms < wake_ms ? at_ms : wake_ms;
    }
    return wake_ms;
}

static void on_time(const struct step *step)
{
    for (int i = 0; i < DEADLINES && step->run->phase != RUN_ENDED; i++) {
        if (step->now_ms >= deadlines[i].at(step->run)) {
            deadlines[i].on_due(step);
        }
    }
}

/* ---- the step */

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
        .suspend = {.until_ms = EXEC_NEVER},
    };
    stages_init(&run->stages, spec);
    escalation_init(&run->escalation);
}

void exec_run_load(struct exec_run *run, const struct run_spec *spec,
                   const struct guard_record *record, int64_t now_ms)
{
    exec_run_init(run, spec, now_ms);
    stages_init_post_exec(&run->stages, spec, record);
    run->phase = record->phase;
    run->has_started = true;
    run->is_clearing = true;
    run->clear_ms = run->clear_until_ms = EXEC_NEVER;
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
    const struct step step = {run, effects, now_ms};
    effects->count = 0;
    switch (event->kind) {
    case EXEC_GO:
        go(&step, event->failure);
        break;
    case EXEC_CONTROL:
        on_control(&step, &event->control);
        break;
    case EXEC_RESIZE:
        resize(&step, &event->resize);
        break;
    case EXEC_LAUNCHED:
        if (event->child == EXEC_COMMAND) {
            add_kind(&step, EXEC_SAVE);
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
    case EXEC_NOT_STOPPED:
        on_stopped(&step, event->kind == EXEC_STOPPED);
        break;
    case EXEC_CLEARED:
        if (run->is_clearing) {
            on_cleared(&step, true);
        }
        break;
    case EXEC_LIMIT_EXCEEDED:
        if (!escalation_is_on(&run->escalation)) {
            terminate(&step, event->cause == RUN_CAUSE_CPU_LIMIT ? SIGXCPU : SIGINT);
        }
        break;
    case EXEC_USER_CONNECTED:
        open_gate(&step);
        break;
    case EXEC_DRAINED:
        if (run->is_draining) {
            run->is_draining = false;
            end(&step);
        }
        break;
    case EXEC_TIME:
        on_time(&step);
        break;
    }
    if (run->is_over && !is_terminating(run)) {
        end_command(&step);
    }
}
