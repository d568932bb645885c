/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_grow.c: running jobs that ask for more slots, and other slots for them: see
 * jobs.h. */
#include "site/jobs_parts.h"

#include <stdlib.h>

/* Slots that it asks for until it has them, from its beginning on. */
int jobs_first_wish(const struct job *job)
{
    return job->terms->resizable == RESIZABLE_AUTO ? job->terms->max_slots : 0;
}

int jobs_asked_slots(const struct job *job)
{
    int n_slots = msg_sum_slots(job->hosts, job->n_hosts);
    return job->resize.max_slots > n_slots ? job->resize.max_slots - n_slots : 0;
}

/* On borrowed hosts a job never gets more. */
static bool asks_for_more(const struct job *job)
{
    return job->lease[0] == '\0' && jobs_asked_slots(job) > 0;
}

void jobs_list_growing(struct jobs *jobs, struct job *job, int sign)
{
    if (sign > 0 && asks_for_more(job)) {
        job->is_growing = true;
        job_list_insert(&jobs->growing, job,
                        job_list_place(&jobs->growing, job, job_list_by_attempt));
    } else if (sign < 0 && job->is_growing) {
        job->is_growing = false;
        job_list_remove(&jobs->growing, job, job_list_by_attempt);
    }
}

int jobs_count_growing(const struct jobs *jobs)
{
    return jobs->growing.count;
}

struct job *jobs_growing_at(const struct jobs *jobs, int index)
{
    return jobs->growing.items[index];
}

int jobs_wanted_slots(const struct job *job)
{
    bool may_have = job->state == JOB_RUN && job->halt.causes == 0 && !job->is_killed &&
                    !jobs_is_requeued(job) && job->resize.event == RESIZE_NONE;
    return may_have && job->is_growing ? jobs_asked_slots(job) : 0;
}

void jobs_set_resize(struct job *job, const struct job_resize *resize)
{
    struct host_slots *hosts = keep_hosts(resize->hosts, resize->n_hosts);
    free((void *)job->resize.hosts);
    job->resize = *resize;
    job->resize.hosts = hosts;
}

void jobs_resize(struct jobs *jobs, struct job *job, const struct host_slots *hosts,
                 int n_hosts, const struct job_resize *resize)
{
    jobs_unindex(jobs, job);
    jobs_set_resize(job, resize); /* its names may be the old hosts' */
    jobs_set_hosts(job, hosts, n_hosts);
    jobs_reindex(jobs, job);
}
