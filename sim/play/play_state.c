/* SPDX-License-Identifier: Apache-2.0 */
/* play_state.c: see play_state.h. */
#include "sim/play/play_state.h"

#include <inttypes.h>
#include <stdarg.h>

void play_state_remark(struct play *play, int line, bool is_note, const char *format,
                       ...)
{
    struct play_remark *remark = arena_alloc(&play->arena, 1, sizeof *remark);
    va_list args;

    va_start(args, format);
    remark->text = arena_vprintf(&play->arena, format, args);
    va_end(args);
    remark->line = line;
    remark->is_note = is_note;
    play->n_failed += !is_note;
    if (play->last) {
        play->last->next = remark;
    } else {
        play->first = remark;
    }
    play->last = remark;
}

const char *play_state_job_id(struct play *play, int site, const char *name,
                              struct arena *arena)
{
    int index;
    const struct statement *submit =
        scenario_find_job(play->scenario, site, name, &index);
    uint64_t id = submit ? play->job_ids[submit - play->scenario->statements] : 0;

    if (id == 0) {
        return NULL;
    }
    return index > 0 ? arena_printf(arena, "%" PRIu64 "[%d]", id, index)
                     : arena_printf(arena, "%" PRIu64, id);
}
