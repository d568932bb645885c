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

enum { SCAN_MS = 10, LOCK_WAIT_MS = 2000 };

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

/* A damaged record does not say whether the job began, so it counts as begun. Returns
 * -1 if there is none. */
static int read_record(int dir, struct guard_record *record)
{
    int code = record_file_read(dir, record, NULL);
    if (code != 0) {
        memset(record, 0, sizeof(*record));
    }
    return code == ERR_NOT_FOUND ? -1 : 0;
}

int guard_reap_main(const char *path, int agent)
{
    struct guard_record record;
    struct guard_link link;
    int dir = enter_dead(path);
    int code = dir < 0 ? -1 : read_record(dir, &record);
    if (code == 0 && record.phase != RUN_ENDED) {
        return guard_loop_reap(path, dir, agent, &record);
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
