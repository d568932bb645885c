/* SPDX-License-Identifier: Apache-2.0 */
/* guard_env.h: the variables of commands before and after a job: the job's own, with
 * the PATH that LSF gives them; after it LSB_JOBEXIT_STAT, how the job ended as wait(2)
 * has it (0: it was not begun), and LSB_JOBPEND where it waits again.
 *
 * Ownership: the list is heap, its texts are the spec's or the struct's.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_ENV_H
#define SUBLET_HOST_GUARD_ENV_H

#include "host/guard_course.h"

struct guard_env {
    const char **list; /* NULL-terminated, with a place behind for PWD */
    char status[64];
};

/* Of the course's next command. */
void guard_env_init(struct guard_env *env, const struct guard_course *course);
void guard_env_release(struct guard_env *env);

#endif
