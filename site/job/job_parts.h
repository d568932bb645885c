/* SPDX-License-Identifier: Apache-2.0 */
/* job_parts.h: the inside of the job table, for the files that make it: job.c (a single
 * job, and its rows), job_pending.c (classes and reasons of pending jobs), job_index.c
 * (the indexes), job_table.c (the table, and each change of a job), job_load.c (loading
 * rows), job_clean.c (removing jobs).
 *
 * Before a change of any field that an index depends on, job_table.c takes the job out
 * of the indexes, and puts it back after it. Layer: site.
 */
#ifndef SUBLET_SITE_JOB_JOB_PARTS_H
#define SUBLET_SITE_JOB_JOB_PARTS_H

#include "model/dup.h"
#include "site/job/dependents.h"
#include "site/job/job.h"
#include "site/job/job_group.h"
#include "site/job/job_list.h"
#include "site/job/submission.h"
#include "site/ledger/site_ledger.h"

struct job_table {
    const struct queue_config *queues;
    int n_queues;
    struct job_raise raise;
    struct limits *limits;
    struct job_groups *groups;
    struct fairshare_ledger *fairshare;
    struct rusage_ledger *rusage;
    int64_t now_ms;
    struct arena scratch;
    struct dependents *dependents;
    struct array_facts *array_facts; /* while conditions are judged; else NULL */
    uint64_t doubted_to;             /* of the last job_table_doubt */
    int64_t first_place, last_place; /* given by btop and bbot */
    struct job_list all;
    struct job_class_set *classes; /* of pending jobs that are not held */
    struct job_list held;          /* pending jobs that are held until a time, by it */
    struct job_list expiring;   /* jobs without an attempt that expire, by that time */
    int64_t n_waiting_slots;    /* of all pending jobs */
    struct job_list open;       /* by attempt */
    struct job_list growing;    /* those that ask for more slots, by attempt */
    struct job_list ended;      /* by their end */
    int n_by_state[JOB_STATES]; /* of all jobs in the indexes */
    int n_by_hold[REASONS];     /* of held jobs */
    struct user_pending **pending_of; /* pending jobs by user, sorted by uid */
    int n_pending_of, pending_of_capacity;
};

/* Until the end no job changes, so that each array is counted once for all conditions
 * that name it. */
void job_pending_begin_judging(struct job_table *jobs);
void job_pending_end_judging(struct job_table *jobs);
/* PEND without an attempt: it is in a class, or held. */
bool job_is_pending(const struct job *job);
void job_pending_enter(struct job_table *jobs, struct job *job);
void job_pending_leave(struct job_table *jobs, struct job *job);
/* Adds the job to the list of those that expire, or removes it, as its state requires.
 */
void job_pending_set_expiry(struct job_table *jobs, struct job *job);
void job_pending_clear_expiry(struct job_table *jobs, struct job *job);
/* Adds the job to the table of dependents, or removes it, as its state requires. */
void job_pending_watch(struct job_table *jobs, struct job *job);
/* Removes it, before it gets another condition. */
void job_pending_unwatch(struct job_table *jobs, struct job *job);

void job_index_add(struct job_table *jobs, struct job *job);
void job_index_remove(struct job_table *jobs, struct job *job);
/* As job_index_add, for a job from disk: the caller sorts the list of open jobs, and no
 * dependent job is judged again. */
void job_index_restore(struct job_table *jobs, struct job *job);
/* What the jobs of that user take; valid until job_index_release. */
int64_t *job_index_bytes(struct job_table *jobs, const struct job_spec *spec);
void job_index_release(struct job_table *jobs);

/* Frees dropped jobs, which are in no index. */
void job_table_remove_dropped(struct job_table *jobs);

/* The table of transitions (job_table_set_state). */
bool job_may_become(enum job_state from, enum job_state to);
/* A job that is in no index yet. */
struct job *job_table_new_job(struct job_table *jobs, const struct row_job *row,
                              struct submission *submission, int index);
/* Its queue by name, and with it its place in limits and shares. */
void job_table_enter_queue(struct job_table *jobs, struct job *job, const char *name);
void job_set_exit(struct job *job, const struct run_exit *exit);
void job_set_hosts(struct job *job, const struct host_slots *hosts, int n_hosts);
/* The slots that a job asks for from its start on; 0: no more than it has. */
int job_initial_max_slots(const struct job *job);
void job_set_resize(struct job *job, const struct job_resize *resize);
void job_set_reserved(struct job *job, const char *reserved);

#endif
