/* SPDX-License-Identifier: Apache-2.0 */
/* guard_control.c: see guard_control.h. */
#include "host/guard/guard_control.h"

#include <signal.h>
#include <stdio.h>

#include "host/kernel/kernel_clock.h"

enum {
    STOP_MOMENT_MS = 1000, /* from SIGTSTP until a parallel job has to stand still: a
                              launcher tells the others of the job */
    STOP_AGAIN_MS = 500,   /* somebody could not be stopped: deep in the kernel */
};

/* ---- what JOB_CONTROLS says */

void guard_control_kill_command(struct guard_run *life)
{
    control_command_kill(&life->action);
    control_command_init(&life->action); /* it is collected as any other child */
    life->crew.except = 0;
}

/* What JOB_CONTROLS says of the job itself; NULL: nothing. */
static const char *control_of(const struct guard_run *life, enum job_control action)
{
    return life->course.stage == STAGE_JOB ? life->spec.controls[action] : NULL;
}

/* One that runs still is over with that: the latest order counts. */
static bool start_action(struct guard_run *life, enum job_control action)
{
    struct control_command_context place = {.dir = life->dir,
                                            .spec = &life->spec,
                                            .account = &life->account,
                                            .crew = &life->crew,
                                            .reasons = life->reasons};
    struct err err = {0};
    guard_control_kill_command(life);
    if (control_command_begin(&life->action, action, &place, kernel_clock_now_ms(),
                              &err) != 0) {
        snprintf(life->course.text, sizeof(life->course.text),
                 "JOB_CONTROLS: %s: %.200s", job_control_name(action), err.text);
        return false;
    }
    life->crew.except = life->action.pid;
    return true;
}

/* ---- standing still, and going on */

void guard_control_suspend(struct guard_run *life)
{
    int64_t now = kernel_clock_now_ms();
    if (!procs_suspend(&life->crew)) {
        life->stop_at = now + STOP_AGAIN_MS;
        return;
    }
    life->stop_at = GUARD_RUN_NEVER;
    life->ran_ms += now - life->running_since;
    life->record.phase = RUN_SUSPENDED;
    life->record.control_done = life->stop_number;
    guard_run_publish(life);
}

static void begin_stop(struct guard_run *life, const struct run_control *control)
{
    const char *what = control_of(life, JOB_CONTROL_SUSPEND);
    int asked = life->spec.n_slots > 1 ? SIGTSTP : 0;
    int signal = what != NULL ? job_control_signal(what) : asked;
    life->stop_number = control->number;
    life->reasons = control->reasons;
    life->is_asked = what != NULL || signal != 0;
    if (what != NULL && signal == 0 && start_action(life, JOB_CONTROL_SUSPEND)) {
        life->stop_at = life->action.until_ms; /* or once it has ended */
        return;
    }
    if (signal == 0 || signal == SIGSTOP) {
        guard_control_suspend(life);
        return;
    }
    procs_signal(&life->crew, signal);
    life->stop_at = kernel_clock_now_ms() + STOP_MOMENT_MS;
}

static void resume_all(struct guard_run *life)
{
    bool is_stopping = life->stop_at != GUARD_RUN_NEVER;
    life->stop_at = GUARD_RUN_NEVER;
    guard_control_kill_command(life);
    if (life->record.phase == RUN_SUSPENDED) {
        life->running_since = kernel_clock_now_ms();
        life->record.phase = RUN_RUNNING;
        is_stopping = true;
    }
    if (is_stopping) {
        procs_resume(&life->crew);
        if (life->is_asked) {
            procs_signal(&life->crew, SIGCONT);
        }
        life->is_asked = false;
    }
}

/* By its user or the scheduler: it hears what JOB_CONTROLS says besides. */
static void resume(struct guard_run *life)
{
    bool is_still =
        life->record.phase == RUN_SUSPENDED || life->stop_at != GUARD_RUN_NEVER;
    const char *what = control_of(life, JOB_CONTROL_RESUME);
    resume_all(life);
    if (!is_still || what == NULL) {
        return;
    }
    int signal = job_control_signal(what);
    if (signal != 0) {
        procs_signal(&life->crew, signal);
    } else {
        start_action(life, JOB_CONTROL_RESUME);
    }
}

/* ---- the end of a command */

void guard_control_escalate(struct guard_run *life, int64_t now)
{
    int signal = escalation_next(&life->ladder, life->spec.grace_ms, now);
    if (signal == SIGKILL) {
        procs_kill(&life->crew);
    } else if (signal != 0) {
        procs_signal(&life->crew, signal);
    }
}

/* By what JOB_CONTROLS says; the usual signals come a grace after that. False where it
 * says nothing. */
static bool begin_control(struct guard_run *life, int64_t now)
{
    const char *what = control_of(life, JOB_CONTROL_TERMINATE);
    if (what == NULL || escalation_is_on(&life->ladder)) {
        return what != NULL;
    }
    int signal = job_control_signal(what);
    if (signal != 0) {
        procs_signal(&life->crew, signal);
        escalation_postpone(&life->ladder, now + life->spec.grace_ms);
        return true;
    }
    if (start_action(life, JOB_CONTROL_TERMINATE)) {
        escalation_postpone(&life->ladder, life->action.until_ms);
        return true;
    }
    return false;
}

void guard_control_terminate(struct guard_run *life, int signal)
{
    int64_t now = kernel_clock_now_ms();
    resize_command_abandon(life);
    if (life->is_meeting) { /* at the gate it hears nothing */
        life->is_meeting = false;
        launch_release(&life->job);
    }
    if (signal == SIGKILL) {
        life->stop_at = GUARD_RUN_NEVER;
        guard_control_kill_command(life);
    } else if (life->action.action != JOB_CONTROL_TERMINATE ||
               !control_command_is_running(&life->action)) {
        resume_all(life);
    }
    if (signal != SIGKILL && begin_control(life, now)) {
        return;
    }
    escalation_begin(&life->ladder, signal, now);
    guard_control_escalate(life, now);
}

void guard_control_command_ended(struct guard_run *life)
{
    if (life->stop_at != GUARD_RUN_NEVER && life->record.phase == RUN_RUNNING) {
        guard_control_suspend(life);
    } else if (escalation_is_on(&life->ladder)) {
        escalation_postpone(&life->ladder, kernel_clock_now_ms() + life->spec.grace_ms);
    }
}

/* ---- orders */

void guard_control_apply(struct guard_run *life, const struct run_control *control)
{
    switch (control->action) {
    case CONTROL_SIGNAL:
        /* Nobody signals what is to stand still: it was to go on before, and the order
         * to do so was overtaken. */
        resume_all(life);
        procs_signal(&life->crew, control->signal);
        break;
    case CONTROL_SUSPEND:
        /* Who is being killed is not held up. */
        if (!escalation_is_on(&life->ladder) && life->record.phase == RUN_RUNNING) {
            begin_stop(life, control);
            return;
        }
        break;
    case CONTROL_RESUME:
        resume(life);
        break;
    case CONTROL_KILL:
        life->is_killed = life->was_killed = true;
        guard_control_terminate(life, control->signal == SIGKILL ? SIGKILL : SIGINT);
        break;
    }
    life->record.control_done = control->number;
    guard_run_publish(life);
}

/* Nothing is left of it but its output: a kill lets that go. */
static void control_draining(struct guard_run *life, const struct run_control *control)
{
    life->record.control_done = control->number;
    if (control->action == CONTROL_KILL) {
        life->is_draining = false;
        guard_run_end_as_decided(life);
    } else {
        guard_run_publish(life);
    }
}

void guard_control_request(struct guard_run *life, const struct guard_request *order)
{
    struct run_control wanted = {order->number, (enum control_action)order->action,
                                 order->signal, false, (int)order->reasons};
    bool is_known = order->action <= CONTROL_KILL && order->signal >= 0 &&
                    order->reasons <= HALT_CAUSES && order->signal < NSIG &&
                    (order->action != CONTROL_SIGNAL || order->signal > 0);
    bool is_news =
        wanted.number > life->record.control_done &&
        !(life->stop_at != GUARD_RUN_NEVER && wanted.number <= life->stop_number);
    /* Its site waits with that until the resize is over, and says it again. */
    bool is_held =
        wanted.action == CONTROL_SUSPEND && resize_command_is_running(&life->resize);
    if (!is_known || !is_news || is_held || life->record.phase == RUN_ENDED) {
        guard_link_push(&life->link, &life->record);
    } else if (life->is_draining) {
        control_draining(life, &wanted);
    } else if (life->record.phase != RUN_WAITING) {
        guard_control_apply(life, &wanted);
    } else if (wanted.action == CONTROL_KILL) {
        life->record.control_done = wanted.number;
        guard_run_end(life, RUN_END_SIGNALLED, SIGTERM, "killed before it began");
    } else {
        if (wanted.number > life->pending.number) {
            life->pending = wanted;
        }
        guard_link_push(&life->link, &life->record);
    }
}
