/* SPDX-License-Identifier: Apache-2.0 */
/* guard_run.c: see guard_run.h. */
#include "host/guard/guard_run.h"
#include "host/run_dir/run_dir.h"

#include <stdlib.h>
#include <unistd.h>

void guard_run_init(struct guard_run *run, const char *path, int agent)
{
    *run = (struct guard_run){
        .path = path,
        .dir = -1,
        .launched = {.gate = -1},
        .procs = {.cgroup = {.dir = -1}, .memcg = {.dir = -1}, .guard = getpid()},
        .rlimits = {.check_at = GUARD_RUN_NEVER},
        .listen_at = GUARD_RUN_NEVER,
    };
    run->record.guard_pid = (uint64_t)getpid();
    run->record.can_resize = 1;
    boot_id_read(run->record.boot_id, sizeof(run->record.boot_id));
    exec_run_init(&run->exec, &run->spec, kernel_clock_now_ms());
    guard_link_init(&run->link);
    if (agent >= 0) {
        guard_link_add(&run->link, agent);
    }
}

void guard_run_release(struct guard_run *run)
{
    if (run->dir >= 0) {
        close(run->dir);
    }
    guard_link_release(&run->link);
    stdio_relay_free(run->relay);
    account_release(&run->account);
    user_env_release(&run->user_env);
    run_spec_release(&run->spec);
    free(run->resize.request.bytes);
    free(run->resize.applied.bytes);
}

bool guard_run_save(struct guard_run *run)
{
    return record_file_write(run->dir, &run->record, NULL) == 0;
}

bool guard_run_publish(struct guard_run *run)
{
    bool is_saved = guard_run_save(run);
    guard_link_push(&run->link, &run->record);
    return is_saved;
}
