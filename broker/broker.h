/* SPDX-License-Identifier: Apache-2.0 */
/* broker.h: the broker as a step machine: members, sessions, contracts, rebalance.
 *
 * The broker keeps the record of every lease and decides, every reclaim delay, which
 * side its idle slots go to. It never mints an epoch: it takes over what a provider
 * states. To read it: rebalance.c (the rule), handover.h (how a move is carried out),
 * state_apply.h (what a provider's word does), rebalance_clock.h (when), lease.h (a
 * contract's states), member.h (who is here), push_contract.h (what consumers are
 * told), relay.h, reclaim_delay.h, broker_view.h; broker.c composes them.
 *
 * Units: milliseconds. Ownership: the config is copied. Errors: a step cannot fail;
 * what is refused is answered and leaves the state as it was.
 * Order: leases and sites are kept sorted by id and name.
 * Source: ARCHITECTURE 2 and 5, seed document 002.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_BROKER_H
#define SUBLET_BROKER_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

#define BROKER_VERSION "0.1.0"

struct plan_pools;

struct broker_member {
    const char *name;
    int roles; /* enum role */
};

struct broker_config {
    const struct broker_member *members;
    int n_members;
    int64_t lost_after_ms;          /* LOST_AFTER */
    const struct plan_pools *pools; /* NULL: none */
};

struct broker;
struct broker *broker_new(const struct broker_config *config);
void broker_free(struct broker *broker);

/* What the store had, row by row in the order of enum row_kind, then the start: the
 * boot counter grows and is stored. Only then events. */
void broker_load(struct broker *broker, const struct row *row);
void broker_start(struct broker *broker, int64_t now_ms, struct effects *effects);

void broker_step(struct broker *broker, const struct event *event,
                 struct effects *effects);

/* Other members and parameters while it runs. Who is no member any more is away, and
 * heard no more; leases that it lends end, those that it borrows by are drained until
 * it is back; all that with the next ticks. Whose roles have changed has to open a new
 * session. */
void broker_reload(struct broker *broker, const struct broker_config *config,
                   int64_t now_ms);

/* When the next EVENT_TICK is due at the latest; INT64_MAX: only when something comes.
 */
int64_t broker_wake_ms(const struct broker *broker);

/* For invariants and tests: the contract as the broker has it, false where there is
 * none. Pointers live until the next step. */
bool broker_find_lease(const struct broker *broker, const char *id,
                       struct row_lease *lease);
int broker_count_leases(const struct broker *broker);
const char *broker_lease_id(const struct broker *broker, int index);

/* Looks for what has changed in the listings of leases and sites since the last look;
 * returns their revision, which grows with every change and begins anew with the
 * process. The boot counter tells one process from the next. */
uint64_t broker_look(struct broker *broker);
uint64_t broker_boot(const struct broker *broker);
bool broker_has_pool(const struct broker *broker, const char *name);
/* For invariants: the latest cycle of the pool at that place, and when it was; NULL:
 * there was none since the start, or since its plan was loaded. It lives until the next
 * step. */
struct pool_cycle;
int broker_count_pools(const struct broker *broker);
const struct pool_cycle *broker_pool_cycle(const struct broker *broker, int index,
                                           const char **name, int64_t *at_ms);
/* When the site last said anything; 0: not since the start. */
int64_t broker_site_heard_ms(const struct broker *broker, const char *site);
/* The epoch that its provider states, where that is over and its books are lost; 0. */
uint64_t broker_lease_behind(const struct broker *broker, const char *id);
/* Of interactive jobs' terminals, what the site said: bytes that were passed on, and
 * pieces that were not (streams.h); since the start. */
void broker_site_streams(const struct broker *broker, const char *site,
                         uint64_t *n_bytes, uint64_t *n_dropped);

/* The JSON of INTERFACES 3 for a query about leases, sites, hosts or reclaim delays
 * (not history, which is in the store): an object with schema_version and one array. */
struct value *broker_view(const struct broker *broker, struct arena *arena,
                          const struct msg_query *query, int64_t now_ms,
                          const char **next);

#endif
