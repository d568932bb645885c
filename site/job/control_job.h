/* SPDX-License-Identifier: Apache-2.0 */
/* control_job.h: control of jobs: kill, stop, resume, signal, requeue. Layer: site. */
#ifndef SUBLET_SITE_JOB_CONTROL_JOB_H
#define SUBLET_SITE_JOB_CONTROL_JOB_H

#include "site/job/lifecycle.h"

/* A control action for a job that has not ended; `who` has asked for it. A pending job
 * is killed, stopped or resumed at once; if the job has an attempt, its run is
 * controlled. A signal for a suspended job is dropped. */
void control_job_apply(struct lifecycle *life, struct job *job,
                       enum control_action action, int signal, const char *who,
                       int64_t now_ms, struct effects *effects);
/* Requeues a job that has an attempt: its run is ended first. */
void control_job_requeue(struct lifecycle *life, struct job *job, const char *who,
                         int64_t now_ms, struct effects *effects);
/* The same because the grace period of a recall has expired: its run is ended by
 * SIGKILL.
 */
void control_job_recall(struct lifecycle *life, struct job *job, int64_t now_ms,
                        struct effects *effects);

#endif
