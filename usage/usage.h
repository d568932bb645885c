/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h: the ledger: the slot time of leases that a side held, used and left idle, by
 * lease, side, hour, and the user, queue, project and account of jobs.
 *
 * A side of a lease has a level: the slots that it holds, and the slots that each owner
 * uses. Levels are integrated exactly, in slot-milliseconds; what shows them rounds
 * them. Owners hold what they use; what is left is idle and nobody's. In each row
 * held_ms == used_ms + idle_ms. Nobody's idle time is negative while more is used than
 * held, for example until a consumer learns that a job has ended.
 *
 * A change counts from when it was on record at the provider, which others learn later:
 * what they have booked since then is corrected.
 *
 * A clock that goes back by an hour or less books nothing until it is where it was: no
 * millisecond is booked twice. One that goes back further was wrong before, and what
 * follows is booked by the new time. A clock that goes forward books what it skipped.
 *
 * Units: milliseconds of one clock; hours and days are those of UTC. Ownership: input
 * is copied; rows are borrowed until the next call. Order: rows by lease, side, hour,
 * user, queue, project and account. Source: docs/usage.md.
 * Layer: usage (model, base). */
#ifndef SUBLET_USAGE_USAGE_H
#define SUBLET_USAGE_USAGE_H

#include "base/value.h"
#include "model/row.h"

#define USAGE_HOUR_MS (INT64_C(60) * 60 * 1000)
#define USAGE_DAY_MS (24 * USAGE_HOUR_MS)

/* USAGE_LENT: the consumer's side in the records of the provider. */
enum usage_side { USAGE_CONSUMER, USAGE_PROVIDER, USAGE_LENT };
enum { USAGE_SIDES = 2, USAGE_BOOKS = 3 }; /* without and with it */
/* "consumer", "provider", "lent". */
const char *usage_side_name(enum usage_side side);

/* Whose jobs. All of it "": nobody's. */
struct usage_owner {
    const char *user, *queue, *project;
    const char *account; /* -G: the group whose share the job uses */
};

struct usage_row {
    const char *lease;
    enum usage_side side;
    int64_t start_ms; /* of the hour; of sums: of the day, or 0 */
    struct usage_owner owner;
    int64_t held_ms, used_ms, idle_ms; /* times slots */
    int64_t cost_ms;                   /* used_ms times the price of a slot hour */
    int64_t n_moved; /* slots whose use has begun, and those whose use has ended */
};

/* ---------------------------------------------------------------- usage.c */

struct usage;
struct usage *usage_new(void);
void usage_free(struct usage *usage); /* NULL is fine */

/* The instant up to which levels are booked now, as the clock may have gone back. */
int64_t usage_clock(struct usage *usage, int64_t now_ms);
/* What a side holds from an instant on, under an epoch of the contract. */
struct usage_split {
    const char *lease;
    enum usage_side side;
    int n_slots;
    uint64_t epoch;
    int64_t at_ms; /* 0: now */
};
/* Counts from its instant on, but from no earlier one than that of the split before,
 * and at most USAGE_CLOCKS_MS from now. One of an earlier epoch that begins before that
 * of the split before is late, and changes nothing. */
void usage_split(struct usage *usage, const struct usage_split *split, int64_t now_ms);
/* The clocks of sites and broker may differ by so much. */
#define USAGE_CLOCKS_MS INT64_C(10000)
typedef void (*usage_split_fn)(void *arg, const struct usage_split *split);
/* Those since the last usage_clear that changed what the side holds. */
void usage_each_split(struct usage *usage, usage_split_fn fn, void *arg);
/* From now on the side holds so many slots of the lease. */
void usage_hold(struct usage *usage, const char *lease, enum usage_side side,
                int n_slots, int64_t now_ms);
/* From now on a slot hour that is used has this price, in credits. */
void usage_price(struct usage *usage, const char *lease, enum usage_side side,
                 int price, int64_t now_ms);
/* From now on its owner uses so many slots more, or fewer. */
void usage_change(struct usage *usage, const char *lease, enum usage_side side,
                  const struct usage_owner *owner, int n_slots, int64_t now_ms);
/* In that time the owner used so many slots more, or fewer, than is booked. With the
 * times the other way round, the opposite. */
void usage_correct(struct usage *usage, const char *lease, enum usage_side side,
                   const struct usage_owner *owner, int n_slots, int64_t from_ms,
                   int64_t to_ms);
/* From now on nobody's jobs use so many slots: those of the site, as a whole. */
void usage_use(struct usage *usage, const char *lease, enum usage_side side,
               int n_slots, int64_t now_ms);
/* Books all levels until now. */
void usage_book(struct usage *usage, int64_t now_ms);

typedef void (*usage_row_fn)(void *arg, const struct usage_row *row);
/* What was booked since the last usage_clear. */
void usage_each(struct usage *usage, usage_row_fn fn, void *arg);
void usage_clear(struct usage *usage);

/* A level, for the journal: what the side holds, and until when it is booked. */
struct usage_level {
    const char *lease;
    enum usage_side side;
    int n_held;
    int price;
    bool is_used;
    int64_t booked_ms;
};
typedef void (*usage_level_fn)(void *arg, const struct usage_level *level);
/* Levels that were booked or changed since the last usage_clear, by lease and side. One
 * with nothing held or used, and without a price, is forgotten by usage_clear. */
void usage_each_level(struct usage *usage, usage_level_fn fn, void *arg);
/* Levels with slots that are held, in no order; `fn` may change the level. */
void usage_each_held(struct usage *usage, usage_level_fn fn, void *arg);
/* After a restart, once the rows of jobs are loaded: the time since then is booked with
 * what is held and used now. */
void usage_restore(struct usage *usage, const struct usage_level *level);

/* ---------------------------------------------------------------- usage_jobs.c */

/* What consumers' jobs use, by the rows of journals: as the provider has it (struct
 * run_use), from when it has it. In the records of a provider (side USAGE_LENT) they
 * are nobody's. Of a provider that does not tell it, a job uses its slots while it is
 * in RUN, and while its state is unknown as before. */
struct usage_jobs;
struct usage_jobs *usage_jobs_new(struct usage *usage); /* borrowed; outlives it */
void usage_jobs_free(struct usage_jobs *jobs);          /* NULL is fine */

/* A row of a site's journal (the site's index), of any kind. */
void usage_jobs_stored(struct usage_jobs *jobs, int site, const struct row *row,
                       int64_t now_ms);

/* A run on a lease, as one of the two sites has it on record. */
struct usage_run {
    const char *lease;
    enum usage_side side;     /* USAGE_CONSUMER or USAGE_LENT */
    uint64_t attempt;         /* of the consumer */
    const char *job;          /* "12[3]" */
    int64_t start_ms, end_ms; /* USAGE_OPEN: it has not ended */
    int64_t used_ms;          /* slot-milliseconds; of one that has not ended: until
                                 `at_ms`, and `n_slots` from then on */
    int64_t at_ms;
    int n_slots;
};
#define USAGE_OPEN INT64_MAX
typedef void (*usage_run_fn)(void *arg, const struct usage_run *run);
/* Those that have begun, changed or ended since the last usage_jobs_clear. */
void usage_jobs_each_run(struct usage_jobs *jobs, usage_run_fn fn, void *arg);
void usage_jobs_clear(struct usage_jobs *jobs);

/* ---------------------------------------------------------------- usage_sums.c */

/* What distinguishes the rows of a sum. */
enum usage_by {
    USAGE_BY_LEASE = 1 << 0,
    USAGE_BY_SIDE = 1 << 1,
    USAGE_BY_HOUR = 1 << 2,
    USAGE_BY_DAY = 1 << 3,
    USAGE_BY_USER = 1 << 4,
    USAGE_BY_QUEUE = 1 << 5,
    USAGE_BY_PROJECT = 1 << 6,
    USAGE_BY_ACCOUNT = 1 << 7,
};

/* Rows that are equal in `by` become one. */
struct usage_sums;
struct usage_sums *usage_sums_new(int by);     /* usage_by, added up */
void usage_sums_free(struct usage_sums *sums); /* NULL is fine */
void usage_sums_add(struct usage_sums *sums, const struct usage_row *row);
void usage_sums_each(struct usage_sums *sums, usage_row_fn fn, void *arg);
int usage_sums_count(const struct usage_sums *sums);

/* Credits, from cost_ms. */
double usage_sums_credits(int64_t cost_ms);
/* A time of slots as slot-seconds, rounded to the nearest. */
int64_t usage_sums_seconds(int64_t slot_ms);
/* What was idle and held, in slot-seconds. What was idle is 0 if more was used than
 * held; else what was held is the sum of the rounded others. */
int64_t usage_sums_idle_seconds(const struct usage_row *row);
int64_t usage_sums_held_seconds(const struct usage_row *row);

/* ---------------------------------------------------------------- usage_reconcile.c */

/* Compares what a site has booked of its side of a lease with the broker's books.
 *
 * A change counts from one instant in all books, so that they are exact. But one of the
 * last USAGE_ON_THE_WAY_MS may not have reached a side yet, and books are read one
 * after another: in an hour that is younger, each change and the end of the period may
 * cost the slots of the side for that time. Hours are compared as days before the
 * instant until which any of the books were merged. */
#define USAGE_ON_THE_WAY_MS INT64_C(10000)

enum usage_cause {
    USAGE_CAUSE_NONE,  /* not known: the books do not balance */
    USAGE_CAUSE_YOUNG, /* the books of one of the two begin later */
    USAGE_CAUSE_AWAY,  /* the site was away */
    USAGE_CAUSE_CLOCK, /* hours differ and their sum does not: a clock that was wrong */
};

struct usage_difference {
    enum usage_side side;
    int64_t start_ms, end_ms;
    int64_t site_ms, broker_ms; /* times slots */
    enum usage_cause cause;
    int64_t away_from_ms, away_to_ms; /* of CAUSE_AWAY: the latest absence */
};

struct usage_reconcile;
/* Books until `until_ms`, merged before `merged_ms` (0: none were). */
struct usage_reconcile *usage_reconcile_new(int64_t until_ms, int64_t merged_ms);
void usage_reconcile_free(struct usage_reconcile *reconcile); /* NULL is fine */

void usage_reconcile_site(struct usage_reconcile *reconcile, enum usage_side side,
                          int64_t start_ms, int64_t held_ms);
void usage_reconcile_broker(struct usage_reconcile *reconcile, enum usage_side side,
                            int64_t start_ms, int64_t held_ms, int n_changes,
                            int n_slots);
/* What the consumer's jobs used: by the records of the consumer, or of the provider
 * (`is_lent`). A difference is one of side USAGE_LENT, with the consumer's time in
 * site_ms and the provider's in broker_ms. */
void usage_reconcile_used(struct usage_reconcile *reconcile, bool is_lent,
                          int64_t start_ms, int64_t used_ms, int64_t n_moved);
/* When the books of the site, and those of the broker, begin; of USAGE_LENT, those of
 * the two sites. */
void usage_reconcile_begin(struct usage_reconcile *reconcile, enum usage_side side,
                           int64_t site_ms, int64_t broker_ms);
/* The side's site was away in that time; of at most USAGE_AWAY_MAX the latest count. */
enum { USAGE_AWAY_MAX = 256 };
void usage_reconcile_away(struct usage_reconcile *reconcile, enum usage_side side,
                          int64_t from_ms, int64_t to_ms);

/* The latest absence of the side's site in that time; of USAGE_LENT: of either site's.
 */
bool usage_reconcile_find_away(const struct usage_reconcile *reconcile,
                               enum usage_side side, int64_t from_ms, int64_t to_ms,
                               int64_t *away_from_ms, int64_t *away_to_ms);

typedef void (*usage_difference_fn)(void *arg,
                                    const struct usage_difference *difference);
/* By side and time. Returns the number of those whose cause is not known. */
int usage_reconcile_each(struct usage_reconcile *reconcile, usage_difference_fn fn,
                         void *arg);

/* ---------------------------------------------------------------- usage_behind.c */

/* What is behind a difference: runs, of which one of the two sites has other times than
 * the other, or no record, and splits, of which a site has other slots or another
 * instant than the broker, or no record.
 *
 * What has begun, changed or ended within USAGE_ON_THE_WAY_MS before `until_ms`, when
 * the books were read, is no difference if the other side does not have it. */
struct usage_behind;
struct usage_behind *usage_behind_new(int64_t until_ms);
void usage_behind_free(struct usage_behind *behind); /* NULL is fine */

/* A run by its side's records. Texts are copied. A second one of an attempt and side is
 * the same. */
void usage_behind_run(struct usage_behind *behind, const struct usage_run *run);
/* The first attempt above `after` of which one side has no record so far; 0: none. */
uint64_t usage_behind_single(struct usage_behind *behind, uint64_t after);
bool usage_behind_is_single(const struct usage_behind *behind, uint64_t attempt);
/* By side and time; the first one of a side may have begun earlier than what is
 * compared. Those that change nothing are left out. */
void usage_behind_split(struct usage_behind *behind, bool is_broker,
                        const struct usage_split *split);

struct usage_run_difference {
    uint64_t attempt;
    const char *job;
    const struct usage_run *consumer, *provider; /* NULL: it has no record */
    int64_t difference_ms;  /* slot time: the consumer's without the provider's */
    int64_t from_ms, to_ms; /* the part of its time in which they differ */
    bool is_shifted;        /* both have the same slot time, at another time: a clock */
};
typedef void (*usage_run_difference_fn)(void *arg,
                                        const struct usage_run_difference *difference);
/* By attempt. */
void usage_behind_each_run(struct usage_behind *behind, usage_run_difference_fn fn,
                           void *arg);

struct usage_split_difference {
    enum usage_side side;
    uint64_t epoch;
    const struct usage_split *site, *broker; /* NULL: it has no record */
};
typedef void (*usage_split_difference_fn)(
    void *arg, const struct usage_split_difference *difference);
/* By side and epoch. */
void usage_behind_each_split(struct usage_behind *behind, usage_split_difference_fn fn,
                             void *arg);

#endif
