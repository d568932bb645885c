/* SPDX-License-Identifier: Apache-2.0 */
/* export_memory.h: memory and swap space that leases have on a host.
 *
 * A lease gets what its policy gives it. If the host has less, the leases share what
 * the host has in proportion. A lease that is withdrawn, or whose
 * policy no longer has the host, keeps its memory until its last job there has ended.
 * If the host has not reported since the start, what is on record stays, and what a
 * changed policy gives is assumed to exist.
 *
 * Unlike slots, memory and swap space are not held by one side or the other: they are
 * the consumer's alone from the first epoch on, also in a shared lease.
 *
 * Units: MB. Order: what does not divide evenly goes to the earlier lease id.
 * Source: lsf.md 1.2 ("if the provider has less than configured it exports what it
 * has"), 1.5 rule 2. Layer: provider. */
#ifndef SUBLET_PROVIDER_EXPORT_MEMORY_H
#define SUBLET_PROVIDER_EXPORT_MEMORY_H

#include "provider/ledger.h"

void export_memory_reconcile(struct ledger_host *host);

/* What all leases have of the host. */
int64_t export_memory_sum(const struct ledger_host *host, enum space_kind kind);

#endif
