/* SPDX-License-Identifier: Apache-2.0 */
/* job_operand.c: see job_operand.h. */
#include "cli/job_operand.h"

#include <stddef.h>

#include "model/job_id.h"

static bool read_id(const char *text, bool *is_many)
{
    struct arena arena;
    struct job_id id;
    arena_init(&arena);
    bool is_valid = job_id_read(&arena, text, &id, NULL) == 0;
    *is_many = is_valid && (id.n_ranges > 1 ||
                            (id.n_ranges == 1 && id.ranges->first != id.ranges->last));
    arena_release(&arena);
    return is_valid;
}

bool job_operand_is_valid(const char *text)
{
    bool is_many;
    return read_id(text, &is_many);
}

bool job_operand_is_list(const char *text)
{
    bool is_many;
    return read_id(text, &is_many) && is_many;
}
