/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.h: what a provider changes of its contracts by itself: brings what the
 * ledger say in line with what the policies export and what the hosts have.
 *
 * Guarantees, per host of MXJ slots, after it:
 *   - slots that are in use stay with the side that uses them;
 *   - a lease has at most what its policy exports, but for the consumer's jobs beyond
 *     that, which go as they end; a withdrawn one has nothing else;
 *   - all leases together have at most MXJ slots, and what consumers hold together with
 *     the site's own jobs is at most MXJ, but for slots in use;
 *   - a lease that could not get all its slots gets them as they fall free.
 * Each contract that changed is at its next epoch, on record, thawed.
 *
 * Order: where slots must go, the last lease gives first; where some are free, the
 * first lease gets first (by id). Source: ARCHITECTURE 2 "Contract" and 5 "export
 * withdrawn or changed". Layer: provider (base only). */
#ifndef SUBLET_PROVIDER_RECONCILE_H
#define SUBLET_PROVIDER_RECONCILE_H

#include "provider/ledger.h"

/* Looks at the hosts that are marked unsettled and at ledger marked changed. */
void reconcile(struct ledger *ledger, struct effects *effects);

#endif
