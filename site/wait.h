/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h: WAIT: the client is answered when its job has ended. Layer: site. */
#ifndef SUBLET_SITE_WAIT_H
#define SUBLET_SITE_WAIT_H

#include "model/effect.h"
#include "site/jobs.h"

struct site;

void wait_request(struct site *site, const struct peer *from,
                  const struct msg_wait *wait, struct effects *effects);
/* Everybody who waits for it hears the end. */
void wait_job_ended(struct site *site, const struct job *job, struct effects *effects);

#endif
