/* SPDX-License-Identifier: Apache-2.0 */
/* shared_instances.h: shared resources of leases: who has how many instances of a pool
 * now.
 *
 * A policy says how many each consumer is to have of a pool (ResourceMap's places, in
 * file order); all that the policies give of it together is what is exported. A lease
 * that is withdrawn, or waits for its hosts to be picked, keeps what it has until it
 * has ended or is exported again. So others wait: what all consumers have together is
 * never more than what is exported, but for what such leases keep of more.
 *
 * Leases of one consumer with hosts in a pool have the same instances, not each its
 * own: they count once, as the most that one of them has.
 *
 * Units: instances. Order: what does not come out even goes to the earlier consumer.
 * Source: lsf.md 1.4; ADR 0016. Layer: provider (base only). */
#ifndef SUBLET_PROVIDER_SHARED_INSTANCES_H
#define SUBLET_PROVIDER_SHARED_INSTANCES_H

#include "provider/ledger.h"

/* Gives each book what it is to have now; marks those that change. */
void shared_instances_reconcile(struct ledger *ledger);

#endif
