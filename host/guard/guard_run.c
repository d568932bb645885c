/* SPDX-License-Identifier: Apache-2.0 */
/* guard_run.c: see guard_run.h. */
#include "host/guard/guard_run.h"
#include "host/run_dir/record_file.h"

#include <unistd.h>

#include "host/kernel/kernel_clock.h"
#include "host/run_dir/run_dir_lock.h"

enum { SAVE_AGAIN_MS = 1000 }; /* a full disk */

void guard_run_init(struct guard_run *life, const char *path, int agent)
{
    *life = (struct guard_run){
        .path = path,
        .dir = -1,
        .job = {.gate = -1},
        .crew = {.cgroup = {.dir = -1}, .memory = {.dir = -1}, .guard = getpid()},
        .wait_until = GUARD_RUN_NEVER,
        .stage_until = GUARD_RUN_NEVER,
        .end_by = GUARD_RUN_NEVER,
        .limits = {.look_at = GUARD_RUN_NEVER},
        .save_at = GUARD_RUN_NEVER,
        .listen_at = GUARD_RUN_NEVER,
        .stop_at = GUARD_RUN_NEVER,
        .action = {.until_ms = CONTROL_COMMAND_NEVER},
    };
    resize_command_init(&life->resize);
    life->record.guard_pid = (uint64_t)getpid();
    life->record.can_resize = 1;
    run_dir_read_boot_id(life->record.boot_id, sizeof(life->record.boot_id));
    escalation_init(&life->ladder);
    guard_link_init(&life->link);
    if (agent >= 0) {
        guard_link_add(&life->link, agent);
    }
}

void guard_run_release(struct guard_run *life)
{
    if (life->dir >= 0) {
        close(life->dir);
    }
    guard_link_release(&life->link);
    stdio_relay_free(life->stream);
    account_release(&life->account);
    run_spec_release(&life->spec);
    resize_command_release(&life->resize);
}

void guard_run_save(struct guard_run *life)
{
    life->save_at = record_file_write(life->dir, &life->record, NULL) == 0
                        ? GUARD_RUN_NEVER
                        : kernel_clock_now_ms() + SAVE_AGAIN_MS;
}

void guard_run_publish(struct guard_run *life)
{
    guard_run_save(life);
    guard_link_push(&life->link, &life->record);
}

void guard_run_end(struct guard_run *life, enum run_end how, uint64_t code,
                   const char *text)
{
    life->record.phase = RUN_ENDED;
    life->record.end = how;
    life->record.code = code;
    life->record.end_ms = kernel_clock_wall_ms();
    if (text[0] != '\0') {
        guard_record_set_text(&life->record, text);
    }
    run_dir_measure_output(life->dir, &life->record);
    guard_run_publish(life);
}

void guard_run_record_outcome(struct guard_run *life)
{
    const struct stages *course = &life->course;
    life->record.end = course->end;
    life->record.cause = course->cause;
    life->record.code = (uint64_t)course->code;
    guard_record_set_text(&life->record, course->text);
}

void guard_run_end_as_decided(struct guard_run *life)
{
    guard_run_end(life, life->course.end, (uint64_t)life->course.code,
                  life->course.text);
}
