/* SPDX-License-Identifier: Apache-2.0 */
/* run_step_next.c: see run_step_next.h. */
#include "host/guard/guard_run.h"

#include <errno.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KILL_TIMEOUT_MS = 30000, /* processes that SIGKILL does not end, in the kernel */
    KILL_SCAN_MS = 50,
};

/* ---- launching a command */

/* The run's cgroup in `place`. The mark makes it unique: a run of another federation
 * may have the same name. Returns false if there is no `place`, or the path is too
 * long. */
static bool name_cgroup(const struct guard_run *run, const char *place,
                        char path[GUARD_RECORD_PATH_SIZE])
{
    int length = snprintf(path, GUARD_RECORD_PATH_SIZE, "%s/%s-%016llx", place,
                          run->spec.run, (unsigned long long)run->record.mark);
    if (place[0] == '\0' || length >= GUARD_RECORD_PATH_SIZE) {
        path[0] = '\0';
    }
    return path[0] != '\0';
}

static void make_cgroup(struct guard_run *run)
{
    struct guard_record *record = &run->record;
    struct procs *procs = &run->procs;
    procs->cgroup = (struct cgroup){.dir = -1};
    if (name_cgroup(run, run->spec.cgroup, record->cgroup) &&
        !cgroup_make(&procs->cgroup, record->cgroup)) {
        record->cgroup[0] = '\0';
    }
}

/* The command is at its gate: its memory counts from its first instruction on. */
static void count_memory(struct guard_run *run)
{
    struct guard_record *record = &run->record;
    struct memcg *memcg = &run->procs.memcg;
    if (!memcg_is_open(memcg) && !memcg_use_cgroup(memcg, &run->procs.cgroup) &&
        name_cgroup(run, run->spec.memory, record->memory) &&
        !memcg_make(memcg, record->memory)) {
        record->memory[0] = '\0';
    }
    if (memcg_is_open(memcg) && !memcg_add_process(memcg, run->launched.pid)) {
        memcg_remove(memcg);
        record->memory[0] = '\0';
    }
}

/* Opens the terminal or pipes of an interactive job. */
static int open_stdio(struct guard_run *run, struct launch_command *command,
                      struct job_stdio *stdio, struct err *err)
{
    job_stdio_init(stdio);
    if (!command->is_job || run->relay == NULL) {
        return 0;
    }
    command->stdio = stdio;
    return job_stdio_open(stdio, &run->spec, &run->account, err);
}

static int fork_command(struct guard_run *run, struct err *err)
{
    bool is_job = run->stages.stage == STAGE_JOB;
    struct stage_env env = {0};
    struct job_stdio stdio;
    struct launch_command command = {
        .text = stages_command(&run->stages), .is_job = is_job, .env = run->spec.env};
    int code = open_stdio(run, &command, &stdio, err);
    if (code != 0) {
        return code;
    }
    if (!is_job) {
        stage_env_init(&env, &run->stages);
        command.env = env.list;
    }
    if (!cgroup_is_open(&run->procs.cgroup)) {
        make_cgroup(run);
    }
    code = launch_fork(&run->launched, run->dir, &run->spec, &command, &run->account,
                       &run->procs.cgroup, err);
    stage_env_release(&env);
    if (code != 0) {
        job_stdio_close(&stdio);
    } else if (command.stdio != NULL) {
        job_stdio_close_job_side(&stdio);
        stdio_relay_begin(run->relay, &stdio, kernel_clock_now_ms());
    }
    if (!cgroup_is_open(&run->procs.cgroup)) {
        run->record.cgroup[0] = '\0';
    }
    if (code == 0) {
        count_memory(run);
    }
    struct process process = {0};
    if (code == 0 && !process_read(run->launched.pid, &process)) {
        process.start = 0;
    }
    run->record.job_pid = code == 0 ? (uint64_t)run->launched.pid : 0;
    run->record.job_start = process.start;
    return code;
}

/* The run limit also ends the job before other jobs need its slots. */
static void cut_run_limit(struct guard_run *run, int64_t now)
{
    int64_t left_ms = run->end_by - now;
    bool has_limit = run->spec.run_limit_ms > 0;
    if (run->end_by != GUARD_RUN_NEVER &&
        (!has_limit || left_ms < run->spec.run_limit_ms)) {
        run->spec.run_limit_ms = left_ms > 0 ? left_ms : 1;
    }
}

/* The deadlines of the command that is about to begin. */
static void set_deadlines(struct guard_run *run)
{
    int64_t now = kernel_clock_now_ms(), limit_ms = stages_limit_ms(&run->stages);
    escalation_init(&run->escalation);
    run->is_killed = run->is_late = false;
    if (run->stages.at == 0) {
        run->stage_until =
            limit_ms == JOB_RLIMIT_NONE ? GUARD_RUN_NEVER : now + limit_ms;
        if (run->stages.stage == STAGE_PRE_EXEC && run->end_by < run->stage_until) {
            run->stage_until = run->end_by;
        }
    }
    run->rlimits.check_at = GUARD_RUN_NEVER;
    if (run->stages.stage == STAGE_JOB) {
        run->ran_ms = 0;
        run->running_since = now;
        cut_run_limit(run, now);
        rlimit_watch_begin(&run->rlimits, &run->spec.limits, &run->procs, now);
    }
}

static int launch_command(struct guard_run *run, struct err *err)
{
    int code = fork_command(run, err);
    if (code == 0 && (code = record_file_write(run->dir, &run->record, err)) != 0) {
        launch_abandon(&run->launched);
        waitpid(run->launched.pid, NULL, 0);
    }
    if (code != 0) {
        return code;
    }
    set_deadlines(run);
    run->awaits_user = run->stages.stage == STAGE_JOB && run->relay != NULL;
    if (!run->awaits_user) {
        launch_release(&run->launched);
    }
    guard_link_push(&run->link, &run->record);
    if (run->record.phase == RUN_SUSPENDED && run->stages.stage != STAGE_POST_EXEC) {
        procs_suspend(&run->procs); /* post-exec commands are not suspended */
    }
    return 0;
}

/* ---- children */

static void wait_signal(const struct guard_run *run, int timeout_ms)
{
    struct pollfd polls = {.fd = run->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&polls, 1, timeout_ms) > 0) {
        ssize_t got = read(run->signals, &info, sizeof(info));
        (void)got; /* its content does not matter */
    }
}

/* Collects children that have ended; returns true while any child is left. */
static bool collect(struct guard_run *run, bool *is_job_over, int *status)
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
        if (pid == run->launched.pid) {
            *is_job_over = true;
            *status = code;
        } else if (resize_command_ended(run, pid, code)) {
            continue;
        } else if (control_command_ended(&run->control_command, pid)) {
            run->procs.except = 0;
            run->has_command_ended = true;
        }
    }
}

/* The guard is the subreaper: when it has no child, no process of the run is left.
 * Returns false if a process cannot be killed. */
static bool kill_left_behind(struct guard_run *run)
{
    bool is_job_over = true;
    int status = 0;
    int64_t until = kernel_clock_now_ms() + KILL_TIMEOUT_MS;
    while (collect(run, &is_job_over, &status)) {
        if (kernel_clock_now_ms() > until) {
            return false;
        }
        procs_kill(&run->procs);
        wait_signal(run, KILL_SCAN_MS);
    }
    return true;
}

static void remove_cgroups(struct guard_run *run)
{
    run_rusage_add_cgroups(&run->rusage, &run->procs);
    memcg_remove(&run->procs.memcg);
    cgroup_remove(&run->procs.cgroup);
    run->record.cgroup[0] = run->record.memory[0] = '\0';
}

/* Remaining output goes before the report of the end: after that the user's side stops
 * asking. */
static void end_or_drain(struct guard_run *run)
{
    if (run->relay != NULL) {
        stdio_relay_end(run->relay,
                        run->was_killed ? STDIO_RELAY_DRAIN_KILLED_MS
                                        : STDIO_RELAY_DRAIN_MS,
                        kernel_clock_now_ms());
        run->is_draining = !stdio_relay_is_drained(run->relay, kernel_clock_now_ms());
    }
    if (!run->is_draining) {
        guard_run_end_as_decided(run);
    }
}

static void finish(struct guard_run *run)
{
    if (!kill_left_behind(run)) {
        snprintf(run->stages.text, sizeof(run->stages.text),
                 "some of its processes cannot be killed");
    }
    escalation_init(&run->escalation);
    run->stage_until = GUARD_RUN_NEVER;
    remove_cgroups(run);
    run_rusage_record(&run->rusage, &run->record);
    guard_run_record_outcome(run);
    end_or_drain(run);
}

/* Other jobs need its slots by now. */
static bool is_too_late(const struct guard_run *run)
{
    return run->stages.stage == STAGE_JOB && kernel_clock_now_ms() >= run->end_by;
}

static void skip_job(struct guard_run *run)
{
    struct stage_outcome outcome = {.is_late = true, .failure = ""};
    stages_advance(&run->stages, &outcome);
    guard_run_record_outcome(run);
}

void run_step_next(struct guard_run *run)
{
    while (stages_command(&run->stages) != NULL) {
        struct err err = {0};
        if (is_too_late(run)) {
            skip_job(run);
            continue;
        }
        if (launch_command(run, &err) == 0) {
            return;
        }
        struct stage_outcome outcome = {.failure = err.text};
        stages_advance(&run->stages, &outcome);
        guard_run_record_outcome(run);
    }
    finish(run);
}

void run_step_begin(struct guard_run *run)
{
    struct err err = {0};
    run->record.phase = RUN_RUNNING;
    run->record.start_ms = kernel_clock_wall_ms();
    int code = run->spec.interaction == INTERACTION_NONE
                   ? 0
                   : stdio_relay_new(&run->relay, run->spec.is_leased, &err);
    if (code == 0 && is_too_late(run)) {
        run_step_next(run);
        return;
    }
    if (code != 0 || launch_command(run, &err) != 0) {
        remove_cgroups(run);
        run->record.start_ms = 0;
        guard_run_end(run, RUN_END_FAILED, 0, err.text);
        return;
    }
    if (run->pending.number > 0) {
        guard_control_apply(run, &run->pending);
    }
}

static void end_command(struct guard_run *run, int status)
{
    char text[GUARD_RECORD_TEXT_SIZE] = "";
    launch_has_failed(&run->launched, text, sizeof(text));
    struct stage_outcome outcome = {.status = status,
                                    .is_killed = run->is_killed,
                                    .is_late = run->is_late,
                                    .failure = text};
    bool is_job = run->stages.stage == STAGE_JOB;
    if (is_job && run->is_at_limit) {
        outcome.cause = RUN_CAUSE_RUN_LIMIT;
    } else if (is_job && !run->is_killed) {
        outcome.cause = rlimit_watch_cause(&run->rlimits, &run->procs, status);
    }
    run->rlimits.check_at = GUARD_RUN_NEVER;
    run->awaits_user = false;
    stages_advance(&run->stages, &outcome);
    if (run->stages.is_decided) {
        guard_run_record_outcome(run);
    }
    if (run->stages.is_decided && run->stages.stage != STAGE_DONE) {
        /* No process of the job is left while post-exec commands run. They are born
         * into another cgroup: some kernels (6.18) kill a process that is born into one
         * that was killed. */
        kill_left_behind(run);
        remove_cgroups(run);
    }
    run_step_next(run);
}

void run_step_on_child(struct guard_run *run)
{
    bool is_command_over = false;
    wait_signal(run, 0);
    run->has_command_ended = false;
    collect(run, &is_command_over, &run->job_status);
    run->is_job_over = run->is_job_over || is_command_over;
    bool is_ending = control_command_is_running(&run->control_command) &&
                     run->control_command.action == JOB_CONTROL_TERMINATE;
    if (run->is_job_over && !is_ending) {
        guard_control_kill_command(run);
        resize_command_abandon(run);
        run->is_job_over = false;
        end_command(run, run->job_status);
    } else if (run->has_command_ended) {
        guard_control_command_ended(run);
    }
}
