/* SPDX-License-Identifier: Apache-2.0 */
/* escalation.c: see exec.h. */
#include "host/exec/exec.h"

#include <signal.h>

enum { KILL_AGAIN_MS = 1000 }; /* the last scan may have missed a process */

static const int signals[] = {SIGXCPU, SIGINT, SIGTERM, SIGKILL};
enum { FIRST_SIGINT = 1, LAST_SIGKILL = sizeof(signals) / sizeof(signals[0]) - 1 };

void escalation_init(struct escalation *escalation)
{
    *escalation =
        (struct escalation){.next_signal = FIRST_SIGINT, .next_ms = ESCALATION_NEVER};
}

bool escalation_is_on(const struct escalation *escalation)
{
    return escalation->next_ms != ESCALATION_NEVER;
}

void escalation_begin(struct escalation *escalation, int signal, int64_t now_ms)
{
    if (signal == SIGKILL) {
        escalation->next_signal = LAST_SIGKILL;
        escalation->next_ms = now_ms;
    } else if (!escalation_is_on(escalation)) {
        escalation->next_signal = signal == SIGXCPU ? 0 : FIRST_SIGINT;
        escalation->next_ms = now_ms;
    }
}

void escalation_postpone(struct escalation *escalation, int64_t until_ms)
{
    if (escalation->next_signal <= FIRST_SIGINT) {
        escalation->next_signal = FIRST_SIGINT;
        escalation->next_ms = until_ms;
    }
}

int escalation_next(struct escalation *escalation, int64_t pause_ms, int64_t now_ms)
{
    if (now_ms < escalation->next_ms) {
        return 0;
    }
    int signal = signals[escalation->next_signal];
    bool is_last = escalation->next_signal == LAST_SIGKILL;
    escalation->next_signal += !is_last;
    escalation->next_ms = now_ms + (is_last ? KILL_AGAIN_MS : pause_ms);
    return signal;
}
