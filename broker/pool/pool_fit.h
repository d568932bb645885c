/* SPDX-License-Identifier: Apache-2.0 */
/* pool_fit.h: demand that a quota is too small for. A job of 8 slots does nothing with
 * 5, so a leaf with a quota of 5 and no other job wants nothing, and its siblings get
 * the 5 slots.
 *
 * A quota depends on what all others want, so the leaves are looked at again after each
 * change: of the leaves that cannot use their quotas, the later half in the order of
 * the plan wants only what it can use, then quotas are computed anew. The first of two
 * leaves that could start if the other did not thus gets the slots. The result depends
 * on the snapshot alone, so that nothing flaps. What a leaf uses already is never
 * reduced.
 *
 * Units: slots. Source: docs/design/plans.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_FIT_H
#define SUBLET_BROKER_POOL_POOL_FIT_H

#include "broker/member/member.h"
#include "broker/pool/pool_table.h"

/* What the waiting jobs of a leaf can start with if it has room for so many slots more;
 * jobs of unknown size fit into any room. */
int64_t pool_fit_usable(const struct member *site, const struct plan_node *leaf,
                        int64_t room);

/* pool_snapshot_decide(), after which no leaf wants what it could not use. */
void pool_fit_decide(const struct members *members, struct pool_snapshot *snapshot,
                     struct pool_cycle *cycle, struct arena *arena);

/* A digest of what the waiting jobs of the leaf require. */
uint64_t pool_fit_needs(const struct member *site, const struct plan_node *leaf);

#endif
