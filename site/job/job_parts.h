/* SPDX-License-Identifier: Apache-2.0 */
/* job_parts.h: the inside of the table of jobs, for the files that make it:
 * job.c (one job by itself, and as rows), job_pending.c (where a waiting job
 * stands), job_table.c (the table and its indexes), job_load.c (rows that are loaded).
 *
 * Whoever changes what a job's place in an index depends on takes it out before
 * (job_table_unindex) and puts it back after (job_table_reindex). Layer: site. */
#ifndef SUBLET_SITE_JOB_JOB_PARTS_H
#define SUBLET_SITE_JOB_JOB_PARTS_H

#include "model/dup.h"
#include "site/job/dependents.h"
#include "site/job/job.h"
#include "site/job/job_list.h"
#include "site/job/submission.h"
#include "site/reserves.h"
#include "site/shares.h"

struct job_table {
    const struct queue_config *queues;
    int n_queues;
    struct limits *limits;
    struct shares *shares;
    struct reserves *reserves;
    int64_t now_ms;
    struct arena scratch;
    struct dependents *depends;
    int64_t first_place, last_place; /* that btop and bbot have given */
    struct job_list all;
    struct job_classes *lines;  /* waiting ones that may start */
    struct job_list held;       /* waiting ones until an instant, by it */
    int64_t n_waiting_slots;    /* of all waiting ones */
    struct job_list open;       /* by attempt */
    struct job_list growing;    /* of those who ask for more slots, likewise */
    struct job_list ended;      /* in the order of their ends */
    int n_by_state[JOB_STATES]; /* of all that stand in the indexes */
    int n_by_hold[REASONS];     /* of waiting ones that stand in no line */
};

void job_table_unindex(struct job_table *jobs, struct job *job);
void job_table_reindex(struct job_table *jobs, struct job *job);

/* PEND without an attempt: it stands in a line, or is held. */
bool job_is_pending(const struct job *job);
void job_pending_enter(struct job_table *jobs, struct job *job);
void job_pending_leave(struct job_table *jobs, struct job *job);
/* What it waits for, if it waits, must not be forgotten, and says when it changes. */
void job_pending_watch(struct job_table *jobs, struct job *job);

/* The table of moves (job_table_set_state). */
bool job_may_become(enum job_state from, enum job_state to);
/* A job that stands in no index yet. */
struct job *job_table_new_job(struct job_table *jobs, const struct row_job *row,
                              struct submission *submission, int index);
/* To limits and shares it is another job then. */
void job_table_enter_queue(struct job_table *jobs, struct job *job, const char *name);
void job_set_exit(struct job *job, const struct run_exit *exit);
void job_set_hosts(struct job *job, const struct host_slots *hosts, int n_hosts);
/* Slots that a job asks for until it has them, from its beginning on. */
int job_initial_max_slots(const struct job *job);
void job_set_resize(struct job *job, const struct job_resize *resize);
void job_set_reserved(struct job *job, const char *reserved);

#endif
