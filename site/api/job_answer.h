/* SPDX-License-Identifier: Apache-2.0 */
/* job_answer.h: what the requests that name jobs have in common: which jobs an id
 * names, whether the caller may change them, and an answer with a sentence per job.
 *
 * Ownership: the answer is in the arena. Layer: site. */
#ifndef SUBLET_SITE_API_JOB_ANSWER_H
#define SUBLET_SITE_API_JOB_ANSWER_H

#include "base/err.h"
#include "model/job_id.h"
#include "site/api/site_api.h"

struct job_answer {
    struct arena *arena;
    const char *text; /* the sentences so far; after an error those of errors alone */
    struct value *jobs;
    int code; /* of the first error */
};

struct job_answer job_answer_begin(struct arena *arena);
/* Adds a sentence about the jobs that `id` names; `code` 0: they are changed. The text
 * takes whole sentences as long as they fit. */
void job_answer_add(struct job_answer *answer, const char *id, int code,
                    const char *what);
void job_answer_send(const struct job_answer *answer, const struct peer *to,
                     uint64_t request, struct effects *effects);

/* The elements of the array `wanted`, or the job itself, are at these places of the
 * job table, from `first` to before the result. */
int job_answer_find_end(const struct job_table *jobs, const struct job_id *wanted,
                        int *first);
/* The caller may manage the job, and it has not ended. */
int job_answer_check(const struct site_api *api, const struct peer *from,
                     const struct job *job, struct err *err) MUST_CHECK;

#endif
