/* SPDX-License-Identifier: Apache-2.0 */
/* job_load.c: loads jobs from rows of the journal; see job.h. */
#include "site/job/job_parts.h"

#include "model/job_id.h"

static void load_one(struct job_table *jobs, const struct row_job *row,
                     struct submission *submission, int index)
{
    struct job *job = job_table_new_job(jobs, row, submission, index);
    job_list_insert(&jobs->all, job, job_list_place(&jobs->all, job, job_list_by_id));
}

void job_load_submission(struct job_table *jobs, const struct row_job *row)
{
    struct submission *submission =
        submission_new(row, job_index_bytes(jobs, &row->spec));
    struct arena arena;
    struct job_id list;
    const int *indices = (const int[]){0};
    int n_indices = 1;
    arena_init(&arena);
    if (row->is_array &&
        job_id_read_name(&arena, row->spec.name, JOB_INDEX_MAX, &list, NULL) == 0) {
        n_indices = job_id_expand(&arena, &list, &indices);
    }
    for (int i = 0; i < n_indices; i++) {
        load_one(jobs, row, submission, indices[i]);
    }
    arena_release(&arena);
}

void job_load_state(struct job_table *jobs, const struct row_job_state *row)
{
    struct job *job = job_table_find(jobs, job_id_key(row->id, row->index));
    if (job == NULL) {
        return; /* a state without a job is ignored */
    }
    job->is_dropped = row->is_dropped;
    job->state = row->state;
    job->attempt = row->attempt;
    dup_set_text(&job->lease, row->lease);
    job->epoch = row->epoch;
    job->is_decided = row->is_decided;
    job->is_taken = row->is_taken && row->state == JOB_PEND;
    job->is_killed = row->is_killed;
    job->requeue_cause = row->requeue_cause;
    job->suspension = row->suspension;
    job->use = row->use;
    job->n_requeues = row->n_requeues;
    job->n_pre_fails = row->n_pre_fails;
    job_set_hosts(job, row->hosts, row->n_hosts);
    job_set_resize(job, &row->resize);
    job_set_overload(job, row->overload);
    job_set_reserved(job, row->reserved);
    job_set_avoided(job, row->avoided);
    job->backfill = (struct place_backfill){row->backfill_of, row->backfill_until_ms};
    job->run_limit_ms = row->run_limit_ms;
    job->start_ms = row->start_ms;
    job->end_ms = row->end_ms;
    job->control = row->control;
    job->control.yields =
        job->control.action == CONTROL_SUSPEND && job->suspension.yields;
    if (job_is_ended(job)) {
        job_set_exit(job, &row->exit);
    }
    dup_set_text(&job->reason, row->reason);
    job->recorded = (struct job_recorded){.attempt = row->attempt,
                                          .state = row->state,
                                          .is_accepted = row->is_decided,
                                          .has_begun = row->start_ms != 0,
                                          .is_killed = row->is_killed};
    job->is_released = job->is_released || row->is_released;
    job->entry.position = row->place;
    jobs->first_place = row->place < jobs->first_place ? row->place : jobs->first_place;
    jobs->last_place = row->place > jobs->last_place ? row->place : jobs->last_place;
    if (row->queue != NULL && row->queue[0] != '\0') {
        dup_set_text(&job->switched_queue, row->queue);
        job_table_enter_queue(jobs, job, row->queue);
    }
}
