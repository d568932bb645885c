/* SPDX-License-Identifier: Apache-2.0 */
/* place.h: which pending jobs start now, and on which hosts: a const snapshot in, one
 * plan out.
 *
 * Order of jobs. Queues are served by PRIORITY (higher first), then in file order;
 * within a queue, jobs in the order of their class (see the entries of place_class).
 * Slot pools and fairshare change this order (place_order.h), and a queue of a slot
 * pool waits once it has its part. A job that does not fit gets a reason and does not
 * delay the next one; the other jobs of its class are not looked at, as they would not
 * fit either.
 *
 * Hosts. A job runs on own hosts, or on hosts of one lease, never on both. Candidates
 * are ordered by preference (higher first), the order section of the requirements, own
 * before borrowed, lower used / max, file order. A parallel job takes free slots along
 * that order (place_alloc.h), or as its span section says (place_span.h). Where limits
 * leave fewer slots on a host than are free, it takes fewer. With -n min,max a job
 * starts if it can have min slots, and takes up to max.
 *
 * Exclusive jobs start on hosts where nothing runs, and close them to other jobs. A job
 * that has its compute units exclusively (cu[excl]) does so with all hosts of them. It
 * does not preempt, and is not preempted.
 *
 * Suspended jobs that wait for their slots (place_resume) resume once these are free,
 * and come before all pending jobs except those of queues that may preempt them. If
 * only some of the slots are free, those are kept from pending jobs of its queue and of
 * later queues, but not from other suspended jobs that fit. A job that was a backfill
 * job comes before the job whose reserved slots it used if it ends before that can
 * start; else it keeps the place of its queue. A host that has shrunk or takes no new
 * jobs still counts with the slots that it had (n_resume_slots), or as a whole if
 * nothing else uses it. If it has become smaller than the job, idle slots that leases
 * have of it do not count: they return as the job goes on.
 *
 * A running job that asks for more slots (place_grow) is served like a pending job of
 * its queue and user; the slots that it has stay as they are. It gets no slot that a
 * suspended job needs to go on.
 *
 * A host that was given a job takes no job of a queue before JOB_ACCEPT_INTERVAL is
 * over. Jobs that resume, or for which others were preempted, do not wait for that. No
 * job starts on a host whose load exceeds a threshold of the host or of the job's
 * queue.
 *
 * A parallel job that finds no room may reserve what is free, and jobs that end in time
 * may use that meanwhile (reservation.h). It may preempt running jobs (preempt.h). A
 * job with rusage starts where its resources are available; of several alternatives the
 * first that fits counts, of those whose delay since its submission has passed. A job
 * with affinity starts on own hosts with enough free processors (place_affinity.h).
 *
 * Units: slots. Ownership: the snapshot is borrowed and not changed; the plan lives in
 * the arena. Order: as above, complete. Layer: sched. */
#ifndef SUBLET_SCHED_PLACE_PLACE_H
#define SUBLET_SCHED_PLACE_PLACE_H

#include "base/arena.h"
#include "model/msg.h"
#include "sched/affinity/affinity.h"
#include "sched/fairshare/fairshare.h"
#include "sched/limit/limit.h"
#include "sched/pending/pending.h"
#include "sched/place/place_span.h"
#include "sched/queue/queue.h"
#include "sched/resource/rusage_supply.h"

struct place_host {
    const char *name;  /* "n1", "n1@north" */
    const char *site;  /* "": own */
    const char *lease; /* "": own */
    int max;           /* slots that may be used in all */
    int used;
    int n_processors; /* for limits; 0: unknown, as many as slots */
    bool is_open;
    bool is_used_exclusively; /* an exclusive job runs there */
    bool is_held;     /* a suspended exclusive job holds it: no job starts there */
    uint64_t unit_of; /* the job that has its compute unit exclusively: no other job is
                         there, and none preempts it; 0: none */
    bool is_shared; /* by jobs that `used` does not count, of other sites or suspended:
                       no exclusive job may start there */
    int64_t dispatched_ms; /* when a job was dispatched to it last, of this site */
    bool is_batch_only;    /* its provider takes no interactive jobs */
    int n_lease_slots;     /* of a borrowed one: slots of its lease, of both sides */
    bool is_lease_unmade;  /* its shared lease is made when the first job starts there:
                              no slot may be reserved there */
    const char *const *queues; /* the only ones whose jobs may use it ... */
    int n_queues;              /* ... 0: all */
    int n_suspended; /* slots of suspended jobs of the site that others may use */
    /* For suspended jobs that resume there. */
    int n_resume_slots; /* slots of a host that takes nothing new */
    bool is_idle;       /* nothing runs there, and no lease has slots of it */
    int n_resume_alone; /* nothing runs there, leases have idle slots of it, and a job
                           of so many slots or more can never have them all; else 0 */
    bool has_foreign_jobs; /* jobs of other sites are there, suspended or not */
    bool is_unreported;    /* it, or its provider, has not reported its jobs: no job
                              resumes */
};

/* Requirement strings matched to the hosts. Classes with the same strings share a
 * filter. */
struct place_filter {
    const uint8_t *matches; /* by host: 1, may be used; 0 */
    const int *ranks; /* by host: an order, lower first; NULL: none was asked for */
    const struct place_reserved *reserved; /* NULL: no host is without for that */
    const struct place_span *span;         /* NULL: slots may lie anywhere */
};

/* Hosts that would meet the requirement if no job had reserved anything, and the
 * resource that the first of them lacks. */
struct place_reserved {
    const uint8_t *hosts; /* by host: 1, it is one; 0 */
    const char *resource;
    int64_t total_milli, reserved_milli;
};

/* Which borrowed hosts jobs may use. */
enum host_scope {
    HOST_SCOPE_ANY,
    HOST_SCOPE_INTERACTIVE, /* where their provider takes none of these */
    HOST_SCOPE_OWN,         /* whatever their provider says */
};

/* A running job that asks for more slots. The request is served like a pending job
 * and gets at least one of the free slots. It does not preempt, reserve, or use
 * reserved slots. */
struct place_grow {
    const struct host_slots *hosts; /* that it has */
    const int *indexes;             /* the same as indexes of hosts; -1: it is gone */
    int n_hosts;
    bool is_exclusive; /* it may have more of its own hosts, or hosts where nothing
                          runs */
};

/* Jobs that are alike. */
struct place_class {
    int queue;   /* index */
    int account; /* in the tree of its queue's scope, where that has one */
    int n_slots;
    int max_slots; /* -n min,max; 0: as many as n_slots */
    bool is_exclusive;
    enum host_scope scope;
    const struct host_list
        *host_list; /* -m; NULL: the queue's hosts; one list, one pointer */
    const struct place_filter
        *filter; /* NULL: any host; alternatives may have others */
    const struct rusage_request *rusages; /* alternatives; one list, one pointer */
    int n_rusages;                        /* 0: it reserves nothing */
    const struct job_class_entry *const *entries; /* in order, at least one */
    int n_entries;
    const struct limit_owner *limit_class; /* NULL: no limits */
    const char *app; /* application, for what it says of preemption; NULL: none */
    int max_starts;  /* of an array with a limit; INT_MAX: all */
    int64_t waiting_since_ms; /* its first job waits; 0: unknown */
    int64_t backfill_ms; /* it may use reserved slots, and ends by its run limit after
                            so long; 0: it may not */
    int64_t
        backfill_slice_ms;    /* also for so long, where its run can be ended then; 0 */
    enum pending_reason veto; /* REASON_NEW: none; else none of it starts */
    const struct place_grow *grow; /* its one job runs; NULL: they wait */
};

/* The reservation that a backfill job uses. */
struct place_backfill {
    uint64_t lender; /* the job with the reservation; 0: none */
    int64_t until_ms;
};

/* A suspended job that waits for its own slots. */
struct place_resume {
    uint64_t job;
    int queue;                      /* -1: it is gone, and the job comes last */
    const struct host_slots *hosts; /* by name, for limits */
    const int *indexes;             /* the same as indexes of hosts; -1: it is gone */
    int n_hosts;
    const struct limit_owner *limit_class; /* NULL: no limits */
    const struct rusage_amount
        *released; /* resources that it released while it is suspended */
    int n_released;
    bool is_exclusive;  /* it resumes where nothing runs */
    bool keeps_nothing; /* what it cannot use yet is for all others */
    /* Of a backfill job whose reserving job still pends: when it ends if it goes on
     * now. */
    struct place_backfill backfill;
    int64_t end_ms;
};

struct place_snapshot {
    const struct place_host
        *hosts; /* own in file order, then borrowed in lease order */
    int n_hosts;
    const struct queue_config *queues; /* file order */
    int n_queues;
    const struct place_class *classes; /* in any order */
    int n_classes;
    const struct place_resume *resumes; /* by the priority of their queues, of one
                                           priority as they shall go on */
    int n_resumes;
    const struct preempt_snapshot *preempt;          /* NULL: there is no preemption */
    const struct reservation_snapshot *reservations; /* NULL: no queue reserves slots */
    const struct limits *limits;                     /* NULL: none */
    const struct rusage_supply *supply;   /* NULL: no job reserves resources */
    const struct affinity_host *affinity; /* by host; NULL: no job has affinity */
    const struct load_excess *const
        *load_excess; /* by queue (NULL: on no host), by host: what of its load stands
                   against a start; NULL: nothing anywhere */
    const struct fairshare *fairshare;                   /* NULL: no fairshare ... */
    const struct fairshare_tree *const *fairshare_trees; /* ... else by scope */
    const struct slot_pools *slot_pools;                 /* NULL: no slot pools ... */
    const int *queue_used; /* ... else slots of its jobs, by queue */
    const double
        *queue_usage; /* and what orders it: hours used, and ahead of its share */
    int64_t now_ms;   /* that users' priorities and JOB_ACCEPT_INTERVAL are as of */
    int max_starts;   /* of one plan */
};

/* The slots of one part of a compound requirement. */
struct place_part {
    const struct rusage_request *rusage; /* of the class */
    const struct rusage_piece *pieces;
    int n_pieces;
};

struct place_start {
    uint64_t job;      /* key of the entry */
    const char *lease; /* "": own hosts */
    struct host_slots *hosts;
    int n_hosts;
    const struct rusage_request
        *rusage; /* alternative of the class, or of all parts; NULL: none */
    const struct place_part *parts; /* of a compound requirement */
    int n_parts;                    /* 0: it has none */
    const char *binding; /* its processors (model/cpu.h); NULL: it has no affinity */
    struct place_backfill backfill;
    bool is_grow; /* additional slots of a running job */
};

/* Free slots that are kept for a suspended job. */
struct place_kept {
    uint64_t job;
    int n_slots;
};

struct place_plan {
    struct place_start *starts;
    int n_starts;
    uint64_t *resumes; /* keys of jobs of the snapshot that resume */
    int n_resumes;
    struct place_kept *kept; /* for suspended jobs of the snapshot that do not fit */
    int n_kept;
    bool is_cut;     /* max_starts was reached: there may be more */
    int64_t next_ms; /* when a host accepts jobs again (JOB_ACCEPT_INTERVAL) that a
                        job waits for, or a job may have another alternative;
                        INT64_MAX: never */
    /* For each class, why its next job stays pending. REASON_STARTED: all of its jobs
     * start; REASON_NEW: the plan was cut before it. */
    struct pending_verdict *verdicts;
    /* Slots of jobs left waiting, pending or suspended, that could use: own hosts; each
     * borrowed host's lease (same index as the snapshot's hosts, counted at the lease's
     * first host). Those that wait for something else than slots do not count. 0 of a
     * plan that was cut. */
    int waiting_own;
    int *waiting_lease;
    /* By queue: it is in a slot pool, and jobs of it wait for nothing but slots. */
    bool *queue_waits;
    const struct preempt_plan *preempt; /* NULL: there is no preemption */
    /* For reservation_result, once the plan has been carried out. NULL: no queue
     * reserves slots. */
    struct reservation_pass *reservations;
};

void place_plan(struct arena *arena, const struct place_snapshot *snapshot,
                struct place_plan *plan);

#endif
