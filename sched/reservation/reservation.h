/* SPDX-License-Identifier: Apache-2.0 */
/* reservation.h: slots and resources that are reserved for pending jobs until these can
 * start, and which backfill jobs use them meanwhile.
 *
 * SLOT_RESERVE. When the first job of a class finds no room, and its queue has
 * SLOT_RESERVE, the job reserves the free slots of its hosts, up to the fewest slots
 * that it asks for. All of these hosts are the site's own, or all are of one lease.
 * The reserved slots count as used for all other jobs, with two exceptions. Jobs that
 * may reserve and come earlier in the pass take reserved slots first, so that no two
 * jobs wait for each other. A job of a queue that may preempt the reserving job takes
 * them before it suspends anyone. When the next pass reaches the job it starts with its
 * slots, or keeps them and adds what has become free.
 *
 * BACKFILL. A job of a queue with BACKFILL that finds no room may use reserved slots if
 * it ends, by its run limit, before the reserving job can start (backfill.h). These
 * slots are lent: they return to the reservation when the backfill job ends. Limits on
 * hosts do not apply to a backfill job on hosts with reserved slots.
 *
 *     n1 has 4 slots, 1 is used; a job with -n 4 reserves 3: 3 are in hand
 *     a job of 2 slots is backfilled: 1 is in hand, 2 are lent
 *     the first job ends: 1 slot becomes free and is reserved: 2 in hand, 2 lent
 *
 * RESOURCE_RESERVE. A job that reserves resources (rusage) in a queue with
 * RESOURCE_RESERVE chooses its hosts, even if it is sequential. So does a job with span
 * or same, with a compound requirement, or with affinity. It chooses the hosts where it
 * fits first if running jobs end by their run limits; jobs without a run limit are
 * taken to end last (place_estimate.c). What it needs and is free there is reserved,
 * and lent as above. It chooses again in each pass.
 *
 *     n1 has 10 slots, 2 are used; 200 MB of memory are left
 *     a job of 400 MB reserves 1 slot and 200 MB; a job of 50 MB is backfilled: 150 MB
 *
 * cu[excl]. A job that has compute units exclusively chooses those that will be empty
 * first, and reserves all slots of all hosts there, whichever of them it will use.
 *
 *     unit 1: n1, n2 with 4 slots each, a job of 2 slots on n1 ends at 10:00
 *     a job of 3 slots with cu[excl] reserves 2 slots of n1 and 4 of n2
 *
 * Affinity. A job with affinity takes the processors of a host to be free once no job
 * with affinity that runs there now is left. A host where it has a reservation starts
 * no other job with affinity, unless that is backfilled.
 *
 *     n1 has 4 cores, a job of 2 slots with affinity[core(1)] ends at 10:00
 *     a job of 3 slots with affinity[core(1)] reserves 2 slots, and starts at 10:00
 *
 * Other sequential jobs, jobs with -x, and jobs for which others are being preempted
 * reserve nothing. A job reserves nothing if limits on hosts can never leave it enough
 * slots. A job that waits for something other than slots or resources loses its
 * reservation.
 *
 * Units: slots, milliseconds, thousandths. Ownership: the arena's. Order: reservations
 * stand as the last pass reached their jobs; a backfill job uses the first reservation
 * that fits. Source: docs/design/scheduling.md "Reservation and backfill";
 * docs/adr/0017. Layer: sched. */
#ifndef SUBLET_SCHED_RESERVATION_RESERVATION_H
#define SUBLET_SCHED_RESERVATION_RESERVATION_H

#include "sched/place/place.h"
#include "sched/reservation/backfill.h"

/* Jobs of a site that reserve at a time: each one costs a pass a look at all hosts. */
enum { RESERVATIONS_MAX = 100 };

struct reservation_piece {
    int host; /* index */
    int n_slots;
    int n_backfilled; /* of these, lent to running backfill jobs; 0 if n_target is not
                       */
    int n_target;     /* slots that the job wants on a host that it has chosen; 0: it
                         chooses     no hosts */
};

/* An amount of one resource, for a job that has chosen its hosts. */
struct reservation_part {
    int resource; /* index in the snapshot's supply */
    int host;     /* the first one that draws from it */
    int supply;
    int64_t in_hand_milli, need_milli; /* in hand, of what it needs */
};

struct reservation {
    uint64_t job;
    int class_index; /* the job is the first of this class */
    const struct reservation_piece *pieces;
    int n_pieces;
    const struct reservation_part *parts; /* by pool, each once */
    int n_parts;
    int64_t since_ms;
    int64_t not_before_ms; /* its processors are free by then; 0: slots and parts tell
                              alone when it can start; BACKFILL_NEVER: unknown */
    int64_t start_ms;      /* out: when it can start; BACKFILL_NEVER: unknown */
};

struct reservation_snapshot {
    const struct reservation *reservations; /* of the passes before */
    int n_reservations;
    const struct backfill_run *runs; /* all jobs that have slots, in order; needed where
                                        reservation_needs_runs */
    int n_runs;
    const uint64_t *barred; /* jobs that have reserved for their time, and may not again
                               yet */
    int n_barred;
};

/* Classes or reservations make the pass look at running jobs. */
bool reservation_needs_runs(const struct place_snapshot *place,
                            const struct reservation_snapshot *snapshot);

struct reservation_pass;
struct place_state;
struct candidates;

/* A pass begins: what is reserved is in use. `state` is the pass's; a copy outlives
 * it. */
struct reservation_pass *reservation_new(struct arena *arena,
                                         const struct place_snapshot *place,
                                         const struct place_state *state);
/* There is no reservation, and none was made in this pass. */
bool reservation_is_idle(const struct reservation_pass *pass);

/* The index of the job's reservation; -1: it has none. */
int reservation_find(const struct reservation_pass *pass, uint64_t job);
/* The next reservation after `index` (-1: the first) that a job of the queue which ends
 * at `until_ms` may use; -1: there is none. */
int reservation_next(const struct reservation_pass *pass, int queue, int index,
                     int64_t until_ms);
/* Jobs of the class reserve resources beside slots. */
bool reservation_target_has_resources(const struct reservation_pass *pass, int class);
/* Jobs of the class choose their hosts: they reserve resources, or have span, same, a
 * compound requirement, affinity or compute units of their own. */
bool reservation_target_applies(const struct reservation_pass *pass, int class);
/* Some class whose jobs may reserve has span, same or affinity. */
bool reservation_target_has_spans(const struct place_snapshot *place);
/* That job, the next one of the class, may have a reservation. */
bool reservation_may(const struct reservation_pass *pass, int class, uint64_t job);

/* Makes what one reservation has in hand free for the job that is placed next. */
void reservation_open(struct reservation_pass *pass, int index);
/* A reservation of a job that the pass has not reached yet gives way to jobs of the
 * queue, because these may preempt that job. */
bool reservation_gives_way(const struct reservation_pass *pass, int queue);
/* Makes free for a job of the queue its own reservation (-1: it has none), and, of the
 * jobs that the pass has not reached yet, those that give way to it; all of them for a
 * job that may reserve. */
void reservation_open_for(struct reservation_pass *pass, int queue, int own,
                          bool may_reserve);
/* Puts the hosts that became free in this way among the candidates. */
void reservation_restore_candidates(const struct reservation_pass *pass,
                                    struct candidates *view);
bool reservation_is_open(const struct reservation_pass *pass);
/* The open reservation has slots in hand on that host. */
bool reservation_has_host(const struct reservation_pass *pass, int host);
/* How many slots of the open reservation are lent. `group` becomes the group of its
 * hosts; -1: no reservation is open. */
int reservation_backfilled(const struct reservation_pass *pass, int *group);
/* These candidates had no room for a job of as many slots, or fewer, with the open
 * reservation; or have none now. */
bool reservation_is_stuck(const struct reservation_pass *pass,
                          const struct candidates *view, int n_slots);
void reservation_set_stuck(struct reservation_pass *pass, struct candidates *view,
                           int n_slots);

/* Of these one follows each opening. The job did not start: what was in hand is used
 * again. */
void reservation_close(struct reservation_pass *pass);
/* The job starts, or others are preempted for it: its own reservation ends. */
void reservation_use(struct reservation_pass *pass);
/* A backfill job starts on these slots. `job` and `until_ms` become the reserving job
 * and its start time. */
void reservation_backfill(struct reservation_pass *pass, const int *hosts,
                          const struct host_slots *slots, int n_hosts, uint64_t *job,
                          int64_t *until_ms);
/* The job reserves these slots, which count as used already, and what it has lent. */
void reservation_set(struct reservation_pass *pass, int class, uint64_t job,
                     const int *hosts, const struct host_slots *slots, int n_hosts);
/* The same for a job that has chosen its hosts (`hosts` are the indexes of those of the
 * start), and what it will have there. What is free there counts as used from now on.
 * `not_before_ms` as in the reservation. `in_hand` has room for all hosts and receives
 * what the job has of them; returns how many. */
int reservation_target_set(struct reservation_pass *pass, int class,
                           const struct place_start *start, const int *hosts,
                           int64_t not_before_ms, struct host_slots *in_hand);
/* When that many jobs that run have ended; 0 for none, BACKFILL_NEVER: unknown. */
int64_t reservation_start_end_ms(const struct reservation_pass *pass, int n_ends);
/* The runs by attempt, in the arena; and the number of ends up to that of a run,
 * INT_MAX if it is not among them. */
struct reservation_end {
    uint64_t attempt;
    int n_ends;
};
const struct reservation_end *
reservation_start_list_ends(const struct reservation_pass *pass);
int reservation_start_find_end(const struct reservation_pass *pass,
                               const struct reservation_end *ends, uint64_t attempt);
/* The number of ends to look ahead: one for each job that runs as the pass begins, by
 * run limit and those without one last, and one for all jobs that start or reserve in
 * this pass. */
int reservation_start_count_ends(struct reservation_pass *pass);
/* The slots of the host that the first `n_ends` of them free, which are not all, less
 * what jobs that the pass has reached take of it; and the same, added by supply. */
int reservation_start_freed(struct reservation_pass *pass, int n_ends, int host);
void reservation_start_add_left(struct reservation_pass *pass, int n_ends,
                                int64_t *left);
/* Adds what all running jobs use, to be added to what was free as the pass began. */
void reservation_start_add_all(const struct reservation_pass *pass, int *n_free,
                               int64_t *left);
/* The reservation ends; its slots are free in the next pass. */
void reservation_drop(struct reservation_pass *pass, int index);

/* The reservations from here on, in the arena. Called once the plan has been carried
 * out; the runs are all jobs that have slots now, in order (backfill_sort). */
const struct reservation *reservation_result(struct reservation_pass *pass,
                                             const struct backfill_run *runs,
                                             int n_runs, int *n_kept);
/* A job that started in this pass changes when others can start: another pass is
 * needed. */
void reservation_want_pass(struct reservation_pass *pass);
/* Another pass may start or reserve more: a reservation ended, was made, or moved to
 * other hosts. Passes without a start and without a new victim end after a while,
 * because what a job reserves depends on running jobs and on earlier jobs only. */
bool reservation_wants_pass(const struct reservation_pass *pass);

#endif
