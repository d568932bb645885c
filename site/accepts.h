/* SPDX-License-Identifier: Apache-2.0 */
/* accepts.h: when each host was last given a job, own ones and borrowed, as far as
 * queues ask for it (JOB_ACCEPT_INTERVAL, sched/queue/accept_interval.h). A host that
 * is in several leases is one.
 *
 * In memory; after a restart as far as what is on record of jobs tells: of those that
 * began their beginning, of those that are being started now. Layer: site. */
#ifndef SUBLET_SITE_ACCEPTS_H
#define SUBLET_SITE_ACCEPTS_H

#include <stdint.h>

#include "model/row.h"

struct accepts;
struct job_table;
struct accepts *accepts_new(void);
void accepts_free(struct accepts *accepts);

/* The longest JOB_ACCEPT_INTERVAL of all queues; 0: no queue has one, and nothing is
 * noted. */
void accepts_set_interval(struct accepts *accepts, int64_t longest_ms);
/* The site starts: its jobs and configuration are there. */
void accepts_start(struct accepts *accepts, const struct job_table *jobs,
                   int64_t now_ms);
/* A job is dispatched to these. */
void accepts_note(struct accepts *accepts, const struct host_slots *hosts, int n_hosts,
                  int64_t now_ms);
/* INT64_MIN: not that anybody knew, or too long ago. */
int64_t accepts_at(const struct accepts *accepts, const char *host);

#endif
