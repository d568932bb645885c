/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.h: brings the ledger in line with what the policies export and what the
 * hosts have: every change of a contract that the provider makes on its own.
 *
 * Afterwards, on each host of MXJ slots:
 *   - slots in use stay with the side that uses them;
 *   - a lease has at most what its policy exports, apart from slots that
 *     the consumer's jobs use beyond that, until they end; a withdrawn lease has only
 *     those;
 *   - all leases together have at most MXJ slots, and what consumers hold together with
 *     the site's own jobs is at most MXJ, apart from slots in use;
 *   - a lease that could not get all its slots gets them as they become free.
 * Each contract that changed is stored under its next epoch, and thawed.
 *
 * Order: slots are taken from the last lease first, and given to the first lease first
 * (by id). Source: docs/design/safety.md "Contract". Layer: provider. */
#ifndef SUBLET_PROVIDER_RECONCILE_H
#define SUBLET_PROVIDER_RECONCILE_H

#include "provider/ledger.h"

/* Looks at hosts that need reconciling and at leases marked changed. */
void reconcile(struct ledger *ledger, struct effects *effects);

/* ----------------------------------------------------------- export_memory.c */

void export_memory_reconcile(struct ledger_host *host);

/* What all leases have of the host. */
int64_t export_memory_sum(const struct ledger_host *host, enum space_kind kind);

/* -------------------------------------------------------- shared_instances.c */

/* Gives each lease its instances, and marks those that change. */
void shared_instances_reconcile(struct ledger *ledger);

#endif
