/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_run.h: runs of leased jobs as jobs of a Slurm cluster: how one is submitted
 * into a reservation, found again, signalled and ended.
 *
 * The comment of the job is "sublet:SITE:CONSUMER:ATTEMPT:NONCE", and the run is found
 * by that, never by the number of the job alone. Users may give their jobs any comment,
 * with ends of lines too, so that each line is read by its length, and a run counts
 * only with the user that it was submitted for. A nonce is not known before its run is
 * submitted, so that of several jobs with one comment the lowest number is the run.
 *
 * Units: seconds since 1970. Order: as printed. Ownership: all is in the arena, or
 * borrowed. Source: Slurm's sbatch(1), squeue(1), scancel(1), and
 * docs/adr/0024-leases-of-slurm-nodes.md. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_RUN_H
#define SUBLET_SLURM_SLURM_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/msg_job.h"

/* Any state of which nothing else is known has the CPUs of its job: RUNNING. */
enum slurm_run_state {
    SLURM_RUN_WAITING,
    SLURM_RUN_RUNNING,
    SLURM_RUN_STOPPED,
    SLURM_RUN_ENDED,
};

struct slurm_run {
    const char *site; /* that submitted it */
    struct run_id run;
    int64_t job_id;
    const char *user, *reservation;
    enum slurm_run_state state;
    const char *code; /* the state as squeue abbreviates it: "R", "TO" */
    int wait_status;  /* ended: as waitpid() has it */
    int64_t start_s;  /* 0: not started */
    int64_t end_s;    /* 0: not ended */
};

struct slurm_runs {
    struct slurm_run *items;
    int count;
};

/* ---- what there is */

/* The command, ended by NULL. `users`: whose jobs, separated by commas. Jobs that have
 * ended are listed for MinJobAge of slurm.conf. */
const char *const *slurm_run_list_command(struct arena *arena, const char *users);
/* Reads the whole answer; jobs without such a comment are left out. Errors: ERR_PARSE
 * for a line that is none of squeue's, with its number; ERR_BOUNDS for more than
 * JOBS_MAX, or a number out of bounds. `runs` is unchanged then. */
int slurm_run_read(struct arena *arena, const char *text, struct slurm_runs *runs,
                   struct err *err) MUST_CHECK;
/* NULL: there is none. */
const struct slurm_run *slurm_run_find(const struct slurm_runs *runs, const char *site,
                                       const struct run_id *run, const char *user);

/* ---- what to do */

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
