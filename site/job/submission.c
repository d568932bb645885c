/* SPDX-License-Identifier: Apache-2.0 */
/* submission.c: see submission.h. */
#include "site/job/submission.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "model/job_id.h"

struct submission *submission_new(const struct row_job *row)
{
    struct submission *submission = mem_alloc(1, sizeof(*submission));
    submission->spec = dup_spec(&row->spec);
    submission->terms = row->terms;
    submission->terms.depend = dup_text(row->terms.depend);
    submission->terms.depend_on = dup_text(row->terms.depend_on);
    submission->terms.project = dup_text(row->terms.project);
    submission->terms.user_group = dup_text(row->terms.user_group);
    submission->terms.resize_notify = dup_text(row->terms.resize_notify);
    submission->max_open = job_id_name_limit(row->spec.name);
    return submission;
}

static void free_unused(struct submission *submission)
{
    if (submission->n_jobs == 0 && submission->n_runs == 0) {
        dup_free(submission->terms.depend);
        dup_free(submission->terms.depend_on);
        dup_free(submission->terms.project);
        dup_free(submission->terms.user_group);
        dup_free(submission->terms.resize_notify);
        free(submission->spec);
        free(submission);
    }
}

void submission_leave(struct submission *submission)
{
    if (submission != NULL) {
        submission->n_jobs--;
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

/* ---------------------------------------------------------------- the same */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

/* If the lists are equal, `mine` replaces the other. */
static void equate(const char *const **theirs, int n_theirs, const char *const *mine,
                   int n_mine)
{
    for (int i = 0; *theirs != mine && i < n_mine; i++) {
        if (i >= n_theirs || !is_same_text((*theirs)[i], mine[i])) {
            return;
        }
    }
    *theirs = n_theirs == n_mine ? mine : *theirs;
}

/* Fields that rules may build again are compared by content, all others by address: a
 * field that is forgotten here costs a copy of the spec, nothing else. */
bool submission_is_same_spec(const struct submission *submission,
                             const struct job_spec *spec)
{
    const struct job_spec *own = submission->spec;
    struct job_spec copy;
    memcpy(&copy, spec, sizeof(copy)); /* with what lies between the fields */
    if (is_same_text(spec->command, own->command)) {
        copy.command = own->command;
    }
    equate(&copy.env, spec->n_env, own->env, own->n_env);
    equate(&copy.limits, spec->n_limits, own->limits, own->n_limits);
    equate(&copy.pre_execs, spec->n_pre_execs, own->pre_execs, own->n_pre_execs);
    equate(&copy.post_execs, spec->n_post_execs, own->post_execs, own->n_post_execs);
    equate(&copy.controls, spec->n_controls, own->controls, own->n_controls);
    return memcmp(&copy, own, sizeof(copy)) == 0;
}
