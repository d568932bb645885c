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

/* ---- from the GO to the end (run_step.c)
 *
 * Launches one command after the other, and kills the processes that each of them
 * leaves behind. The first instruction of a command comes after the record says that it
 * has begun; that of an interactive job also waits for its user. */

/* The GO has come. */
void run_step_begin(struct guard_run *run);
/* Launches the current command, or the next one that can be launched; ends the run
 * after the last one. */
void run_step_next(struct guard_run *run);
/* A child may have ended: `signals` is readable. */
void run_step_on_child(struct guard_run *run);

/* ---- control requests (guard_control.c)
 *
 * A request whose number was carried out already is answered and not repeated. One that
 * comes before the GO is stored and carried out after it; a kill ends the run at once.
 * A kill, and a limit, send signals to all processes (escalation in exec.h), after a
 * resume. They terminate the current command: before the job this keeps the job from
 * beginning, after the job it does not change the result. The job may have commands of
 * its own for suspend, resume and terminate (JOB_CONTROLS, control_command.h). */

/* Checks a request, and carries it out or answers it. */
void guard_control_request(struct guard_run *run, const struct guard_request *request);
/* Carries out a valid request, for a run that has begun. */
void guard_control_apply(struct guard_run *run, const struct run_control *control);

/* Terminates the current command, beginning with this signal (SIGXCPU, SIGINT,
 * SIGKILL). A suspended command is resumed, or it could not react to the signals,
 * except for SIGKILL: its slots may be in use by other jobs. */
void guard_control_terminate(struct guard_run *run, int signal);
/* Sends the next of these signals, if it is due. */
void guard_control_escalate(struct guard_run *run, int64_t now);

/* Stops all processes. SUSPENDED is reported only once all of them are stopped, because
 * other jobs get the slots then. */
void guard_control_suspend(struct guard_run *run);
/* Kills the running command of JOB_CONTROLS, if any. */
void guard_control_kill_command(struct guard_run *run);
/* That command has ended or was killed for its time: continues what it was for. */
void guard_control_command_ended(struct guard_run *run);

/* ---- deadlines (guard_timers.c)
 *
 * The deadlines, and what is done at each, are one table. Each row computes from the
 * state of the run when it is due (NEVER: not now), so code that changes the state need
 * not maintain the deadlines. A suspended run is not resumed for a limit. After the end
 * of the run only the record on disk may still be due. Order: rows that are due at the
 * same time go from the top down. */

/* The earliest deadline; NEVER: none. */
int64_t guard_timers_next_ms(const struct guard_run *run);
/* The same for poll: milliseconds from now on, -1: none. */
int guard_timers_timeout_ms(const struct guard_run *run);
/* Notices which agents are connected, and does what is due. */
void guard_timers_step(struct guard_run *run);

#endif
