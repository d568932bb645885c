/* SPDX-License-Identifier: Apache-2.0 */
/* host_status.h: the status of hosts: what `hosts` shows, and what `status` is in
 * requirement strings. It is the first of these that is true of a host:
 *
 *     unavail      it is not connected, or its lease cannot be used
 *     closed_Adm   an administrator closed it, or it is no longer configured
 *     closed_Wind  it is outside of its time windows
 *     closed_Excl  an exclusive job uses it
 *     closed_Full  jobs use all of its slots
 *     closed_Busy  its load exceeds its own loadSched
 *     ok
 *
 * Slots that are only reserved for pending jobs are free here, because these jobs and
 * backfill jobs use them; so are slots that a suspended job has released.
 *
 * Order: own hosts in file order, then borrowed ones in lease order. Layer: site. */
#ifndef SUBLET_SITE_PASS_HOST_STATUS_H
#define SUBLET_SITE_PASS_HOST_STATUS_H

#include "site/job/job.h"
#include "site/load/site_load.h"
#include "site/pass/capacity.h"

struct host_status_parts {
    const struct site_config *config;
    const struct job_table *jobs;
    const struct host_table *hosts;
    const struct host_admin *host_admin;
    const struct runs *runs;
    const struct consumer *consumer;
    const struct capacity *capacity;
    const struct load_suspend *load_suspend;
};

/* By host, in the arena. `local_ms` is the time of the windows of hosts. */
const char *const *host_status_list(const struct host_status_parts *parts,
                                    struct arena *arena, int64_t local_ms);
/* By host: true where a job runs that jobs of the queue may preempt. */
const bool *host_status_preemptable(const struct host_status_parts *parts,
                                    struct arena *arena, const struct place_host *hosts,
                                    int n_hosts, int queue);

#endif
