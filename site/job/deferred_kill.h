/* SPDX-License-Identifier: Apache-2.0 */
/* deferred_kill.h: jobs that stand still while others have their slots, and are to end:
 * those with commands after them wait for their slots, so that the commands run in
 * these.
 *
 * Such a job is killed, or to be requeued, and not yet ordered to end. It is among
 * those that wait for nothing but slots (suspend.h): it goes on in its turn, and is
 * ended as soon as it runs, by the usual signals. After JOB_POSTPROC_TIMEOUT, and where
 * none is set after ten minutes, it ends where it stands, and its commands run beside
 * others. So it does when somebody needs its end at once: SIGKILL by its user, a
 * recall.
 *
 * Not on disk: after a restart the time begins anew.
 * Units: milliseconds. Source: ADR 0019. Layer: site. */
#ifndef SUBLET_SITE_JOB_DEFERRED_KILL_H
#define SUBLET_SITE_JOB_DEFERRED_KILL_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "site/job/lifecycle.h"

/* The run of the job is to end by `signal` (0: the usual ones): now, or once the job
 * has its slots again. Either is stored. */
void deferred_kill_start(struct lifecycle *life, struct job *job, int signal,
                         int64_t now_ms, struct effects *effects);
/* It runs: one that has waited is ended. */
void deferred_kill_resumed(struct lifecycle *life, struct job *job, int64_t now_ms,
                           struct effects *effects);
/* Where it stands. */
void deferred_kill_now(struct lifecycle *life, struct job *job, int64_t now_ms,
                       struct effects *effects);
/* Those whose time is over end where they stand. */
void deferred_kill_tick(struct lifecycle *life, int64_t now_ms,
                        struct effects *effects);
/* When the next of them is due. */
int64_t deferred_kill_wake_ms(const struct lifecycle *life);

#endif
