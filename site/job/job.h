/* SPDX-License-Identifier: Apache-2.0 */
/* job.h: the site's jobs: what each is, where its life stands, and in which order the
 * waiting ones stand.
 *
 * A job waits (PEND, PSUSP), then has an attempt: one execution, here or on a borrowed
 * host, under a number that no other execution ever had. While the attempt is open the
 * job is PEND until it runs ("starting"), then RUN, USUSP, SSUSP, or UNKWN while nobody
 * can tell. The attempt's end is the job's end (DONE, EXIT), or gives the job back to
 * the waiting ones (requeue), and then it has no attempt.
 *
 * An array is one submission: its elements are jobs that share the id and the spec, and
 * each has an index and a life of its own. On disk it is one row, and a state for each
 * element that is not as it was at submission.
 *
 * A waiting job that may start stands in a line of jobs that are alike
 * (sched/pending/job_class.h); one that waits for something else first is held, and
 * says for what.
 *
 * Ownership: jobs belong to the table; a pointer lives until job_table_clean.
 * Order: by id, then index; in line as sched/pending/job_class.h. Layer: site. */
#ifndef SUBLET_SITE_JOB_JOB_H
#define SUBLET_SITE_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "sched/fairshare/fairshare.h"
#include "sched/limit/limit.h"
#include "sched/pending/job_class.h"
#include "sched/place/place.h"
#include "sched/queue/queue.h"

/* The account that a job counts for (site/shares.h). */
struct job_seat {
    int scope; /* -1: its queue has no shares */
    int account;
    struct fairshare_job counted; /* as what it has its slots there */
    int64_t cpu_ms;               /* that its run is known to have taken so far */
    int64_t busy_milli;           /* on average, in thousandths of processors */
};

struct submission; /* what the elements of an array share */

/* What history.c has told of it last. */
struct job_noted {
    uint64_t attempt;
    int64_t dispatch_ms; /* of that attempt; 0: before the start */
    uint32_t refusal;    /* digest of the last reason for one; 0: none since */
    enum job_state state;
    bool is_accepted, has_begun, is_killed;
};

struct job {
    /* What each pass asks of every running job stands together: there are thousands. */
    uint64_t id;
    int index; /* in its array, from 1; 0: of no array */
    int queue; /* index in the configuration; -1: it is gone */
    const struct job_spec *spec;
    struct limit_owner *class; /* what it is to limits */
    enum job_state state;
    enum requeue_cause requeue_cause; /* see there (model/row.h) */
    uint64_t attempt; /* of the latest start; 0: waiting, or ended without one */
    char *lease;      /* that it runs under; "": own hosts */
    bool is_decided;
    bool is_taken; /* see model/row.h */
    bool is_killed;
    bool is_released; /* its condition (-w) was met once, or it has none */
    int n_hosts;
    struct host_slots *hosts; /* "n1" or "n1@north" */
    int64_t start_ms, end_ms; /* start 0: not known to have run */
    struct job_halt halt;
    struct place_backfill backfill; /* of its attempt */
    struct reserves_entry *ledger;  /* of reservations, while it is open; not on disk */

    int64_t submit_ms;
    const struct job_terms *terms;
    struct submission *submission;
    char *switched_queue; /* NULL: it is in the one of its spec */
    struct job_seat seat; /* where it counts for shares */
    uint64_t epoch;
    int n_requeues;  /* by its exit code */
    char *avoided;   /* see model/row.h; NULL: no host */
    int n_pre_fails; /* commands before it that failed, in a row */
    struct run_control control;
    struct run_exit *exit; /* NULL: it has not ended */
    char *reason;          /* of the last turn that needs one; "" else */
    char *overload; /* the load that it stands still for, or went on after; NULL */
    struct job_resize resize; /* of its attempt; its hosts are the job's own */
    char *reserved; /* rusage of its attempt (site/reserves.h); NULL: nothing */

    /* Not on disk. */
    int64_t retry_ms;            /* refused: not before this instant */
    uint64_t written_attempt;    /* whose output is being written; 0: none */
    struct job_class_entry turn; /* where it waits: its place, and the line */
    struct job_class *line;      /* NULL: it stands in none */
    bool has_claim;              /* room is being made for it, as the last pass knew */
    int64_t hold_ms;          /* until this instant; INT64_MAX: until something comes */
    enum pending_reason hold; /* why it waits in no line; REASON_NEW: it may start */
    int n_refused;            /* in a row */
    int64_t kept_ms;          /* of an ended one: it is cleaned a time after this */
    int64_t recall_ms; /* its slots are wanted back until then, and it was warned; 0 */
    int64_t end_by_ms; /* it waits for its slots to end in until then (deferred_kill.h);
                          0 */
    bool is_never;     /* its condition cannot be met any more */
    bool is_watching;  /* it stands in the table of those that wait for others */
    bool is_open;      /* it stands in that index */
    bool is_counted_still; /* and counts for the limits as one that stands still */
    bool is_growing;       /* it stands in that index */
    bool is_victim;        /* it is preempted in this pass; only while that is done */
    bool is_untold;        /* nobody could be told of more slots, so it has none */
    int64_t grow_ms;       /* that, or its command refused: not before this instant */
    bool is_dropped;       /* forgotten, about to be removed */
    struct job_noted noted;
};

struct job_table;
struct reserves;
struct shares;
/* All is borrowed; what the jobs take is counted for the limits and the shares, and
 * what they reserve stands in the ledger. */
struct job_table *job_table_new(const struct queue_config *queues, int n_queues,
                                struct limits *limits, struct shares *shares,
                                struct reserves *reserves);
void job_table_free(struct job_table *jobs);

/* The journal's rows; job_table_start then puts the indexes in order. */
void job_load_submission(struct job_table *jobs, const struct row_job *row);
void job_load_state(struct job_table *jobs, const struct row_job_state *row);
void job_table_start(struct job_table *jobs, int64_t now_ms);

/* Time has passed: held jobs whose instant has come stand in line. True where there was
 * one. */
bool job_table_tick(struct job_table *jobs, int64_t now_ms);
/* When the next one's comes; INT64_MAX: no such job. */
int64_t job_table_wake_ms(const struct job_table *jobs);
/* Refused jobs need not wait for their instant. */
void job_table_retry_all(struct job_table *jobs);

/* Other queues, limits and shares: each job finds its own queue by name, its line, and
 * what it is to the limits and shares. The old ones are not used any more. */
void job_table_reload(struct job_table *jobs, const struct queue_config *queues,
                      int n_queues, struct limits *limits, struct shares *shares);

/* A new job, PEND; its id is above all others. Not stored yet. */
struct job *job_table_add(struct job_table *jobs, const struct row_job *row);
/* A new array, PEND, of elements with these indices, ascending; returns the first. */
struct job *job_table_add_array(struct job_table *jobs, const struct row_job *row,
                                const int *indices, int n_indices);
/* Appends the job's state as a row; of its spec, once, at submission. */
void job_store(const struct job *job, struct effects *effects);
void job_store_spec(const struct job *job, struct effects *effects);

/* By its key (model/job_id.h). */
uint64_t job_key(const struct job *job);
struct job *job_table_find(const struct job_table *jobs, uint64_t key);
/* The place of the first job with this id or one above: elements stand together. */
int job_table_index_of(const struct job_table *jobs, uint64_t id);
/* By the attempt that is open. */
struct job *job_table_find_attempt(const struct job_table *jobs, uint64_t attempt);

int job_table_count(const struct job_table *jobs);
struct job *job_table_at(const struct job_table *jobs, int index);
int job_table_count_unfinished(const struct job_table *jobs);
/* PEND without an attempt, in line or held: their slots. */
int64_t job_table_pending_slots(const struct job_table *jobs);
/* Waiting jobs by why they wait, elements of arrays one by one. */
void job_pending_count_reasons(const struct job_table *jobs, int64_t counts[REASONS]);
/* Those that may start; a turn is its job's. */
const struct job_classes *job_table_classes(const struct job_table *jobs);
/* What a pass made of them, by index. */
void job_table_set_verdicts(struct job_table *jobs,
                            const struct pending_verdict *verdicts);
struct job *job_of_entry(struct job_class_entry *turn);
/* How many more jobs of its array may run; INT_MAX: any number. */
int job_array_room(const struct job *job);
/* Array elements one by one; ended ones until they are cleaned. */
int job_table_count_state(const struct job_table *jobs, enum job_state state);
/* With an attempt, in its order. */
int job_table_count_open(const struct job_table *jobs);
struct job *job_table_open_at(const struct job_table *jobs, int index);

/* Open ones on own hosts that ask for more slots than they have, by attempt. */
int job_table_count_growing(const struct job_table *jobs);
struct job *job_table_growing_at(const struct job_table *jobs, int index);
/* How many more than it has it asks for, whether it can have them or not. */
int job_asked_slots(const struct job *job);
/* The same while it can have some; 0: it cannot. */
int job_wanted_slots(const struct job *job);

bool job_is_ended(const struct job *job);
/* Its run is being ended, and it is to wait again. */
bool job_is_requeued(const struct job *job);
/* Its run has been ordered to stand still, and not to go on since. */
bool job_is_suspend_ordered(const struct job *job);
/* The state of a job while it is suspended: USUSP or SSUSP. */
enum job_state job_suspended_state(const struct job *job);
/* The run is in that state now: counts for how long the job has been suspended. True if
 * it has just been suspended or resumed. */
bool job_note_suspension(struct job *job, enum job_state state, int64_t now_ms);
/* The time that the job has spent in RUN, until now or until its end. */
int64_t job_ran_ms(const struct job *job, int64_t now_ms);
/* It is to end, but first waits for slots (deferred_kill.h). */
bool job_is_kill_deferred(const struct job *job);
/* An element, and all the elements of its array have ended. */
bool job_is_array_ended(const struct job *job);
/* Moves a job, if the table of moves allows it; else false, and nothing changed: the
 * news was late. The state that it has is always allowed. */
bool job_table_set_state(struct job_table *jobs, struct job *job, enum job_state state);

/* The job gets an attempt (state PEND), and reserves what the text says. */
void job_table_begin(struct job_table *jobs, struct job *job, uint64_t attempt,
                     const char *lease, uint64_t epoch, const struct place_start *start,
                     const char *reserved);
/* A job with an attempt has these hosts now, and its resizes are like this. */
void job_table_resize(struct job_table *jobs, struct job *job,
                      const struct host_slots *hosts, int n_hosts,
                      const struct job_resize *resize);
/* The queue that it is in. */
const char *job_queue_name(const struct job *job);
/* A waiting job goes to another queue (by index); before, or behind, all that wait. */
void job_table_switch(struct job_table *jobs, struct job *job, int queue);
void job_table_reorder(struct job_table *jobs, struct job *job, bool to_top);

/* The load that it is to stand still for, or goes on after; "": none. */
void job_set_overload(struct job *job, const char *text);

/* Hosts that it is not to run on (model/row.h), "": none; while it stands in no line.
 */
void job_set_avoided(struct job *job, const char *hosts);

/* It loses it and waits again: PSUSP where a user has stopped it. */
void job_table_requeue(struct job_table *jobs, struct job *job,
                       enum requeue_cause cause, const char *reason);
/* It ends: DONE, or EXIT. */
void job_table_end(struct job_table *jobs, struct job *job, const struct run_exit *exit,
                   bool is_done, const char *reason, int64_t end_ms);

/* Jobs that ended before `before_ms`, oldest first, at most `max`: each is handed to
 * `on_clean`, its rows are deleted, then it is gone. Returns how many. One that others
 * wait for stays for another while. */
typedef void (*job_table_clean_fn)(void *arg, struct job *job);
int job_table_clean(struct job_table *jobs, int64_t before_ms, int max,
                    job_table_clean_fn on_clean, void *arg, struct effects *effects);
/* When the oldest ended job ended; INT64_MAX: there is none. */
int64_t job_table_oldest_end_ms(const struct job_table *jobs);

/* What `wait` and listings show: the command's exit code, or 128 and the signal. False
 * where there is none: it has not ended, or ended without a beginning or a trace. */
bool job_exit_code(const struct job *job, int *code);

/* Its input is a file (-i), which is read on the site's own hosts alone. */
bool job_reads_file(const struct job_spec *spec);
/* Slots that it has, or had; of one that waits, the least that it asks for. */
int job_slots(const struct job *job);

/* "PEND" and so on. */
const char *job_state_name(enum job_state state);

#endif
