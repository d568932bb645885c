/* SPDX-License-Identifier: Apache-2.0 */
/* usage_reconcile.c: a site's books of a side of a lease beside the broker's. */
#include <stdlib.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "usage/usage.h"

/* An hour, or a day. */
struct slice {
    struct {
        int64_t side, start_ms;
    } name;
    int64_t end_ms, site_ms, broker_ms;
    int64_t n_changes, n_slots;
    UT_hash_handle hh;
};

struct away {
    enum usage_side side;
    int64_t from_ms, to_ms;
};

struct usage_reconcile {
    int64_t until_ms, merged_ms;
    struct slice *slices;
    int64_t begin_ms[USAGE_BOOKS]; /* before it, one of the two has none */
    struct away away[USAGE_AWAY_MAX];
    int n_away;
};

struct usage_reconcile *usage_reconcile_new(int64_t until_ms, int64_t merged_ms)
{
    struct usage_reconcile *reconcile = mem_alloc(1, sizeof *reconcile);

    reconcile->until_ms = until_ms;
    reconcile->merged_ms = merged_ms;
    return reconcile;
}

void usage_reconcile_free(struct usage_reconcile *reconcile)
{
    struct slice *slice, *next;

    if (!reconcile) {
        return;
    }
    HASH_ITER (hh, reconcile->slices, slice, next) {
        HASH_DEL(reconcile->slices, slice);
        free(slice);
    }
    free(reconcile);
}

/* ---- what is compared */

static struct slice *see_slice(struct usage_reconcile *reconcile, enum usage_side side,
                               int64_t at_ms)
{
    int64_t unit_ms = at_ms < reconcile->merged_ms ? USAGE_DAY_MS : USAGE_HOUR_MS;
    struct slice *slice, *made = mem_alloc(1, sizeof *made);

    made->name.side = (int64_t)side;
    made->name.start_ms = at_ms - at_ms % unit_ms;
    made->end_ms = made->name.start_ms + unit_ms;
    HASH_FIND(hh, reconcile->slices, &made->name, sizeof made->name, slice);
    if (slice) {
        free(made);
        return slice;
    }
    HASH_ADD(hh, reconcile->slices, name, sizeof made->name, made);
    return made;
}

void usage_reconcile_site(struct usage_reconcile *reconcile, enum usage_side side,
                          int64_t start_ms, int64_t held_ms)
{
    see_slice(reconcile, side, start_ms)->site_ms += held_ms;
}

void usage_reconcile_broker(struct usage_reconcile *reconcile, enum usage_side side,
                            int64_t start_ms, int64_t held_ms, int n_changes,
                            int n_slots)
{
    struct slice *slice = see_slice(reconcile, side, start_ms);
    int64_t n_mean = (held_ms + USAGE_HOUR_MS - 1) / USAGE_HOUR_MS;
    int64_t n_most = n_slots > n_mean ? n_slots : n_mean;

    slice->broker_ms += held_ms;
    slice->n_changes += n_changes;
    slice->n_slots = n_most > slice->n_slots ? n_most : slice->n_slots;
}

void usage_reconcile_used(struct usage_reconcile *reconcile, bool is_lent,
                          int64_t start_ms, int64_t used_ms, int64_t n_moved)
{
    struct slice *slice = see_slice(reconcile, USAGE_LENT, start_ms);
    int64_t n_mean = (used_ms + USAGE_HOUR_MS - 1) / USAGE_HOUR_MS;

    slice->site_ms += is_lent ? 0 : used_ms;
    slice->broker_ms += is_lent ? used_ms : 0;
    slice->n_changes += is_lent ? n_moved : 0;
    slice->n_slots = n_mean > slice->n_slots ? n_mean : slice->n_slots;
}

void usage_reconcile_begin(struct usage_reconcile *reconcile, enum usage_side side,
                           int64_t site_ms, int64_t broker_ms)
{
    int64_t site_hour = site_ms - site_ms % USAGE_HOUR_MS;
    int64_t broker_hour = broker_ms - broker_ms % USAGE_HOUR_MS;
    int64_t later_ms = site_hour > broker_hour ? site_hour : broker_hour;

    reconcile->begin_ms[side] = site_hour == broker_hour ? 0 : later_ms + USAGE_HOUR_MS;
}

void usage_reconcile_away(struct usage_reconcile *reconcile, enum usage_side side,
                          int64_t from_ms, int64_t to_ms)
{
    reconcile->away[reconcile->n_away++ % USAGE_AWAY_MAX] =
        (struct away){side, from_ms, to_ms};
}

/* ---- judgement */

/* What changes on the way may cost when the books are read; what is older is exact. A
 * split that has changed away from a side held slots there that the hour before knows.
 */
static int64_t tolerance_of(const struct usage_reconcile *reconcile,
                            const struct slice *slice, const struct slice *before)
{
    bool is_last = slice->end_ms > reconcile->until_ms;
    bool follows = before && before->name.side == slice->name.side;
    int64_t n_slots = slice->n_slots;
    int64_t n_times = slice->n_changes + is_last;

    if (slice->end_ms <= reconcile->until_ms - USAGE_ON_THE_WAY_MS) {
        return 0;
    }
    if (slice->name.side == USAGE_LENT) {
        follows = follows && before->end_ms == slice->name.start_ms;
        n_times = slice->n_changes + (follows ? before->n_changes : 0);
        return (n_times + (is_last ? n_slots : 0)) * USAGE_ON_THE_WAY_MS;
    }
    if (follows && before->n_slots > n_slots) {
        n_slots = before->n_slots;
    }
    return n_times * n_slots * USAGE_ON_THE_WAY_MS;
}

static bool is_within(int64_t difference_ms, int64_t tolerance_ms)
{
    return difference_ms <= tolerance_ms && difference_ms >= -tolerance_ms;
}

/* The latest absence in that time; NULL: there was none. */
static const struct away *find_away(const struct usage_reconcile *reconcile,
                                    enum usage_side side, int64_t from_ms,
                                    int64_t to_ms)
{
    const struct away *latest = NULL;
    int count = reconcile->n_away < USAGE_AWAY_MAX ? reconcile->n_away : USAGE_AWAY_MAX;

    for (int i = 0; i < count; i++) {
        const struct away *away = &reconcile->away[i];
        bool is_side = away->side == side || side == USAGE_LENT;

        if (is_side && away->from_ms < to_ms &&
            away->to_ms + USAGE_ON_THE_WAY_MS > from_ms) {
            latest = latest && latest->to_ms > away->to_ms ? latest : away;
        }
    }
    return latest;
}

bool usage_reconcile_find_away(const struct usage_reconcile *reconcile,
                               enum usage_side side, int64_t from_ms, int64_t to_ms,
                               int64_t *away_from_ms, int64_t *away_to_ms)
{
    const struct away *away = find_away(reconcile, side, from_ms, to_ms);

    *away_from_ms = away ? away->from_ms : 0;
    *away_to_ms = away ? away->to_ms : 0;
    return away != NULL;
}

static const struct away *away_of(const struct usage_reconcile *reconcile,
                                  const struct slice *slice)
{
    return find_away(reconcile, (enum usage_side)slice->name.side, slice->name.start_ms,
                     slice->end_ms);
}

static enum usage_cause cause_of(const struct usage_reconcile *reconcile,
                                 const struct slice *slice, bool is_clock)
{
    if (slice->name.start_ms < reconcile->begin_ms[slice->name.side]) {
        return USAGE_CAUSE_YOUNG;
    }
    if (away_of(reconcile, slice)) {
        return USAGE_CAUSE_AWAY;
    }
    return is_clock ? USAGE_CAUSE_CLOCK : USAGE_CAUSE_NONE;
}

static int compare_slices(const struct slice *one, const struct slice *other)
{
    int64_t a = one->name.start_ms, b = other->name.start_ms;
    int order = (int)(one->name.side - other->name.side);

    return order ? order : (a > b) - (a < b);
}

/* Hours of the side differ that nothing else explains, and their sum does not. */
static void judge_clocks(const struct usage_reconcile *reconcile,
                         bool is_clock[USAGE_BOOKS])
{
    int64_t sums[USAGE_BOOKS] = {0}, tolerances[USAGE_BOOKS] = {0};
    int counts[USAGE_BOOKS] = {0};
    const struct slice *before = NULL;

    for (const struct slice *slice = reconcile->slices; slice; slice = slice->hh.next) {
        int64_t difference_ms = slice->site_ms - slice->broker_ms;
        int64_t tolerance_ms = tolerance_of(reconcile, slice, before);

        before = slice;
        tolerances[slice->name.side] += tolerance_ms;
        if (!is_within(difference_ms, tolerance_ms) &&
            cause_of(reconcile, slice, false) == USAGE_CAUSE_NONE) {
            sums[slice->name.side] += difference_ms;
            counts[slice->name.side]++;
        }
    }
    for (int side = 0; side < USAGE_BOOKS; side++) {
        is_clock[side] = counts[side] > 1 && is_within(sums[side], tolerances[side]);
    }
}

int usage_reconcile_each(struct usage_reconcile *reconcile, usage_difference_fn fn,
                         void *arg)
{
    bool is_clock[USAGE_BOOKS];
    const struct slice *before = NULL;
    int n_unknown = 0;

    HASH_SORT(reconcile->slices, compare_slices);
    judge_clocks(reconcile, is_clock);
    for (struct slice *slice = reconcile->slices; slice; slice = slice->hh.next) {
        int64_t difference_ms = slice->site_ms - slice->broker_ms;
        int64_t tolerance_ms = tolerance_of(reconcile, slice, before);

        before = slice;
        if (!is_within(difference_ms, tolerance_ms)) {
            enum usage_cause cause =
                cause_of(reconcile, slice, is_clock[slice->name.side]);
            struct usage_difference difference = {(enum usage_side)slice->name.side,
                                                  slice->name.start_ms,
                                                  slice->end_ms,
                                                  slice->site_ms,
                                                  slice->broker_ms,
                                                  cause,
                                                  0,
                                                  0};
            const struct away *away = away_of(reconcile, slice);

            if (cause == USAGE_CAUSE_AWAY) {
                difference.away_from_ms = away->from_ms;
                difference.away_to_ms = away->to_ms;
            }
            n_unknown += cause == USAGE_CAUSE_NONE;
            fn(arg, &difference);
        }
    }
    return n_unknown;
}
