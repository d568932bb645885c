/* SPDX-License-Identifier: Apache-2.0 */
/* submission.c: see submission.h. */
#include "site/submission.h"

#include <stdlib.h>

#include "base/job_id.h"
#include "site/keep.h"

struct submission *submission_new(const struct row_job *row)
{
    struct submission *submission = mem_alloc(1, sizeof(*submission));
    submission->spec = keep_spec(&row->spec);
    submission->terms = row->terms;
    submission->terms.depend = keep_text(row->terms.depend);
    submission->terms.depend_on = keep_text(row->terms.depend_on);
    submission->terms.project = keep_text(row->terms.project);
    submission->max_open = job_id_name_limit(row->spec.name);
    return submission;
}

void submission_leave(struct submission *submission)
{
    if (submission != NULL && --submission->n_jobs == 0) {
        keep_free(submission->terms.depend);
        keep_free(submission->terms.depend_on);
        keep_free(submission->terms.project);
        free(submission->spec);
        free(submission);
    }
}
