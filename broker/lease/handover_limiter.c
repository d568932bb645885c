/* SPDX-License-Identifier: Apache-2.0 */
/* handover_limiter.c: see handover.h. */
#include "broker/lease/handover.h"

bool handover_limiter_take(struct handover_limiter *limiter, bool is_promised,
                           int64_t now_ms)
{
    if (now_ms < limiter->since_ms) {
        /* The clock was set back. */
        *limiter = (struct handover_limiter){.since_ms = now_ms};
    }
    if (now_ms - limiter->since_ms >= HANDOVER_LIMITER_MS) {
        limiter->since_ms = now_ms;
        limiter->n_begun = 0;
    }
    bool has_room = limiter->n_begun < HANDOVER_LIMITER_LEASES &&
                    (is_promised || limiter->last_ms < limiter->since_ms);
    limiter->n_begun += has_room;
    return has_room;
}

int64_t handover_limiter_promise(struct handover_limiter *limiter)
{
    int64_t next_ms = limiter->since_ms + HANDOVER_LIMITER_MS;
    if (limiter->last_ms < next_ms) {
        limiter->last_ms = next_ms;
        limiter->n_last = 0;
    }
    if (limiter->n_last == HANDOVER_LIMITER_LEASES) {
        limiter->last_ms += HANDOVER_LIMITER_MS;
        limiter->n_last = 0;
    }
    limiter->n_last++;
    return limiter->last_ms;
}
