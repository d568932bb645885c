/* SPDX-License-Identifier: Apache-2.0 */
/* submission.c: see submission.h. */
#include "site/submission.h"

#include <stdlib.h>

#include "base/job_id.h"
#include "site/keep.h"

/* Most jobs have none of them: those share one empty text. */
static const char *keep_term(const char *text)
{
    return text == NULL || text[0] == '\0' ? "" : keep_text(text);
}

static void free_term(const char *text)
{
    if (text[0] != '\0') {
        free((char *)(uintptr_t)text);
    }
}

struct submission *submission_new(const struct row_job *row)
{
    struct submission *submission = mem_alloc(1, sizeof(*submission));
    submission->spec = keep_spec(&row->spec);
    submission->terms = row->terms;
    submission->terms.depend = keep_term(row->terms.depend);
    submission->terms.depend_on = keep_term(row->terms.depend_on);
    submission->terms.project = keep_term(row->terms.project);
    submission->max_open = job_id_name_limit(row->spec.name);
    return submission;
}

void submission_leave(struct submission *submission)
{
    if (submission != NULL && --submission->n_jobs == 0) {
        free_term(submission->terms.depend);
        free_term(submission->terms.depend_on);
        free_term(submission->terms.project);
        free(submission->spec);
        free(submission);
    }
}
