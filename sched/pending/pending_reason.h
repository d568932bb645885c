/* SPDX-License-Identifier: Apache-2.0 */
/* pending_reason.h: why a job waits: one table of reasons, in LSF's words where it has
 * them, each with what would help; and the verdict that a pass leaves on a line of
 * jobs.
 *
 * Layer: sched (base only). Source: lsb_pendreason of LSF; PITFALLS 7. */
#ifndef SUBLET_SCHED_PENDING_PENDING_REASON_H
#define SUBLET_SCHED_PENDING_PENDING_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "sched/place/place_span.h"
#include "sched/resource/load_threshold.h"

/* id, name in JSON, LSF's sentence, what would help. A %s stands for what the verdict
 * names: a limit, or what is lacking. */
#define REASON_TABLE(X)                                                                \
    X(REASON_NEW, "new", "New job is waiting for scheduling", "it is looked at soon")  \
    X(REASON_STARTED, "started", "being started", "")                                  \
    X(REASON_QUEUE_GONE, "queue_gone", "its queue is not configured any more",         \
      "`sublet switch` moves it to another queue")                                     \
    X(REASON_QUEUE_INACTIVE, "queue_inactive",                                         \
      "The queue is inactivated by the administrator",                                 \
      "an administrator's `sublet queue activate`")                                    \
    X(REASON_QUEUE_WINDOW, "queue_window",                                             \
      "The queue is inactivated by its time windows", "the next window")               \
    X(REASON_BEGIN_TIME, "begin_time", "The job has a specified start time",           \
      "that time")                                                                     \
    X(REASON_DEPENDENCY, "dependency", "Job dependency condition not satisfied",       \
      "the jobs that it waits for")                                                    \
    X(REASON_DEPENDENCY_NEVER, "dependency_never",                                     \
      "Dependency condition invalid or never satisfied",                               \
      "killing it; what it waits for cannot come any more")                            \
    X(REASON_ARRAY_LIMIT, "array_limit",                                               \
      "The job array has reached its running element limit",                           \
      "the end of one of its running elements")                                        \
    X(REASON_RETRY, "retry", "The schedule of the job is postponed for a while",       \
      "it is tried again soon")                                                        \
    X(REASON_LIMIT, "limit", "Resource limit %s has been reached",                     \
      "the end of jobs that count for it")                                             \
    X(REASON_LIMIT_SMALL, "limit_small", "it needs more slots than limit %s allows",   \
      "fewer slots, or a larger limit")                                                \
    X(REASON_SLOT_POOL, "pool_part", "its queue has its part of slot pool %s",         \
      "the end of jobs of the pool's queues")                                          \
    X(REASON_NO_HOST, "no_host", "none of its hosts is known here",                    \
      "other hosts (-m), or another queue")                                            \
    X(REASON_AVOIDED, "avoided",                                                       \
      "The job exited on each of its hosts with an exit code of EXCLUDE",              \
      "`sublet stop` and `resume`, which forget those hosts, or another host")         \
    X(REASON_UNMET, "unmet", "no host meets its resource requirements",                \
      "other requirements (-R), or hosts that have what they ask for")                 \
    X(REASON_RESERVED_BY_OTHERS, "spent", "what it selects hosts by is reserved: %s",  \
      "the end of jobs that reserve it, or another selection (-R)")                    \
    X(REASON_TOO_LARGE, "too_large", "it asks for more slots than its hosts have",     \
      "fewer slots (-n), or more hosts")                                               \
    X(REASON_CLOSED, "closed", "its hosts are closed or away", "their return")         \
    X(REASON_LOAD, "load", "Host load exceeds the scheduling threshold: %s",           \
      "less load on its hosts, or other thresholds (loadSched) of its queue or hosts") \
    X(REASON_ACCEPT_INTERVAL, "accept", "Just started a job recently",                 \
      "the end of JOB_ACCEPT_INTERVAL")                                                \
    X(REASON_HOST_LIMIT, "host_limit", "its hosts have reached limit %s",              \
      "the end of jobs that count for it")                                             \
    X(REASON_RUSAGE, "reserve", "Job's resource reservation not satisfied: %s",        \
      "the end of jobs that reserve it, or a smaller rusage (-R)")                     \
    X(REASON_EXCLUSIVE, "exclusive",                                                   \
      "Job's requirement for exclusive execution not satisfied",                       \
      "hosts on which nothing runs")                                                   \
    X(REASON_PREEMPTING, "preempting",                                                 \
      "waiting for the jobs that it preempts to stop",                                 \
      "it starts once they stand still")                                               \
    X(REASON_SPAN_LARGE, "shape_large",                                                \
      "it asks for more slots than its hosts have as they have to lie: %s",            \
      "fewer slots (-n), other hosts, or another span, same or cu (-R)")               \
    X(REASON_SPAN, "shape", "its slots do not fit as they have to lie: %s",            \
      "the end of other jobs on its hosts, or another span, same or cu (-R)")          \
    X(REASON_BUSY, "busy", "waiting for a free slot",                                  \
      "the end of other jobs on its hosts")

enum pending_reason {
#define X(id, name, text, help) id,
    REASON_TABLE(X)
#undef X
        REASONS
};

/* What protects a running job from being preempted, by the parameter's name. */
#define REASON_PROTECTION_TABLE(X)                                                     \
    X(REASON_UNPROTECTED, "nothing")                                                   \
    X(REASON_PROTECTED_COUNT, "MAX_JOB_PREEMPT")                                       \
    X(REASON_PROTECTED_TOTAL, "MAX_TOTAL_TIME_PREEMPT")                                \
    X(REASON_PROTECTED_INTERVAL, "NO_PREEMPT_INTERVAL")                                \
    X(REASON_PROTECTED_RUN_TIME, "NO_PREEMPT_RUN_TIME")                                \
    X(REASON_PROTECTED_FINISH_TIME, "NO_PREEMPT_FINISH_TIME")

enum preempt_protection_kind {
#define X(id, name) id,
    REASON_PROTECTION_TABLE(X)
#undef X
        REASON_PROTECTIONS
};

/* What a line could preempt, and why it did not. */
struct pending_reason_preempt {
    int n_queues; /* whose jobs it may preempt; 0: it preempts nobody */
    int n_jobs;   /* of them, running on hosts that it may use */
    int n_guarded[REASON_PROTECTIONS]; /* of those, by what protects them */
    bool is_delayed;                   /* PREEMPT_DELAY */
};

/* What of a job's shape hosts cannot meet. */
struct pending_reason_span {
    enum place_span_kind span;
    int n_span;       /* 0: of a TILE, each host's own */
    bool is_alike;    /* hosts have to be alike */
    bool is_never;    /* SHAPE_LARGE: not if nothing else ran there, either */
    int n_wanted;     /* slots ... */
    int n_fit;        /* ... of which so many would fit; HOST: the most on a host */
    const char *host; /* HOST: which that is, of the configuration; NULL: a borrowed one
                         or none */
};

/* What a pass made of a line. Hosts are counted once each, by the first thing that
 * spoke against them. */
struct pending_verdict {
    enum pending_reason reason;
    const char *limit; /* its name, of the configuration; NULL: none */
    int n_hosts;       /* that the site knows, own and borrowed */
    int n_excluded;    /* not of the queue, or not of -m */
    int n_avoided;     /* it has exited there with a code of EXCLUDE */
    int n_unmet;       /* not what its requirements ask for */
    int n_spent;       /* it would be, but for what jobs reserve */
    int n_closed;
    int n_full;
    int n_resting;   /* with slots, and a job that was just dispatched
                      * (JOB_ACCEPT_INTERVAL)
                      */
    int n_limited;   /* by a limit on hosts */
    int n_lacking;   /* with too little of something that the job reserves */
    int n_exclusive; /* with an exclusive job */
    int n_loaded;    /* beyond loadSched */
    int n_small;     /* with fewer free slots than the shape has on a host */
    int n_apart;     /* with enough, but not as many alike as it needs */
    /* LOAD: what is beyond on the first of those, and which that is, of the
     * configuration; NULL: a borrowed one. */
    struct load_excess load;
    const char *loaded;
    /* RESERVE: what there is too little of, how much of it is needed, for a slot, or
     * for a host or the job; how many hosts lack it. SPENT: on one of the hosts. */
    const char *resource;
    int64_t need_milli;
    int64_t total_milli, reserved_milli; /* SPENT */
    bool is_per_slot;
    int n_of_resource;
    struct pending_reason_span shape; /* SHAPE, SHAPE_LARGE */
    struct pending_reason_preempt preempt;
};

/* Hosts that one thing speaks against: what a person reads, and LSF's words. */
struct pending_reason_hosts {
    int n_hosts;
    const char *what, *lsf;
};
enum { REASON_HOST_GROUPS = 13 };
/* Those with hosts, in the order in which they are told; none where hosts are not to
 * blame. */
int pending_reason_list(const struct pending_verdict *verdict,
                        struct pending_reason_hosts parts[REASON_HOST_GROUPS]);

const char *pending_reason_name(enum pending_reason reason);
const char *pending_reason_text(struct arena *arena,
                                const struct pending_verdict *verdict);
/* "3 hosts without a free slot, 1 host closed or away"; "": hosts are not to blame. */
const char *pending_reason_hosts(struct arena *arena,
                                 const struct pending_verdict *verdict);
/* "it may preempt 3 jobs: 2 are protected by MAX_JOB_PREEMPT"; "": it preempts nobody.
 */
const char *pending_reason_preempt(struct arena *arena,
                                   const struct pending_verdict *verdict);
/* "" where nothing can be said. */
const char *pending_reason_help(enum pending_reason reason);

#endif
