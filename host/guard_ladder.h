/* SPDX-License-Identifier: Apache-2.0 */
/* guard_ladder.h: the signals that end a run, one after the other: SIGINT, SIGTERM,
 * SIGKILL, with a pause between two (JOB_TERMINATE_INTERVAL); SIGXCPU in front where
 * its CPU limit ends it. The last is said again until nobody is left to hear it.
 *
 * Units: milliseconds of the monotonic clock. Source: lsf.md 3.5.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_LADDER_H
#define SUBLET_HOST_GUARD_LADDER_H

#include <stdbool.h>
#include <stdint.h>

#define GUARD_LADDER_NEVER INT64_MAX

struct guard_ladder {
    int step;        /* the next one to be sent */
    int64_t next_ms; /* when; NEVER: nobody is being ended */
};

void guard_ladder_init(struct guard_ladder *ladder);
bool guard_ladder_is_on(const struct guard_ladder *ladder);
/* From this signal on (SIGXCPU, SIGINT, SIGKILL), which is due at once; one that has
 * begun goes on as it is, unless it is SIGKILL's turn. */
void guard_ladder_begin(struct guard_ladder *ladder, int signal, int64_t now_ms);
/* Something else is to end it first: it begins with SIGINT then, unless it has begun.
 */
void guard_ladder_put_off(struct guard_ladder *ladder, int64_t until_ms);
/* The signal that is due now, 0: none; the one behind it comes a pause later. */
int guard_ladder_step(struct guard_ladder *ladder, int64_t pause_ms, int64_t now_ms);

#endif
