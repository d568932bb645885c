/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h: one play of a federation that is given as texts, and what was wrong with it.
 *
 * A trial goes well when the texts are read, every `expect` holds, no invariant is
 * violated, and all settles once the scenario has ended.
 *
 * Two faults are the same when they say the same, names and numbers aside: that is what
 * a reduced scenario must keep. */
#ifndef SUBLET_TESTS_SIM_TRIAL_H
#define SUBLET_TESTS_SIM_TRIAL_H

#include <stdint.h>

#include "sim/world/world.h"
#include "tests/sim/texts.h"

enum trial_end {
    TRIAL_WELL,
    TRIAL_UNREADABLE, /* an error in the texts: no trial at all */
    TRIAL_UNEXPECTED, /* an `expect` does not hold */
    TRIAL_VIOLATED,   /* an invariant */
    TRIAL_STUCK,      /* it never settles */
    TRIAL_DIED,       /* the process that played it: an assertion, a bad access */
    TRIAL_ENDLESS,    /* that process never came back */
};

struct trial {
    enum trial_end end;
    char text[1024]; /* what was wrong; "" */
    struct world_counts counts;
};

/* Lines of the daemons' logs go to `trace`; NULL: nowhere. */
void trial_run(const struct texts *texts, uint64_t seed, world_trace_fn trace,
               struct trial *trial);
/* The same in a process of its own, so that one that dies or never ends is only a bad
 * trial. */
void trial_run_apart(const struct texts *texts, uint64_t seed, struct trial *trial);

bool trial_is_fault(const struct trial *trial);
bool trial_is_same_fault(const struct trial *left, const struct trial *right);

#endif
