/* SPDX-License-Identifier: Apache-2.0 */
/* job_stdio.h: what an interactive job has for standard input, output and errors, and
 * the other ends of those, which the guard keeps: pipes, or a pseudo-terminal.
 *
 * Where the job names a file for one of them (-i -o -e), that is a file and has no
 * other end. A pseudo-terminal is one descriptor for the guard, to write to and to read
 * from.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_STDIO_JOB_STDIO_H
#define SUBLET_HOST_STDIO_JOB_STDIO_H

#include <stdbool.h>

#include "host/exec/run_spec.h"
#include "host/kernel/account.h"

/* -1: it is a file, or none. */
struct job_stdio {
    bool is_terminal;
    int job_in, job_out, job_err; /* the job's; of a terminal all the same one */
    int in, out, err;             /* the guard's, which do not wait */
};

void job_stdio_init(struct job_stdio *ends);
int job_stdio_open(struct job_stdio *ends, const struct run_spec *spec,
                   const struct account *account, struct err *err) MUST_CHECK;
/* The job has its own now: else the guard would never see them closed. */
void job_stdio_close_job_side(struct job_stdio *ends);
void job_stdio_close(struct job_stdio *ends);

#endif
