/* SPDX-License-Identifier: Apache-2.0 */
/* shared_instances.h: shared resources of leases: how many instances of a resource pool
 * each consumer has.
 *
 * A policy says how many instances each consumer is to have of a pool (the places of
 * ResourceMap, in file order); the sum over all policies is what is exported. A lease
 * that is withdrawn, or whose hosts are not picked yet, keeps what it has until it ends
 * or is exported again, and others wait for that. All consumers together never have
 * more than is exported, apart from what such leases keep.
 *
 * Leases of one consumer with hosts in a pool share the same instances. They count
 * once, as the most that one of them has.
 *
 * Units: instances. Order: what does not divide evenly goes to the earlier consumer.
 * Source: lsf.md 1.4; ADR 0016. Layer: provider. */
#ifndef SUBLET_PROVIDER_SHARED_INSTANCES_H
#define SUBLET_PROVIDER_SHARED_INSTANCES_H

#include "provider/ledger.h"

/* Gives each lease its instances, and marks those that change. */
void shared_instances_reconcile(struct ledger *ledger);

#endif
