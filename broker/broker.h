/* SPDX-License-Identifier: Apache-2.0 */
/* broker.h: the broker as a step machine: members, sessions, contracts, rebalance.
 *
 * The broker keeps the record of every lease and decides, every reclaim delay, which
 * side gets its idle slots. It never creates an epoch, but applies what a provider
 * states. Its parts:
 *
 *     lease/lease.h            a contract
 *     lease/rebalance.c        the rule of a rebalance
 *     lease/rebalance_clock.h  when the rule is applied
 *     lease/handover.h         how slots move
 *     state_apply.c            applies the STATE of a provider
 *     push/push.h              messages that are sent until they are answered
 *     member/member.h          sites and their sessions
 *     pool/pool.h, plan/       pools and plans
 *     relay.c                  messages between sites
 *     broker_loss.c            a store that is behind
 *
 * broker.c composes them.
 *
 * Units: milliseconds. Ownership: the config is copied. Errors: a step cannot fail; a
 * request that is refused is answered, and leaves the state as it was. Order: leases
 * are sorted by id, sites by name. Source: docs/design/safety.md, docs/design/leases.md
 * "Decided", LSF, "Shared leases". Layer: broker. */
#ifndef SUBLET_BROKER_BROKER_H
#define SUBLET_BROKER_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

#define BROKER_VERSION "0.1.0"

struct plan_pools;

struct broker_member {
    const char *name;
    int roles;      /* enum role */
    int max_leases; /* MAX_LEASES; 0: not given */
};

struct broker_config {
    const struct broker_member *members;
    int n_members;
    int64_t lost_after_ms;          /* LOST_AFTER */
    const struct plan_pools *pools; /* NULL: none */
    int64_t hour_ms; /* of simulated worlds: how long the slot hours of HOURS are; 0: an
                        hour */
};

struct broker;
struct broker *broker_new(const struct broker_config *config);
void broker_free(struct broker *broker);

/* First every row of the store, in the order of enum row_kind; then the start, which
 * increments and stores the boot counter; then events. Without the start it is a copy
 * for readers: the status of sites and leases is not known to it. */
void broker_load(struct broker *broker, const struct row *row);
void broker_start(struct broker *broker, int64_t now_ms, struct effects *effects);

/* --accept-loss, before the start: ends the alarm that the store is behind what sites
 * know of it; what is missing is no alarm in this run. */
void broker_loss_accept(struct broker *broker);
/* How many commits are known to be missing in the store; 0: none, or accepted. */
uint64_t broker_loss_commits(const struct broker *broker);

/* Messages of a kind that is relayed come with a body that is not opened
 * (codec_relay_decode). */
bool broker_messages_is_relayed(enum msg_kind kind);
void broker_step(struct broker *broker, const struct event *event,
                 struct effects *effects);

/* Replaces members and parameters at run time. A site that is no member any more is
 * away, and its messages are refused; the leases that it provides end, those that it
 * consumes are drained until it is a member again. This happens with the next ticks. A
 * site whose roles have changed has to open a new session. */
void broker_reload(struct broker *broker, const struct broker_config *config,
                   int64_t now_ms);
/* The event of a reload that `who` ordered. */
void broker_record_reload(const char *who, int64_t now_ms, struct effects *effects);

/* When the next EVENT_TICK is due at the latest; INT64_MAX: none is needed before the
 * next message. */
int64_t broker_wake_ms(const struct broker *broker);

/* For invariants and tests: the contract as the broker has it; false if there is none.
 * Pointers live until the next step. */
bool broker_find_lease(const struct broker *broker, const char *id,
                       struct row_lease *lease);
int broker_count_leases(const struct broker *broker);
const char *broker_lease_id(const struct broker *broker, int index);
/* The index of the first lease whose id is after `id`. */
int broker_find_lease_after(const struct broker *broker, const char *id);

/* Looks for changes in the listings of leases and sites since the last look; returns
 * the revision, which grows with every change and starts again with the process. The
 * boot counter tells one process from the next. */
uint64_t broker_look(struct broker *broker);
uint64_t broker_boot(const struct broker *broker);
bool broker_has_pool(const struct broker *broker, const char *name);
/* For invariants: the latest cycle of the pool with that index, and its time; NULL:
 * none since the start, or since its plan was loaded. It lives until the next step. */
struct pool_cycle;
int broker_count_pools(const struct broker *broker);
const struct pool_cycle *broker_pool_cycle(const struct broker *broker, int index,
                                           const char **name, int64_t *at_ms);
/* Nodes of plans that have to be computed because of what messages reported since the
 * last call: what their senders are charged for. */
int64_t broker_take_asked_nodes(struct broker *broker);
/* When the latest message of the site arrived; 0: none has since the start. */
int64_t broker_site_last_message_ms(const struct broker *broker, const char *site);
/* The first site by name after `name`, or with it, and the session in which it takes
 * messages; 0: it is away. False: there is none. */
bool broker_site_after(const struct broker *broker, const char *name, bool with_it,
                       struct peer *site, uint64_t *session);
/* The epoch that the provider states, if it is below ours because the provider has lost
 * its ledger; else 0. */
uint64_t broker_lease_behind(const struct broker *broker, const char *id);
/* The part of HOURS that is used of a lease; negative: it has no quota. */
double broker_lease_hours_ratio(const struct broker *broker, const char *id);
/* The same of each node with HOURS, by the plans in force. */
typedef void (*broker_hours_fn)(void *arg, const char *pool, const char *node,
                                double ratio);
void broker_each_hours(const struct broker *broker, int64_t now_ms, struct arena *arena,
                       broker_hours_fn see, void *arg);
/* Terminal data from that site since the start: bytes relayed, and pieces dropped
 * (streams.h). */
void broker_site_streams(const struct broker *broker, const char *site,
                         uint64_t *n_bytes, uint64_t *n_dropped);

/* The JSON of docs/design/interfaces.md "JSON" for a query about leases, sites, hosts,
 * pools or reclaim delays (not history, which is in the store): an object with
 * schema_version and one array. `next` is the id of the last row if there are more,
 * else "". */
struct value *broker_view(const struct broker *broker, struct arena *arena,
                          const struct msg_query *query, int64_t now_ms,
                          const char **next);

#endif
