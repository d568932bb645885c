/* SPDX-License-Identifier: Apache-2.0 */
/* guard_control.c: see guard_run.h. */
#include "host/guard/guard_run.h"

#include <signal.h>
#include <stdio.h>

#include "host/kernel/kernel.h"

enum {
    TSTP_GRACE_MS = 1000, /* from SIGTSTP to SIGSTOP of a parallel job: its launcher
                             passes the signal on */
    SUSPEND_RETRY_MS =
        500, /* a process that is deep in the kernel could not be stopped */
};

/* ---- commands of JOB_CONTROLS */

void guard_control_kill_command(struct guard_run *run)
{
    control_command_kill(&run->control_command);
    control_command_init(
        &run->control_command); /* run_step.c collects it as any other child */
    run->procs.except = 0;
}

/* The command or signal of JOB_CONTROLS for the job itself; NULL: none. */
static const char *control_of(const struct guard_run *run, enum job_control action)
{
    return run->stages.stage == STAGE_JOB ? run->spec.controls[action] : NULL;
}

/* A command that still runs is killed: the latest request counts. */
static bool start_command(struct guard_run *run, enum job_control action)
{
    struct control_command_context context = {.dir = run->dir,
                                              .spec = &run->spec,
                                              .account = &run->account,
                                              .procs = &run->procs,
                                              .reasons = run->reasons};
    struct err err = {0};
    guard_control_kill_command(run);
    if (control_command_begin(&run->control_command, action, &context,
                              kernel_clock_now_ms(), &err) != 0) {
        snprintf(run->stages.text, sizeof(run->stages.text), "JOB_CONTROLS: %s: %.200s",
                 job_control_name(action), err.text);
        return false;
    }
    run->procs.except = run->control_command.pid;
    return true;
}

/* ---- suspend and resume */

void guard_control_suspend(struct guard_run *run)
{
    int64_t now = kernel_clock_now_ms();
    if (!procs_suspend(&run->procs)) {
        run->suspend_at = now + SUSPEND_RETRY_MS;
        return;
    }
    run->suspend_at = GUARD_RUN_NEVER;
    run->ran_ms += now - run->running_since;
    run->record.phase = RUN_SUSPENDED;
    run->record.control_done = run->suspend_number;
    guard_run_publish(run);
}

static void begin_suspend(struct guard_run *run, const struct run_control *control)
{
    const char *what = control_of(run, JOB_CONTROL_SUSPEND);
    int tstp = run->spec.n_slots > 1 ? SIGTSTP : 0;
    int signal = what != NULL ? job_control_signal(what) : tstp;
    run->suspend_number = control->number;
    run->reasons = control->reasons;
    run->is_tstp_sent = what != NULL || signal != 0;
    if (what != NULL && signal == 0 && start_command(run, JOB_CONTROL_SUSPEND)) {
        run->suspend_at = run->control_command.until_ms; /* or once it has ended */
        return;
    }
    if (signal == 0 || signal == SIGSTOP) {
        guard_control_suspend(run);
        return;
    }
    procs_signal(&run->procs, signal);
    run->suspend_at = kernel_clock_now_ms() + TSTP_GRACE_MS;
}

static void resume_all(struct guard_run *run)
{
    bool is_stopping = run->suspend_at != GUARD_RUN_NEVER;
    run->suspend_at = GUARD_RUN_NEVER;
    guard_control_kill_command(run);
    if (run->record.phase == RUN_SUSPENDED) {
        run->running_since = kernel_clock_now_ms();
        run->record.phase = RUN_RUNNING;
        is_stopping = true;
    }
    if (is_stopping) {
        procs_resume(&run->procs);
        if (run->is_tstp_sent) {
            procs_signal(&run->procs, SIGCONT);
        }
        run->is_tstp_sent = false;
    }
}

/* A resume by request also does what JOB_CONTROLS says. */
static void resume(struct guard_run *run)
{
    bool was_suspended =
        run->record.phase == RUN_SUSPENDED || run->suspend_at != GUARD_RUN_NEVER;
    const char *what = control_of(run, JOB_CONTROL_RESUME);
    resume_all(run);
    if (!was_suspended || what == NULL) {
        return;
    }
    int signal = job_control_signal(what);
    if (signal != 0) {
        procs_signal(&run->procs, signal);
    } else {
        start_command(run, JOB_CONTROL_RESUME);
    }
}

/* ---- termination */

void guard_control_escalate(struct guard_run *run, int64_t now)
{
    int signal = escalation_next(&run->escalation, run->spec.grace_ms, now);
    if (signal == SIGKILL) {
        procs_kill(&run->procs);
    } else if (signal != 0) {
        procs_signal(&run->procs, signal);
    }
}

/* Terminates by JOB_CONTROLS; the default signals follow after JOB_TERMINATE_INTERVAL.
 * Returns false if JOB_CONTROLS has nothing for this. */
static bool terminate_by_control(struct guard_run *run, int64_t now)
{
    const char *what = control_of(run, JOB_CONTROL_TERMINATE);
    if (what == NULL || escalation_is_on(&run->escalation)) {
        return what != NULL;
    }
    int signal = job_control_signal(what);
    if (signal != 0) {
        procs_signal(&run->procs, signal);
        escalation_postpone(&run->escalation, now + run->spec.grace_ms);
        return true;
    }
    if (start_command(run, JOB_CONTROL_TERMINATE)) {
        escalation_postpone(&run->escalation, run->control_command.until_ms);
        return true;
    }
    return false;
}

void guard_control_terminate(struct guard_run *run, int signal)
{
    int64_t now = kernel_clock_now_ms();
    resize_command_abandon(run);
    if (run->awaits_user) { /* at the gate it gets no signals */
        run->awaits_user = false;
        launch_release(&run->launched);
    }
    if (signal == SIGKILL) {
        run->suspend_at = GUARD_RUN_NEVER;
        guard_control_kill_command(run);
    } else if (run->control_command.action != JOB_CONTROL_TERMINATE ||
               !control_command_is_running(&run->control_command)) {
        resume_all(run);
    }
    if (signal != SIGKILL && terminate_by_control(run, now)) {
        return;
    }
    escalation_begin(&run->escalation, signal, now);
    guard_control_escalate(run, now);
}

void guard_control_command_ended(struct guard_run *run)
{
    if (run->suspend_at != GUARD_RUN_NEVER && run->record.phase == RUN_RUNNING) {
        guard_control_suspend(run);
    } else if (escalation_is_on(&run->escalation)) {
        escalation_postpone(&run->escalation,
                            kernel_clock_now_ms() + run->spec.grace_ms);
    }
}

/* ---- requests */

void guard_control_apply(struct guard_run *run, const struct run_control *control)
{
    switch (control->action) {
    case CONTROL_SIGNAL:
        /* A job to be suspended gets no signals: it was to be resumed first, and the
         * request to suspend it was overtaken. */
        resume_all(run);
        procs_signal(&run->procs, control->signal);
        break;
    case CONTROL_SUSPEND:
        /* A job that is being terminated is not suspended. */
        if (!escalation_is_on(&run->escalation) && run->record.phase == RUN_RUNNING) {
            begin_suspend(run, control);
            return;
        }
        break;
    case CONTROL_RESUME:
        resume(run);
        break;
    case CONTROL_KILL:
        run->is_killed = run->was_killed = true;
        guard_control_terminate(run, control->signal == SIGKILL ? SIGKILL : SIGINT);
        break;
    }
    run->record.control_done = control->number;
    guard_run_publish(run);
}

/* Only output is left: a kill discards it. */
static void control_draining(struct guard_run *run, const struct run_control *control)
{
    run->record.control_done = control->number;
    if (control->action == CONTROL_KILL) {
        run->is_draining = false;
        guard_run_end_as_decided(run);
    } else {
        guard_run_publish(run);
    }
}

void guard_control_request(struct guard_run *run, const struct guard_request *request)
{
    struct run_control wanted = {request->number, (enum control_action)request->action,
                                 request->signal, false, (int)request->reasons};
    bool is_known = request->action <= CONTROL_KILL && request->signal >= 0 &&
                    request->reasons <= SUSPEND_CAUSES && request->signal < NSIG &&
                    (request->action != CONTROL_SIGNAL || request->signal > 0);
    bool is_new =
        wanted.number > run->record.control_done &&
        !(run->suspend_at != GUARD_RUN_NEVER && wanted.number <= run->suspend_number);
    /* The site does not suspend during a resize, and repeats the request. */
    bool waits_for_resize =
        wanted.action == CONTROL_SUSPEND && resize_command_is_running(&run->resize);
    if (!is_known || !is_new || waits_for_resize || run->record.phase == RUN_ENDED) {
        guard_link_push(&run->link, &run->record);
    } else if (run->is_draining) {
        control_draining(run, &wanted);
    } else if (run->record.phase != RUN_WAITING) {
        guard_control_apply(run, &wanted);
    } else if (wanted.action == CONTROL_KILL) {
        run->record.control_done = wanted.number;
        guard_run_end(run, RUN_END_SIGNALLED, SIGTERM, "killed before it started");
    } else {
        if (wanted.number > run->pending.number) {
            run->pending = wanted;
        }
        guard_link_push(&run->link, &run->record);
    }
}
