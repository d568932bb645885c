/* SPDX-License-Identifier: Apache-2.0 */
/* spec_writer.h: RUN_START written down for a guard (run_spec.h has the format).
 *
 * What a job of the site itself asks for is taken as it is. A leased one runs in the
 * run's own work directory with no input, and its output stays with the run whatever
 * files its owner named: they are files of another site, which fetches the output.
 * Variables: exactly the spec's, and LSB_JOBID LSB_JOBINDEX LSB_JOBNAME LSB_QUEUE
 * LSB_HOSTS LSB_MCPU_HOSTS, LSB_INTERACTIVE=Y and SUBLET_LEASE where they
 * are such; the guard adds SUBLET_RUN,
 * its mark.
 *
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_SPEC_WRITER_H
#define SUBLET_HOST_AGENT_SPEC_WRITER_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "model/msg.h"

struct spec_writer_setting {
    const char *cgroup; /* where runs' cgroups are made; "": none */
    const char *memory; /* those of version 1's memory controller; "": none */
    int64_t wait_ms;
    int64_t grace_ms;
};

/* Writes it into the run's open directory. */
int spec_writer_write(int dir, const char *name, const struct msg_run_start *start,
                      const struct spec_writer_setting *setting,
                      struct err *err) MUST_CHECK;

/* The whole file, or ERR_IO, which names `what` of the run it is; `how`: O_EXCL or
 * O_TRUNC. */
int spec_writer_write_file(int dir, const char *file_name, int how, const char *bytes,
                           size_t length, const char *what, struct err *err) MUST_CHECK;

/* "NAME=h1 h1 h2", a name per slot, and "NAME=h1 2 h2 1", each ended by a NUL; nothing
 * behind the "=" where that would be too long for a variable. */
void spec_writer_put_hosts(FILE *to, const char *name, const struct host_slots *hosts,
                           int n_hosts);
void spec_writer_put_counts(FILE *to, const char *name, const struct host_slots *hosts,
                            int n_hosts);

#endif
