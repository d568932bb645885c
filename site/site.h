/* SPDX-License-Identifier: Apache-2.0 */
/* site.h: a site as a state machine: its scheduler, its lending and its borrowing.
 *
 * site.c composes, site_dispatch.c has the table of messages. Clients' requests are in
 * site_api.h, what is shown in site_view.h; job_table.c has the table of jobs,
 * job_dispatch.c what becomes of each, scheduler.c the scheduling pass, runs.c the
 * executions on this site's hosts, host_table.c the sessions with these, site_uplink.c
 * the session with the broker, lending.c what consumers ask, site_usage.c what the
 * broker is told.
 *
 * Units: milliseconds. Ownership: what the config points to is borrowed,
 * until it is replaced.
 * Errors: a step cannot fail; what is refused is answered and leaves the state as it
 * was. Source: docs/design/safety.md, docs/design/architecture.md "Rooms",
 * docs/design/leases.md "Decided". Layer: site (sched, provider, consumer, base). */
#ifndef SUBLET_SITE_SITE_H
#define SUBLET_SITE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/effect.h"
#include "provider/export/export.h"
#include "provider/user_map.h"
#include "sched/fairshare/fairshare.h"
#include "sched/fairshare/slot_pool.h"
#include "sched/limit/limit.h"
#include "sched/preempt/preempt_policy.h"
#include "sched/queue/queue.h"
#include "site/config/resource_config.h"
#include "site/ledger/rusage_ledger.h"

/* What an amount of a resource in rusage applies to. */
struct rusage_method {
    const char *resource;
    enum resreq_scope scope;
};

struct site_host {
    const char *name;
    int max;                  /* MXJ */
    const char *type, *model; /* "" or "!": as the host detects them */
    bool is_here;             /* HOSTS_HERE */
    struct window_list run_windows, dispatch_windows;
    struct load_thresholds thresholds; /* of load */
    bool is_leaving; /* not configured any more; kept until its last job has
                        ended */
    int n_stay;      /* then its former slots, for suspended jobs; 0: not
                        known */
};

struct site_config {
    const char *name;
    int roles;
    const struct site_host *hosts; /* file order */
    int n_hosts;
    const struct queue_config *queues; /* file order */
    int n_queues;
    int64_t accept_ms; /* the longest JOB_ACCEPT_INTERVAL of them; 0: none has any */
    const char *default_queue;
    struct groups groups;
    struct fairshare fairshare;
    struct slot_pools pools;
    const struct application *applications; /* file order */
    int n_applications;
    const char *default_application; /* "": none */
    struct job_rules rules;          /* of section Parameters, for all jobs */
    int64_t limit_unit_kib;          /* LSF_UNIT_FOR_LIMITS */
    int64_t terminate_ms;            /* JOB_TERMINATE_INTERVAL */
    bool has_thresholds;             /* of load, or conditions, anywhere */
    int64_t load_interval_ms;        /* SBD_SLEEP_TIME, and as hosts tell their load */
    const struct limit *limits;      /* of queues, hosts, users, and Limit sections */
    int n_limits;
    struct preempt_policy preempt;
    struct export_plan exports;
    struct resource_config resource_config;
    int64_t reclaim_delay_ms; /* MC_RECLAIM_DELAY; 0: not configured */
    int64_t freeze_timeout_ms;
    int64_t clean_period_ms;   /* ended jobs are forgotten after it */
    int64_t history_period_ms; /* what happened to jobs, after that */
    int max_user_priority;     /* of -sp; 0: nobody may say one */
    int max_array_size;        /* elements of an array, and its largest index */
    const char *lease_account; /* LEASE_USER: whom leased jobs run as where the daemon
                                  is root; "" where it is not */
    struct user_map users; /* UserMap: whom else leased jobs run as, by their user */
    int64_t daemon_uid; /* 0: jobs run as their users; else only its own may submit */
    const char *const *admins; /* users and user groups besides root and the daemon's */
    int n_admins;
    bool is_resreq_lenient;              /* LSF_STRICT_RESREQ=N */
    bool is_sched_by_slot;               /* PARALLEL_SCHED_BY_SLOT */
    bool is_reserved_per_slot;           /* RESOURCE_RESERVE_PER_SLOT */
    const struct rusage_method *methods; /* section ReservationUsage */
    int n_methods;
    const char *const *preemptable; /* PREEMPTABLE_RESOURCES */
    int n_preemptable;
    bool is_alone; /* there is no broker: nothing is said to one */
    /* Of simulated worlds; a daemon has 0. Where nothing can be lost, heartbeats and
     * the questions that silence raises come so many times later than they would. */
    int patience;
    bool is_prompt; /* USAGE follows each change: there a message costs nothing */
};

struct site;
struct site *site_new(const struct site_config *config);
void site_free(struct site *site);

/* Loads the rows of the journal, in the order of enum row_kind. site_start follows: it
 * increments the boot counter and adjusts the leases to the export policies. Events
 * come only after it. */
void site_load(struct site *site, const struct row *row);
void site_start(struct site *site, int64_t now_ms, struct effects *effects);

void site_step(struct site *site, const struct event *event, struct effects *effects);

/* Another configuration for a running site. Running jobs go on, leases are adjusted to
 * the export policies, jobs of a queue that was removed wait until it is configured
 * again, a host that was removed gets no new jobs. The name, and whether there is a
 * broker, cannot change: site_reload_check refuses that, and changes nothing. The old
 * configuration may be freed after that. */
int site_reload_check(const struct site *site, const struct site_config *config,
                      struct err *err) MUST_CHECK;
void site_reload(struct site *site, const struct site_config *config, int64_t now_ms,
                 struct effects *effects);
/* It is a host of the site, configured or leaving. */
bool site_has_host(const struct site *site, const char *host);
bool site_has_leaving(const struct site *site, const char *host);

/* When the next EVENT_TICK is due at the latest; INT64_MAX: only after another event.
 */
int64_t site_wake_ms(const struct site *site);

/* How often jobs were preempted since the start. */
uint64_t site_count_preemptions(const struct site *site);
/* How often jobs were suspended or ended for the load of a host. */
uint64_t site_count_overloads(const struct site *site);
/* It has a session with the broker. */
bool site_is_connected(const struct site *site);

/* For invariants and tests. */
struct site_job {
    uint64_t id;
    int index; /* in its array, from 1; 0: of no array */
    enum job_state state;
    uint64_t attempt;
    const char *lease; /* "": own hosts */
    int n_slots;
    bool is_interactive;
};
/* What its open jobs reserve. */
bool site_has_reserved(const struct site *site);
void site_list_reserved(const struct site *site, rusage_held_fn fn, void *arg);
/* Waiting jobs by enum pending_reason (sched/pending/pending.h). */
void site_count_reasons(const struct site *site, int64_t *counts);
int site_count_jobs(const struct site *site);
void site_job_at(const struct site *site, int index, struct site_job *job);
struct provider *site_provider(const struct site *site);
const struct consumer *site_consumer(const struct site *site);
/* Slots of runs that are on record and not ended on that host: own, and of consumers.
 */
void site_host_used(const struct site *site, const char *host, int *own,
                    int *consumers);

/* The JSON of docs/design/interfaces.md "JSON" for a query about jobs, hosts, queues or
 * exports: an object with schema_version and one array; `next` as in msg_reply. */
struct value *site_view(struct site *site, struct arena *arena,
                        const struct msg_query *query, int64_t now_ms,
                        const char **next);

#endif
