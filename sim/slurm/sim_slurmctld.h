/* SPDX-License-Identifier: Apache-2.0 */
/* sim_slurmctld.h: the books of a simulated slurmctld, the processes on its nodes, and
 * the rules by which both change.
 *
 * The books are copied as a whole when they are saved. Texts are in the arena of the
 * cluster and never change, so that copies share them.
 *
 * Units: milliseconds. Order: jobs by number, reservations as created. Layer: sim. */
#ifndef SUBLET_SIM_SLURM_SIM_SLURMCTLD_H
#define SUBLET_SIM_SLURM_SIM_SLURMCTLD_H

#include "base/rng.h"
#include "sim/slurm/sim_slurm.h"

#define SIM_SLURM_NEVER INT64_MAX

enum {
    SCHEDULE_MAX_MS = 3000,         /* until a change has its effect */
    SAVE_MAX_MS = 5000,             /* until a change is on disk */
    REGISTER_MS = 5000,             /* from its start until its nodes register */
    RESERVATION_END_MAX_MS = 60000, /* from a reservation's end to that of its jobs */
    KILL_WAIT_MS = 30000,           /* from SIGTERM to SIGKILL */
    MISSING_MS = 2040000,    /* until a job without processes is found to have none */
    MIN_JOB_AGE_MS = 300000, /* the default of MinJobAge */
};

/* The nodes of a set are bits by their index. */
typedef uint64_t node_set;

enum job_code { /* as squeue sorts and abbreviates them */
                CODE_CA,
                CODE_CD,
                CODE_CG,
                CODE_F,
                CODE_NF,
                CODE_PD,
                CODE_R,
                CODE_RD,
                CODE_ST,
                CODE_TO,
                N_CODES,
};

struct ctld_node {
    bool is_down, is_drained, is_gone; /* gone: deleted */
    bool is_reserved, is_planned;      /* its flags, which follow late */
};

struct ctld_reservation {
    const char *name, *users;
    node_set nodes;
    int64_t start_ms, end_ms;
    int64_t purge_ms; /* its jobs end then; SIM_SLURM_NEVER: its end has not come */
    bool is_flex, ignores_jobs;
};

struct ctld_job {
    int64_t id;
    const char *user, *reservation, *comment, *text, *partition, *reason;
    enum job_code code;
    enum job_code end_code; /* when its processes have ended; of CG */
    int node;               /* -1: none */
    node_set asked;         /* it starts on one of these in its partition */
    int n_cpus;
    bool is_held, may_requeue;
    int n_starts;
    int wait_status;
    int64_t start_ms, end_ms; /* 0: not yet */
    int64_t missing_ms; /* it is found to have no processes then; 0: it has some */
};

struct ctld_books {
    struct ctld_node nodes[SIM_SLURM_NODES_MAX];
    struct ctld_reservation *reservations;
    int n_reservations, room_reservations;
    struct ctld_job *jobs;
    int n_jobs, room_jobs;
    int64_t next_job;
};

struct process { /* a script */
    struct sim_slurm_script script;
    int node;
    int64_t end_ms;  /* of its work; SIM_SLURM_NEVER: it is stopped */
    int64_t left_ms; /* of its work, while it is stopped */
    int64_t kill_ms; /* of SIGKILL; SIM_SLURM_NEVER: not told to end */
    int wait_status;
    bool ignores_term, is_stopped;
    bool is_dead; /* slurmctld was not told yet */
};

struct sim_slurm {
    struct arena arena; /* of texts */
    struct rng rng;
    struct sim_slurm_watch watch;
    int64_t now_ms;
    int64_t min_job_age_ms; /* a job that has ended is listed for so long */
    const char *partitions;
    struct sim_slurm_node nodes[SIM_SLURM_NODES_MAX];
    int64_t node_back_ms[SIM_SLURM_NODES_MAX]; /* SIM_SLURM_NEVER: it is up */
    int n_nodes;
    struct ctld_books books, saved;
    struct process *processes;
    int n_processes, room_processes;
    bool is_up, is_unsaved;
    int64_t back_ms, register_ms, schedule_ms, save_ms; /* SIM_SLURM_NEVER: not due */
};

/* ---- finding */

int sim_slurmctld_find_node(const struct sim_slurm *slurm, const char *name); /* -1 */
struct ctld_reservation *sim_slurmctld_find_reservation(struct sim_slurm *slurm,
                                                        const char *name);
struct ctld_job *sim_slurmctld_find_job(struct sim_slurm *slurm, int64_t id);
bool sim_slurmctld_has_word(const char *words, const char *word);
/* It has its CPUs: R, ST and CG. */
bool sim_slurmctld_has_cpus(const struct ctld_job *job);
bool sim_slurmctld_is_ended(const struct ctld_job *job);
/* CPUs that its jobs have on the node. */
int sim_slurmctld_count_used(const struct sim_slurm *slurm, int node);
/* The reservation may be used, and keeps others away. */
bool sim_slurmctld_is_active(const struct sim_slurm *slurm,
                             const struct ctld_reservation *reservation);
bool sim_slurmctld_is_in_use(const struct sim_slurm *slurm, const char *reservation);
/* Why the reservation may not have its nodes; NULL: it may. */
const char *sim_slurmctld_refuse(const struct sim_slurm *slurm,
                                 const struct ctld_reservation *reservation);

/* ---- changing */

/* The books have changed: they are saved, and jobs start, soon. */
void sim_slurmctld_changed(struct sim_slurm *slurm);
struct ctld_job *sim_slurmctld_add_job(struct sim_slurm *slurm);
struct ctld_reservation *sim_slurmctld_add_reservation(struct sim_slurm *slurm);
void sim_slurmctld_remove_reservation(struct sim_slurm *slurm, const char *name);
/* Its processes are told to end. Without any it has ended. */
void sim_slurmctld_end_job(struct sim_slurm *slurm, struct ctld_job *job,
                           enum job_code code, const char *reason);
/* Signals the job's processes; false: it has none. */
bool sim_slurmctld_signal(struct sim_slurm *slurm, struct ctld_job *job, bool is_stop);
/* slurmctld takes the node for dead. */
void sim_slurmctld_lose_node(struct sim_slurm *slurm, int node);
/* The running job waits again. */
void sim_slurmctld_requeue(struct sim_slurm *slurm, struct ctld_job *job);

/* Puts the books on disk. */
void sim_slurmctld_save(struct sim_slurm *slurm);
void sim_slurmctld_kill(struct sim_slurm *slurm, int64_t down_ms, bool forgets);
/* All processes on the node are gone. */
void sim_slurmctld_clear_node(struct sim_slurm *slurm, int node);
void sim_slurmctld_advance(struct sim_slurm *slurm, int64_t now_ms);
int64_t sim_slurmctld_next_ms(const struct sim_slurm *slurm);
void sim_slurmctld_release(struct sim_slurm *slurm);

#endif
