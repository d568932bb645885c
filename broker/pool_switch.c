/* SPDX-License-Identifier: Apache-2.0 */
/* pool_switch.c: see pool_switch.h. */
#include "broker/pool_switch.h"

int64_t pool_switch_keep(enum plan_policy before, enum plan_policy after,
                         struct pool_holding holding, int64_t own)
{
    if (before == after) {
        return holding.used;
    }
    int64_t mine =
        before == PLAN_OWNERSHIP ? holding.used - holding.borrowed : holding.used;
    return plan_min(mine, own);
}
