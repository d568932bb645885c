/* SPDX-License-Identifier: Apache-2.0 */
/* job_env.h: selects the environment of a job: `sub -env LIST`.
 *
 *     none                       none
 *     all                        all, as without -env
 *     all, ~HOME, MODE=fast      all but HOME, and MODE with this value
 *     HOME, MODE=fast            HOME as it is here, and MODE with this value
 *
 * A value with a comma needs single quotes: LIST='a,b'.
 *
 * Ownership: the result is in the arena and borrows texts of `given`.
 * Errors: ERR_PARSE. Source: LSF's bsub -env. Layer: cli. */
#ifndef SUBLET_CLI_JOB_JOB_ENV_H
#define SUBLET_CLI_JOB_JOB_ENV_H

#include "base/arena.h"
#include "base/err.h"

/* `given`: the present environment, NULL-terminated. */
int job_env_select(struct arena *arena, const char *list, char *const *given,
                   const char ***env, int *n_env, struct err *err) MUST_CHECK;

#endif
