/* SPDX-License-Identifier: Apache-2.0 */
/* msg.h: every message that sites, broker, hosts and the command line exchange.
 *
 * Each message states a whole fact and is harmless when repeated or late. The
 * codec (proto/codec) has checked every field against bounds.h before a step
 * machine sees it: names are clean, counts and numbers in range, enums known.
 * What a name *means* is for the receiver to judge.
 *
 * Units: milliseconds, bytes, KiB; whole slots.
 * Ownership: pointers are borrowed: on receipt they live until the step returns,
 * in an effect they live in the effects' arena. Texts are "" rather than NULL
 * unless a field says otherwise.
 * Source: ARCHITECTURE 2 (numbers in brackets below are its steps).
 * Layer: model. */
#ifndef SUBLET_MODEL_MSG_H
#define SUBLET_MODEL_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"

struct value;

enum { PROTOCOL_VERSION = 1 };

enum role { ROLE_PROVIDER = 1, ROLE_CONSUMER = 2, ROLE_ADMIN = 4 };

enum msg_kind {
    MSG_NONE,
    /* site <-> broker */
    MSG_HELLO,        /* site: I am here, in this session */
    MSG_WELCOME,      /* broker: session accepted */
    MSG_USAGE,        /* site: heartbeat, totals, demand per lease */
    MSG_PONG,         /* broker: answers each USAGE */
    MSG_ERROR,        /* either: what was refused and why */
    MSG_STATE,        /* provider: a lease as its books have it [Contract] */
    MSG_STATE_ASK,    /* broker: send STATE of this lease */
    MSG_FREEZE,       /* broker [1] */
    MSG_PROPOSE,      /* broker [3] */
    MSG_CONTRACT,     /* broker: a lease as its consumer should see it [5] */
    MSG_CONTRACT_ACK, /* consumer */
    MSG_DRAIN,        /* broker: an administrator's order, again until STATE names it */
    /* consumer <-> provider, relayed by the broker */
    MSG_START,           /* consumer [6] */
    MSG_ATTEMPT_ASK,     /* consumer: how is this attempt? */
    MSG_ATTEMPT_STATE,   /* provider [7, 8, 9]: the one answer to START, ASK, CONTROL,
                            ACK; sent unasked on change, resent until ACK once ended */
    MSG_ATTEMPT_ACK,     /* consumer: the end is on record here, forget it [9] */
    MSG_ATTEMPT_CONTROL, /* consumer: suspend, resume, signal, kill */
    /* site <-> host, and relayed between sites for leased runs */
    MSG_OUTPUT_ASK, /* send a piece of a run's output */
    MSG_OUTPUT,     /* the piece */
    /* consumer <-> provider again */
    MSG_LEASE_LOAD, /* provider: what a lease's hosts are and how loaded, some or all
                       of them; now and then, and when asked */
    MSG_LEASE_LOAD_ASK, /* consumer: I know nothing of this lease's hosts */
    /* site <-> sublet-host */
    MSG_HOST_HELLO,   /* host: first of a session; then a RUN_STATE per run it has */
    MSG_HOST_SYNCED,  /* host: that was all of them */
    MSG_HOST_WELCOME, /* site */
    MSG_HOST_ALIVE,   /* host: heartbeat */
    MSG_HOST_PONG,    /* site */
    MSG_RUN_START,    /* site: start a guard that waits */
    MSG_RUN_GO,       /* site: guard is on record, begin */
    MSG_RUN_CONTROL,  /* site: suspend, resume, signal, kill */
    MSG_RUN_FORGET,   /* site: the end is on record, delete the run's directory */
    MSG_RUN_STATE,    /* host: a run as it is; answers START, GO, CONTROL; on change */
    MSG_HOST_LOAD,    /* host: what it is and how loaded it is, whole, now and then */
    /* command line <-> site or broker */
    MSG_SUBMIT,
    MSG_JOB_CONTROL,
    MSG_WAIT,     /* answered when the job has ended */
    MSG_JOB_PEEK, /* a piece of a job's output */
    MSG_QUERY,    /* a listing */
    MSG_SET_RECLAIM,
    MSG_REPLY,
    MSG_SNAPSHOT,     /* broker, of an administrator: a piece of a copy of its store */
    MSG_SET_DRAIN,    /* drains a lease, or all of a site; or takes that back */
    MSG_RECONFIG,     /* read the configuration anew */
    MSG_HOST_CONTROL, /* site: closes or opens a host */
    MSG_JOB_MOVE,     /* requeue, switch, btop, bbot */
    MSG_QUEUE_CONTROL,
    /* broker -> site again; a kind stands where its number on the wire does */
    MSG_LEASE_OPEN, /* broker: a leaf of a plan is to have a contract, again until
                       STATE names it */
    MSG_RECALL,     /* broker: a leaf's contract is to shrink, again until STATE names
                       it */
    MSG_EVICT,      /* broker: the consumer is lost for longer than its term, and the
                       policy says ON_LOST=kill; again until nothing runs */
    /* the user of an interactive job, and the guard of its run, by site and host */
    MSG_STREAM_DOWN, /* user: input, and what has come of the output */
    MSG_STREAM_UP,   /* guard: output, and what was taken of the input */
    /* jobs that are resized while they run */
    MSG_RUN_RESIZE, /* site: other slots; the run's command is told, RUN_STATE answers
                     */
    MSG_JOB_RESIZE, /* command line */
    MSG_KINDS
};

/* One execution of one job, wherever it runs: the site whose job it is and the
 * attempt number that this site's journal gave it; never used again. */
struct run_id {
    const char *site;
    uint64_t attempt;
};

struct host_slots {
    const char *host;
    int n_slots;
};
/* Slots on all of them. */
int msg_sum_slots(const struct host_slots *hosts, int n_hosts);
/* What is left until then, 1 at least; 0 where there is no such time. */
int64_t msg_end_within_ms(int64_t end_by_ms, int64_t now_ms);

/* What a lease exports of a host besides slots, in MB: from the contract's beginning to
 * its end the consumer's alone, whoever holds the slots. What is not given is nobody's
 * in particular: both sides compete for what is free. */
enum space_kind { SPACE_MEM, SPACE_SWP, SPACES };
struct space {
    bool is_given;
    int mib; /* not given: 0 */
};

/* One host of a lease: who holds and who uses how many of its exported slots. */
struct host_split {
    const char *host;
    int n_slots;            /* exported by the lease on this host */
    int provider, consumer; /* held; in transit is what is left while frozen */
    int provider_used, consumer_used; /* running + suspended, at most held */
    bool is_down;                     /* unreachable, or closed by the provider */
    struct space spaces[SPACES];
};

/* How a site defines a shared resource: both must define it alike. */
enum resource_trait {
    TRAIT_INCREASING = 1,
    TRAIT_CONSUMABLE = 2,
    TRAIT_RELEASED = 4,
    TRAIT_DYNAMIC = 8,
    TRAITS = 15,
};

/* Instances of a shared resource that a lease exports: the consumer's alone, as SPACES
 * are. Not of each host: all leases of that consumer that name the provider's pool (a
 * place of its ResourceMap) have these instances together. */
struct lease_resource {
    const char *name;
    int pool;
    int n_instances;
    int traits;        /* of enum resource_trait */
    const char *hosts; /* of the lease, from which it is seen: names joined by blanks,
                          in the lease's order; "": all of them */
};

/* POOL: of a policy that exports to a pool. One contract (PROVIDER/POLICY/pool:NAME)
 * has the slots that are idle in it, one for each leaf of the plan that ever got some
 * (PROVIDER/POLICY/SITE:NODE) those that the leaf has. */
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
    const char *user; /* who submitted; display, and the account where it is local */
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
    const char *const *res_reqs; /* -R, as given; they count for its own site alone */
    int n_res_reqs;
    bool is_exclusive; /* -x: nothing else runs on its hosts */
    /* From here on: as submitted, what its user asked for; with START and RUN_START,
     * what its queue and application have made of that. */
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

/* Whether a job's slots may change while it runs: when its user says so; also by
 * itself, up to the most that it asks for. */
enum resizable { RESIZABLE_NO, RESIZABLE_YES, RESIZABLE_AUTO };

/* What a job waits for and where it stands among others: fixed at submission too, and
 * never told to another site or a host. */
struct job_terms {
    const char *depend;     /* -w as it was given; "": none */
    const char *depend_on;  /* the same with ids for names (sched/pending/depend.h): the
                               site's  to set */
    int64_t begin_ms;       /* -b: not before this instant; 0: at once */
    const char *project;    /* -P; "": "default" */
    int64_t priority;       /* -sp: higher first in its queue */
    bool has_slots;         /* -n was given; else the queue says how many */
    int max_slots;          /* -n min,max; 0: as many as the spec has */
    const char *user_group; /* -G: whose share counts; "": where its user stands */
    enum resizable resizable;  /* -ar; on record: what its application made of it */
    const char *resize_notify; /* -rnc: what is told of a resize; "": its application
                                  says */
};

/* A run's life at the host that executes it.
 * UNKNOWN: no trace of it. WAITING: guard is up, without a go. */
enum run_phase {
    RUN_UNKNOWN,
    RUN_WAITING,
    RUN_RUNNING,
    RUN_SUSPENDED,
    RUN_ENDED,
};

enum run_end {
    RUN_END_NONE,
    RUN_END_EXITED,    /* code says which */
    RUN_END_SIGNALLED, /* code is the signal */
    RUN_END_FAILED,    /* the command could not be begun: text says why */
    RUN_END_LOST,      /* nobody knows: the guard is gone without an exit record */
    RUN_END_LIMIT,     /* a limit ended it: the cause says which, code is its exit code,
                        * or 128 and the signal */
};

/* What is behind an end. */
enum run_cause {
    RUN_CAUSE_NONE,
    RUN_CAUSE_RUN_LIMIT,
    RUN_CAUSE_CPU_LIMIT,
    RUN_CAUSE_MEM_LIMIT,
    RUN_CAUSE_SWAP_LIMIT,
    RUN_CAUSE_PROCESS_LIMIT,
    RUN_CAUSE_THREAD_LIMIT,
    RUN_CAUSE_PRE_EXEC, /* a command before it failed: the job itself never began */
};

struct run_exit {
    enum run_end end;
    enum run_cause cause;
    int code;
    int64_t start_ms, end_ms; /* wall clock of the host; 0: never began */
    int64_t cpu_ms;
    int64_t mem_kib;              /* peak */
    int64_t out_bytes, err_bytes; /* of output kept with the run (no file named) */
    const char *text;
    bool is_recalled; /* it was ended because its slots were recalled */
};

enum control_action { CONTROL_SIGNAL, CONTROL_SUSPEND, CONTROL_RESUME, CONTROL_KILL };

/* The latest order about a run. `number` grows with each; an order whose number
 * was carried out already is answered and not repeated. */
struct run_control {
    uint64_t number; /* 0: none yet */
    enum control_action action;
    int signal;  /* for CONTROL_SIGNAL; KILL with SIGKILL: at once, without a grace */
    bool yields; /* SUSPEND: its slots are others' once it stands still. Of whoever
                    schedules it: neither on the wire nor in a run's row */
    int reasons; /* SUSPEND: enum halt_cause, added up; not in a run's row */
};

enum output_stream { OUTPUT_OUT, OUTPUT_ERR };

struct msg_hello {
    const char *name;
    int roles;   /* of enum role */
    int n_books; /* leases it is provider of: as many STATEs follow WELCOME */
    int64_t reclaim_delay_ms; /* the provider's value; 0: not configured */
};

struct msg_welcome {
    bool is_accepted;
    uint64_t min_session; /* refused: say HELLO again, above this */
    const char *text;     /* refused: why */
    int64_t lost_after_ms;
};

struct lease_demand {
    const char *lease;
    uint64_t epoch; /* that the consumer goes by */
    int n_used;     /* slots of its jobs there: sent, running, suspended */
    int n_waiting;  /* slots of its waiting jobs that may use this lease */
    bool
        is_unnamed; /* none of its queues may use a host of it; told until it is made */
};

/* What waits in a queue and may go to borrowed hosts. */
struct queue_demand {
    const char *queue;
    int n_waiting; /* slots */
};

/* Its jobs by state, elements of arrays one by one; ended ones until they are cleaned.
 */
struct msg_job_counts {
    int pend, psusp, run, ususp, ssusp, unkwn, done, exit;
};

/* How many passes took at most so many microseconds, and more than the field before. */
struct msg_pass_times {
    uint64_t us100, us250, us1000, us2500, us10000, us50000, us250000, us1000000;
};

struct msg_usage {
    uint64_t seq;
    int n_own, n_own_used; /* slots of its own hosts (MXJ), used by its own jobs */
    int n_lent, n_borrowed;
    int n_idle;    /* slots it could start a job on now */
    int n_waiting; /* slots of its waiting jobs */
    struct msg_job_counts jobs;
    uint64_t n_passes, passes_us; /* of its scheduler since it started */
    struct msg_pass_times pass_times;
    const struct lease_demand *demands; /* of the leases it is consumer of */
    int n_demands;
    const struct queue_demand *queues; /* where something waits */
    int n_queues;
};

struct msg_pong {
    uint64_t seq;
};

struct msg_error {
    int code; /* enum err_code */
    const char *text;
    int about; /* the msg_kind that was refused; 0: none */
};

/* Slots of a contract that are wanted back: after the time it holds no more than so
 * many. Several of one contract stand in the order of their deadlines, each lower. */
struct recall {
    int n_held;
    int64_t left_ms; /* from when this is said */
};

/* What of a lease its provider alone knows. epoch 0: no such lease here. */
struct msg_state {
    const char *lease; /* id */
    uint64_t epoch;
    enum lease_type type;
    bool is_made;
    bool is_withdrawn; /* draining: nothing new starts */
    bool is_ended;     /* withdrawn, and nothing is left of it */
    bool is_frozen;
    uint64_t freeze;      /* the highest freeze number seen */
    uint64_t drain;       /* number of the latest DRAIN; 0: none ever */
    bool is_drained;      /* what that said: withdrawn, whatever the policies say */
    int provider_waiting; /* slots of the provider's waiting jobs that fit */
    enum reclaim_policy reclaim_policy;
    int64_t min_hold_ms, lease_term_ms;
    const struct host_split *hosts;
    int n_hosts;
    const struct lease_resource *resources;
    int n_resources;
    const char *reason;     /* of the last change that the provider made by itself */
    bool ends_lost;         /* ON_LOST=kill */
    bool takes_interactive; /* INTERACTIVE=Y */
    uint64_t last_attempt;  /* the highest of its consumer that was decided */
    uint64_t recall;        /* number of the latest RECALL; 0: none ever ... */
    const struct recall *recalls; /* ... and what of it is not home yet */
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

/* The number grows with each order about a lease; one that is not above the last is
 * answered and changes nothing. */
struct msg_drain {
    const char *lease;
    uint64_t number;
    bool is_drained;
    uint64_t raise_above; /* the provider has lost its books: it goes on above this
                             epoch, where it is not above it; 0: it has not */
};

/* All that is wanted back of a contract; the number grows with each about it, and one
 * that is not above the last changes nothing. None: what was wanted is needed no more.
 */
struct msg_recall {
    const char *lease;
    uint64_t number;
    bool is_whole; /* hosts come back whole */
    const struct recall *recalls;
    int n_recalls;
};

/* Ends what the lease's consumer runs there, up to this attempt: what it starts when it
 * is back is above it. */
struct msg_evict {
    const char *lease;
    uint64_t attempt;
};

struct msg_contract {
    const char *lease;
    uint64_t revision; /* grows within a session; a lower one is late */
    uint64_t epoch;
    enum lease_type type;
    enum lease_state state;
    bool is_made;
    bool is_provider_here;  /* connected to the broker */
    bool takes_interactive; /* its provider runs interactive jobs */
    const struct host_split *hosts;
    int n_hosts;
    const char *const *queues;    /* of a leaf: the only ones whose jobs may use it */
    int n_queues;                 /* 0: all */
    int64_t grace_ms;             /* of a leaf: how long a recalled slot may be used */
    const struct recall *recalls; /* what is wanted back of it */
    bool is_whole;                /* ... by whole hosts */
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
    int priority; /* of its queue: of what is recalled the least important goes first */
    int64_t end_within_ms; /* its job ends so long from now at the latest, as others
                              need its slots then; 0: no such time */
};

struct msg_attempt { /* ATTEMPT_ASK, ATTEMPT_ACK */
    struct run_id run;
};

enum attempt_state {
    ATTEMPT_TAKEN,   /* a slot is given, the guard is being started */
    ATTEMPT_REFUSED, /* never began and never will */
    ATTEMPT_RUNNING,
    ATTEMPT_SUSPENDED,
    ATTEMPT_ENDED,
    ATTEMPT_LOST,   /* not in the books, and not above what was decided: never began, or
                       acknowledged long ago */
    ATTEMPT_ABSENT, /* above the high-water mark: START never arrived */
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
    uint64_t request; /* chosen by the asker, comes back with the piece */
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
    bool is_end;  /* nothing more now; for an ended run: ever */
    bool is_gone; /* no such output here */
};

/* One thing that a host tells of itself: a load index, a static resource, one that
 * its administrator gave it or that a program of his measures (docs/resources.md). */
struct load_value {
    const char *name;
    const char *value; /* as text: what type it is, the site knows */
    bool is_exclusive; /* only jobs that ask for it may come here */
};

struct lease_load_host {
    const char *host;                /* the provider's name for it */
    const struct load_value *values; /* all that is known of it */
    int n_values;
    const struct load_value
        *thresholds; /* its own, as "0.7/2.0" (sched/resource/load_threshold.h) */
    int n_thresholds;
};

/* Both: offsets count the bytes of a stream since its run began, so that what comes
 * twice, late or not at all does no harm. Neither side has more than STREAM_WINDOW
 * bytes on the way that the other has not said to have. */
struct msg_stream_down {
    struct run_id run; /* of the user: site "", and attempt 0 where none is known */
    const char *job;   /* of the user; to a host "" */
    int64_t got_out, got_err; /* bytes of its output that have arrived */
    int64_t offset;           /* of its input */
    const uint8_t *bytes;
    int n_bytes;
    bool is_end;   /* no input behind these */
    bool is_again; /* nothing has come for a while: what has not arrived is resent */
    int n_rows, n_columns; /* of the user's terminal; 0: it has none */
};

struct msg_stream_up {
    struct run_id run; /* attempt 0: there is none now */
    const char *job;   /* to the user; from a host "" */
    enum output_stream stream;
    int64_t offset;
    const uint8_t *bytes;
    int n_bytes;
    int64_t got_in;   /* bytes of the input that were taken */
    bool is_over;     /* the job's processes are gone: what comes is all there is */
    const char *note; /* of the site, for the user to read; "": none */
};

struct msg_lease_load {
    const char *lease;
    const struct lease_load_host *hosts;
    int n_hosts;
};

struct msg_host_hello {
    const char *name;
    const char *boot_id; /* of the machine: runs of an earlier boot are gone */
    int n_cpus;
};

struct msg_host_alive { /* HOST_ALIVE, HOST_PONG */
    uint64_t seq;
};

struct run_load {
    struct run_id run;
    int64_t cpu_ms; /* until now */
};

/* All that it has to tell: of values, what is left out is not known any more; of runs,
 * what is left out is as it was. */
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
    const char *account;   /* "": the daemon's own; else whom it runs as, never root
                              for a leased job */
    int64_t terminate_ms;  /* between the signals that end it; 0: the host's default */
    int64_t end_within_ms; /* as in START */
};

struct msg_run_go {
    struct run_id run;
    uint64_t token; /* the guard that may begin; another one refuses */
};

struct msg_run_control {
    struct run_id run;
    struct run_control control;
};

enum resize_event { RESIZE_NONE, RESIZE_GROW, RESIZE_SHRINK };
/* As a code, instead of its command's: the run stands still, its job has not begun, or
 * is over. */
enum { RESIZE_NOT_NOW = 256 };

/* The number grows with each resize of a run; one that was answered is answered again,
 * and not repeated. */
struct msg_run_resize {
    struct run_id run;
    uint64_t number;
    enum resize_event event;
    const struct host_slots *hosts; /* that come, or go */
    int n_hosts;
    const struct host_slots *all; /* that it has then */
    int n_all;
    const char *command; /* that is told; "": none */
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
    uint64_t resize_done; /* number of the last resize that is over ... */
    int resize_code;      /* ... and what its command exited with; 0: it agrees */
};

struct msg_submit {
    uint64_t request;
    struct job_spec
        spec; /* queue "": the default; uid and user are the site's to set */
    struct job_terms terms;
    uint64_t bare_limits; /* 1 << enum job_rlimit, added up: sizes that were given
                             without a unit, which is the site's */
};

struct msg_job_control {
    uint64_t request;
    enum control_action action;
    int signal;
    const char *const *jobs; /* ids; one "0": all of the caller's */
    int n_jobs;
};

enum job_move {
    MOVE_REQUEUE, /* ends it, and it waits again */
    MOVE_SWITCH,  /* to another queue */
    MOVE_TOP,     /* before or behind all that are like it but for their submission */
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
    JOB_RESIZE_TO,      /* so many slots, by growing or by giving up the last ones */
    JOB_RESIZE_RELEASE, /* gives up these */
    JOB_RESIZE_KEEP,    /* gives up all but these */
    JOB_RESIZE_CANCEL,  /* asks for no more than it has */
};

struct msg_job_resize {
    uint64_t request;
    enum job_resize_order order;
    int n_slots; /* TO */
    const struct host_slots
        *hosts; /* RELEASE, KEEP; n_slots 0: all that it has there */
    int n_hosts;
    bool is_last;    /* RELEASE, KEEP: it asks for no more either */
    const char *job; /* or an array: all its elements that can take it */
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
    bool with_ended; /* jobs, leases; limits: those of which nothing is used */
    bool configured; /* limits: as configured */
    bool exported;   /* hosts -e */
    bool shared;     /* hosts -s: shared resources, not hosts */
    const char *res_req; /* load, hosts: those that match; "": all */
    const char *after;   /* page: rows behind this id; "": from the first */
    int limit;           /* rows; 0: as many as a page takes */
    int last;            /* history, events: the last so many behind `after`; 0: all */
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
    bool is_recovery; /* neither: the provider of the lease has lost its books */
};

struct msg_host_control {
    uint64_t request;
    const char *host; /* "n1", "n1@north" */
    bool is_closed;
};

struct msg_reconfig {
    uint64_t request;
};

/* The copy is made at the first question; a REPLY without bytes and without is_end:
 * ask again, it is not ready. */
struct msg_snapshot {
    uint64_t request;
    uint64_t ticket; /* chosen by the asker, the same in all its questions */
    int64_t offset;
};

struct msg_reply {
    uint64_t request;
    int code; /* 0, or enum err_code: then text says what, why, what to do */
    const char *text;
    const struct value *value; /* pure code fills this; the shell renders it ... */
    const char *json;          /* ... into this before it leaves; NULL: none */
    const char *next; /* a listing: ask again with this as `after`; "": that was all */
    const uint8_t *bytes; /* PEEK, SNAPSHOT */
    int n_bytes;
    bool is_end; /* PEEK, SNAPSHOT: nothing more, ever */
};

struct msg {
    enum msg_kind kind;
    /* Between site and broker, and site and host: the session it belongs to. The
     * connecting side chooses the number at HELLO, above all that it used before;
     * both sides put it on everything after. 0 with the command line. */
    uint64_t session;
    /* Relayed messages: on the way to the broker whom it is for, on the way from it
     * whom it is from. "": not relayed. */
    const char *site;
    union {
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
        struct msg_attempt_control attempt_control;
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

/* "FREEZE" and so on, for logs and metrics; "?" for a number out of range. */
const char *msg_kind_name(enum msg_kind kind);
/* The borrowing site of a lease's id: what stands behind the second '/', and of a
 * pool's leaf before the ':'. Of what is idle in a pool "pool:NAME". `length` of it. */
const char *msg_lease_consumer(const char *lease, size_t *length);
/* Words of the enums as people and JSON see them ("pending", "shared", "lsf"). */
const char *msg_lease_state_name(enum lease_state state);
const char *msg_lease_type_name(enum lease_type type);

#endif
