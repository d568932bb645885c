/* SPDX-License-Identifier: Apache-2.0 */
/* pace.c: see pace.h. */
#include "broker/pace.h"

bool pace_take(struct pace *pace, int64_t now_ms)
{
    if (now_ms - pace->since_ms >= PACE_MS) {
        *pace = (struct pace){.since_ms = now_ms};
    }
    bool has_room = pace->n_begun < PACE_LEASES;
    pace->n_begun += has_room;
    return has_room;
}

int64_t pace_next_ms(const struct pace *pace)
{
    return pace->since_ms + PACE_MS;
}
