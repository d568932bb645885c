/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_agent.h: the nodes of a Slurm cluster as hosts of a site, as a step machine.
 *
 * To the site each node looks like a host with a sublet-host
 * (host/exec/exec_session.h): the agent sends HELLO, reports the node's runs and its
 * load, and answers orders. What it does in Slurm are commands, one at a time. A cycle
 * asks by one sinfo, one squeue and one scontrol what there is. It then orders what
 * slurm_plan.h finds missing, and reads again if an order was taken, up to
 * SLURM_AGENT_ROUNDS times. Between two cycles a squeue looks for the effect of an
 * order about a run, not more often than five times. The next cycle begins after
 * `cycle_ms`, give or take a tenth; after one that failed the wait doubles, up to
 * SLURM_AGENT_WAITS cycles and a quarter of the term: reservations are renewed in time,
 * and jobs start soon after slurmctld is back. New contracts begin a cycle at once.
 *
 * A run has a directory that all nodes see (slurm_script.h). RUN_START makes it, and
 * RUN_GO submits the run as soon as its node is reserved for its consumer. The first
 * thing that the script does is to take the claim in that directory, and it does
 * nothing if the claim is taken. So the agent may submit a run again that slurmctld has
 * forgotten, slurmctld may start a script twice, and the agent itself takes the claim
 * of a run that must not begin any more. The last thing that the script does is to
 * write down how its command ended. This counts; what slurmctld says counts for a run
 * that was ended from outside. A run that has begun, is not in slurmctld's list and has
 * written no end is LOST, as is one that slurmctld has ended with its reservation.
 *
 * A job that is in one of the site's reservations and is no run of the site is ended,
 * as is a job that still waits for a run that has ended.
 *
 * Units: milliseconds of the caller's clock, which is close to wall clock; seconds in
 * Slurm's times. Order: nodes by name, runs in the order in which they came. Ownership:
 * the config and `io` are borrowed; all else is copied. Errors: a command that fails
 * is logged and tried again with the next cycle. Source:
 * docs/adr/0024-leases-of-slurm-nodes.md. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_AGENT_H
#define SUBLET_SLURM_SLURM_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "slurm/slurm_plan.h"
#include "slurm/slurm_script.h"

enum { SLURM_AGENT_ROUNDS = 4, SLURM_AGENT_WAITS = 4 };

struct slurm_agent_config {
    const char *site, *agent; /* as in slurm_terms */
    const char *partition;    /* "": all of them */
    const char *account;      /* of leased jobs; "": Slurm's default */
    int64_t term_s, cycle_ms;
    uint64_t seed; /* of waits, and of the tokens of runs */
};

/* What is in the directory of a run (slurm_script.h). */
struct slurm_run_files {
    bool is_claimed;  /* its script has begun, or never will */
    int64_t begun_ms; /* 0: it has not begun */
    int64_t job_id;   /* of Slurm, that took the claim */
    bool has_ended;
    struct slurm_script_end end;
    int64_t out_bytes, err_bytes;
};

/* What a run is, as it is kept in its directory from RUN_START on. */
struct slurm_run_record {
    struct run_id run;
    const char *node, *lease;
    const char *account; /* "": the agent's own */
    uint64_t token;
    uint64_t control_done; /* number of the last order that was carried out */
    int n_slots;
    int64_t run_limit_ms;  /* the time that it may run; 0: none */
    int64_t mem_limit_mib; /* 0: none */
};

/* What the agent needs of its caller. */
struct slurm_agent_io {
    void *arg;
    /* A message of the node's host to the site. */
    void (*send)(void *arg, const char *node, const struct msg *msg);
    /* Begins the command, ended by NULL; slurm_agent_done() says how it ended. */
    void (*command)(void *arg, const char *const *words);
    /* Makes the directory of the run, with its script. Errors: ERR_EXISTS, ERR_IO ...
     */
    int (*make_run)(void *arg, const struct slurm_run_record *record,
                    const struct msg_run_start *start, struct err *err);
    /* False: it has no directory. */
    bool (*look)(void *arg, const struct run_id *run, struct slurm_run_files *files);
    /* Takes the claim. False: it was taken before. */
    bool (*claim)(void *arg, const struct run_id *run);
    void (*remove_run)(void *arg, const struct run_id *run);
    /* Keeps that orders about the run up to this number were carried out. */
    void (*keep_control)(void *arg, const struct run_id *run, uint64_t number);
    /* The number of the account's group, in the arena. */
    const char *(*group)(void *arg, const char *account, struct arena *arena);
    /* The path of its script, in the arena. */
    const char *(*script)(void *arg, const struct run_id *run, struct arena *arena);
    /* Reads a piece of its output. */
    void (*read_output)(void *arg, const struct msg_output_ask *ask,
                        struct msg_output *output, struct arena *arena);
    /* The RUN_START of the run, for RUN_FOUND; false: it cannot be read. */
    bool (*read_start)(void *arg, const struct run_id *run, struct msg_run_start *start,
                       struct arena *arena);
    /* Of the candidates of the contract these are held: no job is on them, and no other
     * one will be. It is called again while the contract has candidates. */
    void (*held)(void *arg, const struct slurm_contract *contract,
                 const char *const *nodes, int n_nodes);
    /* Jobs of the cluster's own wait for so many CPUs. */
    void (*waiting)(void *arg, int n_cpus);
    void (*log)(void *arg, enum log_level level, const char *text);
};

struct slurm_agent;
struct slurm_agent *slurm_agent_new(const struct slurm_agent_config *config,
                                    const struct slurm_agent_io *io);
void slurm_agent_free(struct slurm_agent *agent); /* NULL is fine */

/* The nodes that are the site's hosts; a host of the site without a node is out. */
void slurm_agent_set_nodes(struct slurm_agent *agent, const char *const *names,
                           int n_names, int64_t now_ms);
/* A run whose directory was found at the start. */
void slurm_agent_load(struct slurm_agent *agent, const struct slurm_run_record *record,
                      int64_t now_ms);
/* What is lent from now on, and what is to be held. */
void slurm_agent_set_contracts(struct slurm_agent *agent,
                               const struct slurm_contract *contracts, int n_contracts,
                               int64_t now_ms);

/* A message of the site to the node's host. */
void slurm_agent_message(struct slurm_agent *agent, const char *node,
                         const struct msg *msg, int64_t now_ms);
/* The command has ended: 0 and what it printed, or the error. */
void slurm_agent_done(struct slurm_agent *agent, int rc, const char *text,
                      const struct err *err, int64_t now_ms);
/* Time has passed, or a batch of messages ends. */
void slurm_agent_tick(struct slurm_agent *agent, int64_t now_ms);
int64_t slurm_agent_wake_ms(const struct slurm_agent *agent);

/* What was read last; NULL: nothing yet. Valid until the next call. */
const struct slurm_answers *slurm_agent_answers(const struct slurm_agent *agent);
uint64_t slurm_agent_count_commands(const struct slurm_agent *agent);

#endif
