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

struct site;
struct schedule;
struct schedule *schedule_new(void);
void schedule_free(struct schedule *schedule);

/* At a tick: does what is due. */
bool schedule_run(struct site *site, int64_t now_ms, struct effects *effects);
int64_t schedule_wake_ms(const struct site *site, int64_t now_ms);

/* As of the last whole pass: slots of waiting jobs that could use the lease. */
int schedule_waiting_lease(const struct schedule *schedule, const char *lease);

#endif
