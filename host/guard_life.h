/* SPDX-License-Identifier: Apache-2.0 */
/* guard_life.h: what the parts of a guard share of the one run that it guards: its
 * record, what is executed, its processes, and by when something has to be done.
 *
 * guard_run.c       sets up, and waits for what comes
 * guard_advance.c   goes from one command to the next, to the end
 * guard_start.c     begins one command
 * guard_control.c   carries out orders: stand still, go on, end
 * guard_timers.c    does what is due
 *
 * Each move of the run goes on record here before anybody hears of it.
 *
 * Units: milliseconds of the monotonic clock; of the wall clock in the record.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_LIFE_H
#define SUBLET_HOST_GUARD_LIFE_H

#include "host/guard_account.h"
#include "host/guard_action.h"
#include "host/guard_course.h"
#include "host/guard_crew.h"
#include "host/guard_job.h"
#include "host/guard_ladder.h"
#include "host/guard_limits.h"
#include "host/guard_link.h"
#include "host/guard_record.h"
#include "host/guard_resize.h"
#include "host/guard_spec.h"
#include "host/guard_stream.h"
#include "host/guard_use.h"
#include "model/row.h"

#define GUARD_LIFE_NEVER INT64_MAX

struct guard_life {
    const char *path;
    int dir;
    int signals; /* signalfd: SIGCHLD */
    bool is_over;
    struct guard_spec spec;
    struct guard_account account;
    struct guard_record record;
    struct guard_crew crew;
    struct guard_use use;
    struct guard_job job;
    struct guard_link link;
    struct guard_stream *stream; /* of an interactive run; else NULL */
    char mark[GUARD_RECORD_MARK_SIZE];

    struct guard_course course; /* what is executed in turn */
    bool is_meeting;            /* its job stands at the gate until its user is there */
    bool is_draining;           /* all is over but for what its user has not got */
    bool is_job_over;           /* the job has ended, and what ends it goes on */
    int job_status;

    /* What ends the command that runs. */
    struct guard_ladder ladder;
    struct guard_limits limits; /* of the job, while it runs */
    bool is_at_limit;           /* the run limit is what ends it */
    bool is_killed;             /* an order is */
    bool was_killed;            /* some command of the run, by an order */
    bool is_late;               /* the time for commands before or after the job is */
    int64_t ran_ms;             /* the job, in RUNNING, up to running_since */
    int64_t running_since;
    int64_t end_by; /* others need its slots then: the job is over, or never begins;
                       NEVER */

    /* What it is told to do. */
    struct run_control pending; /* came before the go; number 0: none */
    uint64_t stop_number;       /* of the order to stand still */
    bool is_asked;              /* some may have stopped at a SIGTSTP */
    int reasons;                /* enum halt_cause, added up */
    struct guard_action action; /* a command of JOB_CONTROLS */
    bool is_action_over;        /* it has just ended */
    struct guard_resize resize; /* other slots, and who is told of them */

    /* NEVER: not awaited. guard_timers.c has what is done then. */
    int64_t stage_until; /* the time for commands before or after the job */
    int64_t wait_until;  /* WAITING and no agent */
    int64_t save_at;     /* the record on disk is behind */
    int64_t listen_at;   /* there is no agent, and no socket for one yet */
    int64_t tell_at;     /* what it has used until then */
    int64_t stop_at;     /* it is being stopped, and is looked at then */
};

/* A run that waits for its go; `agent` is a connection that is there already, or -1. */
void guard_life_init(struct guard_life *life, const char *path, int agent);
/* The lock goes before the connections: who hears that we are gone may take it. */
void guard_life_release(struct guard_life *life);

/* The record to disk; what a full disk refuses is tried again. */
void guard_life_save(struct guard_life *life);
/* To disk, then to whoever listens. */
void guard_life_publish(struct guard_life *life);
/* What the job came to goes on record before commands after it begin. */
void guard_life_decide(struct guard_life *life);
/* The run has ended like this. `text` may be "". */
void guard_life_end(struct guard_life *life, enum run_end how, uint64_t code,
                    const char *text);
/* ... like what its course came to. */
void guard_life_conclude(struct guard_life *life);

#endif
