/* SPDX-License-Identifier: Apache-2.0 */
/* invariants.h: what must hold in a simulated federation after every step.
 *
 * 1 Slots of running and suspended jobs on a host never exceed its size, counted at the
 *   executors, not in anybody's books.
 * 2 Each side's use of a lease is within what the provider's books give it.
 * 3 A contract's epoch only grows, and one epoch has one content.
 * 4 What the broker told a consumer survives every crash of the broker.
 * 5 A job that was acknowledged is known to its site until it has ended, ends once, and
 *   begins once (more often only where it may be rerun).
 * 6 On each exported host, provider's + consumer's is what was exported.
 * The last of INTERFACES 4, liveness, is judged once faults have stopped: by
 * invariants_settled.
 *
 * Ownership: names are copied. Source: INTERFACES 4. Layer: sim. */
#ifndef SUBLET_SIM_INVARIANTS_H
#define SUBLET_SIM_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/broker.h"
#include "sim/executor.h"
#include "site/site.h"

/* What is looked at. Machines that are down are NULL and looked at when they are back.
 */
struct invariants_site {
    const struct site_config *config;
    const struct site *site;
    struct executor **executors;
    int n_executors;
};

struct invariants_view {
    const struct broker *broker;
    const struct invariants_site *sites;
    int n_sites;
};

struct invariants;
struct invariants *invariants_new(void);
void invariants_free(struct invariants *invariants);

/* What happened between the steps. */
void invariants_acknowledged(struct invariants *invariants, const char *site,
                             uint64_t job, bool is_rerunnable);
void invariants_begun(struct invariants *invariants, const char *site, const char *job);
void invariants_told(struct invariants *invariants, const char *lease, uint64_t epoch);
/* The broker was set back to a backup: what it told since is forgotten. */
void invariants_restored(struct invariants *invariants);

/* False with the reason in `text` when something does not hold. */
bool invariants_check(struct invariants *invariants, const struct invariants_view *view,
                      char *text, int size);
/* False while a contract is in the middle of a change, broker, provider and consumer
 * disagree about one, or a job has not ended. */
bool invariants_settled(const struct invariants *invariants,
                        const struct invariants_view *view, char *text, int size);

#endif
