/* SPDX-License-Identifier: Apache-2.0 */
/* capacity.h: the own and borrowed hosts that jobs may use now and their slots, and the
 * report to the provider of the slots that own jobs use.
 *
 * Ownership: the parts are borrowed. Order: own hosts in file order, then borrowed
 * hosts by lease. Layer: site. */
#ifndef SUBLET_SITE_PASS_CAPACITY_H
#define SUBLET_SITE_PASS_CAPACITY_H

#include "consumer/consumer.h"
#include "provider/provider.h"
#include "sched/place/place.h"
#include "site/config/site_config.h"
#include "site/job/job.h"
#include "site/ledger/site_ledger.h"
#include "site/pass/resreq_cache.h"
#include "site/run/host_admin.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"

struct capacity_parts {
    const struct site_config *config;
    const struct host_table *hosts;
    const struct runs *runs;
    struct provider *provider;
    const struct consumer *consumer;
    const struct accept_times *accept_times;
    const struct host_admin *host_admin;
    const struct job_table *jobs;
    const struct resreq_cache *resreq_cache;
};

struct capacity;
struct capacity *capacity_new(const struct capacity_parts *parts);
void capacity_free(struct capacity *capacity);
void capacity_reload(struct capacity *capacity, const struct site_config *config,
                     const struct resreq_cache *resreq_cache);

/* An exclusive job of this site or of a consumer uses the host, or a job of this site
 * has one of its compute units exclusively: no other job starts there. */
bool capacity_is_used_exclusively(const struct capacity *capacity, int host);
/* Finds the compute units that jobs have exclusively, and reports to the provider the
 * slots that own jobs use on each host. */
void capacity_sync_provider(struct capacity *capacity);

/* An own host in the provider's ledger. A new configuration may be looked at before the
 * provider has heard of its hosts: they are added. */
const struct ledger_host *capacity_ledger_host(const struct capacity *capacity,
                                               int index);

/* The hosts, in the arena; names of own ones are borrowed. `local_ms` is the time of
 * the windows of hosts (base/window.h). */
struct place_host *capacity_hosts(const struct capacity *capacity, struct arena *arena,
                                  int64_t local_ms, int *n_hosts);
/* By host: what jobs with affinity find there, in the arena; NULL: no host takes any.
 * Borrowed hosts take none. */
const struct affinity_host *capacity_affinity(const struct capacity *capacity,
                                              struct arena *arena, int n_hosts);
/* The index of the host under that lease ("": own); -1: it is gone. A host under two
 * leases has two indexes. */
int capacity_find_host(const struct host_table *own, const struct place_host *hosts,
                       int n_hosts, const char *lease, const char *name);
/* The same of a list; in the arena. */
int *capacity_find_hosts(const struct host_table *own, struct arena *arena,
                         const struct place_host *hosts, int n_hosts, const char *lease,
                         const struct host_slots *slots, int n_slots);

#endif
