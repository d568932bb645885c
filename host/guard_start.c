/* SPDX-License-Identifier: Apache-2.0 */
/* guard_start.c: see guard_start.h. */
#include "host/guard_start.h"
#include "host/record_file.h"

#include <stdio.h>
#include <sys/wait.h>

#include "host/guard_clock.h"
#include "host/guard_env.h"
#include "host/guard_process.h"

/* The run's cgroup in `place`; the mark in it, as another federation's run may have the
 * same name. "" where it has none there. */
static bool name_cgroup(const struct guard_life *life, const char *place,
                        char path[GUARD_RECORD_PATH_SIZE])
{
    int length = snprintf(path, GUARD_RECORD_PATH_SIZE, "%s/%s-%016llx", place,
                          life->spec.run, (unsigned long long)life->record.mark);
    if (place[0] == '\0' || length >= GUARD_RECORD_PATH_SIZE) {
        path[0] = '\0';
    }
    return path[0] != '\0';
}

static void make_cgroup(struct guard_life *life)
{
    struct guard_record *record = &life->record;
    struct guard_crew *crew = &life->crew;
    crew->cgroup = (struct guard_cgroup){.dir = -1};
    if (name_cgroup(life, life->spec.cgroup, record->cgroup) &&
        !guard_cgroup_make(&crew->cgroup, record->cgroup)) {
        record->cgroup[0] = '\0';
    }
}

/* The command stands at its gate: what it takes from its first instruction on counts.
 */
static void count_memory(struct guard_life *life)
{
    struct guard_record *record = &life->record;
    struct guard_memory *memory = &life->crew.memory;
    if (!guard_memory_is_kept(memory) &&
        !guard_memory_share(memory, &life->crew.cgroup) &&
        name_cgroup(life, life->spec.memory, record->memory) &&
        !guard_memory_make(memory, record->memory)) {
        record->memory[0] = '\0';
    }
    if (guard_memory_is_kept(memory) && !guard_memory_enter(memory, life->job.pid)) {
        guard_memory_remove(memory);
        record->memory[0] = '\0';
    }
}

/* Of an interactive job: its terminal or pipes. */
static int open_ends(struct guard_life *life, struct guard_command *command,
                     struct guard_ends *ends, struct err *err)
{
    guard_ends_init(ends);
    if (!command->is_job || life->stream == NULL) {
        return 0;
    }
    command->ends = ends;
    return guard_ends_open(ends, &life->spec, &life->account, err);
}

static int fork_command(struct guard_life *life, struct err *err)
{
    bool is_job = life->course.stage == GUARD_JOB;
    struct guard_env env = {0};
    struct guard_ends ends;
    struct guard_command command = {.text = guard_course_command(&life->course),
                                    .is_job = is_job,
                                    .env = life->spec.env};
    int code = open_ends(life, &command, &ends, err);
    if (code != 0) {
        return code;
    }
    if (!is_job) {
        guard_env_init(&env, &life->course);
        command.env = env.list;
    }
    if (!guard_cgroup_is_made(&life->crew.cgroup)) {
        make_cgroup(life);
    }
    code = guard_job_fork(&life->job, life->dir, &life->spec, &command, &life->account,
                          &life->crew.cgroup, err);
    guard_env_release(&env);
    if (code != 0) {
        guard_ends_close(&ends);
    } else if (command.ends != NULL) {
        guard_ends_leave(&ends);
        guard_stream_begin(life->stream, &ends, guard_clock_now_ms());
    }
    if (!guard_cgroup_is_made(&life->crew.cgroup)) {
        life->record.cgroup[0] = '\0';
    }
    if (code == 0) {
        count_memory(life);
    }
    struct guard_process process = {0};
    if (code == 0 && !guard_process_read(life->job.pid, &process)) {
        process.start = 0;
    }
    life->record.job_pid = code == 0 ? (uint64_t)life->job.pid : 0;
    life->record.job_start = process.start;
    return code;
}

static int64_t stage_limit_ms(const struct guard_life *life)
{
    const int64_t *values = life->spec.limits.values;
    switch (life->course.stage) {
    case GUARD_BEFORE:
        return values[JOB_RLIMIT_PRE_TIME];
    case GUARD_AFTER:
        return values[JOB_RLIMIT_POST_TIME];
    case GUARD_JOB:
    case GUARD_OVER:
        break;
    }
    return JOB_RLIMIT_NONE;
}

/* What stands still after that has its slots from others, and its time as it was. */
static void cut_run_limit(struct guard_life *life, int64_t now)
{
    int64_t left_ms = life->end_by - now;
    bool has_limit = life->spec.run_limit_ms > 0;
    if (life->end_by != GUARD_LIFE_NEVER &&
        (!has_limit || left_ms < life->spec.run_limit_ms)) {
        life->spec.run_limit_ms = left_ms > 0 ? left_ms : 1;
    }
}

/* The clocks of the command that is about to begin. */
static void set_clocks(struct guard_life *life)
{
    int64_t now = guard_clock_now_ms(), limit_ms = stage_limit_ms(life);
    guard_ladder_init(&life->ladder);
    life->is_killed = life->is_late = false;
    if (life->course.at == 0) {
        life->stage_until =
            limit_ms == JOB_RLIMIT_NONE ? GUARD_LIFE_NEVER : now + limit_ms;
        if (life->course.stage == GUARD_BEFORE && life->end_by < life->stage_until) {
            life->stage_until = life->end_by;
        }
    }
    life->limits.look_at = GUARD_LIFE_NEVER;
    if (life->course.stage == GUARD_JOB) {
        life->ran_ms = 0;
        life->running_since = now;
        cut_run_limit(life, now);
        guard_limits_begin(&life->limits, &life->spec.limits, &life->crew, now);
    }
}

int guard_start_command(struct guard_life *life, struct err *err)
{
    int code = fork_command(life, err);
    if (code == 0 && (code = record_file_write(life->dir, &life->record, err)) != 0) {
        guard_job_abandon(&life->job);
        waitpid(life->job.pid, NULL, 0);
    }
    if (code != 0) {
        return code;
    }
    set_clocks(life);
    life->is_meeting = life->course.stage == GUARD_JOB && life->stream != NULL;
    if (!life->is_meeting) {
        guard_job_release(&life->job);
    }
    guard_link_push(&life->link, &life->record);
    if (life->record.phase == RUN_SUSPENDED && life->course.stage != GUARD_AFTER) {
        guard_crew_suspend(&life->crew); /* what cleans up is not held up */
    }
    return 0;
}
