/* SPDX-License-Identifier: Apache-2.0 */
/* job_list.h: sorted arrays of jobs, the indexes of the job table.
 *
 * Ownership: the array is the list's, the jobs are not. Layer: site. */
#ifndef SUBLET_SITE_JOB_JOB_LIST_H
#define SUBLET_SITE_JOB_JOB_LIST_H

#include "site/job/job.h"

struct job_list {
    struct job **items;
    int count, capacity;
};

/* Orders; none is 0 for two different jobs of its list. */
typedef int (*job_list_compare_fn)(const struct job *a, const struct job *b);
int job_list_by_id(const struct job *a, const struct job *b); /* then index */
int job_list_by_attempt(const struct job *a, const struct job *b);
int job_list_by_hold(const struct job *a, const struct job *b);   /* its end, then id */
int job_list_by_expiry(const struct job *a, const struct job *b); /* then id */
int job_list_by_clean(const struct job *a, const struct job *b);  /* then id */

/* The first place whose job does not come before `key`. */
int job_list_place(const struct job_list *list, const struct job *key,
                   job_list_compare_fn compare);
/* The same in a list by id, then index. */
int job_list_place_by_id(const struct job_list *list, uint64_t id, int index);
struct job *job_list_find(const struct job_list *list, const struct job *key,
                          job_list_compare_fn compare);
void job_list_insert(struct job_list *list, struct job *job, int place);
/* A job that is in the list. */
void job_list_remove(struct job_list *list, struct job *job,
                     job_list_compare_fn compare);

/* Whole lists, as the journal gave them. */
void job_list_sort_by_attempt(struct job_list *list);
void job_list_sort_by_end(struct job_list *list); /* then id */

#endif
