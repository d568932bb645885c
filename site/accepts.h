/* SPDX-License-Identifier: Apache-2.0 */
/* accepts.h: when each host was last given a job, own ones and borrowed, as far as
 * queues ask for it (JOB_ACCEPT_INTERVAL, sched/accept.h). A host that is in several
 * leases is one.
 *
 * In memory; after a restart as far as what is on record of jobs tells: of those that
 * began their beginning, of those that are being started now. Layer: site. */
#ifndef SUBLET_SITE_ACCEPTS_H
#define SUBLET_SITE_ACCEPTS_H

#include <stdint.h>

#include "model/row.h"

struct site;
struct accepts;
struct accepts *accepts_new(void);
void accepts_free(struct accepts *accepts);

/* The site starts: its jobs and configuration are there. */
void accepts_start(struct site *site, int64_t now_ms);
/* A job is dispatched to these. */
void accepts_note(struct site *site, const struct host_slots *hosts, int n_hosts,
                  int64_t now_ms);
/* INT64_MIN: not that anybody knew, or too long ago. */
int64_t accepts_at(const struct accepts *accepts, const char *host);

#endif
