/* SPDX-License-Identifier: Apache-2.0 */
/* handover_limiter.c: see handover_limiter.h. */
#include "broker/lease/handover_limiter.h"

bool handover_limiter_take(struct handover_limiter *pace, bool is_promised,
                           int64_t now_ms)
{
    if (now_ms < pace->since_ms) {
        *pace =
            (struct handover_limiter){.since_ms = now_ms}; /* the clock was set back */
    }
    if (now_ms - pace->since_ms >= HANDOVER_LIMITER_MS) {
        pace->since_ms = now_ms;
        pace->n_begun = 0;
    }
    bool has_room = pace->n_begun < HANDOVER_LIMITER_LEASES &&
                    (is_promised || pace->last_ms < pace->since_ms);
    pace->n_begun += has_room;
    return has_room;
}

int64_t handover_limiter_promise(struct handover_limiter *pace)
{
    int64_t next_ms = pace->since_ms + HANDOVER_LIMITER_MS;
    if (pace->last_ms < next_ms) {
        pace->last_ms = next_ms;
        pace->n_last = 0;
    }
    if (pace->n_last == HANDOVER_LIMITER_LEASES) {
        pace->last_ms += HANDOVER_LIMITER_MS;
        pace->n_last = 0;
    }
    pace->n_last++;
    return pace->last_ms;
}
