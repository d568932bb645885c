/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_ledger.h: what running jobs reserve, and what of it is left for others.
 *
 * A job reserves what its rusage said when it was dispatched, from then on until its
 * attempt ends; durations count from its beginning. It is on record with the job's
 * state: a restart or another configuration changes nothing of it. A job that stands
 * still and has given its slots away gives back resources that section Resource defines
 * with RELEASE, and takes them again with its slots; the rest, memory above all, stays
 * its own.
 *
 * Pools: an own host's value of a resource, or that of its place in ResourceMap; what a
 * borrowed host has by its contracts or its provider's word, or a pool of instances
 * that its provider exports. A consumer reserves of what is exported to it, its
 * provider does not take part.
 *
 * Ownership: entries belong to the ledger; what a pass is shown lives in its arena.
 * Units: thousandths, milliseconds. Source: lsf.md 1.2, 1.5 rule 2, 5.4; ADR 0027.
 * Layer: site. */
#ifndef SUBLET_SITE_LEDGER_RUSAGE_LEDGER_H
#define SUBLET_SITE_LEDGER_RUSAGE_LEDGER_H

#include "sched/place/place.h"
#include "sched/resreq/resreq.h"

struct consumer;
struct host_resources;
struct job;
struct lifecycle;
struct site_config;
struct host_table;

enum {
    RUSAGE_LEDGER_STEP_MS = 15000
}; /* amounts that decay are looked at so often: as
      hosts tell their load */

struct rusage_ledger;
/* The catalogue is borrowed. */
struct rusage_ledger *rusage_ledger_new(const struct resources *resources);
void rusage_ledger_free(struct rusage_ledger *reserves);

/* The job's attempt is open, and it reserves something (job->reserved). */
void rusage_ledger_add(struct rusage_ledger *reserves, struct job *job);
void rusage_ledger_remove(struct rusage_ledger *reserves, struct job *job);
/* Another catalogue, or other hosts. */
void rusage_ledger_reload(struct rusage_ledger *reserves,
                          const struct resources *resources);

/* What a pass needs to find what is left. */
struct rusage_sources {
    const struct site_config *config;
    const struct rusage_ledger *ledger;
    struct host_resources *facts;
    const struct host_table *hosts;
    const struct consumer *consumer;
    const struct lifecycle *life;
};

/* What is left of each resource at one moment, in a pass or for a listing: found as
 * the resource is first asked about. In the arena; the hosts are borrowed. */
struct rusage_pass;
struct rusage_pass *rusage_pass_new(const struct rusage_sources *from,
                                    struct arena *arena, const struct place_host *hosts,
                                    int n_hosts, int64_t now_ms);
/* By row of the facts, in whole blocks of RESOURCE_BLOCK: what is left of the resource;
 * NULL: nobody reserves any. In the arena. */
const double *rusage_pass_left(struct rusage_pass *pass, int id);
/* The alternatives as the pass sees them, with the site's scopes; NULL: none. */
const struct rusage_request *rusage_pass_requests(struct rusage_pass *pass,
                                                  const struct resreq_rusages *usages);
/* What more slots of a running job would reserve, by what it reserves now: for each
 * slot again, for each host where it is not on one of `places` (indexes of hosts; -1:
 * gone), for the job not. NULL: nothing. */
const struct rusage_request *rusage_pass_grow_request(struct rusage_pass *pass,
                                                      const struct job *job,
                                                      const int *places);
/* What a job that stands still gave back, and takes when it goes on. */
int rusage_pass_released(struct rusage_pass *pass, const struct job *job,
                         const struct rusage_amount **parts);
/* Of what a job that stands still gave back, the resources of which too little is left
 * for it: "lic scratch"; "": none. Not while a pass is under way. */
const char *rusage_pass_lacks(struct rusage_pass *pass, struct arena *arena,
                              const struct job *job);
/* What a running job would give of PREEMPTABLE_RESOURCES that the pass looks at: what a
 * suspension releases, or, where its queue ends jobs instead, all of it. */
int rusage_pass_preemptable(struct rusage_pass *pass, const struct job *job,
                            const struct rusage_amount **parts);
/* What an open job has reserved now of resources that the pass looks at. */
int rusage_pass_held(struct rusage_pass *pass, const struct job *job,
                     const struct rusage_amount **parts);
/* By pool of the pass: how much less a host tells of its memory, swap space or /tmp
 * than it has; 0 of others. In the arena. */
int64_t *supply_map_in_use(struct rusage_pass *pass, struct arena *arena);
/* A job that does not run yet, with that record, on those hosts: all of it is there. */
bool rusage_pass_has(struct rusage_pass *pass, const char *reserved, const char *lease,
                     const struct host_slots *hosts, int n_hosts);
/* What of that is there is kept for it in this pass. */
void rusage_pass_reserve(struct rusage_pass *pass, const char *reserved,
                         const char *lease, const struct host_slots *hosts,
                         int n_hosts);
/* What is left, for the pass's snapshot; NULL: nobody asks for anything. */
const struct rusage_supply *rusage_pass_supply(struct rusage_pass *pass);
/* As it stands on record with a job; "": nothing. */
const char *rusage_pass_text(struct rusage_pass *pass, struct arena *arena,
                             const struct rusage_request *asks);

/* When a reservation that a line of the last pass could wait for becomes less. */
int64_t rusage_pass_wake_ms(const struct rusage_pass *pass);

/* What an open job reserves now on one of its hosts, given back by who stands still not
 * counted: for invariants and views. */
struct rusage_held {
    const char *resource, *host, *lease; /* "": own hosts */
    uint64_t epoch;                      /* of the contract that it was dispatched on */
    int64_t milli;
};
typedef void (*rusage_held_fn)(void *arg, const struct rusage_held *held);
bool rusage_ledger_has_any(const struct rusage_ledger *reserves);
void rusage_ledger_list(const struct rusage_ledger *reserves, int64_t now_ms,
                        rusage_held_fn fn, void *arg);

/* What there is and what is left of it, for views; all in the arena. */
struct rusage_totals_resource {
    const char *resource;
    const int *pool_of; /* by host, own ones first; -1 */
};
struct rusage_totals {
    const struct rusage_totals_resource *kinds;
    int n_kinds;
    const int64_t *total, *left; /* by pool, in thousandths */
    int n_pools;
    const struct place_host *hosts;
    int n_hosts;
};
/* What jobs reserve now; `is_shared`: shared resources (ResourceMap), reserved or
 * not. Not while a pass is under way. */
void rusage_pass_totals(struct rusage_pass *pass, bool is_shared,
                        struct rusage_totals *seen);

#endif
