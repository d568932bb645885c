/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_job.h: the jobs of a Slurm cluster: what to ask squeue, and what it answers.
 *
 * One question has all that a site must know of jobs: which ones have nodes, which ones
 * wait for some, and what has become of the site's own runs. It has no filter, because
 * squeue ends with 0 and prints nothing for a user that it does not know, and because
 * slurmctld sends all jobs in any case.
 *
 * The comment of a leased job is "sublet:SITE:CONSUMER:ATTEMPT:NONCE", and the run is
 * found by that, never by the number of the job alone. Users may give their jobs any
 * comment, with ends of lines too, so that it is read by its length, and a run counts
 * only with the user that it was submitted for. A nonce is not known before its run is
 * submitted, so that of several jobs with one comment the lowest number is the run.
 * squeue prints "nobody" for a user that the name service does not know for a moment.
 *
 * Units: seconds since 1970. Order: as printed. Ownership: all is in the arena. Source:
 * Slurm's squeue(1), and docs/adr/0024-leases-of-slurm-nodes.md. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_JOB_H
#define SUBLET_SLURM_SLURM_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/msg_job.h"

/* Any state of which nothing else is known has the nodes of its job: RUNNING. */
enum slurm_job_phase {
    SLURM_JOB_RUNNING,
    SLURM_JOB_STOPPED, /* it keeps its nodes */
    SLURM_JOB_WAITING,
    SLURM_JOB_ENDED,
};

struct slurm_job {
    int64_t id;
    enum slurm_job_phase phase;
    const char *state;        /* as squeue abbreviates it: "R", "CG", "PD" */
    const char *reservation;  /* it was submitted to; "": none */
    const char *const *nodes; /* that it has; none if it waits or has ended */
    int n_nodes;
    int n_cpus;         /* of a job that waits: those that it asks for; else 0 */
    const char *reason; /* of waiting, or of its end; its first bytes */
    const char *user;
    const char *partitions; /* separated by commas */
    /* By its comment, a run; else `site` is NULL and the rest is not set. */
    const char *site; /* that submitted it */
    struct run_id run;
    int wait_status; /* ended: as waitpid() has it */
    int64_t start_s; /* 0: not started */
    int64_t end_s;   /* 0: not ended */
};

struct slurm_jobs {
    struct slurm_job *items;
    int count;
};

/* The command, ended by NULL. Jobs that have ended are listed for MinJobAge of
 * slurm.conf. */
const char *const *slurm_job_command(struct arena *arena);

/* Reads the whole answer. Errors: ERR_PARSE for a line that is none of squeue's, with
 * its number; ERR_BOUNDS for more than JOBS_MAX, or a number or name out of bounds.
 * `jobs` is unchanged then. */
int slurm_job_read(struct arena *arena, const char *text, struct slurm_jobs *jobs,
                   struct err *err) MUST_CHECK;

static inline bool slurm_job_has_nodes(const struct slurm_job *job)
{
    return job->phase == SLURM_JOB_RUNNING || job->phase == SLURM_JOB_STOPPED;
}

/* The CPUs that jobs wait for, at most SLOTS_MAX; `partition` "": in all of them. Jobs
 * that wait for something else than nodes (a time, another job, their user) and those
 * of `site`'s reservations are left out. */
int slurm_job_count_waiting(struct arena *arena, const struct slurm_jobs *jobs,
                            const char *partition, const char *site);

/* ---- runs */

const char *slurm_job_format_comment(struct arena *arena, const char *site,
                                     const struct run_id *run);
/* The job has the comment of that run, whoever its user is. */
bool slurm_job_is_run(const struct slurm_job *job, const char *site,
                      const struct run_id *run);
/* NULL: there is none of that user. */
const struct slurm_job *slurm_job_find_run(const struct slurm_jobs *jobs,
                                           const char *site, const struct run_id *run,
                                           const char *user);

#endif
