/* SPDX-License-Identifier: Apache-2.0 */
/* exec_session.h: the session of a host with its site, as a step machine, and the
 * host's table of runs. sublet-host steps it with messages of a connection, the
 * simulator with simulated ones.
 *
 * The host sends HELLO until it gets a WELCOME. Then it reports every run, then SYNCED
 * and its load, and from then on each run again when it changes. The end of a run is
 * repeated until the site forgets the run. A run of phase UNKNOWN, because its guard is
 * starting or is being reaped, is reported once its state is known. If the site is
 * silent for 10 s, the host begins a new session on a new connection; if the site does
 * not know the session, a new one on the same. Messages of other sessions are ignored.
 *
 * An order about a run goes to the run (effect SEND to PEER_RUN), unless the run's
 * record answers it. An order about a run that is not here is answered by UNKNOWN. A
 * START is passed on if its run is not here; two of one batch both are.
 *
 * Another run may have the number of an order's run, if the site's journal was replaced
 * by an older copy: then the nonces differ. A START of such a run is refused, and all
 * other orders about it are as if the run were not here. A run of an earlier version
 * has no nonce, and takes all orders but START. The host has the last mark of the
 * site's journal, and says it in HELLO. Before SYNCED, the site's own runs that its
 * journal may not have are described by RUN_FOUND.
 *
 * Events: messages of the site, and TICK. Effects: SEND to PEER_SITE and PEER_RUN,
 * RECONNECT, LOG. Who sends a HELLO, a LOAD or a RUN_FOUND fills in what the machine
 * reports: n_cpus, values, the START of the run.
 *
 * Units: milliseconds. Order: runs in the order in which they were added.
 * Ownership: runs are the caller's, from add to remove; name and boot id are borrowed.
 * Layer: host/exec (pure). */
#ifndef SUBLET_HOST_EXEC_EXEC_SESSION_H
#define SUBLET_HOST_EXEC_EXEC_SESSION_H

#include <uthash.h>

#include "base/resend.h"
#include "host/exec/exec.h"
#include "model/effect.h"

enum {
    EXEC_SESSION_ALIVE_MS = 2000,
    EXEC_SESSION_RUN_NAME_SIZE = NAME_SIZE + 24,
};

struct host_run {
    char name[EXEC_SESSION_RUN_NAME_SIZE]; /* "SITE.ATTEMPT" */
    char site[NAME_SIZE];
    uint64_t attempt;
    uint64_t nonce;             /* 0: started by an earlier version */
    bool is_leased;             /* of another site */
    struct guard_record record; /* phase RUN_UNKNOWN: not known yet */
    /* Of the session: */
    bool is_due;     /* to be reported */
    bool is_use_due; /* likewise its usage, while it runs */
    int64_t reported_ms;
    struct host_run *prev_due, *next_due;
    UT_hash_handle hh;
};

struct exec_session {
    const char *name, *boot_id;
    uint64_t number; /* 0: no session yet */
    bool is_welcome;
    bool is_synced;
    bool is_load_due;
    uint64_t seq;
    int64_t received_ms; /* silence counts from here */
    int64_t alive_ms;    /* the next heartbeat */
    int64_t report_ms;   /* no report before: the connection took no more */
    int64_t load_ms;     /* when the load was last sent; 0: not in this session */
    struct resend hello;
    struct journal_mark mark; /* the last one of the site; at first as it was stored */
    bool lists_runs;          /* the site asks for RUN_FOUND of own attempts ... */
    uint64_t list_from, list_to, list_above; /* ... in this range, and above this */
    bool lists_all;        /* ... and of all runs, because its journal is behind */
    struct host_run *runs; /* by name */
    struct host_run *due;  /* to be reported, in this order */
};

/* Without a session: the first one begins with exec_session_begin. */
void exec_session_init(struct exec_session *session, const char *name,
                       const char *boot_id, int64_t now_ms);
/* A new session: its HELLO is due at once, or after `wait_ms`. */
void exec_session_begin(struct exec_session *session, int64_t wait_ms, int64_t now_ms);
/* struct exec_session; takes what has happened, and a TICK after it. */
void exec_session_step(void *session, const struct event *event,
                       struct effects *effects);
int64_t exec_session_wake_ms(const void *session);
/* The connection did not take this message, of EFFECT_SEND. It is sent again if it
 * still matters. */
void exec_session_unsent(struct exec_session *session, const struct msg *msg,
                         int64_t now_ms);
/* The load is reported with the next tick, as soon as the site has all runs. */
void exec_session_report_load(struct exec_session *session);
/* A message of this session that it does not decide about: output, a terminal. */
void exec_session_send(const struct exec_session *session, struct msg *msg,
                       struct effects *effects);

/* ---- runs */

/* Adds a run of phase UNKNOWN with that name. */
void exec_session_add(struct exec_session *session, struct host_run *run,
                      const struct run_id *id);
void exec_session_remove(struct exec_session *session, struct host_run *run);
struct host_run *exec_session_find(const struct exec_session *session,
                                   const struct run_id *id);
/* The same if no other run has its number. */
struct host_run *exec_session_find_same(const struct exec_session *session,
                                        const struct run_id *id);
struct run_id exec_session_id(const struct host_run *run);
/* Walks over all runs; NULL begins and ends. */
struct host_run *exec_session_next(const struct exec_session *session,
                                   const struct host_run *run);
/* The state of the run is this now: it is reported, unless only its CPU time has
 * changed. */
void exec_session_change(struct exec_session *session, struct host_run *run,
                         const struct guard_record *record);
/* Its record answers an order: it is reported once more, if its state is known. */
void exec_session_answer(struct exec_session *session, struct host_run *run);
/* The run is gone and has never begun: removed and reported as UNKNOWN. */
void exec_session_lose(struct exec_session *session, struct host_run *run,
                       struct effects *effects);

#endif
