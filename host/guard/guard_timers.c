/* SPDX-License-Identifier: Apache-2.0 */
/* guard_timers.c: see guard_timers.h. */
#include "host/guard/guard_timers.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include "host/guard/guard_control.h"
#include "host/kernel/kernel_clock.h"
#include "host/run_dir/run_dir_lock.h"

enum {
    LISTEN_AGAIN_MS = 1000,
    TELL_USE_MS = 10000,   /* what a run has used: below the agent's own interval ... */
    TELL_LEAST_MS = 100,   /* ... where it is worth it ... */
    TELL_COST_FACTOR = 50, /* ... and at a fiftieth of a processor at most */
};

/* ---- who is connected */

/* The socket's file is made when the first agent is gone: most runs never
 * need it. */
static void watch_link(struct guard_run *life, int64_t now)
{
    if (life->link.listener >= 0 || life->link.n_peers > 0) {
        life->listen_at = GUARD_RUN_NEVER;
    } else if (life->listen_at == GUARD_RUN_NEVER || now >= life->listen_at) {
        life->listen_at = guard_link_listen(&life->link, NULL) == 0
                              ? GUARD_RUN_NEVER
                              : now + LISTEN_AGAIN_MS;
    }
}

static void watch_agent(struct guard_run *life, int64_t now)
{
    if (life->record.phase != RUN_WAITING || life->link.n_peers > 0) {
        life->wait_until = GUARD_RUN_NEVER;
    } else if (life->wait_until == GUARD_RUN_NEVER) {
        life->wait_until = now + life->spec.wait_ms;
    }
}

static int64_t listen_at(const struct guard_run *life)
{
    return life->listen_at;
}

static int64_t wait_until(const struct guard_run *life)
{
    return life->wait_until;
}

/* Nobody has let it go: it never was. */
static void give_up_waiting(struct guard_run *life, int64_t now)
{
    (void)now;
    run_dir_remove(life->dir, life->path);
    life->is_over = true;
}

static int64_t stream_at(const struct guard_run *life)
{
    if (life->stream == NULL) {
        return GUARD_RUN_NEVER;
    }
    bool is_awaited = life->is_meeting || life->is_draining;
    int64_t wake_ms =
        is_awaited ? stdio_relay_deadline_ms(life->stream) : GUARD_RUN_NEVER;
    int64_t turn_ms = stdio_relay_retry_ms(life->stream);
    return turn_ms < wake_ms ? turn_ms : wake_ms;
}

static void watch_stream(struct guard_run *life, int64_t now)
{
    if (life->is_meeting && stdio_relay_is_user_there(life->stream, now)) {
        life->is_meeting = false;
        launch_release(&life->job);
    }
    if (life->is_draining && stdio_relay_is_drained(life->stream, now)) {
        life->is_draining = false;
        guard_run_end_as_decided(life);
    }
}

/* ---- what ends a command */

static int64_t action_until(const struct guard_run *life)
{
    return life->action.until_ms;
}

static void end_action(struct guard_run *life, int64_t now)
{
    (void)now;
    snprintf(life->course.text, sizeof(life->course.text),
             "the %s command of JOB_CONTROLS took too long and was ended",
             job_control_name(life->action.action));
    control_command_kill(&life->action); /* its end is waited for */
}

static int64_t resize_until(const struct guard_run *life)
{
    return life->resize.until_ms;
}

static int64_t limit_at(const struct guard_run *life)
{
    if (life->record.phase != RUN_RUNNING || life->spec.run_limit_ms == 0 ||
        life->course.stage != STAGE_JOB || escalation_is_on(&life->ladder)) {
        return GUARD_RUN_NEVER;
    }
    return life->running_since + life->spec.run_limit_ms - life->ran_ms;
}

static void end_at_limit(struct guard_run *life, int64_t now)
{
    (void)now;
    life->is_at_limit = true;
    guard_control_terminate(life, SIGINT);
}

/* What stands still is not woken to be told of a limit. */
static bool is_held(const struct guard_run *life)
{
    return life->record.phase == RUN_SUSPENDED && life->course.stage != STAGE_POST_EXEC;
}

static int64_t stage_at(const struct guard_run *life)
{
    return is_held(life) ? GUARD_RUN_NEVER : life->stage_until;
}

static void end_late(struct guard_run *life, int64_t now)
{
    (void)now;
    life->stage_until = GUARD_RUN_NEVER;
    life->is_late = true;
    guard_control_terminate(life, SIGINT);
}

static int64_t look_at(const struct guard_run *life)
{
    return is_held(life) ? GUARD_RUN_NEVER : life->limits.look_at;
}

static void look(struct guard_run *life, int64_t now)
{
    enum run_cause cause = rlimit_watch_check(&life->limits, &life->crew, now);
    if (cause != RUN_CAUSE_NONE && !escalation_is_on(&life->ladder)) {
        guard_control_terminate(life, cause == RUN_CAUSE_CPU_LIMIT ? SIGXCPU : SIGINT);
    }
}

static int64_t climb_at(const struct guard_run *life)
{
    return life->ladder.next_ms;
}

/* ---- what goes on record */

static int64_t stop_at(const struct guard_run *life)
{
    return life->record.phase == RUN_RUNNING ? life->stop_at : GUARD_RUN_NEVER;
}

static void stop(struct guard_run *life, int64_t now)
{
    (void)now;
    guard_control_suspend(life);
}

static int64_t save_at(const struct guard_run *life)
{
    return life->save_at;
}

static void save(struct guard_run *life, int64_t now)
{
    (void)now;
    guard_run_save(life);
}

/* What stands still uses nothing. */
static int64_t tell_at(const struct guard_run *life)
{
    return life->record.phase == RUN_RUNNING && life->link.n_peers > 0
               ? life->tell_at
               : GUARD_RUN_NEVER;
}

/* Told to the agent, not to the disk: it is of use while the run goes on. */
static void tell_use(struct guard_run *life, int64_t now)
{
    int64_t cpu_ms = run_rusage_cpu_ms(&life->use, &life->crew);
    int64_t least_ms = (kernel_clock_now_ms() - now) * TELL_COST_FACTOR;
    life->tell_at = now + (least_ms > TELL_USE_MS ? least_ms : TELL_USE_MS);
    if (cpu_ms >= (int64_t)life->record.cpu_ms + TELL_LEAST_MS) {
        life->record.cpu_ms = (uint64_t)cpu_ms;
        guard_link_push(&life->link, &life->record);
    }
}

/* ---- the table */

static const struct deadline {
    int64_t (*at)(const struct guard_run *life);
    void (*on_due)(struct guard_run *life, int64_t now); /* NULL: each turn looks */
    bool is_of_ended;                                    /* run: else never of it */
} rows[] = {
    {listen_at, NULL, false},
    {stream_at, NULL, false},
    {wait_until, give_up_waiting, false},
    {action_until, end_action, false},
    {resize_until, resize_command_expire, false},
    {limit_at, end_at_limit, false},
    {stage_at, end_late, false},
    {look_at, look, false},
    {climb_at, guard_control_escalate, false},
    {stop_at, stop, false},
    {save_at, save, true},
    {tell_at, tell_use, false},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static int64_t due_at(const struct deadline *row, const struct guard_run *life)
{
    bool is_due_ever = row->is_of_ended || life->record.phase != RUN_ENDED;
    return is_due_ever ? row->at(life) : GUARD_RUN_NEVER;
}

int64_t guard_timers_next_ms(const struct guard_run *life)
{
    int64_t next = GUARD_RUN_NEVER;
    for (int i = 0; i < N_ROWS; i++) {
        int64_t at = due_at(&rows[i], life);
        next = at < next ? at : next;
    }
    return next;
}

int guard_timers_timeout_ms(const struct guard_run *life)
{
    int64_t next = guard_timers_next_ms(life);
    if (next == GUARD_RUN_NEVER) {
        return -1;
    }
    int64_t left = next - kernel_clock_now_ms();
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

void guard_timers_step(struct guard_run *life)
{
    int64_t now = kernel_clock_now_ms();
    watch_stream(life, now);
    watch_link(life, now);
    watch_agent(life, now);
    for (int i = 0; i < N_ROWS && !life->is_over; i++) {
        if (rows[i].on_due != NULL && now >= due_at(&rows[i], life)) {
            rows[i].on_due(life, now);
        }
    }
}
