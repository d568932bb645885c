/* SPDX-License-Identifier: Apache-2.0 */
/* deferred_kill.h: kills of jobs. The kill of a yielded job that has post-execution
 * commands is deferred until the job has its slots again, so that the commands run on
 * slots of their own.
 *
 * A job with a deferred kill is marked as killed, or as to be requeued, but its run has
 * not been ordered to end. It waits for slots like any yielded job (suspend.h), is
 * resumed in its turn, and is then ended by the usual signals. If it still waits after
 * JOB_POSTPROC_TIMEOUT (ten minutes if that is not set), it is ended while suspended,
 * and its commands run beside other jobs. The same happens if its end cannot wait: its
 * user sends SIGKILL, or its slots are recalled.
 *
 * The deadline is not stored: after a restart the time begins anew.
 * Units: milliseconds. Source: ADR 0019. Layer: site. */
#ifndef SUBLET_SITE_JOB_DEFERRED_KILL_H
#define SUBLET_SITE_JOB_DEFERRED_KILL_H

#include "site/job/lifecycle.h"

/* Ends the run of a job by `signal` (0: the usual signals), or defers that. */
void deferred_kill_start(struct lifecycle *life, struct job *job, int signal,
                         int64_t now_ms, struct effects *effects);
/* The job is running: if its kill was deferred, it is ended now. */
void deferred_kill_resumed(struct lifecycle *life, struct job *job, int64_t now_ms,
                           struct effects *effects);
/* Ends the job at once, while it is suspended. */
void deferred_kill_now(struct lifecycle *life, struct job *job, int64_t now_ms,
                       struct effects *effects);
/* Ends the jobs whose deadline has passed. */
void deferred_kill_tick(struct lifecycle *life, int64_t now_ms,
                        struct effects *effects);
/* When the next deadline is due. */
int64_t deferred_kill_wake_ms(const struct lifecycle *life);

#endif
