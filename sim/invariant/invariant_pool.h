/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_pool.h: the cycles of a pool (invariant 11).
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_POOL_H
#define SUBLET_SIM_INVARIANT_INVARIANT_POOL_H

#include "sim/invariant/invariant_state.h"

bool invariant_pool_check(const char *pool, const struct pool_cycle *cycle,
                          struct invariants_text *text);

#endif
