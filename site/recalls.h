/* SPDX-License-Identifier: Apache-2.0 */
/* recalls.h: jobs whose slots are wanted back: which, and what becomes of them.
 *
 * Of a contract that a leaf of a plan is to give slots back of (consumer/), this site
 * chooses the jobs: the least important queue first, of one queue the youngest. Each is
 * warned once, by SIGURG, which means nothing to a command that does not know of it;
 * the grace that it has from then on stands in its environment as SUBLET_RECALL_GRACE,
 * in seconds. When its time is over it is ended and waits again. If the need goes
 * before that, it runs on.
 *
 * Of a contract that this site lends (provider/), what is in use beyond the deadline is
 * ended here, whatever the borrower has done: by the same rule, so that both choose the
 * same. The same goes for its own jobs on slots that it has as a leaf itself.
 *
 * Units: slots, milliseconds. Order: as said; ties by the higher number of the job or
 * attempt. Source: seed document 001 "Reclaim grace period"; docs/adr/0023.
 * Layer: site. */
#ifndef SUBLET_SITE_RECALLS_H
#define SUBLET_SITE_RECALLS_H

#include <stdint.h>

#include "model/effect.h"
#include "site/jobs.h"

struct site;

void recalls_tick(struct site *site, int64_t now_ms, struct effects *effects);

/* The lease was told anew, and nothing of it is wanted back: its jobs run on. */
void recalls_forget(struct site *site, const char *lease);

/* A spec of the job as it goes to the provider: with what its environment says of
 * recalls, where its lease is a leaf's. */
const struct job_spec *recalls_spec(const struct site *site, const struct job *job,
                                    const struct job_spec *from,
                                    struct effects *effects);

#endif
