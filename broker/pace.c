/* SPDX-License-Identifier: Apache-2.0 */
/* pace.c: see pace.h. */
#include "broker/pace.h"

bool pace_take(struct pace *pace, bool is_promised, int64_t now_ms)
{
    if (now_ms < pace->since_ms) {
        *pace = (struct pace){.since_ms = now_ms}; /* the clock was set back */
    }
    if (now_ms - pace->since_ms >= PACE_MS) {
        pace->since_ms = now_ms;
        pace->n_begun = 0;
    }
    bool has_room =
        pace->n_begun < PACE_LEASES && (is_promised || pace->last_ms < pace->since_ms);
    pace->n_begun += has_room;
    return has_room;
}

int64_t pace_promise(struct pace *pace)
{
    int64_t next_ms = pace->since_ms + PACE_MS;
    if (pace->last_ms < next_ms) {
        pace->last_ms = next_ms;
        pace->n_last = 0;
    }
    if (pace->n_last == PACE_LEASES) {
        pace->last_ms += PACE_MS;
        pace->n_last = 0;
    }
    pace->n_last++;
    return pace->last_ms;
}
