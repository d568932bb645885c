/* SPDX-License-Identifier: Apache-2.0 */
/* submission.h: what the elements of a job array share, and what a single job has
 * alone: the spec, and counts of the jobs by what has become of them.
 *
 * Ownership: it owns its texts, and is freed with its last job or run. Layer: site. */
#ifndef SUBLET_SITE_JOB_SUBMISSION_H
#define SUBLET_SITE_JOB_SUBMISSION_H

#include "model/row.h"

struct submission {
    struct row_job *row; /* as submitted; one block of memory */
    int n_jobs;          /* its jobs in the table */
    int n_unfinished;    /* of these, not ended */
    int n_open;          /* of these, with an attempt */
    int max_open;        /* "%limit" of an array's name; 0: any number */
    int n_runs;          /* runs that use its spec unchanged */
    int64_t n_bytes;     /* of the row */
    int64_t *of_user;    /* the memory that the jobs of its user take; borrowed */
};

/* What a job takes besides its submission, about. */
enum { SUBMISSION_JOB_BYTES = 1024 };

struct submission *submission_new(const struct row_job *row, int64_t *of_user);
/* It has one more job, which has not ended. */
void submission_join(struct submission *submission);
/* One of its jobs was removed; NULL is fine. */
void submission_leave(struct submission *submission);

/* `spec`, which was derived from its own, still has the same content. */
bool submission_is_same_spec(const struct submission *submission,
                             const struct job_spec *spec);
/* A run begins to use its spec, or no longer uses it; then NULL is fine. */
void submission_add_run(struct submission *submission);
void submission_remove_run(struct submission *submission);

#endif
