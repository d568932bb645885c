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

struct place_host;
struct site;
struct schedule;
struct schedule *schedule_new(void);
void schedule_free(struct schedule *schedule);

/* An exclusive job has the host, of whomever: nothing else begins there. */
bool schedule_is_taken(const struct site *site, int host);
/* The provider hears how many slots of each host this site's own jobs use. */
void schedule_tell_use(struct site *site);
/* At a tick: does what is due. */
bool schedule_run(struct site *site, int64_t now_ms, struct effects *effects);
int64_t schedule_wake_ms(const struct site *site, int64_t now_ms);

/* As of the last whole pass: slots of waiting jobs that could use the lease. */
int schedule_waiting_lease(const struct schedule *schedule, const char *lease);

/* The place of that host among those of a pass, where it is of that lease ("": own);
 * -1: it is gone. A host of two leases has two places. */
int schedule_find_host(const struct site *site, const struct place_host *hosts,
                       int n_hosts, const char *lease, const char *name);
/* The hosts as a pass sees them: own ones in file order, then borrowed ones; in the
 * arena, texts of own ones borrowed. */
struct place_host *schedule_hosts(const struct site *site, struct arena *arena,
                                  int *n_hosts);

#endif
