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

#include "base/err.h"
#include "model/effect.h"
#include "site/ledger/site_ledger.h"

struct site_config;
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
/* Why the broker cannot be reached, as the shell has found; NULL: not known. */
void site_set_trouble(struct site *site, const char *why);
/* It is a host of the site, configured or leaving. */
/* An administrator (site/api/permission.h). */
bool site_is_admin(const struct site *site, const struct peer *from);
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

/* For what the daemon submits itself, invariants and tests. */
struct site_job {
    uint64_t id;
    int index; /* in its array, from 1; 0: of no array */
    const char *queue;
    enum job_state state;
    uint64_t attempt;
    const char *lease; /* "": own hosts */
    int n_slots;
    bool is_interactive;
    bool is_killed;    /* its end was ordered */
    int64_t start_ms;  /* 0: no start is known */
    int64_t recall_ms; /* its slots are taken then; 0: they are not recalled */
};
/* What its open jobs reserve. */
bool site_has_reserved(const struct site *site);
void site_list_reserved(const struct site *site, rusage_held_fn fn, void *arg);
/* Waiting jobs by enum pending_reason (sched/pending/pending.h). */
void site_count_reasons(const struct site *site, int64_t *counts);
int site_count_jobs(const struct site *site);
void site_job_at(const struct site *site, int index, struct site_job *job);
struct provider *site_provider(struct site *site);
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
