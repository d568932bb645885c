/* SPDX-License-Identifier: Apache-2.0 */
/* row.h: what the step machines put on disk and find there again: rows as structs.
 *
 * A store effect is a whole row; the same key replaces it. Stores keep them in
 * tables (schema/), the simulator in memory; at start each is handed back through
 * broker_load or site_load before the first event, in the order of the kinds here.
 *
 * Ownership: as for messages: borrowed from the effects' arena, or from the loader.
 * Layer: model. */
#ifndef SUBLET_MODEL_ROW_H
#define SUBLET_MODEL_ROW_H

#include "base/arena.h"
#include "model/msg.h"

enum row_kind {
    ROW_COUNTER, /* key: name. Both stores. */
    /* broker */
    ROW_OVERRIDE, /* key: scope, name. delay_ms -1 deletes */
    ROW_LEASE,    /* key: id. Replaces its hosts too */
    ROW_SITE,     /* key: name. A member that was here once */
    ROW_POOL,     /* key: name. is_gone deletes it, and what its nodes keep */
    ROW_KEPT,     /* key: pool, node. is_gone deletes */
    ROW_HISTORY,  /* append only; never loaded */
    /* site */
    ROW_BOOK,      /* key: lease. Replaces its hosts; is_gone deletes */
    ROW_HIGH,      /* key: consumer. Attempts up to here are decided */
    ROW_QUEUE,     /* key: name. One that an administrator has closed or stopped */
    ROW_JOB,       /* key: id. Once, at submission; one for a whole array */
    ROW_JOB_STATE, /* key: id, index. is_gone deletes the job whole. An element of an
                      array without one is PEND */
    ROW_RUN,       /* key: site, attempt. is_gone deletes */
    ROW_CLOSED,    /* key: host. is_closed false deletes */
    ROW_PICK,      /* key: policy, content. is_gone deletes */
    ROW_SHARE,     /* key: scope, account. is_gone deletes */
    ROW_JOB_EVENT, /* append only; never loaded */
    ROW_KINDS
};

/* Numbers that only grow: "boot", "job", "attempt", "session". */
struct row_counter {
    const char *name;
    uint64_t value;
};

struct row_override {
    enum reclaim_scope scope;
    const char *name; /* "" for all */
    int64_t delay_ms;
};

struct row_lease {
    const char *id, *provider, *policy, *consumer;
    enum lease_type type;
    enum lease_state state;
    uint64_t epoch;
    bool is_made;
    bool is_withdrawn;
    bool is_drain_ordered; /* by an administrator, of this lease by itself */
    bool is_drained; /* the latest order to its provider, for whatever reason ... */
    uint64_t drain;  /* ... and its number; 0: there was none */
    int64_t registered_ms;
    int64_t made_ms;                /* 0: not made */
    int64_t changed_ms;             /* last change of state or epoch */
    int64_t judged_ms;              /* when the last rebalance was due; 0: never */
    const char *reason;             /* of the last change */
    const struct host_split *hosts; /* used counts: as last reported */
    int n_hosts;
    const struct lease_resource *resources;
    int n_resources;
};

/* Whether a member is lost outlives the broker: it is back only if it was lost. */
struct row_site {
    const char *name;
    bool is_lost;
    bool is_drained;  /* by an administrator: all its leases, also those to come */
    int64_t since_ms; /* lost, or back; or its silent_ms, where that is earlier */
    int64_t
        silent_ms; /* a start of the broker since which nothing was heard; 0: heard */
};

/* A pool as its latest cycle had it: what the next one has to know where it goes by the
 * plan of another time window. */
struct row_pool {
    const char *name;
    const char *window; /* ""; the pool has none */
    int64_t slots;
    bool is_gone;
};

/* What a node keeps of its policy before, until it has no more than that. */
struct row_kept {
    const char *pool, *node;
    int64_t slots;
    bool is_gone;
};

/* A change of a contract, with what it was and why, or of a site's presence; also the
 * simulator's events. */
enum history_event {
    HISTORY_REGISTERED,
    HISTORY_MADE,
    HISTORY_INACTIVE,
    HISTORY_ACTIVE,
    HISTORY_CHANGED, /* by the provider itself */
    HISTORY_DRAINING,
    HISTORY_ENDED,
    HISTORY_SITE_LOST, /* of a site: no lease, state, epoch or slots */
    HISTORY_SITE_BACK,
    HISTORY_QUOTA, /* of a pool's node, as are those that follow */
    HISTORY_RECALL,
    HISTORY_RECALL_DONE,
};

struct row_history {
    int64_t at_ms;
    const char *lease; /* "": of a site */
    const char *site;  /* else "" or NULL */
    enum history_event event;
    enum lease_state state;
    uint64_t epoch;
    int provider_available, provider_used, consumer_available, consumer_used;
    const char *reason;
    const char *pool, *node; /* of a pool's node; else "" or NULL, and what follows 0 */
    int64_t quota, demand;   /* QUOTA */
    int64_t slots, deadline_ms; /* RECALL, RECALL_DONE; those have a lease too */
};

/* After the deadline, by this site's clock, the contract holds no more. */
struct row_recall {
    int n_held;
    int64_t deadline_ms;
};

struct row_book {
    const char *lease;  /* id */
    const char *policy; /* NAME or number */
    const char *consumer;
    const char *content; /* the policy as a normal text: an unnamed one keeps its
                            number while this is equal */
    enum lease_type type;
    uint64_t epoch;
    bool is_made;
    bool is_withdrawn;
    bool is_ended;
    bool is_drained; /* the latest DRAIN ... */
    uint64_t drain;  /* ... and its number; 0: there was none */
    bool is_gone;
    const struct host_split
        *hosts; /* host, n_slots, provider, consumer, spaces count */
    int n_hosts;
    uint64_t recall; /* number of the latest RECALL; 0: there was none */
    bool is_whole;   /* it wants whole hosts back */
    const struct row_recall *recalls; /* what of it is not home yet */
    int n_recalls;
    const struct lease_resource *resources;
    int n_resources;
};

struct row_high {
    const char *consumer;
    uint64_t attempt;
};

struct row_closed {
    const char *host; /* "n1", "n1@north" */
    bool is_closed;
};

/* The hosts that were picked for an export policy by what they had told. */
struct row_pick {
    const char *policy;  /* export_late's name */
    const char *content; /* of the policy */
    const char *hosts;   /* names, joined by blanks, in file order */
    bool is_gone;
};

/* What an account, or a queue of a slot pool, has used, as of an instant: it fades. */
struct row_share {
    const char *scope;   /* "queue/normal", "partition/fast", "pool/A" */
    const char *account; /* a user; of a pool a queue */
    double cpu_ms;
    double past_ms;  /* run time of ended jobs; of a queue slot time */
    double ahead_ms; /* of a queue: above its share; negative: below */
    bool is_waiting; /* of a queue */
    int64_t at_ms;
    bool is_gone;
};

struct row_queue {
    const char *name;
    bool is_closed, is_inactive;
};

struct row_job {
    uint64_t id;
    int64_t submit_ms;
    bool is_array; /* the spec's name has its index list (model/job_id.h) */
    struct job_spec spec;
    struct job_terms terms;
};

/* A job's state as LSF names it. */
enum job_state {
    JOB_PEND,
    JOB_PSUSP,
    JOB_RUN,
    JOB_USUSP,
    JOB_SSUSP,
    JOB_DONE,
    JOB_EXIT,
    JOB_UNKWN
};
enum { JOB_STATES = JOB_UNKWN + 1 };

/* What makes a job stand still that has begun: bits, as several may. */
enum halt_cause {
    HALT_USER = 1,
    HALT_PREEMPT = 2, /* its slots went to others, and it waits for slots again */
    HALT_WINDOW = 4,  /* of its queue, or of a host */
    HALT_LOAD = 8,
    HALT_CAUSES = 15,
};

struct job_halt {
    int causes;         /* 0: it is to run */
    bool yields;        /* its slots are others' once it stands still */
    uint64_t by;        /* key of the job it gave way to; 0: none */
    int n_preempted;    /* how often it had to */
    int64_t since_ms;   /* it stands still since; 0: it does not */
    int64_t resumed_ms; /* it went on last; 0: never */
    int64_t total_ms;   /* it stood still before `since_ms` */
};

/* Why a job that has an attempt is to wait again: its run is being ended; why one that
 * waits had to wait again. NONE: it is not to, or has not yet. LOST: its run was, or
 * never began, a command before it failing among that. EXIT: by the codes of its queue.
 */
enum requeue_cause {
    REQUEUE_NONE,
    REQUEUE_LOST,
    REQUEUE_USER,
    REQUEUE_EXIT,
    REQUEUE_RECALL,
    REQUEUE_PREEMPT, /* this and what follows: TERMINATE_WHEN, JOB_CONTROLS */
    REQUEUE_WINDOW,
    REQUEUE_LOAD,
    REQUEUE_CAUSES
};

/* The resizes of an attempt. */
struct job_resize {
    uint64_t number;                /* of the last one; 0: there was none */
    enum resize_event event;        /* it is under way; NONE: it is over */
    const struct host_slots *hosts; /* that come (they are among the job's), or go */
    int n_hosts;
    int max_slots; /* it asks for slots until it has so many; 0: for none */
};

struct row_job_state {
    uint64_t id;
    int index; /* in its array, from 1; 0: of no array */
    enum job_state state;
    uint64_t attempt;  /* of the latest start; 0: none */
    const char *lease; /* that it runs under; "": own hosts */
    uint64_t epoch;    /* of the lease at START */
    bool is_decided;   /* the attempt was taken (own: always) */
    bool is_taken;  /* own: while it is PEND and has no ROW_RUN, its run is TAKEN, and
                       executes it as submitted */
    bool is_killed; /* a user asked for its end */
    const struct host_slots *hosts; /* "n1" or "n1@north" */
    int n_hosts;
    int64_t start_ms, end_ms;
    struct run_control control; /* the latest order about this attempt */
    struct run_exit exit;       /* once known; output may still be on its way */
    const char *reason;
    const char *queue; /* that it was switched to; "": as submitted */
    int64_t place;     /* by btop, bbot: lower first; 0: as submitted */
    bool is_released;  /* its condition (-w) was met once */
    enum requeue_cause requeue_cause;
    struct job_halt halt;
    const char *overload; /* the load that it stands still for, or went on after; "" */
    const char
        *reserved; /* by its attempt, as sched/resreq/resreq_rusage.h reads it; "" */
    uint64_t
        backfill_of; /* the job whose reserved slots it was given; 0: of none ... */
    int64_t backfill_until_ms; /* ... until that one could start */
    int n_requeues;  /* by its exit code, since its submission or a user's requeue */
    int n_pre_fails; /* commands before it that have failed, in a row */
    const char *avoided; /* hosts where it exited with a code of EXCLUDE since then, as
                            "n1 n2@north"; "": none */
    struct job_resize resize;
    bool is_dropped; /* this element is forgotten; others of its array are not */
    bool is_gone;
};

/* What happened to a job, for `hist`. */
enum job_event {
    JOB_EVENT_SUBMIT,
    JOB_EVENT_DISPATCH, /* hosts are given */
    JOB_EVENT_ACCEPT,   /* its provider has taken it; there: a consumer's job came */
    JOB_EVENT_START,
    JOB_EVENT_SUSPEND,
    JOB_EVENT_RESUME,
    JOB_EVENT_KILL, /* its end is ordered */
    JOB_EVENT_REQUEUE,
    JOB_EVENT_SWITCH,
    JOB_EVENT_MOVE, /* btop, bbot */
    JOB_EVENT_END,
    JOB_EVENT_RUN_END, /* of a job that waits again: its run was over, and how */
    JOB_EVENT_UNKNOWN, /* nobody can tell how it is ... */
    JOB_EVENT_KNOWN,   /* ... and now somebody does */
    JOB_EVENT_RESIZE,
    JOB_EVENTS
};

/* Who it is and what it asked for: with SUBMIT, and a consumer's ACCEPT. */
struct job_facts {
    const char *user, *name, *queue, *project, *command;
    int n_slots;
};

struct row_job_event {
    const char *site; /* of a consumer's job: whose; "": the site's own */
    uint64_t id;
    int index; /* in its array; 0: of no array, or of all of it */
    int64_t at_ms;
    enum job_event event;
    enum job_state state; /* from then on */
    const char *lease;    /* "": own hosts */
    const struct host_slots *hosts;
    int n_hosts;
    const char *reason; /* ""; of SWITCH the queue */
    struct run_exit exit;
    const struct job_facts *facts; /* NULL: of another event */
    bool is_trim;                  /* no event: those before `at_ms` are forgotten */
};

/* A run on this site's own hosts: its own job's or a consumer's. */
enum run_record {
    RUN_RECORD_TAKEN,   /* slots are given; RUN_START may be sent. Of an own job most
                           often in the job's state alone (is_taken) */
    RUN_RECORD_GUARDED, /* its guard (token) is on record; RUN_GO may be sent */
    RUN_RECORD_ENDED,   /* exit is on record; kept until the owner has acknowledged */
};

struct row_run {
    struct run_id run;
    const char *job;
    const char *lease;
    enum run_record record;
    const struct host_slots *hosts; /* own host names; the first executes */
    int n_hosts;
    const struct job_spec *spec; /* NULL: unchanged since the first row of this run; of
                                    one that never had any: its job's, as submitted */
    uint64_t token;
    struct run_control control;
    struct run_exit exit; /* is_recalled: from when its end was ordered for that */
    int priority;         /* of the queue of its job */
    int64_t end_by_ms;    /* its job ends then at the latest; 0: no such time */
    bool is_gone;
};

struct row {
    enum row_kind kind;
    union {
        struct row_counter counter;
        struct row_override override;
        struct row_lease lease;
        struct row_site site;
        struct row_pool pool;
        struct row_kept kept;
        struct row_history history;
        struct row_book book;
        struct row_high high;
        struct row_queue queue;
        struct row_job job;
        struct row_job_state job_state;
        struct row_run run;
        struct row_closed closed;
        struct row_pick pick;
        struct row_share share;
        struct row_job_event job_event;
    };
};

/* "made", "inactive" and so on, as `lease history` shows them. */
const char *row_history_name(enum history_event event);
/* "lease_made" and so on, as `events` and simulations do, by that name. */
const char *row_event_name(const char *history_name);

/* "submit", "dispatch" and so on. */
const char *row_job_event_name(enum job_event event);

/* What `wait`, listings and events show of an end: the command's exit code, or 128 and
 * the signal. False where there is none. */
bool row_exit_code(const struct run_exit *exit, int *code);

/* "user" and so on, as events of simulations have it; "" for NONE. */
const char *row_requeue_name(enum requeue_cause cause);

/* A deep copy into an arena. */
void row_copy(struct arena *arena, const struct row *from, struct row *to);

#endif
