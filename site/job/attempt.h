/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.h: the run of a job's attempt, on own or on borrowed hosts: how it stands,
 * and control of it.
 *
 * Order: control actions have growing numbers, the latest one counts. Layer: site. */
#ifndef SUBLET_SITE_JOB_ATTEMPT_H
#define SUBLET_SITE_JOB_ATTEMPT_H

#include "site/job/lifecycle.h"

/* The run on own hosts. NULL: there is none. */
struct run *attempt_run(const struct lifecycle *life, const struct job *job);

/* The host has confirmed that the job is suspended as ordered: its slots are free. */
bool attempt_is_suspended(const struct lifecycle *life, const struct job *job);
/* Only slots are missing to resume the job, and its host has confirmed that it is
 * suspended. */
bool attempt_is_resumable(const struct lifecycle *life, const struct job *job);

/* A control action for the run: stored, then sent. suspend and resume go through
 * suspend.h, kills through deferred_kill.h. */
void attempt_control(struct lifecycle *life, struct job *job,
                     enum control_action action, int signal, int64_t now_ms,
                     struct effects *effects);

#endif
