/* SPDX-License-Identifier: Apache-2.0 */
/* msg_client.h: the requests of the command line, and the reply; their fields are in
 * model/schema_client.c.
 *
 * Units, Ownership: as msg.h. Layer: model. */
#ifndef SUBLET_MODEL_MSG_CLIENT_H
#define SUBLET_MODEL_MSG_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/msg_job.h"

struct msg_submit {
    uint64_t request;
    struct job_spec spec; /* queue "": the default; the site sets uid and user */
    struct job_terms terms;
    uint64_t bare_limits; /* sum of 1 << enum job_rlimit: sizes that were given without
                             a unit, for which the site's unit counts */
    bool is_held;         /* -H: PSUSP until a user resumes it */
};

/* Parts of a job that bmod changes. */
enum job_field {
    JOB_FIELD_NAME, /* of an array: "%3", its bound of running elements */
    JOB_FIELD_QUEUE,
    JOB_FIELD_COMMAND,
    JOB_FIELD_CWD,
    JOB_FIELD_IN,
    JOB_FIELD_OUT,
    JOB_FIELD_ERR,
    JOB_FIELD_ENV,
    JOB_FIELD_SLOTS,
    JOB_FIELD_HOSTS,
    JOB_FIELD_RES_REQS,
    JOB_FIELD_RUN_LIMIT,
    JOB_FIELD_RERUNNABLE,
    JOB_FIELD_EXCLUSIVE,
    JOB_FIELD_APP,
    JOB_FIELD_PRE_EXECS,
    JOB_FIELD_POST_EXECS,
    JOB_FIELD_DEPEND,
    JOB_FIELD_BEGIN,
    JOB_FIELD_PROJECT,
    JOB_FIELD_PRIORITY,
    JOB_FIELD_GROUP,
    JOB_FIELD_DESCRIPTION,
    JOB_FIELD_JOB_GROUP,
    JOB_FIELD_WARNING, /* the control "warn" */
    JOB_FIELD_TERMINATE,
    JOB_FIELD_ORPHAN,
    JOB_FIELD_REQUEUE,
    JOB_FIELDS,
};

struct msg_job_modify {
    uint64_t request;
    const char *job;      /* a job, or a whole array */
    uint64_t fields;      /* sum of 1 << enum job_field: what changes ... */
    uint64_t limits;      /* ... and of 1 << enum job_rlimit */
    struct msg_submit to; /* what these become; all else is not read */
};

struct msg_job_control {
    uint64_t request;
    enum control_action action;
    int signal;
    const char *const *jobs; /* ids; one "0": all of the caller's */
    int n_jobs;
    const char *reason; /* KILL: why, in the caller's words; "": none */
};

enum job_move {
    MOVE_REQUEUE, /* ends its run, and the job is pending again */
    MOVE_SWITCH,  /* to another queue */
    MOVE_TOP,     /* before or behind all jobs of its queue and priority */
    MOVE_BOTTOM,
    MOVE_RERUN, /* a job that has ended is pending again */
};

struct msg_job_move {
    uint64_t request;
    enum job_move move;
    const char *queue; /* of MOVE_SWITCH */
    const char *const *jobs;
    int n_jobs;
    bool is_held; /* REQUEUE, RERUN: it is PSUSP until a user resumes it */
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

enum orphan_order {
    ORPHAN_ADOPT,       /* the run gets a job */
    ORPHAN_END,         /* it is killed and forgotten */
    ORPHAN_ACCEPT_LOSS, /* the alarm ends; of no run */
};

struct msg_orphan {
    uint64_t request;
    enum orphan_order order;
    uint64_t attempt;
    const char *host; /* or the provider, if several have such an attempt; "": any */
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
    QUERY_EVENTS,   /* broker: what happened to leases and sites */
    QUERY_LOAD,     /* of a site's hosts */
    QUERY_HIST,     /* what happened to a site's jobs */
    QUERY_USERS,    /* of a site, and their shares */
    QUERY_POOLS,    /* broker */
    QUERY_PLAN,     /* broker: the nodes of the pool `name` */
    QUERY_LIMITS,   /* of a site, and how full they are */
    QUERY_RUNS,     /* of a site: those that its journal does not have */
    QUERY_GROUPS,   /* of a site: groups of users and of hosts */
    QUERY_APPS,     /* of a site: application profiles */
    QUERY_PARAMS,   /* of a site: its name and parameters */
    QUERY_USAGE,    /* slot time of a site's leases */
    QUERY_BROKERS,  /* broker: those of its store */
    QUERY_LEDGER,   /* the hours of the lease `name` in the books of `host`: "site",
                       "other" (the lease's other site) or "broker"; `by` "runs",
                       "splits": what is behind them */
    QUERY_OVERVIEW, /* what a site tells the federation of its hosts, queues and jobs */
    QUERY_JOB_GROUPS, /* of a site: with the numbers of their jobs */
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
    const char *fields; /* plan: each row is an array of these, separated by commas; "":
                           an object of all */
    const char *by; /* usage: what sums are by, words separated by commas; "": lease */
    int64_t from_ms, to_ms; /* usage: the period; 0: the last 30 days, until now */
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

struct msg_rebalance {
    uint64_t request;
    const char *lease;
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

enum job_group_action { JOB_GROUP_ADD, JOB_GROUP_DELETE, JOB_GROUP_MODIFY };

struct msg_job_group {
    uint64_t request;
    enum job_group_action action;
    const char *path;
    bool has_limit;
    int limit;         /* of started jobs; -1: none */
    const char *owner; /* MODIFY: the new one; "": the same */
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

#endif
