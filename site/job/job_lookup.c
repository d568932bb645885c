/* SPDX-License-Identifier: Apache-2.0 */
/* job_lookup.c: see job_lookup.h. */
#include "site/job/job_lookup.h"

#include "model/job_id.h"

struct job *job_lookup_one(const struct job_table *jobs, const char *id)
{
    struct arena arena;
    struct job_id wanted;
    struct job *job = NULL;
    arena_init(&arena);
    if (job_id_read(&arena, id, &wanted, NULL) == 0 && wanted.n_ranges <= 1) {
        const struct job_range *range = wanted.ranges;
        bool is_one = wanted.n_ranges == 0 || range->first == range->last;
        int index = wanted.n_ranges == 0 ? 0 : range->first;
        job = is_one ? job_table_find(jobs, job_id_key(wanted.number, index)) : NULL;
    }
    arena_release(&arena);
    return job;
}

struct job *job_lookup_array(const struct job_table *jobs, const char *id)
{
    struct arena arena;
    struct job_id wanted;
    struct job *job = NULL;
    arena_init(&arena);
    if (job_id_read(&arena, id, &wanted, NULL) == 0 && wanted.n_ranges == 0) {
        int place = job_table_index_of(jobs, wanted.number);
        job = place < job_table_count(jobs) ? job_table_at(jobs, place) : NULL;
    }
    arena_release(&arena);
    return job != NULL && job->id == wanted.number && job->index != 0 ? job : NULL;
}
