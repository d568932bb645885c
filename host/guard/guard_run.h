/* SPDX-License-Identifier: Apache-2.0 */
/* guard_run.h: what the parts of a guard share of the one run that it guards: its
 * record, what is executed, its processes, and by when something has to be done.
 *
 * guard_loop.c       sets up, and waits for what comes
 * run_step_next.c   goes from one command to the next, to the end
 * run_step_start.c     begins one command
 * guard_control.c   carries out orders: stand still, go on, end
 * guard_timers.c    does what is due
 *
 * Each move of the run goes on record here before anybody hears of it.
 *
 * Units: milliseconds of the monotonic clock; of the wall clock in the record.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_RUN_H
#define SUBLET_HOST_GUARD_GUARD_RUN_H

#include "host/exec/escalation.h"
#include "host/exec/guard_record.h"
#include "host/exec/run_spec.h"
#include "host/exec/stages.h"
#include "host/guard/control_command.h"
#include "host/guard/guard_link.h"
#include "host/guard/launch.h"
#include "host/guard/resize_command.h"
#include "host/guard/rlimit_watch.h"
#include "host/guard/run_rusage.h"
#include "host/kernel/account.h"
#include "host/kernel/procs.h"
#include "host/stdio/stdio_relay.h"
#include "model/row.h"

#define GUARD_RUN_NEVER INT64_MAX

struct guard_run {
    const char *path;
    int dir;
    int signals; /* signalfd: SIGCHLD */
    bool is_over;
    struct run_spec spec;
    struct account account;
    struct guard_record record;
    struct procs crew;
    struct run_rusage use;
    struct launched job;
    struct guard_link link;
    struct stdio_relay *stream; /* of an interactive run; else NULL */
    char mark[GUARD_RECORD_MARK_SIZE];

    struct stages course; /* what is executed in turn */
    bool is_meeting;      /* its job stands at the gate until its user is there */
    bool is_draining;     /* all is over but for what its user has not got */
    bool is_job_over;     /* the job has ended, and what ends it goes on */
    int job_status;

    /* What ends the command that runs. */
    struct escalation ladder;
    struct rlimit_watch limits; /* of the job, while it runs */
    bool is_at_limit;           /* the run limit is what ends it */
    bool is_killed;             /* an order is */
    bool was_killed;            /* some command of the run, by an order */
    bool is_late;               /* the time for commands before or after the job is */
    int64_t ran_ms;             /* the job, in RUNNING, up to running_since */
    int64_t running_since;
    int64_t end_by; /* others need its slots then: the job is over, or never begins;
                       NEVER */

    /* What it is told to do. */
    struct run_control pending;    /* came before the go; number 0: none */
    uint64_t stop_number;          /* of the order to stand still */
    bool is_asked;                 /* some may have stopped at a SIGTSTP */
    int reasons;                   /* enum halt_cause, added up */
    struct control_command action; /* a command of JOB_CONTROLS */
    bool is_action_over;           /* it has just ended */
    struct resize_command resize;  /* other slots, and who is told of them */

    /* NEVER: not awaited. guard_timers.c has what is done then. */
    int64_t stage_until; /* the time for commands before or after the job */
    int64_t wait_until;  /* WAITING and no agent */
    int64_t save_at;     /* the record on disk is behind */
    int64_t listen_at;   /* there is no agent, and no socket for one yet */
    int64_t tell_at;     /* what it has used until then */
    int64_t stop_at;     /* it is being stopped, and is looked at then */
};

/* A run that waits for its go; `agent` is a connection that is there already, or -1. */
void guard_run_init(struct guard_run *life, const char *path, int agent);
/* The lock goes before the connections: who hears that we are gone may take it. */
void guard_run_release(struct guard_run *life);

/* The record to disk; what a full disk refuses is tried again. */
void guard_run_save(struct guard_run *life);
/* To disk, then to whoever listens. */
void guard_run_publish(struct guard_run *life);
/* What the job came to goes on record before commands after it begin. */
void guard_run_record_outcome(struct guard_run *life);
/* The run has ended like this. `text` may be "". */
void guard_run_end(struct guard_run *life, enum run_end how, uint64_t code,
                   const char *text);
/* ... like what its course came to. */
void guard_run_end_as_decided(struct guard_run *life);

#endif
