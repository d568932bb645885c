/* SPDX-License-Identifier: Apache-2.0 */
/* leaf_contract.h: contracts of leaves: how one is opened, and how slots of a pool come
 * to it.
 *
 * What is idle in a pool is one contract of the policy, what a leaf has another; a
 * grant takes slots from the one to the other, both under their next epochs, in one
 * commit. So on each host all parts together have what the policy exports, whatever
 * happens between any two messages, and no slot is in two of them.
 *
 * A PROPOSE of a leaf names the hosts on which it shall hold slots, all of them. It is
 * judged as any (provider_broker.c): it is based on the book's own epoch; what the leaf
 * uses fits into it; and what it gains on a host is idle there. It gains nothing while
 * it is withdrawn, and no more than an open recall leaves it. It is the leaf's freeze
 * that makes counts exact; what is idle in the pool changes under it, and is judged
 * here.
 *
 * Errors: what does not hold changes nothing. Source: ARCHITECTURE 2 [4];
 * docs/adr/0023. Layer: provider (base only). */
#ifndef SUBLET_PROVIDER_LEAF_CONTRACT_H
#define SUBLET_PROVIDER_LEAF_CONTRACT_H

#include "provider/ledger.h"

bool leaf_contract_is_leaf(const struct ledger_lease *book);

/* LEASE_OPEN: the book, which may have been there; NULL: the policy exports to no pool
 * here, or the id is no leaf's. A leaf that had ended goes on above its last epoch,
 * with no slots. */
struct ledger_lease *leaf_contract_open(struct ledger *ledger, const char *site,
                                        const char *lease, struct effects *effects);

/* PROPOSE of a leaf. True where it holds: then it is carried out, and the book thawed.
 */
bool leaf_contract_propose(struct ledger *ledger, struct ledger_lease *book,
                           const struct msg_propose *msg, struct effects *effects);

#endif
