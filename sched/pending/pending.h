/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h: pending jobs: classes of equal ones, and why a class is pending. The
 * conditions of jobs about other jobs (-w) are below.
 *
 * Two pending jobs are in the same class if they have the same queue, user, slots,
 * hosts and everything else that decides where a job may start. If the first job of a
 * class cannot start, no other job of it can. A scheduling pass therefore looks at
 * classes instead of jobs, and gives each class a verdict: one of a table of reasons,
 * in LSF's words where it has them, each with what would help.
 *
 * Order in a class: higher priority (-sp) first, then lower position (btop, bbot), then
 * lower key, which is the order of submission.
 * Ownership: entries belong to the caller (they are part of its jobs) and must not
 * change while they are in a class. Classes belong to the set. A class without entries
 * is dropped.
 * Layer: sched (base only). Source: lsb_pendreason of LSF. */
#ifndef SUBLET_SCHED_PENDING_PENDING_H
#define SUBLET_SCHED_PENDING_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "sched/place/place_span.h"
#include "sched/resource/resource.h"

/* ---------------------------------------------------------------- reasons */

/* Columns: id, name in JSON, LSF's sentence, what would help. %s stands for what the
 * verdict names: a limit, or the resource that is lacking. */
#define REASON_TABLE(X)                                                                \
    X(REASON_NEW, "new", "New job is waiting for scheduling",                          \
      "wait for the next scheduling pass")                                             \
    X(REASON_STARTED, "started", "The job is being started", "")                       \
    X(REASON_QUEUE_GONE, "queue_gone", "The queue is no longer configured",            \
      "move the job to another queue with `sublet switch`")                            \
    X(REASON_QUEUE_INACTIVE, "queue_inactive",                                         \
      "The queue is inactivated by the administrator",                                 \
      "ask an administrator to run `sublet queue activate`")                           \
    X(REASON_QUEUE_WINDOW, "queue_window",                                             \
      "The queue is inactivated by its time windows",                                  \
      "wait for the next window of the queue")                                         \
    X(REASON_DEADLINE, "deadline",                                                     \
      "The run window of the queue closes before the job would have ended",            \
      "wait for the next window, or ask for a shorter run limit (-W)")                 \
    X(REASON_BEGIN_TIME, "begin_time", "The job has a specified start time",           \
      "wait until that time")                                                          \
    X(REASON_NEW_JOB_DELAY, "new_job_delay",                                           \
      "The schedule of the job is postponed for a while",                              \
      "wait until NEW_JOB_SCHED_DELAY of the queue has passed since its submission")   \
    X(REASON_DEPENDENCY, "dependency", "Job dependency condition not satisfied",       \
      "wait for the jobs that it depends on")                                          \
    X(REASON_DEPENDENCY_NEVER, "dependency_never",                                     \
      "Dependency condition invalid or never satisfied",                               \
      "kill the job: its condition (-w) can no longer be met")                         \
    X(REASON_ARRAY_LIMIT, "array_limit",                                               \
      "The job array has reached its running element limit",                           \
      "wait until a running element of the array ends")                                \
    X(REASON_DOUBTED, "doubted",                                                       \
      "The journal of the site is older than what others know: the job may have "      \
      "started before",                                                                \
      "an administrator looks at `sublet runs --orphans`, then runs `sublet runs "     \
      "--accept-loss`")                                                                \
    X(REASON_RETRY, "retry", "The schedule of the job is postponed for a while",       \
      "wait: the job is tried again soon")                                             \
    X(REASON_LIMIT, "limit", "Resource limit %s has been reached",                     \
      "wait until jobs that count toward the limit end")                               \
    X(REASON_LIMIT_SMALL, "limit_small",                                               \
      "The job requests more slots than limit %s allows",                              \
      "request fewer slots (-n), or ask for a higher limit")                           \
    X(REASON_JOB_GROUP, "job_group",                                                   \
      "The specified job group has reached its job limit (%s)",                        \
      "wait until jobs of the group end, or ask its owner for a higher limit")         \
    X(REASON_SLOT_POOL, "pool_part", "The queue has used its share of slot pool %s",   \
      "wait until jobs of the pool's queues end")                                      \
    X(REASON_NO_HOST, "no_host", "No host that the job may use is known to the site",  \
      "request other hosts (-m) or another queue (-q)")                                \
    X(REASON_AVOIDED, "avoided",                                                       \
      "The job exited on each of its hosts with an exit code of EXCLUDE",              \
      "clear the list of excluded hosts with `sublet stop` and `sublet resume`, or "   \
      "request another host")                                                          \
    X(REASON_UNMET, "unmet", "No host meets the job's resource requirements",          \
      "change the requirements (-R)")                                                  \
    X(REASON_RESERVED_BY_OTHERS, "spent",                                              \
      "Other jobs reserve a resource that the job selects hosts by: %s",               \
      "wait until those jobs end, or change the select section (-R)")                  \
    X(REASON_TOO_LARGE, "too_large",                                                   \
      "The job requests more slots than all hosts that it may use have together",      \
      "request fewer slots (-n) or more hosts (-m)")                                   \
    X(REASON_CLOSED, "closed",                                                         \
      "All hosts that the job may use are closed or unreachable",                      \
      "wait until a host is open again")                                               \
    X(REASON_LOAD, "load", "Host load exceeds the scheduling threshold: %s",           \
      "wait until the load falls below loadSched of the queue and the host")           \
    X(REASON_ACCEPT_INTERVAL, "accept", "Just started a job recently",                 \
      "wait until JOB_ACCEPT_INTERVAL has passed")                                     \
    X(REASON_HOST_LIMIT, "host_limit",                                                 \
      "All hosts that the job may use have reached limit %s",                          \
      "wait until jobs that count toward the limit end")                               \
    X(REASON_RUSAGE, "reserve", "Job's resource reservation not satisfied: %s",        \
      "wait until jobs that reserve it end, or request less (rusage in -R)")           \
    X(REASON_EXCLUSIVE, "exclusive",                                                   \
      "Job's requirement for exclusive execution not satisfied",                       \
      "wait for hosts on which no job runs")                                           \
    X(REASON_PREEMPTING, "preempting",                                                 \
      "Waiting until the jobs that it preempts are suspended",                         \
      "wait: the job starts once they are suspended")                                  \
    X(REASON_SPAN_LARGE, "shape_large",                                                \
      "The job's span, same or cu section cannot be met even if all hosts were idle: " \
      "%s",                                                                            \
      "request fewer slots (-n), other hosts (-m), or change these sections (-R)")     \
    X(REASON_SPAN, "shape",                                                            \
      "The free slots do not meet the job's span, same or cu section: %s",             \
      "wait until other jobs on its hosts end, or change these sections (-R)")         \
    X(REASON_BUSY, "busy", "All slots of the hosts that the job may use are occupied", \
      "wait until other jobs on its hosts end")

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

/* Which jobs a class could preempt, and why it did not. */
struct pending_reason_preempt {
    int n_queues; /* queues whose jobs it may preempt; 0: it preempts none */
    int n_jobs;   /* jobs of these queues that run on hosts that it may use */
    int n_protected[REASON_PROTECTIONS]; /* of these jobs, by what protects them */
    bool is_delayed;                     /* PREEMPT_DELAY */
};

/* Which part of span, same and cu the hosts cannot meet. */
struct pending_reason_span {
    enum place_span_kind kind;
    int n_span;         /* of PTILE and BLOCK; 0: each host has a value of its own */
    bool is_same;       /* same[] is given */
    bool has_units;     /* cu[] is given */
    bool has_first;     /* first execution hosts are given (-m n1!) */
    bool is_impossible; /* SPAN_LARGE: not met even if no other job ran there */
    int n_wanted;       /* slots ... */
    int n_fit;          /* ... of which so many would fit; HOST: the most on a host */
    const char *host; /* HOST: the name of that host, owned by the configuration; NULL:
                         a borrowed host or none */
};

/* The verdict of a pass on a class. Each host is counted once, by the first obstacle
 * that was found on it. */
struct pending_verdict {
    enum pending_reason reason;
    const char *limit; /* name of the limit, owned by the configuration; NULL: none */
    int n_hosts;       /* all hosts that the site knows, own and borrowed */
    int n_excluded;    /* not in HOSTS of the queue, or not in -m */
    int n_avoided;     /* the job has exited there with a code of EXCLUDE */
    int n_unmet;       /* do not meet the resource requirements */
    int n_reserved;    /* meet them, but for what other jobs have reserved */
    int n_closed;
    int n_full;
    int n_accept_interval; /* free slots, but a job was just dispatched there
                             (JOB_ACCEPT_INTERVAL) */
    int n_limited;         /* have reached a limit on hosts */
    int n_short;           /* have too little of a resource that the job reserves */
    int n_exclusive;       /* run an exclusive job */
    int n_loaded;          /* exceed loadSched */
    int n_small;           /* have fewer free slots than span needs on one host */
    int n_apart;           /* have enough, but there are too few equal hosts (same) */
    int n_suspended; /* of a job that asks for more slots: free slots that suspended
                        jobs need */
    /* LOAD: the load index that exceeds its threshold on the first of these hosts, and
     * the name of that host, owned by the configuration; NULL: a borrowed host. */
    struct load_excess load;
    const char *loaded_host;
    /* RUSAGE: the resource that is short, the amount that is needed (for a slot, or for
     * a host or the job), and the number of hosts that lack it. RESERVED_BY_OTHERS: the
     * resource on one of the hosts. */
    const char *resource;
    int64_t need_milli;
    int64_t total_milli, reserved_milli; /* RESERVED_BY_OTHERS */
    bool is_per_slot;
    int n_of_resource;
    struct pending_reason_span span; /* SPAN, SPAN_LARGE */
    struct pending_reason_preempt preempt;
};

/* Hosts that have the same obstacle: text for users, and LSF's words. */
struct pending_reason_hosts {
    int n_hosts;
    const char *what, *lsf;
};
enum { REASON_HOST_GROUPS = 13 };
/* Lists the groups that have hosts, in the order in which they are shown. Returns their
 * number: 0 if the reason has nothing to do with hosts. */
int pending_reason_list(const struct pending_verdict *verdict,
                        struct pending_reason_hosts groups[REASON_HOST_GROUPS]);

const char *pending_reason_name(enum pending_reason reason);
const char *pending_reason_text(struct arena *arena,
                                const struct pending_verdict *verdict);
/* The sentence without the limit, resource or host that it names. */
const char *pending_reason_plain(struct arena *arena, enum pending_reason reason);
/* "3 hosts without a free slot, 1 host closed or away"; "" if the reason has nothing to
 * do with hosts. */
const char *pending_reason_hosts(struct arena *arena,
                                 const struct pending_verdict *verdict);
/* "of jobs that it may preempt there run on its hosts: 2 protected by
 * MAX_JOB_PREEMPT"; "" if the class preempts no jobs. */
const char *pending_reason_preempt(struct arena *arena,
                                   const struct pending_verdict *verdict);
/* "" if nothing would help. */
const char *pending_reason_help(enum pending_reason reason);

/* ---------------------------------------------------------------- classes */

/* A pending job as a member of its class. */
struct job_class_entry {
    int64_t priority;
    int64_t position;
    uint64_t key; /* model/job_id.h; no two entries have the same */
    int64_t submit_ms;
};

/* JOB_PRIORITY_OVER_TIME: the priority of jobs that wait grows by so much at each full
 * interval of the clock. Interval 0: it does not. */
struct job_raise {
    int64_t increment, interval_ms;
};
/* The priority of an entry, with the raises that its job misses by having been
 * submitted later: all that wait get the same ones, so that their order does not
 * change. Jobs of one interval are alike to btop and bbot. */
int64_t job_class_priority(const struct job_raise *raise, int64_t priority,
                           int64_t submit_ms);

/* Negative if a comes before b. */
int job_class_compare(const struct job_class_entry *a, const struct job_class_entry *b);

struct job_class;
struct job_class_set;
struct job_class_set *job_class_set_new(void);
void job_class_set_free(struct job_class_set *classes);

/* Adds the entry to the class of that name, and creates the class if there is none. The
 * name is one text of everything that has to be equal. */
struct job_class *job_class_add(struct job_class_set *classes, const char *name,
                                struct job_class_entry *entry);
/* The entry must be in this class. */
void job_class_remove(struct job_class_set *classes, struct job_class *class,
                      struct job_class_entry *entry);

/* The entries in order; valid until the class changes. */
struct job_class_entry *const *job_class_entries(const struct job_class *class,
                                                 int *n_entries);

/* The verdict of the last pass; REASON_NEW before the first one. */
const struct pending_verdict *job_class_verdict(const struct job_class *class);

/* All classes. The order has no meaning. */
int job_class_set_count(const struct job_class_set *classes);
struct job_class *job_class_set_at(const struct job_class_set *classes, int index);
int job_class_index(const struct job_class *class);

/* The entries of a class and its generation. The set gives out each generation once: a
 * class gets a new one whenever another entry becomes its first. A caller that caches
 * something about the first job compares generations instead of jobs. */
struct job_class_view {
    struct job_class_entry *const *entries;
    int n_entries;
    uint64_t generation; /* from 1 */
};

/* All classes by index; valid until one of them changes. */
const struct job_class_view *job_class_set_views(const struct job_class_set *classes);
/* Stores the verdicts of a pass, by index of the class. */
void job_class_set_verdicts(struct job_class_set *classes,
                            const struct pending_verdict *verdicts);

/* ---------------------------------------------------------------- depend.c */

/* Conditions about other jobs (-w), and whether they are met.
 *
 *     done(12) && (exit(13,>=3) || !started("prep"))
 *
 * done, ended, started, exit, post_done and post_err take a job, which may be written
 * as
 *   - its id; "12[3]" or "12[1-5]" for elements of an array; "12[*]" for the element
 *     with the same index as the pending job;
 *   - a name, quoted if it is not a plain word. It may end in * and stands for all jobs
 *     of the user that have the name at submission.
 * A job alone means done. exit also takes a code: "exit(12)" is any code but 0; others
 * are written "exit(12,3)" or "exit(12,>=3)". post_done is met if the job has ended and
 * the commands after it have succeeded or there are none, post_err if they have failed
 * or their result is lost; a job that ended before it started meets neither. A
 * condition about a whole array or several jobs is met if it is met for each of them.
 * numdone, numended, numexit, numrun, numpend and numstart compare the number of
 * elements in that state: "numdone(12,>=5)", "numdone(12,*)" for all elements. ! binds
 * tighter than &&, && tighter than ||.
 *
 * Names are resolved once, at submission; the resolved text has only ids. A condition
 * is met, pending, or can never be met, because the outcome of an ended job is final.
 *
 * Ownership: results live in the arena. Errors: ERR_PARSE, ERR_NOT_FOUND with LSF's
 * sentence and the place. Source: LSF's bsub -w. */

enum { DEPEND_TEXT_MAX = 4096, DEPEND_DEPTH_MAX = 64, DEPEND_ARRAY = -1 };

/* Numbers of jobs by state, of one job or of all elements of an array. */
struct depend_counts {
    int n_jobs;                  /* 0: the job does not exist (any more) */
    int n_pend;                  /* PEND, PSUSP */
    int n_run;                   /* running or suspended */
    int n_done, n_exit;          /* ended */
    int n_never_started;         /* of n_exit: ended before they started */
    int n_post_done, n_post_err; /* of the ended ones: POST_DONE, POST_ERR */
    int min_code, max_code;      /* exit codes of n_exit */
};

/* Gives the counts of a job. `index` is an element's, or DEPEND_ARRAY for a whole array
 * or a job that is not an array. */
typedef void (*depend_look_fn)(void *arg, uint64_t id, int index,
                               struct depend_counts *counts);
/* Finds the ids of the user's jobs of that name, which may end in *. Returns their
 * number. */
typedef int (*depend_find_fn)(void *arg, const char *name, const uint64_t **ids);

/* Checks a condition and writes it with ids in place of names. `find` is also called
 * for an id ("12"), to learn whether it exists. */
int depend_resolve(struct arena *arena, const char *text, depend_find_fn find,
                   void *arg, const char **resolved, struct err *err) MUST_CHECK;

enum depend_verdict { DEPEND_PENDING, DEPEND_MET, DEPEND_NEVER };

/* Evaluates a resolved condition for a job with this index (0: not in an array). */
enum depend_verdict depend_evaluate(const char *resolved, int own_index,
                                    depend_look_fn look, void *arg);

/* Calls `visit` for each job in a resolved condition. `index` is as above, or the
 * element's if the condition names exactly one element. */
typedef void (*depend_visit_fn)(void *arg, uint64_t id, int index);
void depend_visit(const char *resolved, int own_index, depend_visit_fn visit,
                  void *arg);

#endif
