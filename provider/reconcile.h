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
 * (by id). Source: ARCHITECTURE 2 "Contract" and 5 "export withdrawn or changed".
 * Layer: provider. */
#ifndef SUBLET_PROVIDER_RECONCILE_H
#define SUBLET_PROVIDER_RECONCILE_H

#include "provider/ledger.h"

/* Looks at hosts that need reconciling and at leases marked changed. */
void reconcile(struct ledger *ledger, struct effects *effects);

#endif
