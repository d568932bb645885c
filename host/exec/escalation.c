/* SPDX-License-Identifier: Apache-2.0 */
/* escalation.c: see escalation.h. */
#include "host/exec/escalation.h"

#include <signal.h>

enum { KILL_AGAIN_MS = 1000 }; /* a process that the last look missed */

static const int steps[] = {SIGXCPU, SIGINT, SIGTERM, SIGKILL};
enum { STEP_PLAIN = 1, STEP_LAST = sizeof(steps) / sizeof(steps[0]) - 1 };

void escalation_init(struct escalation *ladder)
{
    *ladder = (struct escalation){.step = STEP_PLAIN, .next_ms = ESCALATION_NEVER};
}

bool escalation_is_on(const struct escalation *ladder)
{
    return ladder->next_ms != ESCALATION_NEVER;
}

void escalation_begin(struct escalation *ladder, int signal, int64_t now_ms)
{
    if (signal == SIGKILL) {
        ladder->step = STEP_LAST;
        ladder->next_ms = now_ms;
    } else if (!escalation_is_on(ladder)) {
        ladder->step = signal == SIGXCPU ? 0 : STEP_PLAIN;
        ladder->next_ms = now_ms;
    }
}

void escalation_postpone(struct escalation *ladder, int64_t until_ms)
{
    if (ladder->step <= STEP_PLAIN) {
        ladder->step = STEP_PLAIN;
        ladder->next_ms = until_ms;
    }
}

int escalation_next(struct escalation *ladder, int64_t pause_ms, int64_t now_ms)
{
    if (now_ms < ladder->next_ms) {
        return 0;
    }
    int signal = steps[ladder->step];
    bool is_last = ladder->step == STEP_LAST;
    ladder->step += !is_last;
    ladder->next_ms = now_ms + (is_last ? KILL_AGAIN_MS : pause_ms);
    return signal;
}
