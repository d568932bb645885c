/* SPDX-License-Identifier: Apache-2.0 */
/* spec_writer.h: writes the spec of a run, and requests to resize it, to the run's
 * directory, for its guard (the format is in exec.h).
 *
 * For a job of the site itself everything is written as the job has it. A leased job
 * runs in the run's own work directory without input, and its output stays in the run's
 * directory whatever files its owner named: these are files of another site, which
 * fetches the output. The environment is exactly that of the job, and what LSF sets
 * (docs/guide/from-lsf.md lists it); the guard adds SUBLET_RUN, its mark. A job of
 * several slots also has a file that names their hosts.
 *
 * Errors: ERR_IO; ERR_PARSE, ERR_BOUNDS a bad limit or control. Layer: host. */
#ifndef SUBLET_HOST_AGENT_SPEC_WRITER_H
#define SUBLET_HOST_AGENT_SPEC_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/msg.h"

struct spec_writer_setting {
    const char *cgroup; /* where the cgroups of runs are made; "": none */
    const char *memory; /* those of version 1's memory controller; "": none */
    const char *spool;  /* with the directories of runs; NULL: no file names hosts */
    int private_view;   /* of leased runs (kernel.h) */
    int64_t wait_ms;
    int64_t grace_ms;
};

/* `dir` is the run's open directory. */
int spec_writer_write(int dir, const char *name, const struct msg_run_start *start,
                      const struct spec_writer_setting *setting,
                      struct err *err) MUST_CHECK;

/* Replaces the resize file as a whole: a guard that reads it finds the one that its
 * request means, or none. */
int spec_writer_write_resize(int dir, const struct msg_run_resize *resize,
                             struct err *err) MUST_CHECK;
/* The resize file has that number, so the guard may know of it. */
bool spec_writer_has_resize(int dir, uint64_t number);

#endif
