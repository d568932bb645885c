/* SPDX-License-Identifier: Apache-2.0 */
/* row.h: the persistent state of the step machines: rows as structs.
 *
 * A store effect is a whole row, which replaces a row of the same key. The daemons
 * store rows in tables (schema/), the simulator in memory. At start, each row is passed
 * to broker_load or site_load before the first event, in the order of the kinds here.
 *
 * Ownership: pointers are borrowed from the effects' arena, or from the loader.
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
    ROW_SITE,     /* key: name. A member that has connected once */
    ROW_POOL,     /* key: name. is_gone deletes it, and its ROW_KEPT rows */
    ROW_KEPT,     /* key: pool, node. is_gone deletes */
    ROW_HOURS,    /* key: pool, name, since_ms, month_ms. is_gone deletes */
    ROW_HISTORY,  /* append only; never loaded */
    /* site */
    ROW_BOOK,      /* key: lease. Replaces its hosts; is_gone deletes */
    ROW_HIGH,      /* key: consumer. Attempts up to here are decided */
    ROW_QUEUE,     /* key: name. Closed or inactivated by an administrator */
    ROW_JOB,       /* key: id. Written once, at submission; one per array */
    ROW_JOB_STATE, /* key: id, index. is_gone deletes the whole job. An array element
                      without a row is PEND */
    ROW_RUN,       /* key: site, attempt. is_gone deletes */
    ROW_CLOSED,    /* key: host. is_closed false deletes */
    ROW_PICK,      /* key: policy, content. is_gone deletes */
    ROW_CPUS,      /* key: host. is_gone deletes */
    ROW_SHARE,     /* key: scope, account. is_gone deletes */
    ROW_LEASE_ACCOUNT, /* key: site, user. is_gone deletes */
    /* Both stores. */
    ROW_QUOTA,     /* key: name. is_gone deletes */
    ROW_JOB_EVENT, /* append only; never loaded */
    ROW_JOB_GROUP, /* key: path. is_gone deletes; of a site */
    ROW_KINDS
};

/* A number that only grows: "boot", "job", "attempt", "session". */
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
    bool is_drain_ordered; /* by an administrator, for this lease individually */
    bool is_drained;       /* the latest order to its provider, for any reason ... */
    uint64_t drain;        /* ... and its number; 0: none yet */
    uint64_t commits;      /* as in the STATE of the epoch */
    int64_t registered_ms;
    int64_t made_ms;    /* 0: not made */
    int64_t changed_ms; /* last change of state or epoch */
    int64_t split_ms;   /* as in the STATE of the epoch */
    int64_t judged_ms;  /* time at which the last rebalance was due; 0: never */
    const char *reason; /* of the last change */
    const struct host_split *hosts; /* used slots: as last reported */
    int n_hosts;
    const struct lease_resource *resources;
    int n_resources;
    bool keeps_lists; /* hosts and resources stay as stored, and are none here */
};

/* Stored because a member is reported as back only if it was lost before. */
struct row_site {
    const char *name;
    bool is_lost;
    bool is_drained;  /* by an administrator: all its present and future leases */
    int64_t since_ms; /* time of the loss or return; its silent_ms if that is earlier */
    int64_t
        silent_ms; /* start of the broker without any message since; 0: there was one */
    struct journal_mark mark; /* the last one that it sent, or some seconds older */
};

/* The state of a pool after its latest cycle. The next cycle needs it if another time
 * window, and so another plan, applies. */
struct row_pool {
    const char *name;
    const char *window; /* "": the pool has none */
    int64_t slots;
    bool is_gone;
};

/* Slots that a node carries over from its previous policy, until it holds no more than
 * its new quota. */
struct row_kept {
    const char *pool, *node;
    int64_t slots;
    bool is_gone;
};

/* HOURS at the broker. Of a leaf's contract: the slot-milliseconds that its provider
 * has counted in a month, by a count that began at since_ms. Of a node, or of a lease
 * between two sites: the level (enum quota_level) that was last recorded; since_ms,
 * month_ms and used_ms are 0. */
struct row_hours {
    const char *pool; /* "": of a lease between two sites */
    const char *name; /* a lease id, or the path of a node */
    int64_t since_ms, month_ms, used_ms;
    int level;
    bool is_gone;
};

/* A change of a contract or of a site's presence; also the events of simulations. */
enum history_event {
    HISTORY_REGISTERED,
    HISTORY_MADE,
    HISTORY_INACTIVE,
    HISTORY_ACTIVE,
    HISTORY_CHANGED, /* by the provider itself */
    HISTORY_DRAINING,
    HISTORY_ENDED,
    HISTORY_SITE_LOST, /* of a site: without lease, state, epoch and slots */
    HISTORY_SITE_BACK,
    HISTORY_QUOTA, /* of a pool's node, like the events that follow */
    HISTORY_RECALL,
    HISTORY_RECALL_DONE,
    HISTORY_REBALANCE, /* of a lease: somebody asked for a rebalance now */
    HISTORY_HOURS, /* of a lease or a node: 80 or 100 % of HOURS are used, or none */
    /* Orders of administrators; simulations, whose scenarios have them, do not. */
    HISTORY_LEASE_RESUME,
    HISTORY_SITE_DRAIN,
    HISTORY_SITE_RESUME,
    HISTORY_RECLAIM_DELAY, /* of a lease, of a site, or of none: of all */
    HISTORY_RELOAD,        /* of none */
};

struct row_history {
    uint64_t id; /* given by the store; 0 in a row that is to be stored */
    int64_t at_ms;
    const char *lease; /* "": of a site or a pool's node */
    const char *site;  /* of a site; else "" or NULL */
    enum history_event event;
    const char *state; /* of the lease (msg_lease_state_name); else "" or NULL */
    uint64_t epoch;
    int provider_available, provider_used, consumer_available, consumer_used;
    const char *reason;
    const char *pool,
        *node; /* of a pool's node; else "" or NULL, and the numbers below 0 */
    int64_t quota, demand;      /* QUOTA */
    int64_t slots, deadline_ms; /* RECALL, RECALL_DONE, which also have a lease */
};

/* After the deadline, by this site's clock, the contract holds at most n_held slots. */
struct row_recall {
    int n_held;
    int64_t deadline_ms;
};

struct row_book {
    const char *lease;  /* id */
    const char *policy; /* NAME or number */
    const char *consumer;
    const char *content; /* the policy's normalized text: an unnamed policy has the same
                            number as long as this is equal */
    enum lease_type type;
    uint64_t epoch;
    bool is_made;
    bool is_withdrawn;
    bool is_ended;
    bool is_drained; /* the latest DRAIN ... */
    uint64_t drain;  /* ... and its number; 0: none yet */
    bool is_gone;
    const struct host_split
        *hosts; /* host, n_slots, provider, consumer, spaces are used */
    int n_hosts;
    uint64_t recall;                  /* number of the latest RECALL; 0: none yet */
    bool is_whole;                    /* whole hosts are recalled */
    const struct row_recall *recalls; /* slots of it that are not returned yet */
    int n_recalls;
    const struct lease_resource *resources;
    int n_resources;
    uint64_t commits, lost_from, lost_to; /* as in msg_state */
    int64_t split_ms;
};

struct row_high {
    const char *consumer;
    uint64_t attempt;
    uint64_t job, commits; /* as in its last START */
};

/* The number of the account as which that user of another site runs here. */
struct row_lease_account {
    const char *site, *user;
    int64_t uid;
    bool is_gone;
};

/* The slot hours of a lease (model/quota.h), at its provider: against HOURS, or of the
 * contract of a leaf of a plan, whose bounds and price are the broker's. */
struct row_quota {
    const char *name; /* of the lease */
    int64_t n_hours, month_ms, used_ms, booked_ms;
    int n_used;
    int64_t since_ms; /* when the count began; 0: before this was known */
    int price;        /* that the broker told; 0: none */
    bool is_gone;
};

/* A job group (site/job/job_group.h). */
struct row_job_group {
    const char *path, *owner;
    int max_jobs; /* its limit of started jobs; -1: none */
    bool is_gone;
};

struct row_closed {
    const char *host; /* "n1", "n1@north" */
    bool is_closed;
};

/* The CPUs of an own host, as it reported them last: the slots of a host without MXJ,
 * also before it has connected again. */
struct row_cpus {
    const char *host;
    int n_procs, n_cores, n_threads; /* of the whole host */
    bool is_gone;
};

/* The hosts that RES_SELECT of an export policy chose by their reported resources. */
struct row_pick {
    const char *policy;  /* export_deferred's name */
    const char *content; /* of the policy */
    const char *hosts;   /* names, joined by blanks, in file order */
    bool is_gone;
};

/* The decaying usage of an account, or of a queue of a slot pool, as of an instant. */
struct row_share {
    const char *scope;   /* "queue/normal", "partition/fast", "pool/A" */
    const char *account; /* a user; in a pool, a queue */
    double cpu_ms;
    double past_ms;  /* run time of ended jobs; of a queue, slot time */
    double ahead_ms; /* of a queue: slot time above its share; negative: below */
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
    uint64_t nonce; /* random, 63 bits; 0: submitted before there was one */
    int64_t submit_ms;
    bool is_array; /* the index list is in the spec's name (model/job_id.h) */
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

/* The causes for which a started job is suspended: bits, since a job may have several.
 */
enum suspend_cause {
    SUSPEND_USER = 1,
    SUSPEND_PREEMPT = 2, /* its slots were released, and it waits for slots again */
    SUSPEND_WINDOW = 4,  /* of its queue, or of a host */
    SUSPEND_LOAD = 8,
    SUSPEND_CAUSES = 15,
};

struct job_suspension {
    int causes;         /* 0: not suspended */
    bool yields;        /* its slots are released once it is suspended */
    uint64_t by;        /* key of the job that preempted it; 0: none */
    int n_preempted;    /* number of preemptions */
    int64_t since_ms;   /* time of its suspension; 0: it is not suspended */
    int64_t resumed_ms; /* time of the last resumption; 0: never */
    int64_t total_ms;   /* total suspended time before `since_ms` */
};

/* The cause for which a job returns to PEND. NONE: no requeue yet. LOST: its run was
 * lost or never started, for example because a pre-execution command failed. EXIT: its
 * exit code is one of the queue's REQUEUE_EXIT_VALUES. */
enum requeue_cause {
    REQUEUE_NONE,
    REQUEUE_LOST,
    REQUEUE_USER,
    REQUEUE_EXIT,
    REQUEUE_RECALL,
    REQUEUE_PREEMPT, /* this and those below: TERMINATE_WHEN, JOB_CONTROLS */
    REQUEUE_WINDOW,
    REQUEUE_LOAD,
    REQUEUE_CAUSES
};

/* The latest resize of an attempt. */
struct job_resize {
    uint64_t number;         /* 0: none yet */
    enum resize_event event; /* in progress; NONE: completed */
    const struct host_slots
        *hosts; /* added hosts, which are among the job's, or released hosts */
    int n_hosts;
    int max_slots; /* requests more slots up to this number; 0: requests none */
};

struct row_job_state {
    uint64_t id;
    int index; /* in its array, from 1; 0: not in an array */
    enum job_state state;
    uint64_t attempt;  /* of the latest start; 0: none */
    const char *lease; /* under which it runs; "": own hosts */
    uint64_t epoch;    /* of the lease at START */
    bool is_decided;   /* the attempt was admitted (own hosts: always) */
    bool is_taken; /* own hosts: while it is PEND without a ROW_RUN, its run is ADMITTED
                      and has the spec as submitted */
    bool is_killed;                 /* a user ordered its end */
    const struct host_slots *hosts; /* "n1" or "n1@north" */
    int n_hosts;
    int64_t start_ms, end_ms;
    struct run_control control; /* the latest order about this attempt */
    struct run_exit exit;       /* once known; output may still be in transit */
    struct run_use use; /* of the latest attempt on a lease, as its provider told */
    const char *reason;
    const char *queue; /* after bswitch; "": as submitted */
    int64_t place;     /* set by btop, bbot: lower first; 0: as submitted */
    bool is_released;  /* its dependency condition (-w) was met once */
    enum requeue_cause requeue_cause;
    struct job_suspension suspension;
    const char *overload;      /* the load that suspended it last; "": none */
    const char *reserved;      /* rusage of its attempt, syntax of
                                  sched/resreq/resreq_rusage.h; "": none */
    uint64_t backfill_of;      /* the job whose reserved slots it uses; 0: none ... */
    int64_t backfill_until_ms; /* ... and the earliest start of that job */
    int64_t run_limit_ms; /* of its attempt, scaled for its hosts; 0: of the spec */
    int n_requeues;       /* by exit code, since submission or a user's requeue */
    int n_pre_fails;      /* consecutive failures of pre-execution commands */
    const char *avoided;  /* hosts on which it exited with a code of EXCLUDE since then,
                             as "n1 n2@north"; "": none */
    struct job_resize resize;
    bool is_dropped; /* this element alone of its array is cleaned */
    bool is_gone;
};

/* What happened to a job, for `hist`. */
enum job_event {
    JOB_EVENT_SUBMIT,
    JOB_EVENT_DISPATCH, /* hosts are allocated */
    JOB_EVENT_ACCEPT, /* admitted by the provider; at the provider: a consumer's job */
    JOB_EVENT_START,
    JOB_EVENT_SUSPEND,
    JOB_EVENT_RESUME,
    JOB_EVENT_KILL, /* its end is ordered */
    JOB_EVENT_REQUEUE,
    JOB_EVENT_SWITCH,
    JOB_EVENT_MOVE, /* btop, bbot */
    JOB_EVENT_END,
    JOB_EVENT_RUN_END, /* end of a run whose job is requeued */
    JOB_EVENT_UNKNOWN, /* its state is unknown ... */
    JOB_EVENT_KNOWN,   /* ... and known again */
    JOB_EVENT_RESIZE,
    JOB_EVENT_MODIFY, /* bmod */
    JOB_EVENTS
};

/* The user and the request of a job: in SUBMIT, and in ACCEPT of a consumer's job. */
struct job_facts {
    bool is_given;
    const char *user, *name, *queue, *project, *command;
    int n_slots;
};

/* How a run ended: in END and RUN_END. */
struct job_event_end {
    bool is_given;
    bool has_code;
    int code; /* of row_exit_code() */
    int64_t cpu_ms;
    int64_t mem_kib;
};

struct row_job_event {
    uint64_t number;  /* given by the journal; 0 in a row that is to be stored */
    const char *site; /* the consumer; "": the site's own job */
    uint64_t id;
    int index; /* in its array; 0: not in an array, or the whole array */
    int64_t at_ms;
    enum job_event event;
    enum job_state state; /* after the event */
    const char *lease;    /* "": own hosts */
    const struct host_slots *hosts;
    int n_hosts;
    const char *reason; /* of SWITCH: the queue */
    struct job_event_end end;
    struct job_facts facts;
    bool is_trim; /* not an event: deletes those before `at_ms` */
};

/* A run on this site's own hosts: its own job's or a consumer's. */
enum run_record {
    RUN_RECORD_TAKEN,   /* slots are allocated; RUN_START may be sent. For own jobs
                           usually recorded only in the job's state (is_taken) */
    RUN_RECORD_GUARDED, /* its guard (token) is stored; RUN_GO may be sent */
    RUN_RECORD_ENDED,   /* the exit is stored until the owner has acknowledged it */
};

struct row_run {
    struct run_id run;
    const char *job;
    const char *lease;
    enum run_record record;
    const struct host_slots *hosts; /* own host names; the first executes */
    int n_hosts;
    const struct job_spec *spec; /* NULL: as in the first row of this run that had a
                                    spec, or that of its job as submitted if none had */
    uint64_t token;
    struct run_control control;
    struct run_exit exit; /* is_recalled is set when a recall orders the end */
    int priority;         /* of its job's queue */
    int64_t end_by_ms;    /* the latest time at which its job ends; 0: none */
    struct run_use use;   /* of a leased run */
    const char *binding;  /* its processors (model/cpu.h); "": any */
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
        struct row_hours hours;
        struct row_history history;
        struct row_book book;
        struct row_high high;
        struct row_queue queue;
        struct row_job job;
        struct row_job_state job_state;
        struct row_run run;
        struct row_closed closed;
        struct row_job_group job_group;
        struct row_pick pick;
        struct row_cpus cpus;
        struct row_share share;
        struct row_lease_account lease_account;
        struct row_quota quota;
        struct row_job_event job_event;
    };
};

/* The struct of the row's kind, whose fields schema_row_kinds[] has. */
void *row_record(struct row *row);
const void *row_record_of(const struct row *row);

/* "submit", "dispatch" and so on. */
const char *row_job_event_name(enum job_event event);

/* The exit code of the command, or 128 + the signal. False if there is none. */
bool row_exit_code(const struct run_exit *exit, int *code);

/* "user" and so on, for events of simulations; "" for NONE. */
const char *row_requeue_name(enum requeue_cause cause);

/* True for a row that deletes the row of its key. */
bool row_is_gone(const struct row *row);

/* Sets what a stored row implies and has no column for. */
void row_restore(struct row *row);

/* The kind and the key as a text, by which rows sort as they are loaded: by kind, then
 * by key. A longer text is cut. Rows of histories have none. */
enum { ROW_KEY_SIZE = 2 * LEASE_ID_SIZE, ROW_KEY_KIND = 3 /* bytes of the kind */ };
void row_key(const struct row *row, char key[ROW_KEY_SIZE]);

/* A deep copy into an arena. */
void row_copy(struct arena *arena, const struct row *from, struct row *to);
/* The row as it is stored over one of the same key: with what it leaves as it is, which
 * is borrowed from that one. */
struct row row_merge(const struct row *row, const struct row *stored);

#endif
