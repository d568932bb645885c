/* SPDX-License-Identifier: Apache-2.0 */
/* job_dispatch.h: the turns of a job's life: its start, orders about it, what its
 * execution comes to, here (job_dispatch.c) or on a borrowed host (job_report.c).
 *
 * Every turn is on record (ROW_JOB_STATE) before anyone hears of it.
 * Layer: site. */
#ifndef SUBLET_SITE_JOB_JOB_DISPATCH_H
#define SUBLET_SITE_JOB_JOB_DISPATCH_H

#include "sched/place/place.h"
#include "site/job/lifecycle.h"

/* A run's row from the journal: after those of the jobs. */
/* The number of the last attempt, from the journal. */
void job_dispatch_load_counter(struct lifecycle *life, uint64_t last_attempt);
void job_dispatch_load_run(struct lifecycle *life, const struct row_run *row);
/* At the start: open attempts find their executions again. */
void job_dispatch_restore(struct lifecycle *life, int64_t now_ms,
                          struct effects *effects);

/* So many starts follow: the numbers of their attempts go on record at once. */
void job_dispatch_reserve_numbers(struct lifecycle *life, int n_starts,
                                  struct effects *effects);
/* What the scheduler planned: an attempt, and its execution is asked for; it reserves
 * what the text says (site/reserves.h). */
void job_dispatch_start(struct lifecycle *life, struct job *job,
                        const struct place_start *start, const char *reserved,
                        int64_t now_ms, struct effects *effects);

/* An order about a job that has not ended. `who` gave it. A waiting job takes KILL,
 * SUSPEND and RESUME at once; with an attempt it goes to the execution. */
void control_job_apply(struct lifecycle *life, struct job *job,
                       enum control_action action, int signal, const char *who,
                       int64_t now_ms, struct effects *effects);

/* A job with an attempt shall wait again: its run is ended first. */
void control_job_requeue(struct lifecycle *life, struct job *job, const char *who,
                         int64_t now_ms, struct effects *effects);

/* Likewise, as its slots are wanted back and the time is over. */
extern const char job_end_recalled[]; /* the reason that it has then */
void control_job_recall(struct lifecycle *life, struct job *job, int64_t now_ms,
                        struct effects *effects);

/* An execution of a job of ours on our own hosts has changed. */
void job_progress_run(struct lifecycle *life, struct run *run, int64_t now_ms,
                      struct effects *effects);
/* News of one on a borrowed host; output that was written. */
void job_report_apply(struct lifecycle *life, const struct consumer_report *report,
                      int64_t now_ms, struct effects *effects);
void job_report_written(struct lifecycle *life, uint64_t key, int error, int64_t now_ms,
                        struct effects *effects);

/* An execution has its exit: the job ends, or waits again where the exit is a loss that
 * its rerun rule forgives. */
void job_end_run(struct lifecycle *life, struct job *job, const struct run_exit *exit,
                 int64_t now_ms, struct effects *effects);
/* It never ran: the job waits again, or ends where it was killed meanwhile. */
void job_end_unstarted(struct lifecycle *life, struct job *job, int64_t now_ms,
                       struct effects *effects);
/* A provider has refused it: likewise. */
void job_end_refused(struct lifecycle *life, struct job *job, const char *reason,
                     int64_t now_ms, struct effects *effects);
/* Nobody can tell how it is. */
void job_progress_unknown(struct lifecycle *life, struct job *job,
                          struct effects *effects);
/* It has begun at `start_ms`, and runs (JOB_RUN) or stands still (another). */
void job_progress_state(struct lifecycle *life, struct job *job, enum job_state state,
                        int64_t start_ms, int64_t now_ms, struct effects *effects);

/* Ended jobs whose time is over. */
void job_end_clean(struct lifecycle *life, int64_t now_ms, struct effects *effects);

#endif
