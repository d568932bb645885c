/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h: when there is something to schedule, what the scheduler is shown, and
 * that what it plans is done.
 *
 * A pass goes over all waiting jobs, SCHEDULE_JOBS_MAX of them a tick; what changes in
 * the meantime makes another pass, after it. Layer: site. */
#ifndef SUBLET_SITE_SCHEDULE_H
#define SUBLET_SITE_SCHEDULE_H

#include <stdint.h>

#include "base/effect.h"

struct site;
struct schedule;
struct schedule *schedule_new(void);
void schedule_free(struct schedule *schedule);

/* Jobs, hosts, slots or contracts have changed. */
void schedule_mark(struct schedule *schedule);
/* A contract has changed: jobs that were refused need not wait for their time. */
void schedule_mark_contracts(struct schedule *schedule);
uint64_t schedule_contract_changes(const struct schedule *schedule);
/* Queues or hosts are others now: the pass under way is given up, the next begins. */
void schedule_restart(struct schedule *schedule);
/* A job may start again at this instant. */
void schedule_retry(struct schedule *schedule, int64_t at_ms);

/* The provider hears how many slots of each host this site's own jobs use. */
void schedule_tell_use(struct site *site);
/* At a tick: does what is due. */
bool schedule_run(struct site *site, int64_t now_ms, struct effects *effects);
int64_t schedule_wake_ms(const struct schedule *schedule, int64_t now_ms);

/* As of the last whole pass: slots of waiting jobs that could use own hosts, or the
 * lease; and of all waiting jobs. */
int schedule_waiting_own(const struct schedule *schedule);
int schedule_waiting_lease(const struct schedule *schedule, const char *lease);
int schedule_waiting(const struct schedule *schedule);

/* The hosts as a pass sees them: own ones in file order, then borrowed ones; in the
 * arena, texts of own ones borrowed. */
struct place_host *schedule_hosts(const struct site *site, struct arena *arena,
                                  int *n_hosts);

#endif
