/* SPDX-License-Identifier: Apache-2.0 */
/* msg_job.h: what a job is, and what is known of one execution of it: parts of messages
 * (model/msg.h) and of rows (model/row.h).
 *
 * Units, Ownership: as msg.h. Layer: model. */
#ifndef SUBLET_MODEL_MSG_JOB_H
#define SUBLET_MODEL_MSG_JOB_H

#include <stdbool.h>
#include <stdint.h>

/* One execution of one job, on whatever host: the site that owns the job, the attempt
 * number from that site's journal, which is never used again, and the random number of
 * the submission. A site whose journal was replaced by an older copy uses attempt
 * numbers again: then the nonce tells the runs apart. */
struct run_id {
    const char *site;
    uint64_t attempt;
    uint64_t nonce; /* 63 bits; 0: of a version without it */
};

/* How far a site's journal is. The broker, the hosts and the providers of a site have
 * the last mark that they were sent, and tell it to a site whose journal may be older.
 */
struct journal_mark {
    uint64_t commits; /* batches that were committed */
    uint64_t attempt; /* the highest number of an attempt ... */
    uint64_t job;     /* ... and of a job */
};
/* Raises each number of `mark` to that of `other`. True if one was below. */
bool msg_raise_mark(struct journal_mark *mark, const struct journal_mark *other);

struct host_slots {
    const char *host;
    int n_slots;
};
/* The sum of their slots. */
int msg_sum_slots(const struct host_slots *hosts, int n_hosts);
/* The time left until `end_by_ms`, at least 1; 0 if `end_by_ms` is 0. */
int64_t msg_end_within_ms(int64_t end_by_ms, int64_t now_ms);

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
    bool replaces_out, replaces_err; /* -oo, -eo: the file is emptied at the start */
    int64_t report_ms; /* a report of its end is appended to `out_file`, which names
                          this instant of submission; 0: no report */
    const char *const *env; /* "NAME=value" */
    int64_t umask;
    int n_env;
    int n_slots;
    const char *const *hosts_asked; /* -m; none: the queue's */
    const char *const
        *res_reqs; /* -R, as given; only the job's own site applies them */
    int n_hosts_asked;
    int n_res_reqs;
    int64_t run_limit_ms; /* time in RUN; 0: none */
    bool is_rerunnable;
    bool is_exclusive; /* -x: nothing else runs on its hosts */
    /* The fields below: in SUBMIT what the user asked for; in START and RUN_START the
     * result of that, the queue and the application. */
    enum interaction interaction;
    const char *app;               /* application profile; "": none */
    const char *const *limits;     /* "mem=1048576" and so on (model/job_rlimit.h) */
    const char *const *pre_execs;  /* commands before it, in this order */
    const char *const *post_execs; /* commands after it, in this order */
    const char *const *controls;   /* "suspend=TSTP" and so on (model/job_control.h) */
    int n_limits, n_pre_execs, n_post_execs, n_controls;
};

/* Whether a job's slots may change while it runs. RESIZABLE_YES: on its user's request.
 * RESIZABLE_AUTO: also by the scheduler, up to the maximum that the job asks for. */
enum resizable { RESIZABLE_NO, RESIZABLE_YES, RESIZABLE_AUTO };

/* What a job waits for, and its rank among other jobs. Fixed at submission, and never
 * sent to another site or to a host. */
struct job_terms {
    const char *depend;    /* -w as it was given; "": none */
    const char *depend_on; /* the same with ids instead of names
                              (sched/pending/pending.h); set by the site */
    int64_t begin_ms;      /* -b: not before this instant; 0: at once */
    int64_t terminate_ms;  /* -t: it ends at this instant at the latest; 0: none */
    bool ends_orphan;      /* -ti: it ends once `depend` can never be met */
    const char
        *requeue_codes;  /* -Q, as REQUEUE_EXIT_VALUES, which it replaces; "": none
                          */
    const char *project; /* -P; "": "default" */
    int64_t priority;    /* -sp: higher first in its queue */
    const char *run_limit_host; /* of -W 60/EPYC7: the host or host model whose time the
                                   run limit is; "": none was named */
    bool has_slots;             /* -n was given; if not, the queue has the number */
    int max_slots;              /* -n min,max; 0: as many as the spec has */
    const char *user_group;   /* -G: the group whose share counts; "": the user's own */
    const char *description;  /* -Jd; "": none */
    const char *job_group;    /* -g: its path; "": none */
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

/* A pre-execution command that exits with this code does not run again: its job ends.
 */
enum { MSG_PRE_ABORT = 99 };

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
    RUN_CAUSE_PRE_EXEC,  /* a pre-execution command failed: the job itself never started
                          */
    RUN_CAUSE_NOT_BEGUN, /* with LOST, from a host to its site: nothing of the run has
                          * begun, and nothing will */
};

/* How the commands after the job ended (LSF's POST_DONE and POST_ERR). */
enum run_post {
    RUN_POST_NONE, /* the run never started, or its host does not say */
    RUN_POST_DONE, /* all have exited with 0, or there are none */
    RUN_POST_ERR,  /* one has failed, or they were cut short */
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
    enum run_post post;
};

/* What a leased run uses, by its provider's record: slot-milliseconds from its
 * admission until `at_ms`, and the slots in use from then on. Slots are in use from the
 * admission to the end, unless the run is suspended by an order. */
struct run_use {
    int64_t start_ms; /* of the admission */
    int64_t at_ms;    /* 0: not known */
    int64_t used_ms;
    int n_slots;
};

enum control_action { CONTROL_SIGNAL, CONTROL_SUSPEND, CONTROL_RESUME, CONTROL_KILL };

/* The latest order about a run. `number` grows with each order. An order whose number
 * was already carried out is answered and not repeated. */
struct run_control {
    uint64_t number; /* 0: none yet */
    enum control_action action;
    int signal;  /* of CONTROL_SIGNAL, 0: none; SIGKILL with KILL: at once, without a
                    grace period */
    bool yields; /* SUSPEND: its slots are released once it is suspended. Only for the
                    scheduler: neither on the wire nor in a run's row */
    int reasons; /* SUSPEND: enum suspend_cause, added up; not in a run's row */
    /* Limits of the run that were changed since it started (bmod). Every later order
     * repeats them, so that none is lost with an order that another one replaces. */
    int64_t run_limit_ms, mem_limit_kib; /* 0: as at its start */
};

/* The order by which a site ends a run that is not on record there: none is above it.
 */
#define RUN_CONTROL_LAST ((uint64_t)INT64_MAX)
static inline uint64_t run_control_next(uint64_t number)
{
    return number < RUN_CONTROL_LAST ? number + 1 : number;
}

enum output_stream { OUTPUT_OUT, OUTPUT_ERR };

#endif
