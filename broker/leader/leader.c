/* SPDX-License-Identifier: Apache-2.0 */
/* leader.c: see leader.h. */
#include "broker/leader/leader.h"

bool leader_may_take(const struct leader_row *row)
{
    if (row->has_left) {
        return !row->stepped_down || row->age_ms >= LEADER_STEP_DOWN_MS;
    }
    return row->age_ms >= (row->has_session ? LEADER_STALE_MS : LEADER_DEAD_MS);
}
