/* SPDX-License-Identifier: Apache-2.0 */
/* sim_slurm.h: a Slurm cluster in virtual time: slurmctld with its nodes, reservations
 * and jobs, and the processes that run on the nodes. It takes the argument vectors of
 * Slurm's commands and gives their output and exit status.
 *
 * What it answers was measured with Slurm 22.05.8, and tests/io/test_sim_slurm.c asks a
 * real cluster the same:
 * A reservation is refused if a node has a job of another reservation or of none, or is
 * in another reservation. This holds for every change of it. A reservation with jobs,
 * also waiting ones, cannot be deleted. Its end closes it for new jobs; up to a minute
 * later its jobs end in state TO, or run on if it is FLEX, and its waiting jobs are
 * held. A job is refused with a record in state F if its node can never run it. A
 * signal to STOP leaves a job its CPUs. slurmctld is on disk some seconds late: killed,
 * it forgets what was not saved. A job that it then does not know, or has as waiting,
 * is killed on its node once that registers. The waiting one starts again. A job that
 * has ended may be running again in its books, until somebody cancels it.
 *
 * A batch script works as `begun` says, or, for `--wrap`, as long as "sleep N" in it
 * says with the status of "exit N".
 *
 * Units: virtual milliseconds since 1970 at the caller, seconds in Slurm's own texts.
 * Ownership: texts are copied. Order: one seed gives one history. Source:
 * docs/adr/0024-leases-of-slurm-nodes.md. Layer: sim (base). */
#ifndef SUBLET_SIM_SLURM_SIM_SLURM_H
#define SUBLET_SIM_SLURM_SIM_SLURM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { SIM_SLURM_NODES_MAX = 64 };

struct sim_slurm_node {
    const char *name;
    int n_cpus;
    int64_t mem_mib;
    const char *features, *partitions; /* separated by commas; "": none */
    bool is_dynamic;                   /* of a slurmd -Z */
};

/* A script on a node. */
struct sim_slurm_script {
    int64_t job;
    const char *user, *reservation, *comment, *node;
    const char *text; /* its path, or the command of --wrap */
    int n_cpus;
    int n_starts; /* of this job so far, this one included */
};

struct sim_slurm_work {
    int64_t ms;
    int wait_status;   /* at its end */
    bool ignores_term; /* only SIGKILL ends it before */
};

/* What happens on the nodes; each may be NULL. */
struct sim_slurm_watch {
    void *arg;
    void (*begun)(void *arg, const struct sim_slurm_script *script,
                  struct sim_slurm_work *work);
    void (*stopped)(void *arg, const struct sim_slurm_script *script, bool is_stopped);
    void (*ended)(void *arg, const struct sim_slurm_script *script, int wait_status);
};

struct sim_slurm;
/* The first partition is the default one. */
struct sim_slurm *sim_slurm_new(uint64_t seed, const char *partitions,
                                const struct sim_slurm_watch *watch, int64_t now_ms);
void sim_slurm_free(struct sim_slurm *slurm); /* NULL is fine */
/* A node registers. One of that name comes back as it was. */
void sim_slurm_add_node(struct sim_slurm *slurm, const struct sim_slurm_node *node);

/* Lets time pass up to and including that instant. */
void sim_slurm_advance(struct sim_slurm *slurm, int64_t now_ms);
/* When something happens next. */
int64_t sim_slurm_next_ms(const struct sim_slurm *slurm);

struct sim_slurm_answer {
    int status; /* exit status */
    const char *output, *error;
};
/* Runs a command, ended by NULL, at the present instant. An argument that the simulated
 * commands do not know is an error. */
void sim_slurm_run(struct sim_slurm *slurm, const char *const *words,
                   struct arena *arena, struct sim_slurm_answer *answer);

/* ---- faults */

/* slurmctld is killed, and started again `down_ms` later. `forgets`: what it has not
 * saved; else it saves before. */
void sim_slurm_kill(struct sim_slurm *slurm, int64_t down_ms, bool forgets);
/* It is started again now. */
void sim_slurm_start(struct sim_slurm *slurm);
/* MinJobAge: for how long jobs that have ended are listed. */
void sim_slurm_set_min_job_age(struct sim_slurm *slurm, int64_t min_job_age_ms);
/* While it is false nothing more is saved, as with a full disk. */
void sim_slurm_set_saving(struct sim_slurm *slurm, bool is_saving);
/* The machine loses its processes, and registers again `down_ms` later. */
void sim_slurm_fail_node(struct sim_slurm *slurm, const char *node, int64_t down_ms);

/* ---- what there is on the nodes, whatever slurmctld believes */

bool sim_slurm_is_up(const struct sim_slurm *slurm);
/* CPUs that scripts use on the node. `user` NULL: of anybody. */
int sim_slurm_count_used(const struct sim_slurm *slurm, const char *node,
                         const char *user);
/* The first node on which scripts use more CPUs than it has; NULL: none. */
const char *sim_slurm_overused(const struct sim_slurm *slurm);

#endif
