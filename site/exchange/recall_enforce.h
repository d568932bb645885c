/* SPDX-License-Identifier: Apache-2.0 */
/* recall_enforce.h: jobs whose slots are wanted back: which, and what becomes of them.
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
#ifndef SUBLET_SITE_EXCHANGE_RECALL_ENFORCE_H
#define SUBLET_SITE_EXCHANGE_RECALL_ENFORCE_H

#include <stdint.h>

#include "model/effect.h"
#include "site/exchange/lending.h"
#include "site/job/lifecycle.h"

/* What it works on; all of it is borrowed. */
struct recall_enforce_parts {
    const struct site_config *config;
    struct job_table *jobs;
    struct runs *runs;
    struct provider *provider;
    struct consumer *consumer;
    struct lending *lending;
    struct lifecycle *life;
};

struct recall_enforce;
struct recall_enforce *recall_enforce_new(const struct recall_enforce_parts *parts);
void recall_enforce_free(struct recall_enforce *recalls);
void recall_enforce_reload(struct recall_enforce *recalls,
                           const struct site_config *config);

void recall_enforce_tick(struct recall_enforce *recalls, int64_t now_ms,
                         struct effects *effects);
int64_t recall_enforce_wake_ms(const struct recall_enforce *recalls);

/* The lease was told anew, and nothing of it is wanted back: its jobs run on. */
void recall_enforce_forget(struct recall_enforce *recalls, const char *lease);

#endif
