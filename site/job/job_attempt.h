/* SPDX-License-Identifier: Apache-2.0 */
/* job_attempt.h: the run of a job's attempt, on own or on borrowed hosts: its state,
 * and control actions for it.
 *
 * Order: control actions are numbered; only the latest one counts. Layer: site. */
#ifndef SUBLET_SITE_JOB_JOB_ATTEMPT_H
#define SUBLET_SITE_JOB_JOB_ATTEMPT_H

#include "site/job/lifecycle.h"

/* The run on own hosts. NULL: there is none. */
struct run *job_attempt_run(const struct lifecycle *life, const struct job *job);

/* The host has confirmed that the run is suspended as ordered. */
bool job_attempt_is_suspended(const struct lifecycle *life, const struct job *job);
/* The run is suspended, and nothing but slots is missing to resume it. */
bool job_attempt_is_resumable(const struct lifecycle *life, const struct job *job);

/* Stores a control action, then sends it to the host or the provider. Suspend and
 * resume go through suspend.h, kills through deferred_kill.h. */
void job_attempt_control(struct lifecycle *life, struct job *job,
                         enum control_action action, int signal, int64_t now_ms,
                         struct effects *effects);

#endif
