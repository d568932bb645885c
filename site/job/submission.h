/* SPDX-License-Identifier: Apache-2.0 */
/* submission.h: what the elements of an array share, or one job has alone: what was
 * asked for, and how many of them are where in their lives.
 *
 * Ownership: its texts are its own; it goes with its last job or run. Layer: site. */
#ifndef SUBLET_SITE_JOB_SUBMISSION_H
#define SUBLET_SITE_JOB_SUBMISSION_H

#include "model/row.h"

struct submission {
    struct job_spec *spec;
    struct job_terms terms;
    int n_jobs;       /* of it in the table */
    int n_unfinished; /* of those */
    int n_open;       /* with an attempt */
    int max_open;     /* "%limit" of an array's name; 0: any number */
    int n_runs;       /* that execute it as it stands */
};

struct submission *submission_new(const struct row_job *row);
/* One of its jobs is gone; NULL is fine. */
void submission_leave(struct submission *submission);

/* Whether `spec`, which was made of its own, still says the same. */
bool submission_is_same_spec(const struct submission *submission,
                             const struct job_spec *spec);
/* A run executes it, until that is over; NULL is fine for the second. */
void submission_hold(struct submission *submission);
void submission_drop(struct submission *submission);

#endif
