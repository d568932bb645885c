/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_fake.h: the caller of an agent, for tests that tell stories: what it sends,
 * orders and keeps is recorded, and a small cluster of nodes n1 (2 CPUs) and n2 (4)
 * answers its questions; the job of attempt 1 has the number 102. Orders change nothing
 * by themselves: the story says what slurmctld has done. */
#ifndef SUBLET_TESTS_SLURM_FAKE_H
#define SUBLET_TESTS_SLURM_FAKE_H

#include "slurm/slurm_agent.h"

enum { FAKE_LINES = 400, FAKE_RUNS = 8 };
#define FAKE_NOW_MS INT64_C(1795512300000)

struct fake_run {
    struct slurm_run_record record;
    struct slurm_run_files files;
    bool is_there;
};

/* A job of Slurm. Texts that are NULL: "None", no comment, no node, the user bob. */
struct fake_job {
    int id;
    const char *state, *reservation, *node, *user, *reason, *comment;
    int n_cpus, status;
    int64_t start_s, end_s;
};

struct slurm_fake {
    struct slurm_agent *agent;
    struct arena memory;
    int64_t now_ms;
    const char *running;          /* the command that runs; "": none */
    const char *done[FAKE_LINES]; /* commands but questions, as they were ordered */
    int n_done;
    const char *said[FAKE_LINES]; /* RUN_STATEs: "south.1 RUNNING" */
    int n_said;
    int n_synced;
    struct msg_host_load load[2];
    uint64_t sessions[2];
    bool is_welcome_due[2], is_pong_due[2];
    struct fake_run runs[FAKE_RUNS];
    const char *held; /* "POLICY CONSUMER EPOCH: nodes" of the last report; "": none */
    /* What squeue and scontrol print; of sinfo the states. */
    const char *state[2];
    int used[2];
    const char *list, *jobs; /* the site's own runs; any others */
    const char *reservations;
    int n_waiting; /* as the agent has said */
    bool is_away;  /* slurmctld does not answer */
    bool fails_sbatch;
    const char *limit; /* of the jobs that the site starts, as "mem=1024"; NULL: none */
};

struct slurm_fake *slurm_fake_new(const struct slurm_run_record *found);
void slurm_fake_free(struct slurm_fake *fake);
/* Time passes, and each command is answered at once. */
void slurm_fake_pass(struct slurm_fake *fake, int64_t ms);
/* The site speaks to n1 or n2. */
void slurm_fake_start(struct slurm_fake *fake, int node, uint64_t attempt);
void slurm_fake_go(struct slurm_fake *fake, int node, uint64_t attempt);
void slurm_fake_control(struct slurm_fake *fake, int node, uint64_t attempt,
                        uint64_t number, enum control_action action, int signal);
void slurm_fake_forget(struct slurm_fake *fake, int node, uint64_t attempt);
/* The lease's users have reserved these nodes under that epoch. */
void slurm_fake_reserve(struct slurm_fake *fake, const char *name, const char *nodes,
                        const char *users);
void slurm_fake_job(struct slurm_fake *fake, const struct fake_job *job);
/* The job of a run. */
void slurm_fake_list(struct slurm_fake *fake, int id, const char *state, int status,
                     uint64_t attempt, int ran_s);
struct fake_run *slurm_fake_run(struct slurm_fake *fake, uint64_t attempt);
/* The last thing that was said; "": nothing. */
const char *slurm_fake_said(const struct slurm_fake *fake);
/* How many commands contain that text. */
int slurm_fake_count(const struct slurm_fake *fake, const char *text);

#endif
