/* SPDX-License-Identifier: Apache-2.0 */
/* guard_reap.c: see guard.h. */
#include "host/guard/guard.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/exec/exec.h"
#include "host/guard/guard_link.h"
#include "host/kernel/kernel.h"
#include "host/run_dir/run_dir.h"

enum {
    SCAN_MS = 10,
    LOCK_WAIT_MS = 2000,
    GIVE_UP_MS = 30000, /* processes that SIGKILL does not end, in the kernel */
};

/* The connection of a killed guard may end before its lock is free: the kernel closes
 * the descriptors of a dying process in any order. */
static int enter_dead(const char *path)
{
    int64_t until = kernel_clock_now_ms() + LOCK_WAIT_MS;
    int dir = run_dir_enter(path);
    while (dir < 0 && errno == EWOULDBLOCK && kernel_clock_now_ms() < until) {
        kernel_clock_sleep(SCAN_MS);
        dir = run_dir_enter(path);
    }
    return dir;
}

/* Returns true once a scan finds no process. */
static bool kill_all(const struct procs *procs)
{
    int64_t until = kernel_clock_now_ms() + GIVE_UP_MS;
    while (procs_kill(procs) > 0) {
        if (kernel_clock_now_ms() > until) {
            return false;
        }
        kernel_clock_sleep(
            SCAN_MS); /* they are not our children: waitpid does not help */
    }
    return true;
}

static bool clear(const char *path, const struct guard_record *record)
{
    const char *name = strrchr(path, '/');
    char mark[GUARD_RECORD_MARK_SIZE];
    guard_record_mark(record, name == NULL ? path : name + 1, mark);
    struct procs procs = {
        .cgroup = {.dir = -1},
        .memcg = {.dir = -1},
        .session = (pid_t)record->job_pid,
        .session_start = record->job_start,
        .mark = mark,
    };
    if (record->cgroup[0] != '\0') {
        cgroup_open(&procs.cgroup, record->cgroup);
    }
    bool is_clear = kill_all(&procs);
    cgroup_remove(&procs.cgroup);
    if (record->memory[0] != '\0') {
        rmdir(record->memory);
    }
    return is_clear;
}

/* The job had begun, and no post-exec command had. */
static bool has_commands_left(int dir, const struct guard_record *record)
{
    struct run_spec spec;
    bool has_any = record->start_ms != 0 && run_dir_read_spec(dir, &spec, NULL) == 0 &&
                   spec.n_post_execs > 0;
    if (record->start_ms != 0) {
        run_spec_release(&spec);
    }
    return has_any;
}

/* Returns true if the record says how the job ended, and post-exec commands are left.
 */
static bool reap(int dir, const char *path, struct guard_record *record)
{
    bool is_over = record->end != RUN_END_NONE;
    char boot_id[sizeof(record->boot_id)];
    boot_id_read(boot_id, sizeof(boot_id));
    bool is_this_boot = strcmp(boot_id, record->boot_id) == 0;
    const char *text = is_this_boot ? "its guard died without an exit record"
                                    : "the machine went down while it ran";
    if (is_this_boot && !clear(path, record)) {
        text = "its guard died; some of its processes cannot be killed";
    }
    if (!is_over) {
        record->end = RUN_END_LOST;
        guard_record_set_text(record, text);
    }
    if (!is_over && is_this_boot && has_commands_left(dir, record)) {
        record->phase = RUN_RUNNING;
        record->cgroup[0] = record->memory[0] = '\0';
        return true;
    }
    record->phase = RUN_ENDED;
    record->end_ms = kernel_clock_wall_ms();
    record->cgroup[0] = record->memory[0] = '\0';
    run_dir_measure_output(dir, record);
    return false;
}

/* Writes the record, ENDED or with post-exec commands left. Returns -1 if there is no
 * record to write, or it cannot be written. */
static int reap_by_record(int dir, const char *path, struct guard_record *record)
{
    int code = record_file_read(dir, record, NULL);
    if (code == ERR_NOT_FOUND) {
        return -1;
    }
    if (code != 0) {
        /* Damaged: it is not known whether the job began, so it counts as begun. */
        memset(record, 0, sizeof(*record));
    }
    if (record->phase == RUN_ENDED) {
        return 0;
    }
    reap(dir, path, record);
    return record_file_write(dir, record, NULL) == 0 ? 0 : -1;
}

int guard_reap_main(const char *path, int agent)
{
    struct guard_record record;
    struct guard_link link;
    int dir = enter_dead(path);
    int code = dir < 0 ? -1 : reap_by_record(dir, path, &record);
    if (code == 0 && record.phase != RUN_ENDED) {
        return guard_loop_post_exec(path, dir, agent, &record);
    }
    guard_link_init(&link);
    if (agent >= 0) {
        guard_link_add(&link, agent);
    }
    if (dir >= 0) {
        close(dir); /* the lock is free before this is reported */
    }
    if (code == 0) {
        guard_link_push(&link, &record);
    }
    guard_link_release(&link);
    return code == 0 ? 0 : 1; /* the agent checks the directory and tries again */
}
