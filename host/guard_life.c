/* SPDX-License-Identifier: Apache-2.0 */
/* guard_life.c: see guard_life.h. */
#include "host/guard_life.h"
#include "host/record_file.h"

#include <unistd.h>

#include "host/guard_clock.h"
#include "host/guard_dir.h"

enum { SAVE_AGAIN_MS = 1000 }; /* a full disk */

void guard_life_init(struct guard_life *life, const char *path, int agent)
{
    *life = (struct guard_life){
        .path = path,
        .dir = -1,
        .job = {.gate = -1},
        .crew = {.cgroup = {.dir = -1}, .memory = {.dir = -1}, .guard = getpid()},
        .wait_until = GUARD_LIFE_NEVER,
        .stage_until = GUARD_LIFE_NEVER,
        .end_by = GUARD_LIFE_NEVER,
        .limits = {.look_at = GUARD_LIFE_NEVER},
        .save_at = GUARD_LIFE_NEVER,
        .listen_at = GUARD_LIFE_NEVER,
        .stop_at = GUARD_LIFE_NEVER,
        .action = {.until_ms = GUARD_ACTION_NEVER},
    };
    guard_resize_init(&life->resize);
    life->record.guard_pid = (uint64_t)getpid();
    life->record.can_resize = 1;
    guard_dir_read_boot_id(life->record.boot_id, sizeof(life->record.boot_id));
    guard_ladder_init(&life->ladder);
    guard_link_init(&life->link);
    if (agent >= 0) {
        guard_link_add(&life->link, agent);
    }
}

void guard_life_release(struct guard_life *life)
{
    if (life->dir >= 0) {
        close(life->dir);
    }
    guard_link_release(&life->link);
    guard_stream_free(life->stream);
    guard_account_release(&life->account);
    guard_spec_release(&life->spec);
    guard_resize_release(&life->resize);
}

void guard_life_save(struct guard_life *life)
{
    life->save_at = record_file_write(life->dir, &life->record, NULL) == 0
                        ? GUARD_LIFE_NEVER
                        : guard_clock_now_ms() + SAVE_AGAIN_MS;
}

void guard_life_publish(struct guard_life *life)
{
    guard_life_save(life);
    guard_link_push(&life->link, &life->record);
}

void guard_life_end(struct guard_life *life, enum run_end how, uint64_t code,
                    const char *text)
{
    life->record.phase = RUN_ENDED;
    life->record.end = how;
    life->record.code = code;
    life->record.end_ms = guard_clock_wall_ms();
    if (text[0] != '\0') {
        guard_record_set_text(&life->record, text);
    }
    guard_dir_measure(life->dir, &life->record);
    guard_life_publish(life);
}

void guard_life_decide(struct guard_life *life)
{
    const struct guard_course *course = &life->course;
    life->record.end = course->end;
    life->record.cause = course->cause;
    life->record.code = (uint64_t)course->code;
    guard_record_set_text(&life->record, course->text);
}

void guard_life_conclude(struct guard_life *life)
{
    guard_life_end(life, life->course.end, (uint64_t)life->course.code,
                   life->course.text);
}
