/* SPDX-License-Identifier: Apache-2.0 */
/* run_step_next.c: see run_step_next.h. */
#include "host/guard/run_step.h"

#include <errno.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/guard/guard_control.h"
#include "host/guard/run_step_start.h"
#include "host/kernel/kernel_clock.h"

enum {
    LEFT_BEHIND_MS = 30000, /* processes that not even SIGKILL ends, in the kernel */
    LEFT_BEHIND_LOOK_MS = 50,
};

static void wait_signal(const struct guard_run *life, int timeout_ms)
{
    struct pollfd polls = {.fd = life->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&polls, 1, timeout_ms) > 0) {
        ssize_t got = read(life->signals, &info, sizeof(info));
        (void)got; /* only that it came matters */
    }
}

/* Collects whoever has ended; true while any child is left. */
static bool collect(struct guard_run *life, bool *is_job_over, int *status)
{
    for (;;) {
        int code = 0;
        pid_t pid = waitpid(-1, &code, WNOHANG);
        if (pid == 0) {
            return true;
        }
        if (pid < 0) {
            return errno != ECHILD;
        }
        if (pid == life->job.pid) {
            *is_job_over = true;
            *status = code;
        } else if (resize_command_ended(life, pid, code)) {
            continue;
        } else if (control_command_ended(&life->action, pid)) {
            life->crew.except = 0;
            life->is_action_over = true;
        }
    }
}

/* As the subreaper the guard is the parent of all that is left: when there is no child,
 * there is nothing left. False where something does not die. */
static bool clear_left_behind(struct guard_run *life)
{
    bool is_job_over = true;
    int status = 0;
    int64_t until = kernel_clock_now_ms() + LEFT_BEHIND_MS;
    while (collect(life, &is_job_over, &status)) {
        if (kernel_clock_now_ms() > until) {
            return false;
        }
        procs_kill(&life->crew);
        wait_signal(life, LEFT_BEHIND_LOOK_MS);
    }
    return true;
}

static void leave_cgroup(struct guard_run *life)
{
    run_rusage_take(&life->use, &life->crew);
    memcg_remove(&life->crew.memory);
    cgroup_remove(&life->crew.cgroup);
    life->record.cgroup[0] = life->record.memory[0] = '\0';
}

/* What its user is to have yet goes first: who hears of the end asks no more. */
static void conclude(struct guard_run *life)
{
    if (life->stream != NULL) {
        stdio_relay_end(life->stream,
                        life->was_killed ? STDIO_RELAY_DRAIN_KILLED_MS
                                         : STDIO_RELAY_DRAIN_MS,
                        kernel_clock_now_ms());
        life->is_draining =
            !stdio_relay_is_drained(life->stream, kernel_clock_now_ms());
    }
    if (!life->is_draining) {
        guard_run_end_as_decided(life);
    }
}

static void finish(struct guard_run *life)
{
    if (!clear_left_behind(life)) {
        snprintf(life->course.text, sizeof(life->course.text),
                 "processes were left that cannot be killed");
    }
    escalation_init(&life->ladder);
    life->stage_until = GUARD_RUN_NEVER;
    leave_cgroup(life);
    run_rusage_write(&life->use, &life->record);
    guard_run_record_outcome(life);
    conclude(life);
}

/* Others need its slots by now. */
static bool is_too_late(const struct guard_run *life)
{
    return life->course.stage == STAGE_JOB && kernel_clock_now_ms() >= life->end_by;
}

static void leave_out_job(struct guard_run *life)
{
    struct stage_outcome outcome = {.is_late = true, .failure = ""};
    stages_advance(&life->course, &outcome);
    guard_run_record_outcome(life);
}

void run_step_next(struct guard_run *life)
{
    while (stages_command(&life->course) != NULL) {
        struct err err = {0};
        if (is_too_late(life)) {
            leave_out_job(life);
            continue;
        }
        if (run_step_start_command(life, &err) == 0) {
            return;
        }
        struct stage_outcome outcome = {.failure = err.text};
        stages_advance(&life->course, &outcome);
        guard_run_record_outcome(life);
    }
    finish(life);
}

void run_step_begin(struct guard_run *life)
{
    struct err err = {0};
    life->record.phase = RUN_RUNNING;
    life->record.start_ms = kernel_clock_wall_ms();
    int code = life->spec.interaction == INTERACTION_NONE
                   ? 0
                   : stdio_relay_new(&life->stream, life->spec.is_leased, &err);
    if (code == 0 && is_too_late(life)) {
        run_step_next(life);
        return;
    }
    if (code != 0 || run_step_start_command(life, &err) != 0) {
        leave_cgroup(life);
        life->record.start_ms = 0;
        guard_run_end(life, RUN_END_FAILED, 0, err.text);
        return;
    }
    if (life->pending.number > 0) {
        guard_control_apply(life, &life->pending);
    }
}

static void end_command(struct guard_run *life, int status)
{
    char note[GUARD_RECORD_TEXT_SIZE] = "";
    launch_has_failed(&life->job, note, sizeof(note));
    struct stage_outcome outcome = {.status = status,
                                    .is_ended_by_order = life->is_killed,
                                    .is_late = life->is_late,
                                    .failure = note};
    bool is_job = life->course.stage == STAGE_JOB;
    if (is_job && life->is_at_limit) {
        outcome.cause = RUN_CAUSE_RUN_LIMIT;
    } else if (is_job && !life->is_killed) {
        outcome.cause = rlimit_watch_cause(&life->limits, &life->crew, status);
    }
    life->limits.look_at = GUARD_RUN_NEVER;
    life->is_meeting = false;
    stages_advance(&life->course, &outcome);
    if (life->course.is_decided) {
        guard_run_record_outcome(life);
    }
    if (life->course.is_decided && life->course.stage != STAGE_DONE) {
        /* Nobody of the job is there while others clean up. They are born into another
         * cgroup: kernels (6.18 does) kill who is born into one that was
         * killed. */
        clear_left_behind(life);
        leave_cgroup(life);
    }
    run_step_next(life);
}

void run_step_on_child(struct guard_run *life)
{
    bool is_command_over = false;
    wait_signal(life, 0);
    life->is_action_over = false;
    collect(life, &is_command_over, &life->job_status);
    life->is_job_over = life->is_job_over || is_command_over;
    bool is_ending = control_command_is_running(&life->action) &&
                     life->action.action == JOB_CONTROL_TERMINATE;
    if (life->is_job_over && !is_ending) {
        guard_control_kill_command(life);
        resize_command_abandon(life);
        life->is_job_over = false;
        end_command(life, life->job_status);
    } else if (life->is_action_over) {
        guard_control_command_ended(life);
    }
}
