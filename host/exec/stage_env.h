/* SPDX-License-Identifier: Apache-2.0 */
/* stage_env.h: the variables of commands before and after a job: the job's own, with
 * the PATH that LSF gives them; after it LSB_JOBEXIT_STAT, how the job ended as wait(2)
 * has it (0: it was not begun), and LSB_JOBPEND where it waits again.
 *
 * Ownership: the list is heap, its texts are the spec's or the struct's.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_EXEC_STAGE_ENV_H
#define SUBLET_HOST_EXEC_STAGE_ENV_H

#include "host/exec/stages.h"

struct stage_env {
    const char **list; /* NULL-terminated, with a place behind for PWD */
    char status[64];
};

/* Of the course's next command. */
void stage_env_init(struct stage_env *env, const struct stages *course);
void stage_env_release(struct stage_env *env);

#endif
