/* SPDX-License-Identifier: Apache-2.0 */
/* run_step_start.c: see run_step_start.h. */
#include "host/guard/run_step_start.h"
#include "host/run_dir/record_file.h"

#include <stdio.h>
#include <sys/wait.h>

#include "host/exec/stage_env.h"
#include "host/kernel/kernel_clock.h"
#include "host/kernel/process.h"

/* The run's cgroup in `place`; the mark in it, as another federation's run may have the
 * same name. "" where it has none there. */
static bool name_cgroup(const struct guard_run *life, const char *place,
                        char path[GUARD_RECORD_PATH_SIZE])
{
    int length = snprintf(path, GUARD_RECORD_PATH_SIZE, "%s/%s-%016llx", place,
                          life->spec.run, (unsigned long long)life->record.mark);
    if (place[0] == '\0' || length >= GUARD_RECORD_PATH_SIZE) {
        path[0] = '\0';
    }
    return path[0] != '\0';
}

static void make_cgroup(struct guard_run *life)
{
    struct guard_record *record = &life->record;
    struct procs *crew = &life->crew;
    crew->cgroup = (struct cgroup){.dir = -1};
    if (name_cgroup(life, life->spec.cgroup, record->cgroup) &&
        !cgroup_make(&crew->cgroup, record->cgroup)) {
        record->cgroup[0] = '\0';
    }
}

/* The command stands at its gate: what it takes from its first instruction on counts.
 */
static void count_memory(struct guard_run *life)
{
    struct guard_record *record = &life->record;
    struct memcg *memory = &life->crew.memory;
    if (!memcg_is_open(memory) && !memcg_use_cgroup(memory, &life->crew.cgroup) &&
        name_cgroup(life, life->spec.memory, record->memory) &&
        !memcg_make(memory, record->memory)) {
        record->memory[0] = '\0';
    }
    if (memcg_is_open(memory) && !memcg_add_process(memory, life->job.pid)) {
        memcg_remove(memory);
        record->memory[0] = '\0';
    }
}

/* Of an interactive job: its terminal or pipes. */
static int open_ends(struct guard_run *life, struct launch_command *command,
                     struct job_stdio *ends, struct err *err)
{
    job_stdio_init(ends);
    if (!command->is_job || life->stream == NULL) {
        return 0;
    }
    command->ends = ends;
    return job_stdio_open(ends, &life->spec, &life->account, err);
}

static int fork_command(struct guard_run *life, struct err *err)
{
    bool is_job = life->course.stage == STAGE_JOB;
    struct stage_env env = {0};
    struct job_stdio ends;
    struct launch_command command = {
        .text = stages_command(&life->course), .is_job = is_job, .env = life->spec.env};
    int code = open_ends(life, &command, &ends, err);
    if (code != 0) {
        return code;
    }
    if (!is_job) {
        stage_env_init(&env, &life->course);
        command.env = env.list;
    }
    if (!cgroup_is_open(&life->crew.cgroup)) {
        make_cgroup(life);
    }
    code = launch_fork(&life->job, life->dir, &life->spec, &command, &life->account,
                       &life->crew.cgroup, err);
    stage_env_release(&env);
    if (code != 0) {
        job_stdio_close(&ends);
    } else if (command.ends != NULL) {
        job_stdio_close_job_side(&ends);
        stdio_relay_begin(life->stream, &ends, kernel_clock_now_ms());
    }
    if (!cgroup_is_open(&life->crew.cgroup)) {
        life->record.cgroup[0] = '\0';
    }
    if (code == 0) {
        count_memory(life);
    }
    struct process process = {0};
    if (code == 0 && !process_read(life->job.pid, &process)) {
        process.start = 0;
    }
    life->record.job_pid = code == 0 ? (uint64_t)life->job.pid : 0;
    life->record.job_start = process.start;
    return code;
}

static int64_t stage_limit_ms(const struct guard_run *life)
{
    const int64_t *values = life->spec.limits.values;
    switch (life->course.stage) {
    case STAGE_PRE_EXEC:
        return values[JOB_RLIMIT_PRE_TIME];
    case STAGE_POST_EXEC:
        return values[JOB_RLIMIT_POST_TIME];
    case STAGE_JOB:
    case STAGE_DONE:
        break;
    }
    return JOB_RLIMIT_NONE;
}

/* What stands still after that has its slots from others, and its time as it was. */
static void cut_run_limit(struct guard_run *life, int64_t now)
{
    int64_t left_ms = life->end_by - now;
    bool has_limit = life->spec.run_limit_ms > 0;
    if (life->end_by != GUARD_RUN_NEVER &&
        (!has_limit || left_ms < life->spec.run_limit_ms)) {
        life->spec.run_limit_ms = left_ms > 0 ? left_ms : 1;
    }
}

/* The clocks of the command that is about to begin. */
static void set_clocks(struct guard_run *life)
{
    int64_t now = kernel_clock_now_ms(), limit_ms = stage_limit_ms(life);
    escalation_init(&life->ladder);
    life->is_killed = life->is_late = false;
    if (life->course.at == 0) {
        life->stage_until =
            limit_ms == JOB_RLIMIT_NONE ? GUARD_RUN_NEVER : now + limit_ms;
        if (life->course.stage == STAGE_PRE_EXEC && life->end_by < life->stage_until) {
            life->stage_until = life->end_by;
        }
    }
    life->limits.look_at = GUARD_RUN_NEVER;
    if (life->course.stage == STAGE_JOB) {
        life->ran_ms = 0;
        life->running_since = now;
        cut_run_limit(life, now);
        rlimit_watch_begin(&life->limits, &life->spec.limits, &life->crew, now);
    }
}

int run_step_start_command(struct guard_run *life, struct err *err)
{
    int code = fork_command(life, err);
    if (code == 0 && (code = record_file_write(life->dir, &life->record, err)) != 0) {
        launch_abandon(&life->job);
        waitpid(life->job.pid, NULL, 0);
    }
    if (code != 0) {
        return code;
    }
    set_clocks(life);
    life->is_meeting = life->course.stage == STAGE_JOB && life->stream != NULL;
    if (!life->is_meeting) {
        launch_release(&life->job);
    }
    guard_link_push(&life->link, &life->record);
    if (life->record.phase == RUN_SUSPENDED && life->course.stage != STAGE_POST_EXEC) {
        procs_suspend(&life->crew); /* what cleans up is not held up */
    }
    return 0;
}
