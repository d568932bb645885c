/* SPDX-License-Identifier: Apache-2.0 */
/* pool_order.h: hands out what a cycle has decided: grants to leaves' contracts, and
 * recalls of theirs.
 *
 * A leaf that only the plan of another window has gives all of them back. One that is
 * to give slots back gives idle ones first, then those of other providers, last its own
 * site's. What is cancelled is cancelled the other way round. Where hosts are exclusive
 * it is asked for what whole hosts of it make up, and no more: it may keep what is less
 * than one.
 *
 * Order: leaves as in the plan. Layer: broker (base only). */
#ifndef SUBLET_BROKER_POOL_ORDER_H
#define SUBLET_BROKER_POOL_ORDER_H

#include "broker/pool_picture.h"

/* What becomes of the moves of the cycle; the picture is the one it was made from. */
void pool_order_carry_out(struct broker *broker, const struct pools_pool *pool,
                          struct pool_picture *picture, const struct pool_cycle *cycle,
                          int64_t now_ms, struct effects *effects);

#endif
