/* SPDX-License-Identifier: Apache-2.0 */
/* guard_timers.c: see guard_run.h. */
#include "host/guard/guard_run.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/kernel/kernel.h"

enum {
    LISTEN_RETRY_MS = 1000,
    REPORT_FIRST_MS = 2000,  /* most runs have ended by then */
    REPORT_USE_MS = 10000,   /* usage is reported more often than the agent does it */
    REPORT_LEAST_MS = 100,   /* ... if CPU time has grown by that, */
    REPORT_LEAST_KIB = 1024, /* or if memory has changed by that, */
    REPORT_COST_FACTOR = 50, /* and at the cost of a fiftieth of a processor at most */
};

/* ---- connections */

/* The socket is made only once no agent is connected: most runs never need it. */
static void watch_link(struct guard_run *run, int64_t now)
{
    if (run->link.listener >= 0 || run->link.n_peers > 0) {
        run->listen_at = GUARD_RUN_NEVER;
    } else if (run->listen_at == GUARD_RUN_NEVER || now >= run->listen_at) {
        run->listen_at = guard_link_listen(&run->link, NULL) == 0
                             ? GUARD_RUN_NEVER
                             : now + LISTEN_RETRY_MS;
    }
}

static void watch_agent(struct guard_run *run)
{
    bool is_alone = run->link.n_peers == 0;
    if (is_alone != run->is_alone) {
        run->is_alone = is_alone;
        guard_step_kind(run, is_alone ? EXEC_ALONE : EXEC_ATTENDED);
    }
}

static int64_t stream_at(const struct guard_run *run)
{
    if (run->relay == NULL) {
        return GUARD_RUN_NEVER;
    }
    bool is_awaited = run->exec.awaits_user || run->exec.is_draining;
    int64_t wake_ms =
        is_awaited ? stdio_relay_deadline_ms(run->relay) : GUARD_RUN_NEVER;
    int64_t turn_ms = stdio_relay_retry_ms(run->relay);
    return turn_ms < wake_ms ? turn_ms : wake_ms;
}

static void watch_stream(struct guard_run *run, int64_t now)
{
    if (run->exec.awaits_user && stdio_relay_is_user_there(run->relay, now)) {
        guard_step_kind(run, EXEC_USER_CONNECTED);
    }
    if (run->exec.is_draining && stdio_relay_is_drained(run->relay, now)) {
        guard_step_kind(run, EXEC_DRAINED);
    }
}

/* ---- the run itself */

static int64_t run_at(const struct guard_run *run)
{
    return exec_run_wake_ms(&run->exec);
}

static void step_run(struct guard_run *run, int64_t now)
{
    (void)now;
    guard_step_kind(run, EXEC_TIME);
}

static int64_t check_at(const struct guard_run *run)
{
    return exec_run_is_suspended(&run->exec) ? GUARD_RUN_NEVER : run->rlimits.check_at;
}

static void check_limits(struct guard_run *run, int64_t now)
{
    enum run_cause cause = rlimit_watch_check(&run->rlimits, &run->procs, now);
    if (cause != RUN_CAUSE_NONE) {
        guard_step(run,
                   &(struct exec_event){.kind = EXEC_LIMIT_EXCEEDED, .cause = cause});
    }
}

/* ---- reports */

/* A suspended run uses no CPU time. */
static int64_t report_use_at(const struct guard_run *run)
{
    return run->exec.phase == RUN_RUNNING && run->link.n_peers > 0 ? run->report_use_at
                                                                   : GUARD_RUN_NEVER;
}

/* For the agent only: on disk it would be outdated soon. */
static void report_use(struct guard_run *run, int64_t now)
{
    struct run_rusage_sample sample;
    if (run->report_use_at == 0) {
        run->report_use_at = now + REPORT_FIRST_MS;
        return;
    }
    run_rusage_sample_run(&run->rusage, &run->procs, &sample);
    int64_t least_ms = (kernel_clock_now_ms() - now) * REPORT_COST_FACTOR;
    run->report_use_at = now + (least_ms > REPORT_USE_MS ? least_ms : REPORT_USE_MS);
    struct guard_record *record = &run->record;
    if (sample.cpu_ms >= (int64_t)record->cpu_ms + REPORT_LEAST_MS ||
        llabs(sample.mem_kib - (int64_t)record->rss_kib) >= REPORT_LEAST_KIB ||
        sample.n_threads != (int64_t)record->n_threads) {
        record->cpu_ms = (uint64_t)sample.cpu_ms;
        record->mem_kib = (uint64_t)run->rusage.peak_kib;
        record->rss_kib = (uint64_t)sample.mem_kib;
        record->vsz_kib = (uint64_t)sample.swap_kib;
        record->n_threads = (uint64_t)sample.n_threads;
        guard_link_push(&run->link, record);
    }
}

/* ---- the table */

static const struct deadline {
    int64_t (*at)(const struct guard_run *run); /* NULL: the field at `offset` */
    size_t offset;
    void (*on_due)(struct guard_run *run,
                   int64_t now); /* NULL: guard_timers_step checks it always */
    bool is_due_after_end;       /* also after the end of the run */
} rows[] = {
#define FIELD(name) NULL, offsetof(struct guard_run, name)
    {FIELD(listen_at), NULL, false},       {stream_at, 0, NULL, false},
    {run_at, 0, step_run, true},           {check_at, 0, check_limits, false},
    {report_use_at, 0, report_use, false},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static int64_t due_at(const struct deadline *row, const struct guard_run *run)
{
    int64_t at;
    if (run->exec.phase == RUN_ENDED && !row->is_due_after_end) {
        return GUARD_RUN_NEVER;
    }
    if (row->at != NULL) {
        return row->at(run);
    }
    memcpy(&at, (const char *)run + row->offset, sizeof(at));
    return at;
}

int64_t guard_timers_next_ms(const struct guard_run *run)
{
    int64_t next = GUARD_RUN_NEVER;
    for (int i = 0; i < N_ROWS; i++) {
        int64_t at = due_at(&rows[i], run);
        next = at < next ? at : next;
    }
    return next;
}

int guard_timers_timeout_ms(const struct guard_run *run)
{
    int64_t next = guard_timers_next_ms(run);
    if (next == GUARD_RUN_NEVER) {
        return -1;
    }
    int64_t left = next - kernel_clock_now_ms();
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

void guard_timers_step(struct guard_run *run)
{
    int64_t now = kernel_clock_now_ms();
    watch_stream(run, now);
    watch_link(run, now);
    watch_agent(run);
    for (int i = 0; i < N_ROWS && !exec_run_is_over(&run->exec); i++) {
        if (rows[i].on_due != NULL && now >= due_at(&rows[i], run)) {
            rows[i].on_due(run, now);
        }
    }
}
