/* SPDX-License-Identifier: Apache-2.0 */
/* leaf_contract.h: contracts of leaves of a plan: how one is opened, and how slots of a
 * pool get to it.
 *
 * The idle slots of a pool are one contract of the policy; each leaf has another. A
 * grant moves slots from the first to the second, both under their next epochs, in one
 * commit. So on each host all contracts of the policy together always have what it
 * exports, and no slot is in two of them.
 *
 * A PROPOSE for a leaf names all hosts on which it is to hold slots. It is checked as
 * any other (provider_broker.c): it must be based on the lease's own epoch, what the
 * leaf uses must fit, and what it gains on a host must be idle there. A leaf gains
 * nothing while it is withdrawn, and no more than an open recall allows. The leaf's
 * freeze makes its counts exact; the idle slots of the pool may change meanwhile, and
 * are checked here.
 *
 * Errors: a proposal that does not hold changes nothing. Source: docs/design/safety.md
 * [4]; docs/adr/0012. Layer: provider. */
#ifndef SUBLET_PROVIDER_LEAF_CONTRACT_H
#define SUBLET_PROVIDER_LEAF_CONTRACT_H

#include "provider/ledger.h"

bool leaf_contract_is_leaf(const struct ledger_lease *lease);

/* LEASE_OPEN. The leaf's lease, new or not; NULL: the policy exports to no pool here,
 * or the id is not that of a leaf. It begins with no slots, above its last epoch and
 * above that of the broker, which a journal of before may have lost. */
struct ledger_lease *leaf_contract_open(struct ledger *ledger, const char *site,
                                        const struct msg_lease_open *msg,
                                        struct effects *effects);

/* PROPOSE for a leaf. True if it holds: it is applied, and the lease thawed. */
bool leaf_contract_propose(struct ledger *ledger, struct ledger_lease *lease,
                           const struct msg_propose *msg, struct effects *effects);

#endif
