/* SPDX-License-Identifier: Apache-2.0 */
/* accept_times.h: when each host was last given a job, own ones and borrowed, as far as
 * queues ask for it (JOB_ACCEPT_INTERVAL, sched/queue/accept_interval.h). A host that
 * is in several leases is one.
 *
 * In memory; after a restart as far as what is on record of jobs tells: of those that
 * began their beginning, of those that are being started now. Layer: site. */
#ifndef SUBLET_SITE_LEDGER_ACCEPT_TIMES_H
#define SUBLET_SITE_LEDGER_ACCEPT_TIMES_H

#include <stdint.h>

#include "model/row.h"

struct accept_times;
struct job_table;
struct accept_times *accept_times_new(void);
void accept_times_free(struct accept_times *accepts);

/* The longest JOB_ACCEPT_INTERVAL of all queues; 0: no queue has one, and nothing is
 * noted. */
void accept_times_set_interval(struct accept_times *accepts, int64_t longest_ms);
/* The site starts: its jobs and configuration are there. */
void accept_times_load(struct accept_times *accepts, const struct job_table *jobs,
                       int64_t now_ms);
/* A job is dispatched to these. */
void accept_times_set(struct accept_times *accepts, const struct host_slots *hosts,
                      int n_hosts, int64_t now_ms);
/* INT64_MIN: not that anybody knew, or too long ago. */
int64_t accept_times_get(const struct accept_times *accepts, const char *host);

#endif
