/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h: when there is something to schedule, what the scheduler is shown, and
 * that what it plans is done.
 *
 * A pass looks at every line of waiting jobs, and starts SCHEDULER_STARTS_MAX of them
 * in a tick; where there may be more, the next tick begins anew, from the top: what has
 * fallen free in the meantime is for those who stand first. Layer: site. */
#ifndef SUBLET_SITE_PASS_SCHEDULER_H
#define SUBLET_SITE_PASS_SCHEDULER_H

#include <stdint.h>

#include "model/effect.h"
#include "site/pass/pass.h"

struct scheduler_parts {
    struct pass_parts pass; /* but for the lines: those are the scheduler's own */
    struct fairshare_ledger *shares;
    struct capacity *capacity;
    struct provider *provider;
    struct lifecycle *life;
    struct pass_request *pass_request;
};

struct scheduler;
struct scheduler *scheduler_new(void);
/* At the start and after another configuration; borrowed. */
void scheduler_set_parts(struct scheduler *schedule,
                         const struct scheduler_parts *parts);
void scheduler_free(struct scheduler *schedule);

/* At a tick: does what is due. */
bool scheduler_run(struct scheduler *schedule, int64_t now_ms, int64_t utc_offset_ms,
                   struct effects *effects);
int64_t scheduler_wake_ms(const struct scheduler *schedule, int64_t now_ms);

/* As of the last whole pass: slots of waiting jobs that could use the lease. */
int scheduler_waiting_lease(const struct scheduler *schedule, const char *lease);

#endif
