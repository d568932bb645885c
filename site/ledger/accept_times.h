/* SPDX-License-Identifier: Apache-2.0 */
/* accept_times.h: when each host, own or borrowed, was last given a job, if a queue has
 * JOB_ACCEPT_INTERVAL (sched/queue/accept_interval.h). A host in several leases counts
 * once.
 *
 * In memory. After a restart it is restored from the start times of jobs; a job that is
 * being started counts as of now. Layer: site. */
#ifndef SUBLET_SITE_LEDGER_ACCEPT_TIMES_H
#define SUBLET_SITE_LEDGER_ACCEPT_TIMES_H

#include <stdint.h>

#include "model/row.h"

struct accept_times;
struct job_table;
struct accept_times *accept_times_new(void);
void accept_times_free(struct accept_times *times);

/* The longest JOB_ACCEPT_INTERVAL of all queues; 0: no queue has one, and nothing is
 * recorded. */
void accept_times_set_interval(struct accept_times *times, int64_t longest_ms);
/* Restores the times when the site starts. */
void accept_times_load(struct accept_times *times, const struct job_table *jobs,
                       int64_t now_ms);
/* A job is dispatched to these hosts. */
void accept_times_set(struct accept_times *times, const struct host_slots *hosts,
                      int n_hosts, int64_t now_ms);
/* INT64_MIN: unknown, or too long ago. */
int64_t accept_times_get(const struct accept_times *times, const char *host);

#endif
