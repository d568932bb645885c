/* SPDX-License-Identifier: Apache-2.0 */
/* leader.c: see leader.h. */
#include "broker/leader/leader.h"

bool leader_may_take(const struct leader_row *row)
{
    int64_t limit_ms = row->has_session ? LEADER_STALE_MS : LEADER_DEAD_MS;
    return row->has_left || row->age_ms >= limit_ms;
}
