/* SPDX-License-Identifier: Apache-2.0 */
/* guard_command.c: see guard_run.h. */
#include "host/guard/guard_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/guard/output_report.h"
#include "host/run_dir/run_dir.h"

/* ---- launch */

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

/* Before the fork: the memory of the command counts from its first instruction on. */
static void make_memcg(struct guard_run *run)
{
    struct guard_record *record = &run->record;
    struct memcg *memcg = &run->procs.memcg;
    if (!memcg_is_open(memcg) && !memcg_use_cgroup(memcg, &run->procs.cgroup) &&
        name_cgroup(run, run->spec.memory, record->memory) &&
        !memcg_make(memcg, record->memory)) {
        record->memory[0] = '\0';
    }
}

/* A process that is born into a frozen cgroup cannot enter its memcg yet. Meanwhile an
 * agent that starts would remove the memcg as empty. */
static void count_frozen(struct guard_run *run)
{
    struct memcg *memcg = &run->procs.memcg;
    if (memcg_is_open(memcg) && exec_run_is_suspended(&run->exec)) {
        memcg_add_process(memcg, run->launched.pid);
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

/* What the job has used until its end; heap. */
static char *report_of(const struct guard_run *run)
{
    struct guard_record used;
    run_rusage_record(&run->rusage, &used);
    return output_report_text(
        &(struct output_report){.spec = &run->spec,
                                .stages = &run->exec.stages,
                                .start_ms = (int64_t)run->record.start_ms,
                                .end_ms = (int64_t)kernel_clock_wall_ms(),
                                .cpu_ms = (int64_t)used.cpu_ms,
                                .mem_kib = (int64_t)used.mem_kib});
}

static int fork_command(struct guard_run *run, struct err *err)
{
    const struct stages *stages = &run->exec.stages;
    bool is_job = stages->stage == STAGE_JOB;
    struct stage_env env = {0};
    struct job_stdio stdio;
    char *report = NULL;
    struct launch_command command = {
        .text = stages_command(stages), .is_job = is_job, .env = run->spec.env};
    int code = open_stdio(run, &command, &stdio, err);
    if (code != 0) {
        return code;
    }
    if (stages->stage == STAGE_REPORT) {
        report = report_of(run);
        command.report = report;
    }
    if (!is_job) {
        stage_env_init(&env, stages);
        command.env = env.list;
    }
    if (!cgroup_is_open(&run->procs.cgroup)) {
        make_cgroup(run);
    }
    make_memcg(run);
    code = launch_fork(&run->launched, run->dir, &run->spec, &command, &run->account,
                       &run->procs.cgroup, &run->procs.memcg, err);
    stage_env_release(&env);
    free(report);
    if (code != 0) {
        job_stdio_close(&stdio);
    } else if (command.stdio != NULL) {
        job_stdio_close_job_side(&stdio);
        stdio_relay_begin(run->relay, &stdio, kernel_clock_now_ms());
    }
    if (!cgroup_is_open(&run->procs.cgroup)) {
        run->record.cgroup[0] = '\0';
        memcg_forget_cgroup(&run->procs.memcg);
    }
    return code;
}

int guard_command_launch(struct guard_run *run, struct err *err)
{
    int code = fork_command(run, err);
    struct process process = {0};
    if (code == 0) {
        count_frozen(run);
        if (!process_read(run->launched.pid, &process)) {
            process.start = 0;
        }
    }
    run->rlimits.check_at = GUARD_RUN_NEVER;
    run->record.job_pid = code == 0 ? (uint64_t)run->launched.pid : 0;
    run->record.job_start = process.start;
    return code;
}

int guard_command_save(struct guard_run *run, struct err *err)
{
    int code = record_file_write(run->dir, &run->record, err);
    if (code != 0) {
        launch_abandon(&run->launched);
        waitpid(run->launched.pid, NULL, 0);
    }
    return code;
}

/* ---- ends */

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
static bool collect(struct guard_run *run, struct guard_command_ends *ends)
{
    for (;;) {
        int status = 0;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0) {
            return true;
        }
        if (pid < 0) {
            return errno != ECHILD;
        }
        for (int i = 0; i < GUARD_RUN_CHILDREN; i++) {
            pid_t child = i == EXEC_COMMAND ? run->launched.pid : run->aside[i];
            if (pid == child) {
                ends->has_ended[i] = true;
                ends->status[i] = status;
            }
        }
    }
}

void guard_command_collect(struct guard_run *run, struct guard_command_ends *ends)
{
    *ends = (struct guard_command_ends){0};
    wait_signal(run, 0);
    collect(run, ends);
}

bool guard_command_clear(struct guard_run *run)
{
    struct guard_command_ends ends;
    bool is_clear = !collect(run, &ends);
    if (!is_clear) {
        procs_kill(&run->procs);
    }
    return (run->orphans.mark == NULL || procs_kill(&run->orphans) == 0) && is_clear;
}

/* From here on the mark is that of our own commands. */
static void release_orphans(struct guard_run *run)
{
    if (run->orphans.mark == NULL) {
        return;
    }
    run->orphans.mark = NULL;
    cgroup_remove(&run->orphans.cgroup);
    if (run->record.memory[0] != '\0') {
        rmdir(run->record.memory);
    }
}

void guard_command_release(struct guard_run *run)
{
    release_orphans(run);
    run_rusage_add_cgroups(&run->rusage, &run->procs);
    memcg_remove(&run->procs.memcg);
    cgroup_remove(&run->procs.cgroup);
    run->record.cgroup[0] = run->record.memory[0] = '\0';
    if (run->exec.stages.stage == STAGE_DONE) {
        run_rusage_record(&run->rusage, &run->record);
    }
}
