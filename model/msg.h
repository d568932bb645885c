/* SPDX-License-Identifier: Apache-2.0 */
/* msg.h: every message that sites, broker, hosts and the command line exchange.
 *
 * Each message states a whole fact, so that it does no harm if it is repeated or late.
 * The codec (proto/codec) has checked every field against bounds.h before a step
 * machine sees it: names are clean, counts and numbers are in range, enums are known.
 * The receiver decides what a name means.
 *
 * Units: milliseconds, bytes, KiB; whole slots.
 * Ownership: pointers are borrowed: on receipt they live until the step returns,
 * in an effect they live in the effects' arena. Texts are "" rather than NULL
 * unless the comment of a field says otherwise.
 * Source: docs/design/safety.md (numbers in brackets below are its steps).
 * Layer: model. */
#ifndef SUBLET_MODEL_MSG_H
#define SUBLET_MODEL_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"

struct arena;
struct schema;
struct value;

enum { PROTOCOL_VERSION = 1 };

enum role { ROLE_PROVIDER = 1, ROLE_CONSUMER = 2, ROLE_ADMIN = 4 };

enum msg_kind {
    MSG_NONE,
    /* site <-> broker */
    MSG_HELLO,        /* site: opens a session */
    MSG_WELCOME,      /* broker: session accepted */
    MSG_USAGE,        /* site: heartbeat, totals, demand per lease */
    MSG_PONG,         /* broker: answers each USAGE */
    MSG_ERROR,        /* either: what was refused and why */
    MSG_STATE,        /* provider: a lease as in its ledger [Contract] */
    MSG_STATE_ASK,    /* broker: send STATE of this lease */
    MSG_FREEZE,       /* broker [1] */
    MSG_PROPOSE,      /* broker [3] */
    MSG_CONTRACT,     /* broker: a lease as its consumer is to see it [5] */
    MSG_CONTRACT_ACK, /* consumer */
    MSG_DRAIN, /* broker: an administrator's order, repeated until STATE has it */
    /* consumer <-> provider, relayed by the broker */
    MSG_START,         /* consumer [6] */
    MSG_ATTEMPT_ASK,   /* consumer: asks for the state of an attempt */
    MSG_ATTEMPT_STATE, /* provider [7, 8, 9]: the answer to START, ASK, CONTROL and
                          ACK; also sent on each change; once the attempt has
                          ended, repeated until ACK */
    MSG_ATTEMPT_ACK, /* consumer: the end is stored here, the provider may forget it [9]
                      */
    MSG_ATTEMPT_CONTROL, /* consumer: suspend, resume, signal, kill */
    /* site <-> host, and relayed between sites for leased runs */
    MSG_OUTPUT_ASK, /* asks for a piece of a run's output */
    MSG_OUTPUT,     /* the piece */
    /* consumer <-> provider again */
    MSG_LEASE_LOAD,     /* provider: resources and load of some or all hosts of a lease;
                           periodically, and on request */
    MSG_LEASE_LOAD_ASK, /* consumer: asks for them */
    /* site <-> sublet-host */
    MSG_HOST_HELLO,   /* host: opens a session; a RUN_STATE for each run follows */
    MSG_HOST_SYNCED,  /* host: all runs have been reported */
    MSG_HOST_WELCOME, /* site */
    MSG_HOST_ALIVE,   /* host: heartbeat */
    MSG_HOST_PONG,    /* site */
    MSG_RUN_START,    /* site: start a guard that waits */
    MSG_RUN_GO,       /* site: the guard is stored, the run may start */
    MSG_RUN_CONTROL,  /* site: suspend, resume, signal, kill */
    MSG_RUN_FORGET,   /* site: the end is stored, delete the run's directory */
    MSG_RUN_STATE,    /* host: state of a run; answers START, GO, CONTROL; on change */
    MSG_HOST_LOAD,    /* host: its resources and its load, complete, periodically */
    /* command line <-> site or broker */
    MSG_SUBMIT,
    MSG_JOB_CONTROL,
    MSG_WAIT,     /* answered when the job has ended */
    MSG_JOB_PEEK, /* a piece of a job's output */
    MSG_QUERY,    /* a listing */
    MSG_SET_RECLAIM,
    MSG_REPLY,
    MSG_SNAPSHOT,     /* an administrator asks the broker for a piece of its database */
    MSG_SET_DRAIN,    /* drains a lease or a site, or ends that */
    MSG_RECONFIG,     /* reads the configuration again */
    MSG_HOST_CONTROL, /* site: closes or opens a host */
    MSG_JOB_MOVE,     /* requeue, switch, btop, bbot */
    MSG_QUEUE_CONTROL,
    /* broker -> site; the order of the kinds is that of the wire */
    MSG_LEASE_OPEN, /* broker: a leaf of a plan is to have a contract; repeated until
                       STATE has it */
    MSG_RECALL,     /* broker: a leaf's contract is to shrink; repeated until STATE
                       has it */
    MSG_EVICT,      /* broker: the consumer is lost for longer than its term, and the
                       policy has ON_LOST=kill; repeated until nothing runs */
    /* the user of an interactive job, and the guard of its run, by site and host */
    MSG_STREAM_DOWN, /* user: input, and how much output has arrived */
    MSG_STREAM_UP,   /* guard: output, and how much input was accepted */
    /* jobs that are resized while they run */
    MSG_RUN_RESIZE, /* site: other slots; the notification command runs, RUN_STATE
                     * answers
                     */
    MSG_JOB_RESIZE, /* command line */
    MSG_KINDS
};

/* One execution of one job, on whatever host: the site that owns the job, and the
 * attempt number from that site's journal, which is never used again. */
struct run_id {
    const char *site;
    uint64_t attempt;
};

struct host_slots {
    const char *host;
    int n_slots;
};
/* The sum of their slots. */
int msg_sum_slots(const struct host_slots *hosts, int n_hosts);
/* The time left until `end_by_ms`, at least 1; 0 if `end_by_ms` is 0. */
int64_t msg_end_within_ms(int64_t end_by_ms, int64_t now_ms);

/* Memory or swap space of a host that a lease exports, in MB. From the beginning of the
 * contract to its end only the consumer may use it, whichever side holds the slots. If
 * it is not given, both sides compete for what is free. */
enum space_kind { SPACE_MEM, SPACE_SWP, SPACES };
struct space {
    bool is_given;
    int mib; /* not given: 0 */
};

/* One host of a lease: how many of its exported slots each side holds and uses. */
struct host_split {
    const char *host;
    int n_slots;                      /* exported by the lease on this host */
    int provider, consumer;           /* held; while frozen, the rest is in transit */
    int provider_used, consumer_used; /* running + suspended, at most held */
    bool is_down;                     /* unreachable, or closed by the provider */
    struct space spaces[SPACES];
};

/* How a site defines a shared resource. Both sites must define it alike. */
enum resource_trait {
    TRAIT_INCREASING = 1,
    TRAIT_CONSUMABLE = 2,
    TRAIT_RELEASED = 4,
    TRAIT_DYNAMIC = 8,
    TRAITS = 15,
};

/* Instances of a shared resource that a lease exports. Only the consumer may use them.
 * They are not per host: all leases of that consumer that name the same pool of the
 * provider (a position in its ResourceMap) share these instances. */
struct lease_resource {
    const char *name;
    int pool;
    int n_instances;
    int traits;        /* of enum resource_trait */
    const char *hosts; /* hosts of the lease that see it: names joined by blanks, in
                          the order of the lease; "": all of them */
};

/* LEASE_POOL: a policy that exports to a pool. One contract (PROVIDER/POLICY/pool:NAME)
 * has the idle slots of the pool. Each leaf of the plan that ever got slots has a
 * contract for them (PROVIDER/POLICY/SITE:NODE). */
enum lease_type { LEASE_EXCLUSIVE, LEASE_SHARED, LEASE_POOL };

enum lease_state {
    LEASE_PENDING,
    LEASE_ACTIVE,
    LEASE_INACTIVE,
    LEASE_DRAINING,
    LEASE_ENDED
};

enum reclaim_policy { RECLAIM_LSF, RECLAIM_DEMAND };

/* What connects a job with its user while it runs: pipes (-I), or a pseudo-terminal
 * (-Ip, -Is). */
enum interaction {
    INTERACTION_NONE,
    INTERACTION_PIPES,
    INTERACTION_PTY,
    INTERACTION_SHELL,
};

/* What a job is: fixed at submission, travels with START and RUN_START. */
struct job_spec {
    const char *name;
    const char
        *user; /* who submitted it; for display, and the account on a local host */
    int64_t uid, gid;
    const char *queue;
    const char *command;                       /* given to /bin/sh -c */
    const char *cwd;                           /* "": the run's own directory */
    const char *in_file, *out_file, *err_file; /* "": none; %J is the job's id */
    const char *const *env;                    /* "NAME=value" */
    int n_env;
    int64_t umask;
    int n_slots;
    const char *const *hosts_asked; /* -m; none: the queue's */
    int n_hosts_asked;
    int64_t run_limit_ms; /* time in RUN; 0: none */
    bool is_rerunnable;
    const char *const
        *res_reqs; /* -R, as given; only the job's own site applies them */
    int n_res_reqs;
    bool is_exclusive; /* -x: nothing else runs on its hosts */
    /* The fields below: in SUBMIT what the user asked for; in START and RUN_START the
     * result of that, the queue and the application. */
    const char *app;           /* application profile; "": none */
    const char *const *limits; /* "mem=1048576" and so on (model/job_rlimit.h) */
    int n_limits;
    const char *const *pre_execs; /* commands before it, in this order */
    int n_pre_execs;
    const char *const *post_execs; /* commands after it, in this order */
    int n_post_execs;
    enum interaction interaction;
    const char *const *controls; /* "suspend=TSTP" and so on (model/job_control.h) */
    int n_controls;
};

/* Whether a job's slots may change while it runs. RESIZABLE_YES: on its user's request.
 * RESIZABLE_AUTO: also by the scheduler, up to the maximum that the job asks for. */
enum resizable { RESIZABLE_NO, RESIZABLE_YES, RESIZABLE_AUTO };

/* What a job waits for, and its rank among other jobs. Fixed at submission, and never
 * sent to another site or to a host. */
struct job_terms {
    const char *depend;       /* -w as it was given; "": none */
    const char *depend_on;    /* the same with ids instead of names
                                 (sched/pending/depend.h); set by the site */
    int64_t begin_ms;         /* -b: not before this instant; 0: at once */
    const char *project;      /* -P; "": "default" */
    int64_t priority;         /* -sp: higher first in its queue */
    bool has_slots;           /* -n was given; if not, the queue has the number */
    int max_slots;            /* -n min,max; 0: as many as the spec has */
    const char *user_group;   /* -G: the group whose share counts; "": the user's own */
    enum resizable resizable; /* -ar; when stored: combined with the application's */
    const char *resize_notify; /* -rnc: notification command; "": that of the
                                  application */
};

/* The state of a run at the host that executes it. UNKNOWN: the host has no trace of
 * it. WAITING: its guard is up and has not received RUN_GO. */
enum run_phase {
    RUN_UNKNOWN,
    RUN_WAITING,
    RUN_RUNNING,
    RUN_SUSPENDED,
    RUN_ENDED,
};

enum run_end {
    RUN_END_NONE,
    RUN_END_EXITED,    /* see `code` */
    RUN_END_SIGNALLED, /* code is the signal */
    RUN_END_FAILED,    /* the command could not be started; `text` has the reason */
    RUN_END_LOST,      /* unknown: the guard is gone and left no exit record */
    RUN_END_LIMIT,     /* ended by the limit in `cause`; `code` is its exit code, or
                        * 128 + the signal */
};

/* The cause of an end. */
enum run_cause {
    RUN_CAUSE_NONE,
    RUN_CAUSE_RUN_LIMIT,
    RUN_CAUSE_CPU_LIMIT,
    RUN_CAUSE_MEM_LIMIT,
    RUN_CAUSE_SWAP_LIMIT,
    RUN_CAUSE_PROCESS_LIMIT,
    RUN_CAUSE_THREAD_LIMIT,
    RUN_CAUSE_PRE_EXEC, /* a pre-execution command failed: the job itself never started
                         */
};

struct run_exit {
    enum run_end end;
    enum run_cause cause;
    int code;
    int64_t start_ms, end_ms; /* wall clock of the host; 0: never started */
    int64_t cpu_ms;
    int64_t mem_kib; /* peak */
    int64_t out_bytes,
        err_bytes; /* of output that is stored with the run (no file named) */
    const char *text;
    bool is_recalled; /* it was ended because its slots were recalled */
};

enum control_action { CONTROL_SIGNAL, CONTROL_SUSPEND, CONTROL_RESUME, CONTROL_KILL };

/* The latest order about a run. `number` grows with each order. An order whose number
 * was already carried out is answered and not repeated. */
struct run_control {
    uint64_t number; /* 0: none yet */
    enum control_action action;
    int signal; /* of CONTROL_SIGNAL; SIGKILL with KILL: at once, without a grace period
                 */
    bool yields; /* SUSPEND: its slots are released once it is suspended. Only for the
                    scheduler: neither on the wire nor in a run's row */
    int reasons; /* SUSPEND: enum suspend_cause, added up; not in a run's row */
};

enum output_stream { OUTPUT_OUT, OUTPUT_ERR };

struct msg_hello {
    const char *name;
    int roles;   /* of enum role */
    int n_books; /* leases that it provides: as many STATEs follow WELCOME */
    int64_t reclaim_delay_ms; /* the provider's value; 0: not configured */
};

struct msg_welcome {
    bool is_accepted;
    uint64_t min_session; /* refused: repeat HELLO with a session above this */
    const char *text;     /* refused: why */
    int64_t lost_after_ms;
};

struct lease_demand {
    const char *lease;
    uint64_t epoch;  /* that the consumer has */
    int n_used;      /* slots of its jobs there: sent, running, suspended */
    int n_waiting;   /* slots of its waiting jobs that may use this lease */
    bool is_unnamed; /* none of its queues may use a host of it; reported until the
                      contract is made */
};

/* Jobs that wait in a queue and may run on borrowed hosts. */
struct queue_demand {
    const char *queue;
    int n_waiting; /* slots */
};

/* Slots of the contract of a plan's leaf that jobs of queues of one priority use. */
struct priority_use {
    const char *lease;
    int priority, n_slots;
};

/* Jobs by state. Each element of an array counts; ended jobs count until they are
 * cleaned.
 */
struct msg_job_counts {
    int pend, psusp, run, ususp, ssusp, unkwn, done, exit;
};

/* Number of passes by duration: at most so many microseconds, and more than the field
 * before. */
struct msg_pass_times {
    uint64_t us100, us250, us1000, us2500, us10000, us50000, us250000, us1000000;
};

struct msg_usage {
    uint64_t seq;
    int n_own, n_own_used; /* slots of its own hosts (MXJ), used by its own jobs */
    int n_lent, n_borrowed;
    int n_idle;    /* slots on which it could start a job now */
    int n_waiting; /* slots of its waiting jobs */
    struct msg_job_counts jobs;
    uint64_t n_passes, passes_us; /* of its scheduler since it started */
    struct msg_pass_times pass_times;
    const struct lease_demand *demands; /* of the leases it is consumer of */
    int n_demands;
    const struct queue_demand *queues; /* queues with waiting jobs */
    int n_queues;
    const struct priority_use *uses; /* by lease, then by priority */
    int n_uses;
};

struct msg_pong {
    uint64_t seq;
};

struct msg_error {
    int code; /* enum err_code */
    const char *text;
    int about; /* the msg_kind that was refused; 0: none */
};

/* Slots of a contract that are recalled: after the deadline the contract holds at most
 * `n_held`. Several recalls of one contract are ordered by deadline, with falling
 * `n_held`. */
struct recall {
    int n_held;
    int64_t left_ms; /* from the time of the message */
};

/* A recall without a deadline: a slot is given back when the job on it ends. It is a
 * time so long that no clock reaches it, and so the last recall of a contract. */
#define RECALL_AT_END_MS (INT64_C(1) << 51)
static inline bool recall_waits(int64_t left_ms)
{
    return left_ms > RECALL_AT_END_MS / 2;
}

/* What only the provider of a lease knows. epoch 0: the provider has no such lease. */
struct msg_state {
    const char *lease; /* id */
    uint64_t epoch;
    enum lease_type type;
    bool is_made;
    bool is_withdrawn; /* draining: no new job starts */
    bool is_ended;     /* withdrawn, and nothing of it runs any more */
    bool is_frozen;
    uint64_t freeze; /* the highest freeze number seen */
    uint64_t drain;  /* number of the latest DRAIN; 0: none ever */
    bool is_drained; /* content of that DRAIN: withdrawn, regardless of the policies */
    int provider_waiting; /* slots of the provider's waiting jobs that fit */
    enum reclaim_policy reclaim_policy;
    int64_t min_hold_ms, lease_term_ms;
    const struct host_split *hosts;
    int n_hosts;
    const struct lease_resource *resources;
    int n_resources;
    const char *reason;     /* of the last change by the provider itself */
    bool ends_lost;         /* ON_LOST=kill */
    bool takes_interactive; /* INTERACTIVE=Y */
    uint64_t last_attempt;  /* the highest attempt of its consumer that was decided */
    uint64_t recall;        /* number of the latest RECALL; 0: none ever ... */
    const struct recall
        *recalls; /* ... and the slots of it that are not returned yet */
    int n_recalls;
};

struct msg_lease { /* STATE_ASK, LEASE_OPEN, LEASE_LOAD_ASK */
    const char *lease;
};

struct msg_freeze {
    const char *lease;
    uint64_t base;
    uint64_t freeze;
};

struct msg_propose {
    const char *lease;
    uint64_t base;
    const struct host_split *hosts; /* host, n_slots, provider, consumer count */
    int n_hosts;
};

/* The number grows with each order about a lease. An order whose number is not above
 * the last one is answered and changes nothing. */
struct msg_drain {
    const char *lease;
    uint64_t number;
    bool is_drained;
    uint64_t raise_above; /* the provider has lost its ledger and raises its epoch above
                             this one; 0: it has not lost it */
};

/* All recalls of a contract. The number grows with each RECALL of the contract; one
 * that is not above the last changes nothing. Without `recalls` the earlier ones are
 * void.
 */
struct msg_recall {
    const char *lease;
    uint64_t number;
    bool is_whole; /* whole hosts are returned */
    const struct recall *recalls;
    int n_recalls;
};

/* Ends all runs of the lease's consumer up to this attempt. Attempts that the consumer
 * starts after its return have higher numbers. */
struct msg_evict {
    const char *lease;
    uint64_t attempt;
};

struct msg_contract {
    const char *lease;
    uint64_t revision; /* grows within a session; a lower one is outdated */
    uint64_t epoch;
    enum lease_type type;
    enum lease_state state;
    bool is_made;
    bool is_provider_here;  /* connected to the broker */
    bool takes_interactive; /* its provider runs interactive jobs */
    const struct host_split *hosts;
    int n_hosts;
    const char *const *queues;    /* of a leaf: only jobs of these queues may use it */
    int n_queues;                 /* 0: all */
    int64_t grace_ms;             /* of a leaf: how long a recalled slot may be used */
    const struct recall *recalls; /* recalled slots */
    bool is_whole;                /* ... in whole hosts */
    int n_recalls;
    const struct lease_resource *resources;
    int n_resources;
};

struct msg_contract_ack {
    const char *lease;
    uint64_t revision;
};

struct msg_start {
    struct run_id run; /* site: the consumer, which must be the authenticated sender */
    const char *lease;
    uint64_t epoch;
    const char *job;                /* its id as users see it, "12" or "12[3]" */
    const struct host_slots *hosts; /* provider's own host names; first runs it */
    int n_hosts;
    struct job_spec spec;
    int priority;          /* of its queue: a recall ends the lowest priority first */
    int64_t end_within_ms; /* the time after which its job must have ended, because
                              other jobs need the slots; 0: no such time */
};

struct msg_attempt { /* ATTEMPT_ASK, ATTEMPT_ACK */
    struct run_id run;
};

enum attempt_state {
    ATTEMPT_TAKEN,   /* admitted: the guard is being started */
    ATTEMPT_REFUSED, /* never started and never will */
    ATTEMPT_RUNNING,
    ATTEMPT_SUSPENDED,
    ATTEMPT_ENDED,
    ATTEMPT_LOST,   /* not in the ledger, and not above the decided attempts: never
                       started,   or acknowledged long ago */
    ATTEMPT_ABSENT, /* above the decided attempts: START never arrived */
};

struct msg_attempt_state {
    struct run_id run;
    enum attempt_state state;
    int64_t start_ms;      /* RUNNING and later */
    uint64_t control_done; /* number of the last order carried out */
    struct run_exit exit;  /* ENDED */
    const char *reason;    /* REFUSED */
};

struct msg_attempt_control {
    struct run_id run;
    struct run_control control;
};

struct msg_output_ask {
    struct run_id run;
    uint64_t request; /* chosen by the sender, returned with the piece */
    enum output_stream stream;
    int64_t offset;
    int n_bytes; /* at most OUTPUT_CHUNK_MAX */
};

struct msg_output {
    struct run_id run;
    uint64_t request;
    enum output_stream stream;
    int64_t offset;
    const uint8_t *bytes;
    int n_bytes;
    bool is_end;  /* no more output now; for an ended run: at all */
    bool is_gone; /* no such output here */
};

/* One value that a host reports: a load index, a static resource, or a resource that
 * its administrator defined or measures by a program (docs/resources.md). */
struct load_value {
    const char *name;
    const char *value; /* as text; the site knows the type */
    bool is_exclusive; /* only jobs that ask for it may run on this host */
};

struct lease_load_host {
    const char *host;                /* the provider's name for it */
    const struct load_value *values; /* all that are known */
    int n_values;
    const struct load_value
        *thresholds; /* its own, as "0.7/2.0" (sched/resource/load_threshold.h) */
    int n_thresholds;
};

/* In both messages, offsets count the bytes of a stream since its run started, so that
 * messages may be repeated, late or lost. A side sends at most STREAM_WINDOW bytes that
 * the other side has not acknowledged. */
struct msg_stream_down {
    struct run_id run; /* from the user: site "", and attempt 0 if it is unknown */
    const char *job;   /* from the user; to a host "" */
    int64_t got_out, got_err; /* bytes of its output that have arrived */
    int64_t offset;           /* of its input */
    const uint8_t *bytes;
    int n_bytes;
    bool is_end;   /* the input ends with these */
    bool is_again; /* a time-out: bytes that have not arrived are to be resent */
    int n_rows, n_columns; /* of the user's terminal; 0: the user has none */
};

struct msg_stream_up {
    struct run_id run; /* attempt 0: the job does not run now */
    const char *job;   /* to the user; from a host "" */
    enum output_stream stream;
    int64_t offset;
    const uint8_t *bytes;
    int n_bytes;
    int64_t got_in; /* bytes of the input that were accepted */
    bool is_over;   /* the job's processes are gone: the output is complete with this */
    const char *note; /* of the site, for the user to read; "": none */
};

struct msg_lease_load {
    const char *lease;
    const struct lease_load_host *hosts;
    int n_hosts;
};

struct msg_host_hello {
    const char *name;
    const char *boot_id; /* of the machine; runs of an earlier boot are gone */
    int n_cpus;
};

struct msg_host_alive { /* HOST_ALIVE, HOST_PONG */
    uint64_t seq;
};

struct run_load {
    struct run_id run;
    int64_t cpu_ms; /* until now */
};

/* All values of a host. A value that is missing is no longer known. A run that is
 * missing has not changed. */
struct msg_host_load {
    const struct load_value *values;
    int n_values;
    const struct run_load *runs;
    int n_runs;
};

struct msg_run_start {
    struct run_id run;
    const char *job;
    const char *lease; /* "": the site's own job */
    const struct host_slots *hosts;
    int n_hosts;
    struct job_spec spec;
    const char *account; /* the account it runs as, never root for a leased job;
                            "": that of the daemon */
    int64_t
        terminate_ms; /* time between the signals that end it; 0: the host's default */
    int64_t end_within_ms; /* as in START */
};

struct msg_run_go {
    struct run_id run;
    uint64_t token; /* the guard that may start; another guard refuses */
};

struct msg_run_control {
    struct run_id run;
    struct run_control control;
};

enum resize_event { RESIZE_NONE, RESIZE_GROW, RESIZE_SHRINK };
/* The code of a resize, instead of its command's, if the run is suspended, or its job
 * has not started or is over. */
enum { RESIZE_NOT_NOW = 256 };

/* The number grows with each resize of a run. A resize that was already answered is
 * answered again, and not repeated. */
struct msg_run_resize {
    struct run_id run;
    uint64_t number;
    enum resize_event event;
    const struct host_slots *hosts; /* that are added, or released */
    int n_hosts;
    const struct host_slots *all; /* all slots of the run afterwards */
    int n_all;
    const char *command; /* the notification command; "": none */
};

struct msg_run { /* RUN_FORGET */
    struct run_id run;
};

struct msg_run_state {
    struct run_id run;
    enum run_phase phase;
    uint64_t token; /* the guard's own number */
    int64_t start_ms;
    uint64_t control_done;
    struct run_exit exit; /* ENDED */
    uint64_t resize_done; /* number of the last completed resize ... */
    int resize_code;      /* ... and the exit code of its command; 0: accepted */
};

struct msg_submit {
    uint64_t request;
    struct job_spec spec; /* queue "": the default; the site sets uid and user */
    struct job_terms terms;
    uint64_t bare_limits; /* sum of 1 << enum job_rlimit: sizes that were given without
                             a unit, for which the site's unit counts */
};

struct msg_job_control {
    uint64_t request;
    enum control_action action;
    int signal;
    const char *const *jobs; /* ids; one "0": all of the caller's */
    int n_jobs;
};

enum job_move {
    MOVE_REQUEUE, /* ends its run, and the job is pending again */
    MOVE_SWITCH,  /* to another queue */
    MOVE_TOP,     /* before or behind all jobs of its queue and priority */
    MOVE_BOTTOM,
};

struct msg_job_move {
    uint64_t request;
    enum job_move move;
    const char *queue; /* of MOVE_SWITCH */
    const char *const *jobs;
    int n_jobs;
};

enum job_resize_order {
    JOB_RESIZE_TO,      /* to `n_slots`: adds slots, or releases the last ones */
    JOB_RESIZE_RELEASE, /* releases these hosts */
    JOB_RESIZE_KEEP,    /* releases all but these hosts */
    JOB_RESIZE_CANCEL,  /* withdraws the request for more slots */
};

struct msg_job_resize {
    uint64_t request;
    enum job_resize_order order;
    int n_slots; /* TO */
    const struct host_slots
        *hosts; /* RELEASE, KEEP; n_slots 0: all slots on that host */
    int n_hosts;
    bool is_last;    /* RELEASE, KEEP: also withdraws the request for more slots */
    const char *job; /* a job, or an array: all elements that can be resized */
};

enum queue_order { QUEUE_OPEN, QUEUE_CLOSE, QUEUE_ACTIVATE, QUEUE_INACTIVATE };

struct msg_queue_control {
    uint64_t request;
    enum queue_order order;
    const char *queue;
};

struct msg_wait {
    uint64_t request;
    const char *job;
};

struct msg_peek {
    uint64_t request;
    const char *job;
    enum output_stream stream;
    int64_t offset;
};

enum query_kind {
    QUERY_JOBS,
    QUERY_HOSTS,
    QUERY_QUEUES,
    QUERY_EXPORTS,
    QUERY_LEASES,        /* broker */
    QUERY_LEASE_HISTORY, /* broker */
    QUERY_SITES,         /* broker */
    QUERY_RECLAIM,       /* broker: delays in force and overrides */
    QUERY_VERSION,
    QUERY_EVENTS, /* broker: what happened to leases and sites */
    QUERY_LOAD,   /* of a site's hosts */
    QUERY_HIST,   /* what happened to a site's jobs */
    QUERY_USERS,  /* of a site, and their shares */
    QUERY_POOLS,  /* broker */
    QUERY_PLAN,   /* broker: the nodes of the pool `name` */
    QUERY_LIMITS, /* of a site, and how full they are */
    QUERY_KINDS
};

struct msg_query {
    uint64_t request;
    enum query_kind kind;
    const char *name;                /* one thing by id or name; "": all */
    const char *user;                /* jobs: of this user; "": of all */
    const char *queue;               /* jobs, of this queue; "": all */
    const char *host;                /* jobs, on this host; plan: the node; "": all */
    const char *project;             /* limits; "": of all */
    const char *provider, *consumer; /* leases, of this site; "": of any */
    int states;      /* leases: 1 << enum lease_state, added up; 0: all that are open */
    bool with_ended; /* jobs, leases; limits: also unused ones */
    bool configured; /* limits: as configured */
    bool exported;   /* hosts -e */
    bool shared;     /* hosts -s: shared resources, not hosts */
    const char *res_req; /* load, hosts: only hosts that match; "": all */
    const char *after;   /* page: rows behind this id; "": from the first */
    int limit;           /* rows; 0: as many as a page takes */
    int last;       /* history, events: so many of the latest after `after`; 0: all */
    uint64_t since; /* leases, sites: of this revision (broker_look) or newer; not on
                       the wire */
};

enum reclaim_scope { RECLAIM_ALL, RECLAIM_PROVIDER, RECLAIM_LEASE };

struct msg_set_reclaim {
    uint64_t request;
    enum reclaim_scope scope;
    const char *name; /* of the provider or lease; "" for all */
    int64_t delay_ms; /* -1: remove the override */
};

enum drain_scope { DRAIN_LEASE, DRAIN_SITE };

struct msg_set_drain {
    uint64_t request;
    enum drain_scope scope;
    const char *name; /* of the lease or site */
    bool is_drained;  /* false: resume */
    bool is_recovery; /* neither: the provider of the lease has lost its ledger */
};

struct msg_host_control {
    uint64_t request;
    const char *host; /* "n1", "n1@north" */
    bool is_closed;
};

struct msg_reconfig {
    uint64_t request;
};

/* The copy is made at the first request. A REPLY without bytes and without is_end means
 * that it is not ready yet. */
struct msg_snapshot {
    uint64_t request;
    uint64_t ticket; /* chosen by the client, the same in all its requests */
    int64_t offset;
};

struct msg_reply {
    uint64_t request;
    int code; /* 0, or enum err_code with a text for the user */
    const char *text;
    const struct value *value; /* pure code fills this; the shell renders it ... */
    const char *json;          /* ... into this before it leaves; NULL: none */
    const char *next; /* a listing: `after` of the next page; "": this was the last */
    const uint8_t *bytes; /* PEEK, SNAPSHOT */
    int n_bytes;
    bool is_end; /* PEEK, SNAPSHOT: the end */
};

/* The body of a message that the broker relays and does not open
 * (proto/codec_relay.h). */
struct msg_relayed {
    const char *run_site, *lease; /* NULL: the kind has none */
    int n_data;                   /* bytes of output or of a terminal */
    const uint8_t *body;
    int n_body;
};

struct msg {
    enum msg_kind kind;
    /* The session, between site and broker and between site and host. The connecting
     * side chooses the number at HELLO, above all numbers that it used before. Both
     * sides put it into all later messages. 0 for the command line. */
    uint64_t session;
    /* Of relayed messages: the receiver on the way to the broker, the sender on the way
     * from it. "": not relayed. */
    const char *site;
    bool is_relayed; /* the body is `relayed`, whatever the kind */
    union {
        struct msg_relayed relayed;
        struct msg_hello hello;
        struct msg_welcome welcome; /* also HOST_WELCOME */
        struct msg_usage usage;
        struct msg_pong pong;
        struct msg_error error;
        struct msg_state state;
        struct msg_lease state_ask;
        struct msg_freeze freeze;
        struct msg_propose propose;
        struct msg_drain drain;
        struct msg_lease lease_open;
        struct msg_recall recall;
        struct msg_evict evict;
        struct msg_contract contract;
        struct msg_contract_ack contract_ack;
        struct msg_start start;
        struct msg_attempt attempt; /* ASK, ACK */
        struct msg_attempt_state attempt_state;
        struct msg_attempt_control lifecycle_control;
        struct msg_output_ask output_ask;
        struct msg_output output;
        struct msg_stream_down stream_down;
        struct msg_stream_up stream_up;
        struct msg_lease_load lease_load;
        struct msg_lease lease_load_ask;
        struct msg_host_hello host_hello;
        struct msg_host_alive host_alive; /* ALIVE, PONG */
        struct msg_host_load host_load;
        struct msg_run_start run_start;
        struct msg_run_go run_go;
        struct msg_run_control run_control;
        struct msg_run_resize run_resize;
        struct msg_run run; /* FORGET */
        struct msg_run_state run_state;
        struct msg_submit submit;
        struct msg_job_control job_control;
        struct msg_job_move job_move;
        struct msg_job_resize job_resize;
        struct msg_queue_control queue_control;
        struct msg_wait wait;
        struct msg_peek peek; /* JOB_PEEK */
        struct msg_query query;
        struct msg_set_reclaim set_reclaim;
        struct msg_set_drain set_drain;
        struct msg_reconfig reconfig;
        struct msg_host_control host_control;
        struct msg_reply reply;
        struct msg_snapshot snapshot;
    };
};

/* The table of kinds: the tag of the body in the envelope, which is never used again,
 * and the fields of the body (model/schema.h), which is a member of the union. */
struct msg_kind_info {
    const char *name;
    int tag;
    const struct schema *schema;
};
extern const struct msg_kind_info msg_kinds[MSG_KINDS];

/* "FREEZE" and so on, for logs and metrics; "?" for a number out of range. */
const char *msg_kind_name(enum msg_kind kind);
/* A deep copy into an arena; `to` may be `from`. */
void msg_copy(struct arena *arena, const struct msg *from, struct msg *to);

/* The consumer in a lease id: the text behind the second '/', and before the ':' if the
 * lease is of a pool's leaf; "pool:NAME" for the idle slots of a pool. `length` is that
 * of the text. */
const char *msg_lease_consumer(const char *lease, size_t *length);
/* Words of the enums as people and JSON see them ("pending", "shared", "lsf"). */
const char *msg_lease_state_name(enum lease_state state);
const char *msg_lease_type_name(enum lease_type type);

#endif
