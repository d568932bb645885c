/* SPDX-License-Identifier: Apache-2.0 */
/* push.h: the messages about a lease that the broker sends until they are answered.
 *
 *     poll_state      STATE_ASK to the provider, until it states the lease
 *     push_contract   CONTRACT to the consumer, until it acknowledges the revision
 *     push_grant      LEASE_OPEN to the provider, until it states the leaf's contract
 *     push_price      LEASE_OPEN to the provider, until it states that price
 *     push_evict      EVICT to the provider, until a lost consumer uses nothing
 *     push_drain      DRAIN to the provider, until its STATE names the order's number
 *     push_recall     RECALL to the provider, likewise
 *
 * Each sender has a tick, which sends if the time has come, and says when that is next
 * (INT64_MAX: not before something changes). Nothing is sent to a member that is away.
 * A wait doubles after each send, up to a bound (base/resend.h).
 *
 * Units: slots, milliseconds. Source: docs/design/safety.md Contract 5 and 5 "consumer
 * lost"; docs/adr/0004, 0012; docs/design/plans.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_PUSH_PUSH_H
#define SUBLET_BROKER_PUSH_PUSH_H

#include "broker/lease/lease.h"

enum { PUSH_EVICT_RESEND_MS = 5000 };

/* ---------------------------------------------------------------- poll_state.c */

/* What the broker knows of the lease may be old: after a start, and after each session
 * or silence of its provider. The lease is not rebalanced before the answer. */
void poll_state_begin(struct lease *lease, int64_t now_ms);
void poll_state_end(struct lease *lease);

void poll_state_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t poll_state_wake_ms(const struct lease *lease);

/* ---------------------------------------------------------------- push_contract.c */

/* lease_notify_consumer() says that there is something to send. */

/* CONTRACT_ACK. One of an earlier revision is ignored. */
void push_contract_acknowledge(struct lease *lease, uint64_t revision);

void push_contract_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_contract_wake_ms(const struct lease *lease);

/* ---------------------------------------------------------------- push_grant.c */

/* Replaces the grant of a leaf's contract (lease_grant.h). */
void push_grant_set(struct lease *lease, const struct host_slots *hosts, int n_hosts,
                    const char *reason, int64_t now_ms);

/* Begins the hand-over as soon as the lease is registered and may move. */
void push_grant_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_grant_wake_ms(const struct lease *lease);

/* ---------------------------------------------------------------- push_price.c */

/* PRICE of the leaf in the plan in force. */
void push_price_set(struct lease *lease, int price, int64_t now_ms);
/* A STATE came, and its price is applied. */
void push_price_on_state(struct lease *lease, int64_t now_ms);

void push_price_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_price_wake_ms(const struct lease *lease);

/* ---------------------------------------------------------------- push_evict.c */

/* The counts are new. Once the evicted jobs have ended, their slots may be moved. */
void push_evict_on_state(struct lease *lease);

void push_evict_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_evict_wake_ms(const struct lease *lease);

/* ---------------------------------------------------------------- push_drain.c */

/* Gives the order that is wanted now, if it differs from the latest one. `reason` names
 * the administrator; NULL: the reason is one of the lease's sites. True if an order was
 * given. */
bool push_drain_refresh(struct lease *lease, const char *reason, int64_t now_ms,
                        struct effects *effects);
/* The provider has lost its ledger, and states a lower epoch than the broker's. Repeats
 * the order, and tells the provider to continue above the broker's epoch. */
void push_drain_recover(struct lease *lease, int64_t now_ms, struct effects *effects);
/* The epoch above which a provider that recovers continues: the greater one of the
 * contract and of the provider's own. */
uint64_t push_drain_above(const struct lease *lease);
/* The provider may not know the order: after a start of either side. */
void push_drain_resume(struct lease *lease, int64_t now_ms);
/* A STATE of the lease came: the number that it names, and whether it is drained; with
 * epoch 0 the provider does not know the lease. */
void push_drain_on_state(struct lease *lease, const struct msg_state *state,
                         int64_t now_ms, struct effects *effects);

void push_drain_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_drain_wake_ms(const struct lease *lease);

/* ---------------------------------------------------------------- push_recall.c */

/* Recalls more slots of the contract, or fewer (lease_recalls.h). */
void push_recall_add(struct lease *lease, const struct lease_recalls_order *order,
                     int64_t now_ms, struct effects *effects);
void push_recall_cancel(struct lease *lease, int n_slots, int64_t now_ms);
/* The provider may not know the order: it came back. */
void push_recall_resume(struct lease *lease, int64_t now_ms);
/* A STATE came, and its split is applied. */
void push_recall_on_state(struct lease *lease, const struct msg_state *state,
                          int64_t now_ms, struct effects *effects);

void push_recall_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_recall_wake_ms(const struct lease *lease);

#endif
