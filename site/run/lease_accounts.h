/* SPDX-License-Identifier: Apache-2.0 */
/* lease_accounts.h: accounts of users of other sites: a number of LEASE_UIDS for each
 * pair of a site and its user, the same on all hosts.
 *
 * A pair keeps its number, so that its jobs are never another user's. Numbers are given
 * out in ascending order. Once all are given, the number of the pair whose last job is
 * longest ago goes to the next one, if nothing of the pair can be left: it has no run
 * on record, all hosts have reported what runs there, and a day has passed since its
 * last job, or since the start of the daemon.
 *
 * Units: milliseconds. Ownership: names are copied. Layer: site. */
#ifndef SUBLET_SITE_RUN_LEASE_ACCOUNTS_H
#define SUBLET_SITE_RUN_LEASE_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "site/config/site_config.h"

/* "sublet-2000000000": the name of the account with that number. */
const char *lease_accounts_name(struct arena *arena, int64_t uid);

struct lease_accounts;
struct lease_accounts *lease_accounts_new(struct uid_range range);
void lease_accounts_free(struct lease_accounts *accounts);
void lease_accounts_load(struct lease_accounts *accounts,
                         const struct row_lease_account *row);
/* Another LEASE_UIDS. A pair whose number is outside of it gets another one once it has
 * no run on record. */
void lease_accounts_set_range(struct lease_accounts *accounts, struct uid_range range);

/* What the caller knows: whether the pair has a run on record; user NULL: whether some
 * host has not reported its runs. */
typedef bool (*lease_accounts_ask_fn)(void *arg, const char *site, const char *user);

/* True if lease_accounts_take would give a number. */
bool lease_accounts_has(const struct lease_accounts *accounts, const char *site,
                        const char *user, lease_accounts_ask_fn is_used, void *arg,
                        int64_t now_ms);
/* The number of the pair, which is stored if it is new; 0: none is left. */
int64_t lease_accounts_take(struct lease_accounts *accounts, const char *site,
                            const char *user, lease_accounts_ask_fn is_used, void *arg,
                            int64_t now_ms, struct effects *effects);
/* A run of the pair has ended. */
void lease_accounts_touch(struct lease_accounts *accounts, const char *site,
                          const char *user, int64_t now_ms);

#endif
