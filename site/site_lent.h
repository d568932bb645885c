/* SPDX-License-Identifier: Apache-2.0 */
/* site_lent.h: what a scheduler that has the site's hosts (SCHEDULER) needs to know of
 * what is lent, and what it answers.
 *
 * The hosts of such a site run no jobs of its own users by Sublet. The scheduler keeps
 * the hosts of consumers free of other jobs. While a lease is frozen it does so for
 * candidates too, and says which of them it has. Of each host it tells by HOST_LOAD how
 * many slots its own jobs use. For the site's runs it answers as a sublet-host does.
 *
 * Layer: site. */
#ifndef SUBLET_SITE_SITE_LENT_H
#define SUBLET_SITE_SITE_LENT_H

#include "model/effect.h"
#include "provider/provider.h"

struct site;

struct site_lent {
    struct provider_contract contract;
    const char *accounts; /* that its jobs may run as, separated by commas */
};

/* The provider is told which hosts change sides as a whole. */
void site_lent_begin(struct site *site);
/* Contracts with hosts that consumers have or may get, by id. Read them after a commit:
 * what is not on disk must not be acted on. Ownership: the arena, and the provider's
 * names until the next event. */
int site_lent_list(struct site *site, struct arena *arena, struct site_lent **list);
/* How many slots jobs of the scheduler's own wait for: the site's demand. */
void site_lent_waiting(struct site *site, int n_slots);
/* These candidates of the freeze are held. */
void site_lent_held(struct site *site, const char *lease, uint64_t freeze,
                    const char *const *hosts, int n_hosts, int64_t now_ms);

#endif
