/* SPDX-License-Identifier: Apache-2.0 */
/* guard_ends.h: what an interactive job has for standard input, output and errors, and
 * the other ends of those, which the guard keeps: pipes, or a pseudo-terminal.
 *
 * Where the job names a file for one of them (-i -o -e), that is a file and has no
 * other end. A pseudo-terminal is one descriptor for the guard, to write to and to read
 * from.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_ENDS_H
#define SUBLET_HOST_GUARD_ENDS_H

#include <stdbool.h>

#include "host/guard_account.h"
#include "host/guard_spec.h"

/* -1: it is a file, or none. */
struct guard_ends {
    bool is_terminal;
    int job_in, job_out, job_err; /* the job's; of a terminal all the same one */
    int in, out, err;             /* the guard's, which do not wait */
};

void guard_ends_init(struct guard_ends *ends);
int guard_ends_open(struct guard_ends *ends, const struct guard_spec *spec,
                    const struct guard_account *account, struct err *err) MUST_CHECK;
/* The job has its own now: else the guard would never see them closed. */
void guard_ends_leave(struct guard_ends *ends);
void guard_ends_close(struct guard_ends *ends);

#endif
