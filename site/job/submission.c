/* SPDX-License-Identifier: Apache-2.0 */
/* submission.c: see submission.h. */
#include "site/job/submission.h"

#include <stdlib.h>

#include "model/job_id.h"
#include "model/record.h"

struct submission *submission_new(const struct row_job *row, int64_t *of_user)
{
    struct submission *submission = mem_alloc(1, sizeof(*submission));
    submission->row = record_dup(schema_row_kinds[ROW_JOB], row);
    submission->max_open = job_id_name_limit(row->spec.name);
    submission->n_bytes = (int64_t)record_size(schema_row_kinds[ROW_JOB], row);
    submission->of_user = of_user;
    return submission;
}

void submission_join(struct submission *submission)
{
    *submission->of_user += submission->n_jobs == 0 ? submission->n_bytes : 0;
    *submission->of_user += SUBMISSION_JOB_BYTES;
    submission->n_jobs++;
    submission->n_unfinished++;
}

static void free_unused(struct submission *submission)
{
    if (submission->n_jobs == 0 && submission->n_runs == 0) {
        free(submission->row);
        free(submission);
    }
}

void submission_leave(struct submission *submission)
{
    if (submission != NULL) {
        submission->n_jobs--;
        *submission->of_user -= SUBMISSION_JOB_BYTES;
        *submission->of_user -= submission->n_jobs == 0 ? submission->n_bytes : 0;
        free_unused(submission);
    }
}

void submission_add_run(struct submission *submission)
{
    submission->n_runs++;
}

void submission_remove_run(struct submission *submission)
{
    if (submission != NULL) {
        submission->n_runs--;
        free_unused(submission);
    }
}

bool submission_is_same_spec(const struct submission *submission,
                             const struct job_spec *spec)
{
    return record_is_same(&schema_run_job_spec, spec, &submission->row->spec);
}
