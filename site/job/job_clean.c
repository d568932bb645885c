/* SPDX-License-Identifier: Apache-2.0 */
/* job_clean.c: removes jobs that ended long ago from the table and from disk. */
#include <stdlib.h>
#include <string.h>

#include "site/job/job_parts.h"

int64_t job_clean_oldest_end_ms(const struct job_table *jobs)
{
    return jobs->ended.count > 0 ? jobs->ended.items[0]->clean_after_ms : INT64_MAX;
}

enum { AWAITED_MS = 60000 };

static void remove_cleaned(struct job_table *jobs, int n_cleaned)
{
    job_table_remove_dropped(jobs);
    jobs->ended.count -= n_cleaned;
    memmove(jobs->ended.items, jobs->ended.items + n_cleaned,
            (size_t)jobs->ended.count * sizeof(*jobs->ended.items));
}

/* Jobs that dependent jobs wait for are due again a minute later. */
static void postpone_awaited(struct job_table *jobs, int64_t before_ms, int max)
{
    int kept = 0, n_awaited = 0, i = 0;
    struct job_list *ended = &jobs->ended;
    struct job **awaited = NULL;
    for (; i < max && i < ended->count && ended->items[i]->clean_after_ms <= before_ms;
         i++) {
        struct job *job = ended->items[i];
        if (dependents_has(jobs->dependents, job->id)) {
            awaited = mem_grow(awaited, (size_t)n_awaited + 1, sizeof(*awaited));
            awaited[n_awaited++] = job;
        } else {
            ended->items[kept++] = job;
        }
    }
    if (n_awaited == 0) {
        return;
    }
    memmove(&ended->items[kept], &ended->items[i],
            (size_t)(ended->count - i) * sizeof(*ended->items));
    ended->count -= n_awaited;
    for (i = 0; i < n_awaited; i++) {
        awaited[i]->clean_after_ms = before_ms + AWAITED_MS;
        job_list_insert(ended, awaited[i],
                        job_list_place(ended, awaited[i], job_list_by_clean));
    }
    free(awaited);
}

int job_clean(struct job_table *jobs, int64_t before_ms, int max, job_clean_fn on_clean,
              void *arg, struct effects *effects)
{
    int count = 0;
    postpone_awaited(jobs, before_ms, max);
    while (count < max && count < jobs->ended.count &&
           jobs->ended.items[count]->clean_after_ms <= before_ms) {
        struct job *job = jobs->ended.items[count++];
        bool is_last = job->submission->n_jobs == 1;
        on_clean(arg, job);
        effects_store(effects, &(struct row){.kind = ROW_JOB_STATE,
                                             .job_state = {.id = job->id,
                                                           .index = job->index,
                                                           .state = job->state,
                                                           .lease = "",
                                                           .exit = {.text = ""},
                                                           .reason = "",
                                                           .queue = "",
                                                           .overload = "",
                                                           .reserved = "",
                                                           .avoided = "",
                                                           .is_dropped = !is_last,
                                                           .is_gone = is_last}});
        job->is_dropped = true;
        job_index_remove(jobs, job);
        submission_leave(job->submission);
        job->submission = NULL;
        job->spec = NULL;
    }
    if (count > 0) {
        remove_cleaned(jobs, count);
    }
    return count;
}
