/* SPDX-License-Identifier: Apache-2.0 */
/* export_memory.h: memory and swap space that leases have on a host.
 *
 * A lease gets what its policy gives it, or less where the host has less: then all that
 * it has is shared out among its leases in proportion. A lease that is withdrawn, or
 * whose policy does not give it the host any more, keeps what it has there until its
 * last job has ended. Where it is not known what the host has (it has not told since
 * the start), what is on record stays, and what a policy gives anew is believed.
 *
 * Unlike slots these are not held by one side or the other: they are the consumer's
 * alone from the first epoch on, in a shared lease too.
 *
 * Units: MB. Order: what does not come out even goes to the earlier lease id.
 * Source: lsf.md 1.2 ("if the provider has less than configured it exports what it
 * has"), 1.5 rule 2. Layer: provider (base only). */
#ifndef SUBLET_PROVIDER_EXPORT_MEMORY_H
#define SUBLET_PROVIDER_EXPORT_MEMORY_H

#include "provider/ledger.h"

void export_memory_reconcile(struct ledger_host *host);

/* All that is exported of the host. */
int64_t export_memory_sum(const struct ledger_host *host, enum space_kind kind);

#endif
