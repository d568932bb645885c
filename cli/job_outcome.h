/* SPDX-License-Identifier: Apache-2.0 */
/* job_outcome.h: waits until a job has ended and tells how.
 *
 * A site that goes away while one waits is asked again when it is back: jobs outlive
 * their daemons, and so does waiting for them.
 * Layer: cli. */
#ifndef SUBLET_CLI_JOB_OUTCOME_H
#define SUBLET_CLI_JOB_OUTCOME_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/call.h"
#include "cli/connect.h"

/* `*status` is the job's exit code, as a shell has it: 0 where it is DONE, 128 and the
 * signal; OUTCOME_WITHDRAWN where it was ended before it ran. Of an array that of the
 * first element that is not DONE. `*connect` may be replaced by a new connection, or be
 * NULL after an error. */
enum { OUTCOME_WITHDRAWN = 126 }; /* LSF's, of bsub -K */
int job_outcome_wait(const struct call *call, struct connect **connect, const char *job,
                     int *status, struct err *err) MUST_CHECK;

/* A new connection in the place of one that is gone, for up to a minute; else NULL. */
int job_outcome_connect_again(const struct call *call, struct connect **connect,
                              struct err *err) MUST_CHECK;

/* Says that it did not end well, and where to look: CALL_FAILED. */
int job_outcome_complain(const char *job);

#endif
