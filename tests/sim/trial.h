/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h: plays one federation that is given as texts, and records its fault.
 *
 * A trial goes well if the texts can be read, every `expect` holds, no invariant is
 * violated, and everything settles after the end of the scenario.
 *
 * Two faults are the same if their texts are equal except for names and numbers. A
 * reduced scenario must have the same fault. */
#ifndef SUBLET_TESTS_SIM_TRIAL_H
#define SUBLET_TESTS_SIM_TRIAL_H

#include <stdint.h>

#include "sim/world/world.h"
#include "tests/sim/texts.h"

enum trial_end {
    TRIAL_WELL,
    TRIAL_UNREADABLE, /* an error in the texts; there was no trial */
    TRIAL_UNEXPECTED, /* an `expect` does not hold */
    TRIAL_VIOLATED,   /* an invariant */
    TRIAL_STUCK,      /* it never settles */
    TRIAL_DIED,       /* its process: an assertion, a bad access */
    TRIAL_ENDLESS,    /* its process did not end */
};

struct trial {
    enum trial_end end;
    char text[1024]; /* the fault, or "" */
    struct world_counts counts;
};

/* `trace` gets the lines of the daemons' logs; it may be NULL. */
void trial_run(const struct texts *texts, uint64_t seed, world_trace_fn trace,
               struct trial *trial);
/* The same in a separate process, which may die or never end. */
void trial_run_apart(const struct texts *texts, uint64_t seed, struct trial *trial);

bool trial_is_fault(const struct trial *trial);
bool trial_is_same_fault(const struct trial *left, const struct trial *right);

#endif
