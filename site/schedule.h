/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h: when there is something to schedule, what the scheduler is shown, and
 * that what it plans is done.
 *
 * A pass looks at every line of waiting jobs, and starts SCHEDULE_STARTS_MAX of them in
 * a tick; where there may be more, the next tick begins anew, from the top: what has
 * fallen free in the meantime is for those who stand first. Layer: site. */
#ifndef SUBLET_SITE_SCHEDULE_H
#define SUBLET_SITE_SCHEDULE_H

#include <stdint.h>

#include "model/effect.h"
#include "site/pass.h"

struct schedule_parts {
    struct pass_parts pass; /* but for the lines: those are the scheduler's own */
    struct shares *shares;
    struct capacity *capacity;
    struct provider *provider;
    struct lifecycle *life;
    struct pass_request *pass_request;
};

struct schedule;
struct schedule *schedule_new(void);
/* At the start and after another configuration; borrowed. */
void schedule_set_parts(struct schedule *schedule, const struct schedule_parts *parts);
void schedule_free(struct schedule *schedule);

/* At a tick: does what is due. */
bool schedule_run(struct schedule *schedule, int64_t now_ms, int64_t utc_offset_ms,
                  struct effects *effects);
int64_t schedule_wake_ms(const struct schedule *schedule, int64_t now_ms);

/* As of the last whole pass: slots of waiting jobs that could use the lease. */
int schedule_waiting_lease(const struct schedule *schedule, const char *lease);

#endif
