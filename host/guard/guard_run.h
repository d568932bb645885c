/* SPDX-License-Identifier: Apache-2.0 */
/* guard_run.h: the one run that a guard guards. What happens to it is decided by its
 * step machine (exec_run in exec.h). Here are its processes, its record and its
 * connections.
 *
 * guard_loop.c       sets it up, and waits for events
 * guard_step.c       steps the machine, and carries out its effects
 * guard_command.c    launches commands, and kills what they leave behind
 * control_command.c  launches the commands of JOB_CONTROLS
 * resize_command.c   notifies the run of other slots
 * guard_timers.c     does what is due
 *
 * Units: milliseconds of the monotonic clock; of the wall clock in the record.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_RUN_H
#define SUBLET_HOST_GUARD_GUARD_RUN_H

#include "host/exec/exec.h"
#include "host/guard/control_command.h"
#include "host/guard/guard_link.h"
#include "host/guard/launch.h"
#include "host/guard/resize_command.h"
#include "host/guard/rlimit_watch.h"
#include "host/guard/run_rusage.h"
#include "host/kernel/kernel.h"
#include "host/stdio/host_stdio.h"
#include "model/row.h"

#define GUARD_RUN_NEVER INT64_MAX

enum { GUARD_RUN_CHILDREN = EXEC_NOTIFICATION + 1 };

struct guard_run {
    const char *path;
    int dir;
    int signals;   /* signalfd: SIGCHLD */
    bool is_alone; /* no agent is connected, as exec knows */
    struct run_spec spec;
    struct account account;
    struct user_env user_env; /* of a leased run */
    struct exec_run exec;
    struct guard_record record; /* of exec, and of the processes */
    struct procs procs;
    struct procs orphans; /* of a run that is reaped; mark NULL: none are left */
    struct run_rusage rusage;
    struct launched launched;        /* the current command */
    pid_t aside[GUARD_RUN_CHILDREN]; /* the other children; 0: none runs */
    struct resize_command resize;
    struct rlimit_watch rlimits; /* of the job, while it runs */
    struct guard_link link;
    struct stdio_relay *relay; /* of an interactive run; else NULL */
    char mark[GUARD_RECORD_MARK_SIZE];

    /* Deadlines; NEVER: not set. guard_timers.c says what is done then. */
    int64_t listen_at;     /* no agent is connected, and there is no socket yet */
    int64_t report_use_at; /* the next report of CPU time */
};

/* A run that waits for its GO; `agent` is an open connection, or -1. */
void guard_run_init(struct guard_run *run, const char *path, int agent);
/* Releases the lock before the connections: an agent that notices our end may lock. */
void guard_run_release(struct guard_run *run);

/* Writes the record to disk; false if that failed, mostly on a full disk. */
bool guard_run_save(struct guard_run *run);
/* Likewise, then sends it to all agents in any case. */
bool guard_run_publish(struct guard_run *run);

/* ---- steps (guard_step.c)
 *
 * A step carries out the effects of an event, and then those of each answer. */
void guard_step(struct guard_run *run, const struct exec_event *event);
/* An event that has nothing but its kind. */
void guard_step_kind(struct guard_run *run, enum exec_event_kind kind);
/* A child may have ended: `signals` is readable. */
void guard_step_on_child(struct guard_run *run);
/* A request has come from an agent: guard_link_request_fn. */
void guard_step_on_request(void *run, const struct guard_request *request);

/* ---- commands (guard_command.c) */

/* Forks the current command of the stages; it waits at its gate. */
int guard_command_launch(struct guard_run *run, struct err *err) MUST_CHECK;
/* Writes the record that the command has begun; if that fails, the command exits at its
 * gate. */
int guard_command_save(struct guard_run *run, struct err *err) MUST_CHECK;

struct guard_command_ends {
    bool has_ended[GUARD_RUN_CHILDREN]; /* by enum exec_child */
    int status[GUARD_RUN_CHILDREN];
};

/* Collects children that have ended; does not wait. */
void guard_command_collect(struct guard_run *run, struct guard_command_ends *ends);
/* Kills all processes that are left, once. The guard is the subreaper: when it has no
 * child, and a scan finds no process that another guard left, no process of the run is
 * left, and this returns true. */
bool guard_command_clear(struct guard_run *run);
/* The next command is born into another cgroup: some kernels (6.18) kill a process that
 * is born into one that was killed. */
void guard_command_release(struct guard_run *run);

/* ---- deadlines (guard_timers.c)
 *
 * The deadlines of the run itself are those of exec_run. These are of its connections
 * and of its resource usage. They and what is done at each are one table. Each row
 * computes when it is due (NEVER: not now), so code that changes the state need not
 * maintain it. After the end of the run only what exec_run says is still due. Order:
 * rows that are due at the same time go from the top down. */

/* The earliest deadline; NEVER: none. */
int64_t guard_timers_next_ms(const struct guard_run *run);
/* The same for poll: milliseconds from now on, -1: none. */
int guard_timers_timeout_ms(const struct guard_run *run);
/* Notices which agents are connected, and does what is due. */
void guard_timers_step(struct guard_run *run);

#endif
