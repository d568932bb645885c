/* SPDX-License-Identifier: Apache-2.0 */
/* site_ledger.h: what open jobs use, kept from pass to pass: times of dispatch, shares,
 * and resources.
 *
 * Layer: site. */
#ifndef SUBLET_SITE_LEDGER_SITE_LEDGER_H
#define SUBLET_SITE_LEDGER_SITE_LEDGER_H

#include <stdint.h>

#include "base/err.h"
#include "model/effect.h"
#include "model/row.h"
#include "sched/place/place.h"
#include "site/job/job.h"

/* ---------------------------------------------------------- accept_times.c */

/* When each host, own or borrowed, was last given a job, if a queue has
 * JOB_ACCEPT_INTERVAL (sched/queue/accept_interval.h). A host in several leases counts
 * once.
 *
 * In memory. After a restart it is restored from the start times of jobs; a job that is
 * being started counts as of now. */

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

/* ------------------------------------------------------ fairshare_ledger.c */

/* What the users and queues of a site use and have used, where they
 * have shares: an account for each user of a fairshare queue, and slot time for each
 * queue of a slot pool (slot_pool_ledger.h).
 *
 * Jobs of this site count, wherever they run; those that a lease brings do not: they
 * count at home.
 *
 * What fades is on record (ROW_SHARE): of an account when a job of it has ended, of a
 * pool when its queues' slots change; what runs is known from the jobs. So nothing
 * jumps with a restart. Rows are stored by fairshare_ledger_tick, in the transaction of
 * the jobs' own.
 *
 * Ownership: the configuration is borrowed. Units: milliseconds, slots. */

struct site_config;
struct fairshare_ledger;
struct fairshare_ledger *fairshare_ledger_new(const struct site_config *config);
void fairshare_ledger_free(struct fairshare_ledger *ledger);
/* Another configuration: what was used goes with the names of queues, pools and users;
 * the jobs do so by themselves. Then fairshare_ledger_settle. */
void fairshare_ledger_inherit(struct fairshare_ledger *ledger,
                              const struct fairshare_ledger *before, int64_t now_ms);
/* Queues had the slots all the time that their jobs have now. */
void fairshare_ledger_settle(struct fairshare_ledger *ledger);

/* The journal's rows; fairshare_ledger_start once the jobs are counted. */
void fairshare_ledger_load(struct fairshare_ledger *ledger,
                           const struct row_share *row);
void fairshare_ledger_start(struct fairshare_ledger *ledger, int64_t now_ms,
                            struct effects *effects);
/* Stores what has changed. */
void fairshare_ledger_tick(struct fairshare_ledger *ledger, int64_t now_ms,
                           struct effects *effects);

/* Where a job of the user, of that group (-G; "": none), in that queue (by index; -1:
 * none) counts. */
struct job_fairshare fairshare_ledger_seat(struct fairshare_ledger *ledger, int queue,
                                           const char *user, const char *group);
/* Adds a job that has its slots; removes it with what was added. */
void fairshare_ledger_add_job(struct fairshare_ledger *ledger, struct job *job,
                              int64_t now_ms);
void fairshare_ledger_remove_job(struct fairshare_ledger *ledger, struct job *job,
                                 int64_t now_ms);
/* A job with slots has started, was suspended or resumed. */
void fairshare_ledger_update_job(struct fairshare_ledger *ledger, struct job *job,
                                 int64_t now_ms);
/* The processor time of its run until now. */
void fairshare_ledger_set_cpu_used(struct fairshare_ledger *ledger, struct job *job,
                                   int64_t cpu_ms, int64_t now_ms);
/* Its execution has ended; before the job is removed. */
void fairshare_ledger_finish_run(struct fairshare_ledger *ledger, const struct job *job,
                                 const struct run_exit *exit, int64_t now_ms);

/* A job of the user, of that group, comes to the queue: ERR_DENIED, with LSF's
 * sentence, where he has no share there. */
int fairshare_ledger_check(const struct fairshare_ledger *ledger, int queue,
                           const char *user, const char *group,
                           struct err *err) MUST_CHECK;
/* Before a pass: ranks new accounts (fairshare.h). */
void fairshare_ledger_rank(struct fairshare_ledger *ledger);
/* What a pass needs; arrays are in the arena. */
void fairshare_ledger_snapshot(const struct fairshare_ledger *ledger,
                               struct arena *arena, int64_t now_ms,
                               struct place_snapshot *snapshot);
/* By queue: whether its jobs pend for slots. */
void fairshare_ledger_set_waiting(struct fairshare_ledger *ledger, const bool *waits);

/* To look things up: the tree of the queue's scope; NULL: it has none. */
const struct fairshare_tree *
fairshare_ledger_tree(const struct fairshare_ledger *ledger, int queue);
const struct fairshare_tree *
fairshare_ledger_scope_tree(const struct fairshare_ledger *ledger, int scope);
/* Of a queue of a slot pool; false: it is in none. */
bool fairshare_ledger_find_queue(const struct fairshare_ledger *ledger, int queue,
                                 int64_t now_ms, struct slot_member *member);

/* --------------------------------------------------------- rusage_ledger.c */

/* The resources that running jobs reserve (rusage), and what is left
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
 * leases", docs/design/resreq.md "Rusage"; docs/adr/0015. */

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
/* The requests of a job of that owner, which also ask for what limits on resources
 * allow (limit_supply.c). */
const struct rusage_request *
limit_supply_requests(struct rusage_pass *pass, const struct rusage_request *requests,
                      int n_requests, const struct limit_owner *owner);
/* What jobs reserve under the limit, of owners with that key, and what they may
 * reserve; -1: not known. `host`: of a limit that each host has; else NULL. */
int64_t limit_supply_used(struct rusage_pass *pass, const struct limit_share *share,
                          const char *host, int64_t *limit_milli);
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
/* A job of that owner that does not run yet, with that record, on those hosts: all of
 * it is there. */
bool rusage_pass_has(struct rusage_pass *pass, const struct limit_owner *owner,
                     const char *reserved, const char *lease,
                     const struct host_slots *hosts, int n_hosts);
/* Takes it, as far as it is available, from what is left in this pass. */
void rusage_pass_reserve(struct rusage_pass *pass, const struct limit_owner *owner,
                         const char *reserved, const char *lease,
                         const struct host_slots *hosts, int n_hosts);
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
