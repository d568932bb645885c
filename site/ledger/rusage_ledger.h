/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_ledger.h: the resources that running jobs reserve (rusage), and what is left
 * of them.
 *
 * A job reserves what its rusage said when it was dispatched, until its attempt ends;
 * durations count from its start. The reservation is recorded with the job, so that
 * neither a restart nor a reload changes it. A yielded job gives back resources that
 * section Resource defines with RELEASE and takes them again with its slots; it holds
 * the rest, memory above all.
 *
 * An amount is taken from a supply: the value of an own host, or of its place in
 * ResourceMap; what a borrowed host has by its contracts or by the report of its
 * provider; or the instances that its provider exports. A consumer reserves from what
 * is exported to it, independently of its provider.
 *
 * Ownership: entries belong to the ledger; a rusage_pass lives in its arena. Units:
 * thousandths, milliseconds. Source: docs/design/leases.md "Export policies", "Shared
 * leases", docs/design/resreq.md "Rusage"; docs/adr/0015. Layer: site. */
#ifndef SUBLET_SITE_LEDGER_RUSAGE_LEDGER_H
#define SUBLET_SITE_LEDGER_RUSAGE_LEDGER_H

#include "sched/place/place.h"

struct consumer;
struct host_resources;
struct job;
struct lifecycle;
struct site_config;
struct host_table;

enum {
    RUSAGE_LEDGER_STEP_MS = 15000
}; /* how often decaying amounts are computed again: as often as hosts report */

struct rusage_ledger;
/* The catalogue is borrowed. */
struct rusage_ledger *rusage_ledger_new(const struct resources *resources);
void rusage_ledger_free(struct rusage_ledger *ledger);

/* Adds the job if its attempt is open and it reserves something (job->reserved). */
void rusage_ledger_add(struct rusage_ledger *ledger, struct job *job);
void rusage_ledger_remove(struct rusage_ledger *ledger, struct job *job);
/* After a reload. */
void rusage_ledger_reload(struct rusage_ledger *ledger,
                          const struct resources *resources);

/* What a pass needs to find what is left. */
struct rusage_sources {
    const struct site_config *config;
    const struct rusage_ledger *ledger;
    const struct host_resources *host_resources;
    const struct host_table *hosts;
    const struct consumer *consumer;
    const struct lifecycle *life;
};

/* What is left of each resource at one moment, for a pass or a listing, computed when
 * the resource is first asked for. In the arena; the hosts are borrowed. */
struct rusage_pass;
struct rusage_pass *rusage_pass_new(const struct rusage_sources *from,
                                    struct arena *arena, const struct place_host *hosts,
                                    int n_hosts, int64_t now_ms);
/* What is left of the resource by row of the table, in whole blocks of RESOURCE_BLOCK;
 * NULL: no job reserves any. In the arena. */
const double *rusage_pass_left(struct rusage_pass *pass, int id);
/* The alternatives with the scopes of the site; NULL: none. */
const struct rusage_request *rusage_pass_requests(struct rusage_pass *pass,
                                                  const struct resreq_rusages *usages);
/* What more slots of a running job would reserve: per slot, and per host that is not in
 * `places` (indexes of hosts; -1: gone). NULL: nothing. */
const struct rusage_request *rusage_pass_grow_request(struct rusage_pass *pass,
                                                      const struct job *job,
                                                      const int *places);
/* What a yielded job gave back and takes again when it resumes. */
int rusage_pass_released(struct rusage_pass *pass, const struct job *job,
                         const struct rusage_amount **parts);
/* The resources that a yielded job gave back and of which too little is left: "lic
 * scratch"; "": none. Not during a pass. */
const char *rusage_pass_lacks(struct rusage_pass *pass, struct arena *arena,
                              const struct job *job);
/* What a running job would release of PREEMPTABLE_RESOURCES: what a suspension
 * releases, or all if its queue terminates jobs instead. */
int rusage_pass_preemptable(struct rusage_pass *pass, const struct job *job,
                            const struct rusage_amount **parts);
/* What an open job reserves now of the resources of the pass. */
int rusage_pass_held(struct rusage_pass *pass, const struct job *job,
                     const struct rusage_amount **parts);
/* By supply of the pass: what is in use of memory, swap space or /tmp of the host; 0
 * for others. In the arena. */
int64_t *supply_map_in_use(const struct rusage_pass *pass, struct arena *arena);
/* A job that does not run yet, with that record, on those hosts: all of it is there. */
bool rusage_pass_has(struct rusage_pass *pass, const char *reserved, const char *lease,
                     const struct host_slots *hosts, int n_hosts);
/* Takes it, as far as it is available, from what is left in this pass. */
void rusage_pass_reserve(struct rusage_pass *pass, const char *reserved,
                         const char *lease, const struct host_slots *hosts,
                         int n_hosts);
/* What is left, for the snapshot; NULL: no job asks for anything. */
const struct rusage_supply *rusage_pass_supply(struct rusage_pass *pass);
/* The text to record with a job; "": nothing. */
const char *rusage_pass_text(struct rusage_pass *pass, struct arena *arena,
                             const struct rusage_request *request);

/* When the next amount decreases. */
int64_t rusage_pass_wake_ms(const struct rusage_pass *pass);

/* What an open job reserves now on one of its hosts, without what a yielded job gave
 * back: for invariants and views. */
struct rusage_held {
    const char *resource, *host, *lease; /* "": own hosts */
    uint64_t epoch;                      /* of the contract that it was dispatched on */
    int64_t milli;
};
typedef void (*rusage_held_fn)(void *arg, const struct rusage_held *held);
bool rusage_ledger_has_any(const struct rusage_ledger *ledger);
void rusage_ledger_list(const struct rusage_ledger *ledger, int64_t now_ms,
                        rusage_held_fn fn, void *arg);

/* What exists and what is left of it, for views; in the arena. */
struct rusage_totals_resource {
    const char *resource;
    const int *supply_of; /* by host, own ones first; -1 */
};
struct rusage_totals {
    const struct rusage_totals_resource *resources;
    int n_resources;
    const int64_t *total, *left; /* by pool, in thousandths */
    int n_supplies;
    const struct place_host *hosts;
    int n_hosts;
};
/* All that jobs reserve, or if `is_shared` all shared resources (ResourceMap). Not
 * during a pass. */
void rusage_pass_totals(struct rusage_pass *pass, bool is_shared,
                        struct rusage_totals *seen);

#endif
