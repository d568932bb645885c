/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_clean.c: ended jobs are forgotten, but those that others wait for: see jobs.h.
 */
#include "site/jobs_parts.h"

#include <stdlib.h>
#include <string.h>

void jobs_remove_dropped(struct jobs *jobs)
{
    int kept = 0;
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        if (!job->is_dropped) {
            jobs->all.items[kept++] = job;
            continue;
        }
        if (job->submission != NULL) {
            job->submission->n_unfinished--; /* just loaded: it had ended */
        }
        jobs_free_job(jobs, job);
    }
    jobs->all.count = kept;
}

int64_t jobs_oldest_end_ms(const struct jobs *jobs)
{
    return jobs->ended.count > 0 ? jobs->ended.items[0]->kept_ms : INT64_MAX;
}

enum { AWAITED_MS = 60000 };

static void remove_cleaned(struct jobs *jobs, int n_cleaned)
{
    jobs_remove_dropped(jobs);
    jobs->ended.count -= n_cleaned;
    memmove(jobs->ended.items, jobs->ended.items + n_cleaned,
            (size_t)jobs->ended.count * sizeof(*jobs->ended.items));
}

/* Jobs that others wait for are due again a minute later: they go behind the others. */
static void keep_awaited(struct jobs *jobs, int64_t before_ms, int max)
{
    int kept = 0, n_awaited = 0, i = 0;
    struct job_list *ended = &jobs->ended;
    struct job **awaited = NULL;
    for (; i < max && i < ended->count && ended->items[i]->kept_ms <= before_ms; i++) {
        struct job *job = ended->items[i];
        if (depends_has(jobs->depends, job->id)) {
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
        awaited[i]->kept_ms = before_ms + AWAITED_MS;
        job_list_insert(ended, awaited[i],
                        job_list_place(ended, awaited[i], job_list_by_kept));
    }
    free(awaited);
}

int jobs_clean(struct jobs *jobs, int64_t before_ms, int max, jobs_clean_fn on_clean,
               void *arg, struct effects *effects)
{
    int count = 0;
    keep_awaited(jobs, before_ms, max);
    while (count < max && count < jobs->ended.count &&
           jobs->ended.items[count]->kept_ms <= before_ms) {
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
        jobs->n_by_state[job->state]--;
        submission_leave(job->submission);
        job->submission = NULL;
        job->spec = NULL;
    }
    if (count > 0) {
        remove_cleaned(jobs, count);
    }
    return count;
}
