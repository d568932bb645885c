/* SPDX-License-Identifier: Apache-2.0 */
/* guard_advance.c: see guard_advance.h. */
#include "host/guard_advance.h"

#include <errno.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/guard_clock.h"
#include "host/guard_control.h"
#include "host/guard_start.h"

enum {
    LEFT_BEHIND_MS = 30000, /* processes that not even SIGKILL ends, in the kernel */
    LEFT_BEHIND_LOOK_MS = 50,
};

static void wait_signal(const struct guard_life *life, int timeout_ms)
{
    struct pollfd polls = {.fd = life->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&polls, 1, timeout_ms) > 0) {
        ssize_t got = read(life->signals, &info, sizeof(info));
        (void)got; /* only that it came matters */
    }
}

/* Collects whoever has ended; true while any child is left. */
static bool collect(struct guard_life *life, bool *is_job_over, int *status)
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
        } else if (guard_resize_ended(life, pid, code)) {
            continue;
        } else if (guard_action_ended(&life->action, pid)) {
            life->crew.except = 0;
            life->is_action_over = true;
        }
    }
}

/* As the subreaper the guard is the parent of all that is left: when there is no child,
 * there is nothing left. False where something does not die. */
static bool clear_left_behind(struct guard_life *life)
{
    bool is_job_over = true;
    int status = 0;
    int64_t until = guard_clock_now_ms() + LEFT_BEHIND_MS;
    while (collect(life, &is_job_over, &status)) {
        if (guard_clock_now_ms() > until) {
            return false;
        }
        guard_crew_kill(&life->crew);
        wait_signal(life, LEFT_BEHIND_LOOK_MS);
    }
    return true;
}

static void leave_cgroup(struct guard_life *life)
{
    guard_use_take(&life->use, &life->crew);
    guard_memory_remove(&life->crew.memory);
    guard_cgroup_remove(&life->crew.cgroup);
    life->record.cgroup[0] = life->record.memory[0] = '\0';
}

/* What its user is to have yet goes first: who hears of the end asks no more. */
static void conclude(struct guard_life *life)
{
    if (life->stream != NULL) {
        guard_stream_end(life->stream,
                         life->was_killed ? GUARD_STREAM_KILLED_MS
                                          : GUARD_STREAM_PATIENCE_MS,
                         guard_clock_now_ms());
        life->is_draining = !guard_stream_is_over(life->stream, guard_clock_now_ms());
    }
    if (!life->is_draining) {
        guard_life_conclude(life);
    }
}

static void finish(struct guard_life *life)
{
    if (!clear_left_behind(life)) {
        snprintf(life->course.text, sizeof(life->course.text),
                 "processes were left that cannot be killed");
    }
    guard_ladder_init(&life->ladder);
    life->stage_until = GUARD_LIFE_NEVER;
    leave_cgroup(life);
    guard_use_write(&life->use, &life->record);
    guard_life_decide(life);
    conclude(life);
}

/* Others need its slots by now. */
static bool is_too_late(const struct guard_life *life)
{
    return life->course.stage == GUARD_JOB && guard_clock_now_ms() >= life->end_by;
}

static void leave_out_job(struct guard_life *life)
{
    struct guard_outcome outcome = {.is_late = true, .failure = ""};
    guard_course_go_on(&life->course, &outcome);
    guard_life_decide(life);
}

void guard_advance(struct guard_life *life)
{
    while (guard_course_command(&life->course) != NULL) {
        struct err err = {0};
        if (is_too_late(life)) {
            leave_out_job(life);
            continue;
        }
        if (guard_start_command(life, &err) == 0) {
            return;
        }
        struct guard_outcome outcome = {.failure = err.text};
        guard_course_go_on(&life->course, &outcome);
        guard_life_decide(life);
    }
    finish(life);
}

void guard_advance_begin(struct guard_life *life)
{
    struct err err = {0};
    life->record.phase = RUN_RUNNING;
    life->record.start_ms = guard_clock_wall_ms();
    int code = life->spec.interaction == INTERACTION_NONE
                   ? 0
                   : guard_stream_new(&life->stream, life->spec.is_leased, &err);
    if (code == 0 && is_too_late(life)) {
        guard_advance(life);
        return;
    }
    if (code != 0 || guard_start_command(life, &err) != 0) {
        leave_cgroup(life);
        life->record.start_ms = 0;
        guard_life_end(life, RUN_END_FAILED, 0, err.text);
        return;
    }
    if (life->pending.number > 0) {
        guard_control_carry_out(life, &life->pending);
    }
}

static void end_command(struct guard_life *life, int status)
{
    char note[GUARD_RECORD_TEXT_SIZE] = "";
    guard_job_has_failed(&life->job, note, sizeof(note));
    struct guard_outcome outcome = {.status = status,
                                    .is_ended_by_order = life->is_killed,
                                    .is_late = life->is_late,
                                    .failure = note};
    bool is_job = life->course.stage == GUARD_JOB;
    if (is_job && life->is_at_limit) {
        outcome.cause = RUN_CAUSE_RUN_LIMIT;
    } else if (is_job && !life->is_killed) {
        outcome.cause = guard_limits_cause(&life->limits, &life->crew, status);
    }
    life->limits.look_at = GUARD_LIFE_NEVER;
    life->is_meeting = false;
    guard_course_go_on(&life->course, &outcome);
    if (life->course.is_decided) {
        guard_life_decide(life);
    }
    if (life->course.is_decided && life->course.stage != GUARD_OVER) {
        /* Nobody of the job is there while others clean up. They are born into another
         * cgroup: kernels (6.18 does) kill who is born into one that was
         * killed. */
        clear_left_behind(life);
        leave_cgroup(life);
    }
    guard_advance(life);
}

void guard_advance_on_child(struct guard_life *life)
{
    bool is_command_over = false;
    wait_signal(life, 0);
    life->is_action_over = false;
    collect(life, &is_command_over, &life->job_status);
    life->is_job_over = life->is_job_over || is_command_over;
    bool is_ending = guard_action_is_on(&life->action) &&
                     life->action.action == JOB_CONTROL_TERMINATE;
    if (life->is_job_over && !is_ending) {
        guard_control_end_action(life);
        guard_resize_give_up(life);
        life->is_job_over = false;
        end_command(life, life->job_status);
    } else if (life->is_action_over) {
        guard_control_after_action(life);
    }
}
