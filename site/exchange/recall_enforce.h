/* SPDX-License-Identifier: Apache-2.0 */
/* recall_enforce.h: carries out recalls of slots: which jobs end, and when.
 *
 * If a leaf of a plan has to give back slots of a borrowed contract (consumer/), this
 * site chooses the jobs (recall_victims.h). Each is warned once, by SIGURG, which
 * processes ignore by default; its grace period is in its environment as
 * SUBLET_RECALL_GRACE, in seconds. When that has expired, the job is ended and
 * requeued. If the slots are no longer needed before that, the job runs on.
 *
 * If slots of a contract that this site lends (provider/) are still used after the
 * deadline, their runs are ended here, whatever the consumer has done; both sides
 * choose by the same rule, and so the same jobs. This also holds for the site's own
 * jobs on slots that it has as a leaf itself.
 *
 * Units: slots, milliseconds. Order: ties by the higher number of the job or attempt.
 * Source: Symphony, "Reclaim grace period"; docs/adr/0012.
 * Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_RECALL_ENFORCE_H
#define SUBLET_SITE_EXCHANGE_RECALL_ENFORCE_H

#include <stdint.h>

#include "model/effect.h"
#include "site/exchange/lending.h"

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

/* No slots of the lease are recalled any more: its jobs run on. */
void recall_enforce_forget(struct recall_enforce *recalls, const char *lease);

#endif
