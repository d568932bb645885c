/* SPDX-License-Identifier: Apache-2.0 */
/* guard_run.h: the state of the one run that a guard guards: its record, its sequence
 * of commands, its processes, and its deadlines. The other parts of the guard share it.
 *
 * guard_loop.c       sets it up, and waits for events
 * run_step.c         goes from one command to the next, to the end
 * guard_control.c    carries out requests: suspend, resume, signal, terminate
 * resize_command.c   notifies the run of other slots
 * guard_timers.c     does what is due
 *
 * Each change of state is recorded here before it is reported.
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

struct guard_run {
    const char *path;
    int dir;
    int signals;  /* signalfd: SIGCHLD */
    bool is_over; /* the guard exits */
    struct run_spec spec;
    struct account account;
    struct guard_record record;
    struct procs procs;
    struct run_rusage rusage;
    struct launched launched; /* the current command */
    struct guard_link link;
    struct stdio_relay *relay; /* of an interactive run; else NULL */
    char mark[GUARD_RECORD_MARK_SIZE];

    struct stages stages;
    bool awaits_user; /* the job is held at the gate until its user has connected */
    bool is_draining; /* only output that its user has not received is left */
    bool is_job_over; /* the job has ended, but the command that ends it still runs */
    int job_status;

    /* What terminates the current command: */
    struct escalation escalation;
    struct rlimit_watch rlimits; /* of the job, while it runs */
    bool is_at_limit;            /* the run limit */
    bool is_killed;              /* a kill request */
    bool was_killed;             /* a kill request, for any command of the run */
    bool is_late;                /* the time limit of pre-exec or post-exec commands */
    int64_t ran_ms;              /* the job's time in RUNNING, up to running_since */
    int64_t running_since;
    int64_t end_by; /* other jobs need its slots then: until then the job is over, or it
                       never begins; NEVER */

    /* Requests: */
    struct run_control pending; /* came before the GO; number 0: none */
    uint64_t suspend_number;    /* of the request to suspend */
    bool is_tstp_sent;          /* some processes may have stopped at a SIGTSTP */
    int reasons;                /* enum suspend_cause, added up */
    struct control_command control_command; /* a command of JOB_CONTROLS */
    bool has_command_ended;                 /* it has just ended */
    struct resize_command resize;

    /* Deadlines; NEVER: not set. guard_timers.c says what is done then. */
    int64_t stage_until;   /* the time limit of pre-exec or post-exec commands */
    int64_t give_up_at;    /* WAITING without agent */
    int64_t save_at;       /* the record on disk is behind */
    int64_t listen_at;     /* no agent is connected, and there is no socket yet */
    int64_t report_use_at; /* the next report of CPU time */
    int64_t suspend_at;    /* it is being suspended, and is checked then */
};

/* A run that waits for its GO; `agent` is an open connection, or -1. */
void guard_run_init(struct guard_run *run, const char *path, int agent);
/* Releases the lock before the connections: an agent that notices our end may lock. */
void guard_run_release(struct guard_run *run);

/* Writes the record to disk; tries again later if the disk is full. */
void guard_run_save(struct guard_run *run);
/* Writes the record to disk, then sends it to all agents. */
void guard_run_publish(struct guard_run *run);
/* Copies the result of the job to the record. */
void guard_run_record_outcome(struct guard_run *run);
/* Ends the run. `text` may be "". */
void guard_run_end(struct guard_run *run, enum run_end how, uint64_t code,
                   const char *text);
/* Ends the run with the result of its stages. */
void guard_run_end_as_decided(struct guard_run *run);

#endif
