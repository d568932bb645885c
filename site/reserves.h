/* SPDX-License-Identifier: Apache-2.0 */
/* reserves.h: what running jobs reserve, and what of it is left for others.
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
#ifndef SUBLET_SITE_RESERVES_H
#define SUBLET_SITE_RESERVES_H

#include "sched/place/place.h"
#include "sched/resreq/resreq.h"

struct consumer;
struct facts;
struct job;
struct lifecycle;
struct site_config;
struct host_table;

enum {
    RESERVES_STEP_MS = 15000
}; /* amounts that decay are looked at so often: as
      hosts tell their load */

struct reserves;
/* The catalogue is borrowed. */
struct reserves *reserves_new(const struct resources *resources);
void reserves_free(struct reserves *reserves);

/* The job's attempt is open, and it reserves something (job->reserved). */
void reserves_enter(struct reserves *reserves, struct job *job);
void reserves_leave(struct reserves *reserves, struct job *job);
/* Another catalogue, or other hosts. */
void reserves_reload(struct reserves *reserves, const struct resources *resources);

/* What a pass needs to find what is left. */
struct reserves_sources {
    const struct site_config *config;
    const struct reserves *ledger;
    struct facts *facts;
    const struct host_table *hosts;
    const struct consumer *consumer;
    const struct lifecycle *life;
};

/* What is left of each resource at one moment, in a pass or for a listing: found as
 * the resource is first asked about. In the arena; the hosts are borrowed. */
struct reserves_pass;
struct reserves_pass *reserves_pass_new(const struct reserves_sources *from,
                                        struct arena *arena,
                                        const struct place_host *hosts, int n_hosts,
                                        int64_t now_ms);
/* By row of the facts, in whole blocks of RESOURCE_BLOCK: what is left of the resource;
 * NULL: nobody reserves any. In the arena. */
const double *reserves_left(struct reserves_pass *pass, int id);
/* The alternatives as the pass sees them, with the site's scopes; NULL: none. */
const struct rusage_request *reserves_asks(struct reserves_pass *pass,
                                           const struct resreq_rusages *usages);
/* What more slots of a running job would reserve, by what it reserves now: for each
 * slot again, for each host where it is not on one of `places` (indexes of hosts; -1:
 * gone), for the job not. NULL: nothing. */
const struct rusage_request *reserves_more(struct reserves_pass *pass,
                                           const struct job *job, const int *places);
/* What a job that stands still gave back, and takes when it goes on. */
int reserves_given(struct reserves_pass *pass, const struct job *job,
                   const struct rusage_amount **parts);
/* Of what a job that stands still gave back, the resources of which too little is left
 * for it: "lic scratch"; "": none. Not while a pass is under way. */
const char *reserves_lacks(struct reserves_pass *pass, struct arena *arena,
                           const struct job *job);
/* What a running job would give of PREEMPTABLE_RESOURCES that the pass looks at: what a
 * suspension releases, or, where its queue ends jobs instead, all of it. */
int reserves_to_give(struct reserves_pass *pass, const struct job *job,
                     const struct rusage_amount **parts);
/* What an open job has reserved now of resources that the pass looks at. */
int reserves_holds(struct reserves_pass *pass, const struct job *job,
                   const struct rusage_amount **parts);
/* By pool of the pass: how much less a host tells of its memory, swap space or /tmp
 * than it has; 0 of others. In the arena. */
int64_t *reserves_in_use(struct reserves_pass *pass, struct arena *arena);
/* A job that does not run yet, with that record, on those hosts: all of it is there. */
bool reserves_has(struct reserves_pass *pass, const char *reserved, const char *lease,
                  const struct host_slots *hosts, int n_hosts);
/* What of that is there is kept for it in this pass. */
void reserves_keep(struct reserves_pass *pass, const char *reserved, const char *lease,
                   const struct host_slots *hosts, int n_hosts);
/* What is left, for the pass's snapshot; NULL: nobody asks for anything. */
const struct rusage_supply *reserves_show(struct reserves_pass *pass);
/* As it stands on record with a job; "": nothing. */
const char *reserves_text(struct reserves_pass *pass, struct arena *arena,
                          const struct rusage_request *asks);

/* When a reservation that a line of the last pass could wait for becomes less. */
int64_t reserves_wake_ms(const struct reserves_pass *pass);

/* What an open job reserves now on one of its hosts, given back by who stands still not
 * counted: for invariants and views. */
struct reserves_held {
    const char *resource, *host, *lease; /* "": own hosts */
    uint64_t epoch;                      /* of the contract that it was dispatched on */
    int64_t milli;
};
typedef void (*reserves_held_fn)(void *arg, const struct reserves_held *held);
bool reserves_has_any(const struct reserves *reserves);
void reserves_list(const struct reserves *reserves, int64_t now_ms, reserves_held_fn fn,
                   void *arg);

/* What there is and what is left of it, for views; all in the arena. */
struct reserves_seen_kind {
    const char *resource;
    const int *pool_of; /* by host, own ones first; -1 */
};
struct reserves_seen {
    const struct reserves_seen_kind *kinds;
    int n_kinds;
    const int64_t *total, *left; /* by pool, in thousandths */
    int n_pools;
    const struct place_host *hosts;
    int n_hosts;
};
/* What jobs reserve now; `is_shared`: shared resources (ResourceMap), reserved or
 * not. Not while a pass is under way. */
void reserves_see(struct reserves_pass *pass, bool is_shared,
                  struct reserves_seen *seen);

#endif
