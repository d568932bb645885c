/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_parts.h: the inside of the table of jobs, for the files that make it:
 * jobs_one.c (one job by itself, and as rows), jobs_wait.c (where a waiting job
 * stands), jobs.c (the table and its indexes), jobs_journal.c (rows that are loaded).
 *
 * Whoever changes what a job's place in an index depends on takes it out before
 * (jobs_unindex) and puts it back after (jobs_reindex). Layer: site. */
#ifndef SUBLET_SITE_JOBS_PARTS_H
#define SUBLET_SITE_JOBS_PARTS_H

#include "site/depends.h"
#include "site/job_list.h"
#include "site/jobs.h"
#include "site/keep.h"
#include "site/reserves.h"
#include "site/shares.h"
#include "site/submission.h"

struct jobs {
    const struct queue_config *queues;
    int n_queues;
    struct limits *limits;
    struct shares *shares;
    struct reserves *reserves;
    int64_t now_ms;
    struct arena scratch;
    struct depends *depends;
    int64_t first_place, last_place; /* that btop and bbot have given */
    struct job_list all;
    struct lines *lines;        /* waiting ones that may start */
    struct job_list held;       /* waiting ones until an instant, by it */
    int64_t n_waiting_slots;    /* of all waiting ones */
    struct job_list open;       /* by attempt */
    struct job_list growing;    /* of those who ask for more slots, likewise */
    struct job_list ended;      /* in the order of their ends */
    int n_by_state[JOB_STATES]; /* of all that stand in the indexes */
    int n_by_hold[REASONS];     /* of waiting ones that stand in no line */
};

void jobs_unindex(struct jobs *jobs, struct job *job);
void jobs_reindex(struct jobs *jobs, struct job *job);

/* PEND without an attempt: it stands in a line, or is held. */
bool jobs_is_waiting(const struct job *job);
void jobs_wait_in_line(struct jobs *jobs, struct job *job);
void jobs_leave_line(struct jobs *jobs, struct job *job);
/* What it waits for, if it waits, must not be forgotten, and says when it changes. */
void jobs_watch(struct jobs *jobs, struct job *job);

/* The table of moves (jobs_move). */
bool jobs_may_move(enum job_state from, enum job_state to);
/* A job that stands in no index yet. */
struct job *jobs_new_job(struct jobs *jobs, const struct row_job *row,
                         struct submission *submission, int index);
/* To limits and shares it is another job then. */
void jobs_enter_queue(struct jobs *jobs, struct job *job, const char *name);
void jobs_set_exit(struct job *job, const struct run_exit *exit);
void jobs_set_hosts(struct job *job, const struct host_slots *hosts, int n_hosts);
/* Slots that a job asks for until it has them, from its beginning on. */
int jobs_first_wish(const struct job *job);
void jobs_set_resize(struct job *job, const struct job_resize *resize);
void jobs_set_reserved(struct job *job, const char *reserved);

#endif
