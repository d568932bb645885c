/* SPDX-License-Identifier: Apache-2.0 */
/* job_outcome.h: waits until a job has ended and gets its exit code.
 *
 * If the site restarts meanwhile, it reconnects and continues to wait.
 * Layer: cli. */
#ifndef SUBLET_CLI_JOB_OUTCOME_H
#define SUBLET_CLI_JOB_OUTCOME_H

#include "base/err.h"
#include "cli/call.h"
#include "cli/connect.h"

/* `*status` is the job's exit code as in a shell: 0 if it is DONE, 128 + the signal, or
 * OUTCOME_WITHDRAWN if it ended before it ran. For an array it is that of the first
 * element that is not DONE. `*connect` may be replaced by a new connection, or be NULL
 * after an error. */
enum { OUTCOME_WITHDRAWN = 126 }; /* as bsub -K */
int job_outcome_wait(const struct call *call, struct connect **connect, const char *job,
                     int *status, struct err *err) MUST_CHECK;

/* Reconnects, for up to a minute; NULL if that fails. */
int job_outcome_connect_again(const struct call *call, struct connect **connect,
                              struct err *err) MUST_CHECK;

/* Prints that the job failed, with the command to find out more: CALL_FAILED. */
int job_outcome_complain(const char *job);

#endif
