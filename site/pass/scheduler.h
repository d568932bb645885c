/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h: decides when a pass is due, runs it and executes its plan.
 *
 * A pass looks at every class of pending jobs and starts at most SCHEDULER_STARTS_MAX
 * of them. If there may be more, the next tick starts over, so that slots that became
 * free go to the first jobs. Layer: site. */
#ifndef SUBLET_SITE_PASS_SCHEDULER_H
#define SUBLET_SITE_PASS_SCHEDULER_H

#include <stdint.h>

#include "model/effect.h"
#include "site/pass/pass.h"

struct scheduler_parts {
    struct pass_parts pass; /* without the classes, which are of the scheduler */
    struct fairshare_ledger *fairshare;
    struct capacity *capacity;
    struct provider *provider;
    struct lifecycle *life;
    struct pass_request *pass_request;
};

struct scheduler;
struct scheduler *scheduler_new(void);
/* At the start and after a reload; borrowed. */
void scheduler_set_parts(struct scheduler *scheduler,
                         const struct scheduler_parts *parts);
void scheduler_free(struct scheduler *scheduler);

/* At a tick: runs a pass if one is due. */
bool scheduler_run(struct scheduler *scheduler, int64_t now_ms, int64_t utc_offset_ms,
                   struct effects *effects);
int64_t scheduler_wake_ms(const struct scheduler *scheduler, int64_t now_ms);

/* The slots of pending jobs that could use the lease, as of the last complete pass. */
int scheduler_waiting_lease(const struct scheduler *scheduler, const char *lease);

#endif
