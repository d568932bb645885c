/* SPDX-License-Identifier: Apache-2.0 */
/* reservation.h: free slots that are kept for parallel jobs until they have as many as
 * they need, and with them memory and other resources, in one pass (place.h); and whom
 * they are lent meanwhile.
 *
 * The first job of a line whose queue has SLOT_RESERVE takes, where it finds no room,
 * what is free on its hosts, own ones or those of one lease, as far as the fewest slots
 * that it asks for. From then on they count as used for all others, whatever their
 * queue, but for jobs that may reserve too and come before it: they take of it first,
 * so that no two wait for one another's slots. In later passes they are in use until
 * its turn comes; then it starts with them, or keeps them and takes what has fallen
 * free since.
 *
 * A job of a queue with BACKFILL that finds no room, and ends by its run limit until a
 * reserving job can start (backfill.h), may use what is kept for that one. What is lent
 * is not in hand, and comes back when the job that has it ends. Limits on hosts do not
 * hold for it on hosts where slots are kept.
 *
 *     n1 has 4 slots, 1 is used; -n 4 reserves 3: 3 in hand
 *     a job of 2 slots is backfilled: 1 in hand, 2 lent
 *     the first job ends: 1 is free, and becomes the fourth: 2 in hand, 2 lent
 *
 * A job of a queue with RESOURCE_RESERVE that reserves resources (rusage_supply.h)
 * chooses its hosts, a sequential one too, and so does one whose slots may not lie
 * anywhere (place_span.h): where it fits first if the jobs that run end by their run
 * limits, those without one after all others (place_estimate.h). What is free there of
 * what it needs, slots and resources, is kept for it and lent as above. It chooses anew
 * at each of its turns.
 *
 *     n1 has 10 slots, 2 are used; 200 MB of memory are left
 *     a job of 400 MB reserves 1 slot and 200 MB; a job of 50 MB is backfilled: 150 MB
 *
 * Other sequential jobs, exclusive ones, and those for which others are preempted,
 * reserve nothing; nor does one to which limits on hosts leave too few, whoever ends. A
 * job that is held up by something else gives up what it keeps.
 *
 * Units: slots, milliseconds, thousandths. Ownership: all lives in the arena. Order:
 * reservations as their jobs' turns came in the pass that last reached them; one job is
 * lent slots of one of them, the first that will do. Source: lsf.md 6.2; docs/adr/0031.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESERVATION_RESERVATION_H
#define SUBLET_SCHED_RESERVATION_RESERVATION_H

#include "sched/place/place.h"
#include "sched/reservation/backfill.h"

/* Jobs of a site that reserve at a time: each one costs a pass a look at all hosts. */
enum { RESERVATIONS_MAX = 100 };

struct reservation_piece {
    int host; /* index */
    int n_slots;
    int n_backfilled; /* of these, to running backfill jobs; 0 where hosts were chosen
                       */
    int n_target;     /* it has chosen the host, for so many slots; 0: it has not */
};

/* Of a resource, where a job has chosen its hosts. */
struct reservation_part {
    int kind; /* of the place's reserve */
    int host; /* the first that it needs it for */
    int pool;
    int64_t milli, need_milli; /* in hand, of what it needs */
};

struct reservation {
    uint64_t job;
    int class_index; /* of which the job is the first */
    const struct reservation_piece *pieces;
    int n_pieces;
    const struct reservation_part *parts; /* by pool, each once */
    int n_parts;
    int64_t since_ms;
    int64_t start_ms; /* out: when it can start; BACKFILL_NEVER: nobody knows */
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
/* Nobody keeps anything, nor has any job of this pass. */
bool reservation_is_idle(const struct reservation_pass *reserve);

/* The reservation of that job; -1: it has none. */
int reservation_find(const struct reservation_pass *reserve, uint64_t job);
/* The next one behind `index` (-1: the first) that may be lent until then; -1: none. */
int reservation_next(const struct reservation_pass *reserve, int index,
                     int64_t until_ms);
/* The line's jobs reserve resources, too. */
bool reservation_target_has_resources(const struct reservation_pass *reserve, int line);
/* They choose their hosts, for that or as their slots may not lie anywhere. */
bool reservation_target_applies(const struct reservation_pass *reserve, int line);
/* The line's jobs may reserve, the next one of them too. */
bool reservation_may(const struct reservation_pass *reserve, int line, uint64_t job);

/* While a job is looked at what others have in hand is free, in views too: of one
 * reservation; or, for a job that may reserve, of its own (-1: it has none) and of all
 * whose turn has not come. */
void reservation_open(struct reservation_pass *reserve, int index);
void reservation_open_turn(struct reservation_pass *reserve, int own);
void reservation_restore_candidates(const struct reservation_pass *reserve,
                                    struct candidates *view);
bool reservation_is_open(const struct reservation_pass *reserve);
/* Slots of that host are in hand, of the one reservation that is open. */
bool reservation_has_host(const struct reservation_pass *reserve, int host);
/* Slots of the job's own that are lent; the group that they are in, -1: it has none. */
int reservation_backfilled(const struct reservation_pass *reserve, int *group);
/* With what is open the view had no room for as many or fewer; it has none for these.
 */
bool reservation_is_stuck(const struct reservation_pass *reserve,
                          const struct candidates *view, int n_slots);
void reservation_set_stuck(struct reservation_pass *reserve, struct candidates *view,
                           int n_slots);

/* Nothing has come of it: what was in hand is in use again. */
void reservation_close(struct reservation_pass *reserve);
/* Its own job has other slots now, or these. */
void reservation_use(struct reservation_pass *reserve);
/* A job that ends in time has these, by index of host; told: whose they are, and until
 * when. */
void reservation_backfill(struct reservation_pass *reserve, const int *hosts,
                          const struct host_slots *slots, int n_hosts, uint64_t *job,
                          int64_t *until_ms);
/* The job keeps these, which are in use already, and what it has lent. */
void reservation_set(struct reservation_pass *reserve, int line, uint64_t job,
                     const int *hosts, const struct host_slots *slots, int n_hosts);
/* The same for a job that has chosen its hosts, so many slots on each, with that
 * alternative; what is free there is in use from now on. `in_hand` has room for the
 * hosts and becomes what it has of them; returns of how many. */
int reservation_target_set(struct reservation_pass *reserve, int line, uint64_t job,
                           const int *hosts, const struct host_slots *slots,
                           int n_hosts, const struct rusage_request *asks,
                           struct host_slots *in_hand);
/* How often somebody ends: the jobs that run as the pass begins, in the order of their
 * run limits, those without one after all others; at last all who start in it, or
 * reserve. */
int reservation_start_count_ends(struct reservation_pass *reserve);
/* Adds what the first `n_ends` of them leave, by host and by pool, but for what
 * reserving jobs take of it whose turn has come: to what nobody has or keeps now; or,
 * where all end, to what was free as the pass began. */
void reservation_start_add_ends(struct reservation_pass *reserve, int n_ends,
                                int *n_free, int64_t *left);
/* It has to give up what it has; others get it in the next pass. */
void reservation_drop(struct reservation_pass *reserve, int index);

/* After the pass, with all jobs that have slots now, its starts among them, in order:
 * who reserves what from here on, in the arena. */
const struct reservation *reservation_result(struct reservation_pass *reserve,
                                             const struct backfill_run *runs,
                                             int n_runs, int *n_kept);
/* A job of this pass has a say in what was kept after it. */
void reservation_want_pass(struct reservation_pass *reserve);
/* Another pass has more to give than this one had: a job has started, or others began
 * to be preempted for it, or it came to keep something, gave it up, or chose other
 * hosts. What each keeps depends on who runs and on those before it alone, so passes
 * without a start or a new victim come to rest, the first job first. */
bool reservation_wants_pass(const struct reservation_pass *reserve);

#endif
