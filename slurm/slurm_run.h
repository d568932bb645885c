/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_run.h: what to order of Slurm about a run of a leased job: to submit it into a
 * reservation, to signal it, and to end it. How its job is found again: slurm_job.h.
 *
 * Ownership: all is in the arena, or borrowed. Source: Slurm's sbatch(1), scancel(1),
 * and docs/adr/0024-leases-of-slurm-nodes.md. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_RUN_H
#define SUBLET_SLURM_SLURM_RUN_H

#include <stdint.h>

#include "base/arena.h"
#include "model/msg_job.h"

struct slurm_run_order {
    const char *site;
    struct run_id run;
    const char *user, *group; /* names of accounts, or numbers; "": the caller's own */
    const char *reservation, *node;
    int n_slots;
    int64_t mem_mib;                 /* 0: Slurm's default */
    int64_t limit_min;               /* minutes that it may run; 0: no limit */
    const char *partition, *account; /* "": Slurm's default */
    const char *output, *error;      /* files of standard output and error */
    const char *script;              /* absolute path */
};

/* Each is a command, ended by NULL. The job is not requeued, and
 * gets no environment of the agent. sbatch prints its number. */
const char *const *slurm_run_submit_command(struct arena *arena,
                                            const struct slurm_run_order *order);
/* To all processes of the job; `name` as in "STOP". Slurm loses the signal if the job's
 * processes have not begun, although squeue shows "R": the caller sends it again until
 * squeue shows the effect. */
const char *const *slurm_run_signal_command(struct arena *arena, int64_t job_id,
                                            const char *name);
const char *const *slurm_run_kill_command(struct arena *arena, int64_t job_id);

#endif
