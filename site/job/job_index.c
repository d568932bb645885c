/* SPDX-License-Identifier: Apache-2.0 */
/* job_index.c: the indexes of the table of jobs: classes of pending jobs, sorted lists
 * of held jobs, open attempts and jobs that ask for more slots, and what is counted:
 * jobs by state, pending jobs by user, and what open jobs use of limits, shares and
 * resources. */
#include <stdio.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "site/job/job_parts.h"

static bool should_be_open(const struct job *job)
{
    return job->attempt != 0 && !job_is_ended(job);
}

/* A job on borrowed hosts never gets more slots. */
static bool asks_for_more(const struct job *job)
{
    return job->lease[0] == '\0' && job_asked_slots(job) > 0;
}

/* Adds an open job to the list of growing ones if it asks for more slots (`sign` 1), or
 * removes it. */
static void list_growing(struct job_table *jobs, struct job *job, int sign)
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

/* Kept when it is 0: users are few. */
struct user_pending {
    int64_t uid;
    char name[NAME_SIZE];
    int count;
    int64_t n_slots; /* of the pending jobs */
    int64_t n_bytes; /* of all the user's jobs until they are cleaned */
};

static int compare_uid(const void *key, const void *item)
{
    const int64_t *uid = key;
    const struct user_pending *of_user = item;
    return (*uid > of_user->uid) - (*uid < of_user->uid);
}

int job_index_count_pending(const struct job_table *jobs, int64_t uid)
{
    const struct user_pending *found =
        sorted_find(jobs->pending_of, jobs->n_pending_of, &uid, compare_uid);
    return found != NULL ? found->count : 0;
}

int64_t job_index_pending_slots(const struct job_table *jobs, int64_t uid)
{
    const struct user_pending *found =
        sorted_find(jobs->pending_of, jobs->n_pending_of, &uid, compare_uid);
    return found != NULL ? found->n_slots : 0;
}

const char *job_index_pending_user(const struct job_table *jobs, int index, int *count,
                                   int64_t *n_slots)
{
    if (index >= jobs->n_pending_of) {
        return NULL;
    }
    *count = jobs->pending_of[index]->count;
    *n_slots = jobs->pending_of[index]->n_slots;
    return jobs->pending_of[index]->name;
}

static struct user_pending *find_or_add(struct job_table *jobs,
                                        const struct job_spec *spec)
{
    int64_t uid = spec->uid;
    struct user_pending *found =
        sorted_find(jobs->pending_of, jobs->n_pending_of, &uid, compare_uid);
    if (found == NULL) {
        found = mem_alloc(1, sizeof(*found));
        found->uid = uid;
        snprintf(found->name, sizeof(found->name), "%s", spec->user);
        jobs->pending_of =
            sorted_add(jobs->pending_of, &jobs->n_pending_of,
                       &jobs->pending_of_capacity, &uid, compare_uid, found);
    }
    return found;
}

int64_t *job_index_bytes(struct job_table *jobs, const struct job_spec *spec)
{
    return &find_or_add(jobs, spec)->n_bytes;
}

int64_t job_index_user_bytes(const struct job_table *jobs, int64_t uid)
{
    const struct user_pending *found =
        sorted_find(jobs->pending_of, jobs->n_pending_of, &uid, compare_uid);
    return found != NULL ? found->n_bytes : 0;
}

/* A job enters its state (`sign` 1), or leaves it. */
static void count_state(struct job_table *jobs, const struct job *job, int sign)
{
    jobs->n_by_state[job->state] += sign;
    job_group_count_job(job->group, job->state, sign);
    if (job->state == JOB_PEND || job->state == JOB_PSUSP) {
        struct user_pending *of_user = find_or_add(jobs, job->spec);
        of_user->count += sign;
        of_user->n_slots += (int64_t)sign * job->spec->n_slots;
    }
}

static void count_open(struct job_table *jobs, struct job *job, int sign)
{
    list_growing(jobs, job, sign);
    bool is_suspended = job->state == JOB_SSUSP || job->state == JOB_USUSP;
    if (sign > 0) {
        job->is_counted_suspended =
            is_suspended && job->suspension.causes != 0 && job->suspension.yields;
    }
    job->submission->n_open += sign;
    limits_count(jobs->limits, job->limit_owner, job->hosts, job->n_hosts,
                 job->is_counted_suspended, sign);
    if (sign > 0) {
        fairshare_ledger_add_job(jobs->fairshare, job, jobs->now_ms);
        rusage_ledger_add(jobs->rusage, job);
    } else {
        fairshare_ledger_remove_job(jobs->fairshare, job, jobs->now_ms);
        rusage_ledger_remove(jobs->rusage, job);
    }
}

void job_index_remove(struct job_table *jobs, struct job *job)
{
    if (job_is_pending(job)) {
        job_pending_leave(jobs, job);
    }
    if (job->is_open) {
        count_open(jobs, job, -1);
        job_list_remove(&jobs->open, job, job_list_by_attempt);
    }
    job->is_open = false;
    job_pending_clear_expiry(jobs, job);
    count_state(jobs, job, -1);
}

/* In the indexes apart from the list of open jobs. */
static void add_job(struct job_table *jobs, struct job *job)
{
    count_state(jobs, job, 1);
    job->is_open = should_be_open(job);
    job_pending_watch(jobs, job);
    if (job_is_pending(job)) {
        job_pending_enter(jobs, job);
    }
    job_pending_set_expiry(jobs, job);
    if (job->is_open) {
        count_open(jobs, job, 1);
    }
}

void job_index_add(struct job_table *jobs, struct job *job)
{
    dependents_note(jobs->dependents, job_key(job));
    add_job(jobs, job);
    if (job->is_open) {
        job_list_insert(&jobs->open, job,
                        job_list_place(&jobs->open, job, job_list_by_attempt));
    }
}

void job_index_restore(struct job_table *jobs, struct job *job)
{
    add_job(jobs, job);
    if (job->is_open) {
        job_list_insert(&jobs->open, job, jobs->open.count);
    }
}

void job_index_release(struct job_table *jobs)
{
    for (int i = 0; i < jobs->n_pending_of; i++) {
        free(jobs->pending_of[i]);
    }
    free(jobs->pending_of);
    free(jobs->held.items);
    free(jobs->expiring.items);
    free(jobs->open.items);
    free(jobs->growing.items);
    free(jobs->ended.items);
}
