/* SPDX-License-Identifier: Apache-2.0 */
/* job.h: the jobs of the site: struct job, and the table of all jobs.
 *
 * A job is pending (PEND, or PSUSP if a user has stopped it) until it is dispatched.
 * Then it has an attempt: one run, on own or on borrowed hosts, under a number that no
 * other attempt ever had. While the attempt is open the job is PEND until its run has
 * started, then RUN, USUSP, SSUSP, or UNKWN while nothing is known of the run. When the
 * attempt ends, the job ends (DONE, EXIT), or it is requeued: it is pending again and
 * has no attempt.
 *
 * A job array is one submission. Its elements are jobs that share the id and the spec;
 * each has its own index and state. In the journal an array is one row, and one row of
 * state for each element that has changed since submission.
 *
 * Pending jobs that may be dispatched are kept in classes of equal jobs
 * (sched/pending/pending.h). A pending job that first has to wait for something else
 * is held, with a reason.
 *
 * Ownership: jobs belong to the table; a pointer is valid until job_clean.
 * Order: by id, then index; in a class as sched/pending/pending.h. Layer: site. */
#ifndef SUBLET_SITE_JOB_JOB_H
#define SUBLET_SITE_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "sched/limit/limit.h"
#include "sched/pending/pending.h"
#include "sched/place/place.h"
#include "sched/queue/queue.h"

/* The fairshare account that is charged for a job (site/ledger/site_ledger.h). */
struct job_fairshare {
    int scope; /* -1: its queue has no fairshare */
    int account;
    struct fairshare_job counted; /* how its slots are counted there */
    int64_t cpu_ms;               /* processor time of its run so far */
    int64_t busy_milli;           /* on average, in thousandths of processors */
};

/* What the run of a job on own hosts uses, as its host has reported last. */
struct job_usage {
    int64_t mem_kib;          /* peak */
    int64_t rss_kib, vsz_kib; /* now; 0: not reported */
    int n_threads;
};

struct submission;

/* What history.c has recorded last. */
struct job_recorded {
    uint64_t attempt;
    int64_t dispatch_ms; /* of that attempt; 0: before the start */
    uint32_t refusal;    /* digest of the last reason for one; 0: none since */
    enum job_state state;
    bool is_accepted, has_begun, is_killed;
};

struct job {
    /* First the fields that each pass reads of every running job, of which there are
     * thousands. */
    uint64_t id;
    int index; /* in its array, from 1; 0: not an element of an array */
    int queue; /* index in the configuration; -1: it is not configured any more */
    const struct job_spec *spec;
    struct limit_owner *limit_owner; /* whose limits apply to it */
    enum job_state state;
    enum requeue_cause requeue_cause; /* see model/row.h */
    uint64_t attempt; /* its number; 0: pending, or ended without an attempt */
    char *lease;      /* of its hosts; "": own hosts */
    bool is_decided;
    bool is_taken; /* see model/row.h */
    bool is_killed;
    bool is_released; /* its dependency condition (-w) was met once, or it has none */
    int n_hosts;
    struct host_slots *hosts; /* "n1" or "n1@north" */
    int64_t start_ms, end_ms; /* start 0: no start is known */
    struct job_suspension suspension;
    struct run_use use;             /* as in row_job_state */
    struct place_backfill backfill; /* of its attempt */
    int64_t run_limit_ms;           /* of its attempt, see model/row.h */
    struct rusage_entry
        *rusage; /* its rusage reservations, while its attempt is open; not stored */

    int64_t submit_ms;
    const struct job_terms *terms;
    struct submission *submission;
    struct job_group *group; /* -g; NULL: none */
    char *switched_queue;    /* NULL: the queue of its spec */
    struct job_fairshare fairshare;
    uint64_t epoch;
    int n_requeues;  /* for its exit code */
    int n_pre_fails; /* consecutive failures of its pre-execution command */
    char *avoided;   /* hosts it must not run on, see model/row.h; NULL: none */
    struct run_control control;
    struct run_exit *exit;    /* NULL: it has not ended */
    char *reason;             /* of the last change of its state; "": none */
    char *overload;           /* why load has suspended it, or let it resume; NULL */
    struct job_resize resize; /* of its attempt; owns its hosts */
    char *reserved; /* rusage of its attempt (site/ledger/site_ledger.h); NULL:
                       nothing */

    /* Not stored. */
    int64_t retry_after_ms;          /* it was refused, and is held until then */
    uint64_t written_attempt;        /* whose output is being written; 0: none */
    struct job_class_entry entry;    /* its entry in that class */
    struct job_class *pending_class; /* of equal pending jobs; NULL: it is in none */
    int64_t hold_ms;                 /* held until then; INT64_MAX: until an event */
    enum pending_reason hold;        /* why it is held; REASON_NEW: it is not */
    int n_refused;                   /* consecutive refusals */
    int64_t clean_after_ms;          /* if ended: CLEAN_PERIOD runs from then on */
    int64_t recall_ms;          /* the deadline of the recall of its slots; 0: none */
    int64_t end_by_ms;          /* of its deferred kill (lifecycle.h); 0: none */
    bool is_never_satisfied;    /* its dependency condition can never be met */
    bool is_watching;           /* it is in the table of dependents */
    int64_t expire_ms;          /* it ends then unless it has started; INT64_MAX: no */
    bool is_open;               /* it is in that index */
    bool is_counted_suspended;  /* limits count it as suspended */
    bool is_growing;            /* it is in that index */
    bool is_victim;             /* it is being preempted in this pass */
    bool is_growth_unannounced; /* more slots could not be announced to it */
    bool has_claim;             /* the last pass preempts jobs for it */
    int64_t grow_after_ms;      /* its last growth failed; no other one before then */
    int64_t kept_since_ms; /* since then slots are kept for it, suspended; 0: never */
    bool is_doubted;       /* a lost part of the journal may have started it */
    bool is_dropped;       /* about to be removed */
    struct job_recorded recorded;
    struct job_usage usage; /* of its attempt */
};

struct job_group;
struct job_groups;
struct job_table;
struct rusage_ledger;
struct fairshare_ledger;
/* All arguments are borrowed. The table counts what jobs use for the limits, for
 * fairshare, and for the reservations of rusage. */
struct job_table *job_table_new(const struct queue_config *queues, int n_queues,
                                const struct job_raise *raise, struct limits *limits,
                                struct fairshare_ledger *fairshare,
                                struct rusage_ledger *rusage);
void job_table_free(struct job_table *jobs);
/* The job groups (site/job/job_group.h), which belong to the table. */
struct job_groups *job_table_groups(const struct job_table *jobs);

/* Rows of the journal; after the last one job_table_start builds the indexes. It
 * returns how far the clock has moved since the newest time on record, if that is more
 * than a day: the site was down, or the clock has jumped. Nobody can tell, so that the
 * age of ended jobs counts from now. Else 0. */
void job_load_submission(struct job_table *jobs, const struct row_job *row);
void job_load_state(struct job_table *jobs, const struct row_job_state *row);
int64_t job_table_start(struct job_table *jobs, int64_t now_ms);

/* Releases held jobs whose time has come, or whose dependency condition is met. True if
 * there was one. */
bool job_table_tick(struct job_table *jobs, int64_t now_ms);
/* When the next held job is due; INT64_MAX: none. */
int64_t job_table_wake_ms(const struct job_table *jobs);
/* The first job without an attempt that ends for good by now, because its termination
 * time (-t) leaves no room for its run limit, or because it waits for jobs that can
 * never be as it wants and that was to end it (-ti); NULL: there is none. */
struct job *job_table_first_expired(const struct job_table *jobs, int64_t now_ms);
/* Releases all jobs that were refused. */
void job_table_retry_all(struct job_table *jobs);
/* Holds the jobs with numbers up to `last` that have not started as far as is on
 * record, and are not rerunnable (site/exchange/exchange.h); 0: releases them. */
void job_table_doubt(struct job_table *jobs, uint64_t last);

/* Other queues, limits and shares: each job finds its queue by name, its class, and its
 * place in the limits and shares. The old ones are not used any more. */
void job_table_reload(struct job_table *jobs, const struct queue_config *queues,
                      int n_queues, const struct job_raise *raise,
                      struct limits *limits, struct fairshare_ledger *fairshare);

/* A new array, PEND, of elements with these indices, ascending; returns the first. No
 * other job has its id. Not stored yet. */
struct job *job_table_add_array(struct job_table *jobs, const struct row_job *row,
                                const int *indices, int n_indices);
/* Stores the state of the job; its spec is stored once, at submission. */
void job_store(const struct job *job, struct effects *effects);
void job_store_spec(const struct job *job, struct effects *effects);

/* By its key (model/job_id.h). */
uint64_t job_key(const struct job *job);
struct job *job_table_find(struct job_table *jobs, uint64_t key);
const struct job *job_table_find_const(const struct job_table *jobs, uint64_t key);
/* The index of the first job with this id or a higher one. */
int job_table_index_of(const struct job_table *jobs, uint64_t id);
/* By its open attempt. */
struct job *job_table_find_attempt(struct job_table *jobs, uint64_t attempt);
const struct job *job_table_find_attempt_const(const struct job_table *jobs,
                                               uint64_t attempt);

/* The job with that id ("12", "12[3]"). NULL: there is none, or the id names more than
 * one. */
struct job *job_table_lookup(struct job_table *jobs, const char *id);
const struct job *job_table_lookup_const(const struct job_table *jobs, const char *id);
/* The first element of the job array with that id ("12"). NULL: there is none. */
struct job *job_table_lookup_array(struct job_table *jobs, const char *id);
const struct job *job_table_lookup_array_const(const struct job_table *jobs,
                                               const char *id);

int job_table_count(const struct job_table *jobs);
struct job *job_table_at(struct job_table *jobs, int index);
const struct job *job_table_at_const(const struct job_table *jobs, int index);
int job_table_count_unfinished(const struct job_table *jobs);
/* Slots of all pending jobs, held ones included. */
int64_t job_table_pending_slots(const struct job_table *jobs);
/* Jobs of the user that are PEND or PSUSP, elements of arrays one by one. */
int job_index_count_pending(const struct job_table *jobs, int64_t uid);
/* The slots that these ask for, at least. */
int64_t job_index_pending_slots(const struct job_table *jobs, int64_t uid);
/* The memory that all jobs of the user take until they are cleaned, about; their rows
 * take as much of the disk. */
int64_t job_index_user_bytes(const struct job_table *jobs, int64_t uid);
/* The users who have or had pending jobs, by index from 0, and how many these are;
 * NULL: there is none. */
const char *job_index_pending_user(const struct job_table *jobs, int index, int *count,
                                   int64_t *n_slots);
/* The number of pending jobs by reason; elements of arrays count one by one. */
void job_pending_count_reasons(const struct job_table *jobs, int64_t counts[REASONS]);
/* The classes of pending jobs that may be dispatched. */
const struct job_class_set *job_table_classes(const struct job_table *jobs);
/* The verdicts of a pass, by index of the class. */
void job_table_set_verdicts(struct job_table *jobs,
                            const struct pending_verdict *verdicts);
/* The job whose entry that is. */
const struct job *job_of_entry(const struct job_class_entry *entry);
/* How many more elements of its array may run; INT_MAX: any number. */
int job_array_room(const struct job *job);
/* Elements of arrays count one by one, ended jobs until they are cleaned. */
int job_table_count_state(const struct job_table *jobs, enum job_state state);
/* Jobs with an open attempt, by its number. */
int job_table_count_open(const struct job_table *jobs);
struct job *job_table_open_at(struct job_table *jobs, int index);
const struct job *job_table_open_at_const(const struct job_table *jobs, int index);

/* Those of them on own hosts that ask for more slots than they have. */
int job_table_count_growing(const struct job_table *jobs);
struct job *job_table_growing_at(struct job_table *jobs, int index);
/* How many more slots it asks for, whether it may get them now or not. */
int job_asked_slots(const struct job *job);
/* The same if it may get some now, else 0. */
int job_wanted_slots(const struct job *job);

bool job_is_ended(const struct job *job);
/* Its run is being ended in order to requeue it. */
bool job_is_requeued(const struct job *job);
/* The state of a job while it is suspended: USUSP or SSUSP. */
enum job_state job_suspended_state(const struct job *job);
/* The run is in that state now: counts for how long the job has been suspended. True if
 * it has just been suspended or resumed. */
bool job_note_suspension(struct job *job, enum job_state state, int64_t now_ms);
/* The time that the job has spent in RUN, until now or until its end. */
int64_t job_ran_ms(const struct job *job, int64_t now_ms);
/* Its kill is deferred until it has slots again (lifecycle.h). */
bool job_is_kill_deferred(const struct job *job);
/* It is an element of an array all of whose elements have ended. */
bool job_is_array_ended(const struct job *job);
/* Changes the state of a job. False if the table of transitions does not allow it, and
 * nothing has changed then: the report was late. The same state is always allowed. */
bool job_table_set_state(struct job_table *jobs, struct job *job, enum job_state state);

/* The job gets an attempt (state PEND). `reserved`: its rusage reservations as text. */
void job_table_begin(struct job_table *jobs, struct job *job, uint64_t attempt,
                     const char *lease, uint64_t epoch, const struct place_start *start,
                     const char *reserved);
/* Other hosts and another state of resizing for a job with an attempt. */
void job_table_resize(struct job_table *jobs, struct job *job,
                      const struct host_slots *hosts, int n_hosts,
                      const struct job_resize *resize);
/* The name of its queue. */
const char *job_queue_name(const struct job *job);
/* Moves a pending job to another queue (by index), or to the top or the bottom of its
 * queue. */
void job_table_switch(struct job_table *jobs, struct job *job, int queue);
void job_table_reorder(struct job_table *jobs, struct job *job, bool to_top);
/* The job `row->id`, or all elements of the array that have not ended, become that of
 * the row. If one has started, the row has another run limit, memory limit,
 * rerunnability or requirements alone. Nothing of the row is borrowed. Not stored yet.
 */
void job_table_modify(struct job_table *jobs, const struct row_job *row);
/* A job with an attempt reserves other resources from now on. Not stored yet. */
void job_table_reserve(struct job_table *jobs, struct job *job, const char *reserved);

/* Why load suspends it or lets it resume; "": it does not. */
void job_set_overload(struct job *job, const char *text);

/* Hosts that it must not run on (model/row.h), "": none; only while it is in no class.
 */
void job_set_avoided(struct job *job, const char *hosts);

/* The job loses its attempt and is pending again, PSUSP if a user has stopped it. */
void job_table_requeue(struct job_table *jobs, struct job *job,
                       enum requeue_cause cause, const char *reason);
/* A job that has ended is pending again, as if it had just been submitted. */
void job_table_rerun(struct job_table *jobs, struct job *job, const char *reason);
/* The job ends: DONE or EXIT. */
void job_table_end(struct job_table *jobs, struct job *job, const struct run_exit *exit,
                   bool is_done, const char *reason, int64_t end_ms);

/* Removes jobs that ended before `before_ms`, oldest first, at most `max`, with their
 * rows; `on_clean` is called for each before. Returns how many. A job that dependent
 * jobs wait for is kept for another while. */
typedef void (*job_clean_fn)(void *arg, struct job *job);
int job_clean(struct job_table *jobs, int64_t before_ms, int max, job_clean_fn on_clean,
              void *arg, struct effects *effects);
/* The end of the job that ended first; INT64_MAX: no job has ended. */
int64_t job_clean_oldest_end_ms(const struct job_table *jobs);

/* The exit code of its command, or 128 plus the signal, as shell and listings show it.
 * False if there is none: the job has not ended, never started, or was lost. */
bool job_exit_code(const struct job *job, int *code);

/* How the commands after an ended job ended. RUN_POST_ERR also if the job was lost
 * after its start, so that nobody knows; NONE: it never started, or its host did not
 * say. */
enum run_post job_post(const struct job *job);

/* The run limit of a job (-W), on its hosts once it has any; 0: none. */
int64_t job_own_run_limit_ms(const struct job *job);
/* How long the run of a job may take: its run limit; or, if the job was backfilled into
 * slots that another job needs earlier, the time until then as it was known at
 * dispatch, whatever is configured by now. 0: no limit. */
int64_t job_run_limit_ms(const struct job *job, int64_t now_ms);
/* The end of the backfill gap ends the run, not the job's own run limit. */
bool job_is_run_limit_cut(const struct job *job, int64_t now_ms);
/* It runs in a gap: on slots that another job has reserved, from the start or since it
 * was resumed there. */
bool job_is_in_gap(const struct job *job);
/* It reads its input from a file (-i): it can run only on own hosts. */
bool job_reads_file(const struct job_spec *spec);
/* LSB_OUTDIR of its environment: the directory that is made for its output (-outdir),
 * with %J and %I; NULL: there is none. */
const char *job_output_directory(const struct job_spec *spec);
/* The slots that it has or had; if it is pending, the least that it asks for. */
int job_slots(const struct job *job);

/* "PEND" and so on. */
const char *job_state_name(enum job_state state);

#endif
