/* SPDX-License-Identifier: Apache-2.0 */
/* lease_recall.h: slots of a pool that a leaf of its plan has to give back: a RECALL,
 * and how much of it is done.
 *
 * A RECALL says how many slots the contract may hold at most, and after which time;
 * several may follow one another by deadline. From the moment it is stored
 *
 *   - a slot of the leaf that becomes idle goes to the pool, under the next epoch,
 * until the contract holds no more than the last RECALL allows;
 *   - a proposal that would give the contract more is refused;
 *   - at each deadline, by this site's clock and without tolerance, jobs on the slots
 * that are still in use beyond the bound have to be ended: lease_recall_overdue() says
 * how many slots.
 *
 * If `is_whole`, only whole hosts are given back, each when it is idle altogether. They
 * are chosen when the order comes (base/whole_hosts.h), and stay chosen while that is
 * possible; jobs on them are those to end. Slots that make up no whole host stay, and
 * the order is done when no host can be given back any more.
 *
 * Units: slots, milliseconds. Order: of the idle slots the last host gives first.
 * Source: Symphony, "Reclaim"; docs/adr/0012; docs/design/plans.md "Decided". Layer:
 * provider. */
#ifndef SUBLET_PROVIDER_LEASE_RECALL_H
#define SUBLET_PROVIDER_LEASE_RECALL_H

#include "provider/ledger.h"

/* Stores a RECALL whose number is above the last. Others change nothing. */
void lease_recall_accept(struct ledger_lease *lease, const struct msg_recall *msg,
                         int64_t now_ms, struct effects *effects);

/* Gives idle slots back; of whole hosts only the chosen ones. Hosts that lose slots
 * need reconciling, and bounds that are met are removed. The lease is marked changed,
 * or stored. */
void lease_recall_reconcile(struct ledger_lease *lease, struct effects *effects);

/* Notes which deadlines have passed. */
void lease_recall_tick(struct ledger_lease *lease, int64_t now_ms);
/* Slots in use whose jobs have to be ended now. If hosts go whole, also which hosts:
 * all jobs on them have to end. The list is the arena's. */
int lease_recall_overdue(const struct ledger_lease *lease, struct arena *arena,
                         const struct host_slots **hosts, int *n_hosts);
/* When the next deadline comes; INT64_MAX: none will. */
int64_t lease_recall_wake_ms(const struct ledger_lease *lease);

/* How many slots it may hold at most; INT_MAX: no bound. */
int lease_recall_limit(const struct ledger_lease *lease);

#endif
