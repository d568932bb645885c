/* SPDX-License-Identifier: Apache-2.0 */
/* escalation.h: the signals that end a run, one after the other: SIGINT, SIGTERM,
 * SIGKILL, with a pause between two (JOB_TERMINATE_INTERVAL); SIGXCPU in front where
 * its CPU limit ends it. The last is said again until nobody is left to hear it.
 *
 * Units: milliseconds of the monotonic clock. Source: lsf.md 3.5.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_EXEC_ESCALATION_H
#define SUBLET_HOST_EXEC_ESCALATION_H

#include <stdbool.h>
#include <stdint.h>

#define ESCALATION_NEVER INT64_MAX

struct escalation {
    int step;        /* the next one to be sent */
    int64_t next_ms; /* when; NEVER: nobody is being ended */
};

void escalation_init(struct escalation *ladder);
bool escalation_is_on(const struct escalation *ladder);
/* From this signal on (SIGXCPU, SIGINT, SIGKILL), which is due at once; one that has
 * begun goes on as it is, unless it is SIGKILL's turn. */
void escalation_begin(struct escalation *ladder, int signal, int64_t now_ms);
/* Something else is to end it first: it begins with SIGINT then, unless it has begun.
 */
void escalation_postpone(struct escalation *ladder, int64_t until_ms);
/* The signal that is due now, 0: none; the one behind it comes a pause later. */
int escalation_next(struct escalation *ladder, int64_t pause_ms, int64_t now_ms);

#endif
