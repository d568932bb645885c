/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h: WAIT: the client is answered when its job has ended. Layer: site. */
#ifndef SUBLET_SITE_WAIT_H
#define SUBLET_SITE_WAIT_H

#include "model/effect.h"
#include "site/job/job.h"
#include "site/waiters.h"

void wait_request(struct waiters *waiters, const struct job_table *jobs,
                  const struct peer *from, const struct msg_wait *wait,
                  struct effects *effects);
/* Answers all clients that wait for the end of this job, or of its whole array. */
void wait_job_ended(struct waiters *waiters, const struct job *job,
                    struct effects *effects);

#endif
