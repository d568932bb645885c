/* SPDX-License-Identifier: Apache-2.0 */
/* place.h: which waiting jobs start now, and where: a snapshot in, a plan out.
 *
 * Here first come, first served by queue priority: jobs in the order of their queue's
 * priority (higher first), queue place in the file, then job id; a job that does not
 * fit is passed over with a reason and does not hold back the next. Limits, preemption
 * and fairshare will order and veto behind the same call.
 *
 * A job goes to own hosts, or to hosts of one lease, never to both. Candidates in the
 * order: preference (higher first), the order section of its requirements, own before
 * borrowed, lower used / max, file order;
 * a parallel job takes free slots along that order, per lease.
 *
 * Units: slots. Ownership: the snapshot is borrowed and not changed; the plan lives in
 * the arena. Order: as above, complete. Layer: sched (base only). */
#ifndef SUBLET_SCHED_PLACE_H
#define SUBLET_SCHED_PLACE_H

#include "base/arena.h"
#include "base/msg.h"
#include "sched/queue.h"

struct place_host {
    const char *name;  /* "n1", "n1@north" */
    const char *site;  /* "": own */
    const char *lease; /* "": own */
    int max;           /* slots that may be used in all */
    int used;
    bool is_open;
};

/* What requirement strings make of the hosts; shared by the jobs that have the same. */
struct place_filter {
    const uint8_t *matches; /* by host: 1, may be used; 0 */
    const int *places; /* by host: an order, lower first; NULL: none was asked for */
};

struct place_job {
    uint64_t id;
    int queue; /* index */
    int n_slots;
    const char *const *hosts_asked; /* -m; none: the queue's */
    int n_hosts_asked;
    const struct place_filter *filter; /* NULL: any host */
};

struct place_snapshot {
    const struct place_host
        *hosts; /* own in file order, then borrowed in lease order */
    int n_hosts;
    const struct queue_config *queues; /* file order */
    int n_queues;
    const struct place_job *jobs; /* waiting ones, by id */
    int n_jobs;
};

enum place_reason {
    PLACE_STARTED,
    PLACE_NO_HOST,   /* the queue's hosts and -m have none in common that is known */
    PLACE_UNMET,     /* none of those meets the job's requirements */
    PLACE_TOO_LARGE, /* more slots than those hosts have in all */
    PLACE_CLOSED,    /* all of them are closed or away */
    PLACE_BUSY,      /* not enough free slots */
};

struct place_start {
    uint64_t job;
    const char *lease; /* "": own hosts */
    struct host_slots *hosts;
    int n_hosts;
};

struct place_plan {
    struct place_start *starts;
    int n_starts;
    const int *used;            /* of each host, with what starts */
    enum place_reason *reasons; /* of each job, same index as the snapshot's */
    /* Slots of jobs left waiting that could use: own hosts; each borrowed host's lease
     * (same index as the snapshot's hosts, counted at the lease's first host). */
    int waiting_own;
    int *waiting_lease;
};

void place_plan(struct arena *arena, const struct place_snapshot *snapshot,
                struct place_plan *plan);

/* "waiting for a free slot" and so on, for `jobs -l`. */
const char *place_reason_text(enum place_reason reason);

#endif
