/* SPDX-License-Identifier: Apache-2.0 */
/* invariant.h: what must hold in a simulated federation after every step.
 *
 * 1 Slots of running jobs on a host never exceed max(its size, what ran
 *   when it shrank), counted at the executors, not in anybody's books; but for a job
 *   that stood still when the host shrank and goes on there alone.
 *   An exclusive job's hosts run nothing else, of whomever.
 * 2 Each side's use of a lease is within what the provider's books give it.
 * 3 A contract's epoch only grows, and one epoch has one content.
 * 4 What the broker told a consumer survives every crash of the broker.
 * 5 A job that was acknowledged is on record at its site, and only there, until it has
 *   ended; it ends once, and begins once (more often only where it may be rerun, or its
 *   run had its end and its site put on record why it waits again).
 * 6 On each exported host, provider's + consumer's is what was exported.
 * 7 After faults have stopped, no lease is inactive for longer than max(two reclaim
 *   delays, two freeze time-outs).
 * 8 What leases have of a shared resource, leaving ones too, is together never more
 *   than NINSTANCES and what its place has; of memory and swap space never more than
 *   the host has told since its site started; but for what they had before there was
 *   less, and that does not grow.
 * 9 What the open jobs of a site reserve of a resource with a configured or exported
 *   amount is never more than that, or what was reserved when it became less or under
 *   an earlier contract; a suspended job that gave its slots away holds no resource
 *   that is released.
 * 10 On a host beyond loadStop of a job that runs there beside others one is suspended,
 *   soon, or when SBD_SLEEP_TIME is over since load last changed a job there, or one
 *   that it had let go found slots; it
 *   changes no two there in a shorter time than hosts tell their load, unless one
 *   stands still for another host of its own.
 * 11 A pool's cycle grants nothing beyond a quota, recalls nothing below one, and has
 *   quotas within what hybrid.md 4 says of reserves, limits, ownership and sums.
 * 12 Slots that a waiting job reserves are lent to none that could still run, by its
 *   run limit, when that job can start; of a queue with INTERRUPTIBLE_BACKFILL for no
 *   shorter time than that.
 * 13 The slots of a job that begins lie on its hosts as its own span says.
 *
 * They are told each change (what is committed, what begins and ends at a host), so
 * that a step costs what it changed: rows of jobs are judged as they are committed, and
 * at each restart, and every some hundred steps, the machine's memory is compared with
 * them; a site's books are looked at after that site's steps, the broker's contracts
 * after its own. That everything settles once faults have stopped is for
 * invariants_settled.
 *
 * Ownership: names are copied. Source: INTERFACES 4. Layer: sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_H
#define SUBLET_SIM_INVARIANT_INVARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/broker.h"
#include "sim/world/executor.h"
#include "site/site.h"

/* What is looked at. Machines that are down are NULL and looked at when they are back.
 */
struct invariants_site {
    const struct site_config *config;
    const struct site *site;
};

struct invariants_view {
    const struct broker *broker;
    const struct invariants_site *sites;
    int n_sites;
};

struct invariants;
struct invariants *invariants_new(void);
void invariants_free(struct invariants *invariants);
/* Of 7: twice the longest reclaim delay or freeze time-out. 0: not judged. */
void invariants_set_patience(struct invariants *invariants, int64_t patience_ms);

/* Each of these says false, with the reason in `text`, where something does not hold.
 */
struct invariants_text {
    char *text;
    int size;
};

/* When what follows happens; 0: nobody says. */
void invariants_set_now(struct invariants *invariants, int64_t now_ms);
/* What happened. */
bool invariant_job_acknowledged(struct invariants *invariants, const char *site,
                                uint64_t job, struct invariants_text *text);
bool invariant_job_stored(struct invariants *invariants,
                          const struct site_config *config, const struct row *row,
                          int64_t now_ms, struct invariants_text *text);
bool invariant_job_started(struct invariants *invariants, const char *site,
                           const char *job, struct invariants_text *text);
/* At the executor of a host of the site. */
bool invariant_host_used(struct invariants *invariants, const char *site,
                         const struct executor_use *use, struct invariants_text *text);
/* The size of a host, at first and when it changes; `n_decided` slots are on record for
 * runs that have not ended, begun or not. */
void invariant_host_sized(struct invariants *invariants, const char *site,
                          const char *host, int n_slots, int n_decided);
/* It has another configuration, which may be at the same address. */
void invariant_rusage_reloaded(struct invariants *invariants, const char *site);
void invariants_told(struct invariants *invariants, const char *lease, uint64_t epoch);
/* The broker was set back to a backup: what it told since is forgotten. */
void invariants_restored(struct invariants *invariants);

/* After a step of the site, or where `is_restarted` after its start. */
bool invariants_check_site(struct invariants *invariants,
                           const struct invariants_site *site, bool is_restarted,
                           struct invariants_text *text);
/* After a step of the broker. `calm_ms`: when the last fault was over. */
bool invariants_check_broker(struct invariants *invariants,
                             const struct invariants_view *view, int64_t calm_ms,
                             int64_t now_ms, struct invariants_text *text);
/* False while a contract is in the middle of a change, broker, provider and consumer
 * disagree about one, or a job has not ended. */
bool invariants_settled(const struct invariants *invariants,
                        const struct invariants_view *view,
                        struct invariants_text *text);

#endif
