/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_job.h: the jobs that have nodes of a Slurm cluster: what to ask squeue, and
 * what it answers. Jobs that wait are
 * asked for apart, and only for what they wait for.
 *
 * Order: as printed. Ownership: all is in the arena. Source: Slurm's squeue(1). Layer:
 * slurm. */
#ifndef SUBLET_SLURM_SLURM_JOB_H
#define SUBLET_SLURM_SLURM_JOB_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct slurm_job {
    int64_t id;
    const char *state;       /* short: "R", "S", "CG" */
    const char *reservation; /* it was submitted to; "": none */
    const char *const *nodes;
    int n_nodes;
};

struct slurm_jobs {
    struct slurm_job *items;
    int count;
};

/* The command, ended by NULL. It asks for nothing that users write, such as names or
 * comments of jobs, which could contain the end of a line. */
const char *const *slurm_job_command(struct arena *arena);

/* The same of jobs that wait; `partition` "": all. */
const char *const *slurm_job_waiting_command(struct arena *arena,
                                             const char *partition);
/* The CPUs that they wait for, at most SLOTS_MAX. Jobs that wait for something else
 * than nodes (a time, another job, their user) and those of `site`'s reservations are
 * left out. Errors: as below. */
int slurm_job_read_waiting(struct arena *arena, const char *text, const char *site,
                           int *n_cpus, struct err *err) MUST_CHECK;

/* Reads the whole answer. Errors: ERR_PARSE for a line that is none of squeue's, with
 * its number; ERR_BOUNDS for more than JOBS_MAX, or a number or name out of bounds.
 * `jobs` is unchanged then. */
int slurm_job_read(struct arena *arena, const char *text, struct slurm_jobs *jobs,
                   struct err *err) MUST_CHECK;

#endif
