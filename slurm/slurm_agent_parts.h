/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_agent_parts.h: the state of the agent, for the files that are named
 * slurm_agent*. slurm_agent.c has the cycle of commands and the sessions,
 * slurm_agent_run.c the orders about runs, slurm_agent_state.c what becomes of each.
 * Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_AGENT_PARTS_H
#define SUBLET_SLURM_SLURM_AGENT_PARTS_H

#include "base/rng.h"
#include "host/exec/exec_session.h"
#include "slurm/slurm_agent.h"
#include "slurm/slurm_run.h"
#include "slurm/slurm_use.h"

/* A node as a host of the site. */
struct agent_node {
    char name[NAME_SIZE];
    struct exec_session session;
    bool is_gone; /* not a host of the site any more */
};

/* `run` is first: it is in the session's table. */
struct agent_run {
    struct host_run run;
    struct agent_node *node;
    struct arena arena;
    struct slurm_run_record record; /* texts in the arena */
    bool has_go;                    /* it is to be submitted, or was */
    bool is_new;       /* its directory was made in this process, not found */
    int64_t job_id;    /* of Slurm; 0: not submitted, or not found yet */
    bool is_uncertain; /* found at the start, or sbatch did not say that it failed */
    int64_t absent_ms; /* since when the list does not have it, or has it as ended */
    int64_t look_ms;   /* when its files are looked at again */
    struct run_control order; /* the latest; number above record.control_done: due */
    int64_t order_ms;         /* when it is given again */
    bool is_ordered;          /* it was given; Slurm's list has to show the effect */
    enum run_cause limit;     /* it was ended for this */
    int64_t ran_ms, since_ms; /* time in RUNNING: before, and since when */
};

struct slurm_agent {
    struct slurm_agent_config config;
    struct slurm_agent_io io;
    struct rng rng;
    struct agent_node **nodes; /* by name */
    int n_nodes;
    struct agent_run **runs; /* as they came */
    int n_runs, runs_capacity;
    struct arena contracts_arena;
    struct slurm_contract *contracts;
    int n_contracts;
    bool is_stale; /* the contracts have changed since the last plan */

    /* What was read. */
    struct arena arenas[2];
    int reading;
    struct slurm_answers answers[2];
    const struct slurm_answers *known; /* the last complete ones; NULL: none yet */
    const struct slurm_use *uses;      /* of its nodes */
    struct slurm_plan plan;

    /* What is being done. */
    enum agent_doing {
        AGENT_NOTHING,
        AGENT_NODES,
        AGENT_JOBS,
        AGENT_RESERVATIONS,
        AGENT_PLAN_ORDER,
        AGENT_LIST,
        AGENT_SUBMIT,
        AGENT_RUN_ORDER,
        AGENT_INTRUDER,
    } doing;
    enum agent_doing next;   /* step of the cycle; NOTHING: it is over */
    struct agent_run *about; /* SUBMIT, RUN_ORDER; NULL: the run is gone */
    struct arena command;    /* its words */
    struct arena listing;
    /* When jobs are listed next, between two cycles, and when they last were. */
    int64_t list_ms, list_began_ms;
    int n_lists; /* since the last order: the wait grows */
    int64_t *intruders;
    int n_intruders;
    int64_t now_ms, cycle_ms; /* when the next cycle begins */
    int n_rounds, next_order, n_failed;
    bool has_changed, has_failed, waits_for_hold;
    uint64_t n_commands;
    struct effects effects;
};

/* ---------------------------------------------------------------- slurm_agent_io.c
 */

void slurm_agent_io_log(struct slurm_agent *agent, enum log_level level,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Begins a command; the words may be in agent->command. */
void slurm_agent_io_begin(struct slurm_agent *agent, enum agent_doing doing,
                          const char *const *words);

/* ---------------------------------------------------------------- any */

static inline const char *slurm_agent_account_of(const struct slurm_agent *agent,
                                                 const struct agent_run *run)
{
    return run->record.account[0] != '\0' ? run->record.account : agent->config.agent;
}

/* An order of the site is not carried out yet. */
static inline bool slurm_agent_has_order(const struct agent_run *run)
{
    return run->order.number > run->run.record.control_done;
}

static inline bool slurm_agent_is_killed(const struct agent_run *run)
{
    return run->limit != RUN_CAUSE_NONE ||
           (slurm_agent_has_order(run) && run->order.action == CONTROL_KILL);
}

/* ---------------------------------------------------------------- slurm_agent_state.c
 */

void slurm_agent_state_change(struct agent_run *run, const struct guard_record *record);
void slurm_agent_state_end(struct slurm_agent *agent, struct agent_run *run,
                           enum run_end how, int code, int64_t ended_ms,
                           const char *text);
/* The order was carried out, and this is the phase now. */
void slurm_agent_state_set_done(struct slurm_agent *agent, struct agent_run *run,
                                enum run_phase phase);
/* The list is to be read before the next cycle, because something is awaited. */
void slurm_agent_state_list_soon(struct slurm_agent *agent);
/* squeue has answered. */
void slurm_agent_state_listed(struct slurm_agent *agent, const struct slurm_jobs *jobs);
/* Jobs in the site's reservations that are none of its runs, and those of runs that
 * must not begin any more: agent->intruders. */
void slurm_agent_state_find_intruders(struct slurm_agent *agent, struct arena *arena);
bool slurm_agent_state_is_job(void *agent, int64_t job_id);
/* Looks at files, and at limits of time. */
void slurm_agent_state_tick(struct slurm_agent *agent);
int64_t slurm_agent_state_wake_ms(const struct slurm_agent *agent);

/* ---------------------------------------------------------------- slurm_agent_run.c */

/* An order of the site to this node. */
void slurm_agent_run_message(struct slurm_agent *agent, struct agent_node *node,
                             const struct msg *msg);
struct agent_run *slurm_agent_run_add(struct slurm_agent *agent,
                                      struct agent_node *node,
                                      const struct slurm_run_record *record);
void slurm_agent_run_free(struct slurm_agent *agent, struct agent_run *run);
/* True if a command of a run was begun. */
bool slurm_agent_run_act(struct slurm_agent *agent);
void slurm_agent_run_submitted(struct slurm_agent *agent, int rc, const char *text,
                               const struct err *err);
void slurm_agent_run_ordered(struct slurm_agent *agent, int rc, const struct err *err);
#endif
