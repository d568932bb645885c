/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.c: see backfill.h.
 *
 *     n1 has 4 slots. 08:00: job 1 (1 slot, limit 2 h) runs; job 2 wants 4, has 3
 *     job 2 lacks 1 slot, which job 1 frees at 10:00
 *     at 08:30 job 3 (2 slots) may use those of job 2 if its run limit is 1 h, but not
 * if it is 2 h */
#include "sched/reservation/backfill.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct backfill_run *a = left, *b = right;
    if (a->end_ms != b->end_ms) {
        return a->end_ms < b->end_ms ? -1 : 1;
    }
    return a->key < b->key ? -1 : a->key > b->key;
}

void backfill_sort(struct backfill_run *runs, int n_runs)
{
    if (n_runs > 0) {
        qsort(runs, (size_t)n_runs, sizeof(*runs), compare);
    }
}

struct backfill_supply {
    const struct backfill_run *runs;
    int n_runs, n_ending; /* runs with an end: the first ones */
    int *n_free;          /* by host */
    int n_hosts;
    int64_t *left;                  /* by supply */
    int *first_slots, *first_parts; /* by run: index of its first piece and part */
    int *slots;                     /* what is left of each piece; parts likewise */
    int64_t *parts;
};

static void count_runs(struct backfill_supply *supply, int *n_slots, int *n_parts)
{
    *n_slots = *n_parts = 0;
    for (int i = 0; i < supply->n_runs; i++) {
        supply->n_ending += supply->runs[i].end_ms != BACKFILL_NEVER;
        *n_slots += supply->runs[i].n_pieces;
        *n_parts += supply->runs[i].n_parts;
    }
}

struct backfill_supply *backfill_supply_new(struct arena *arena,
                                            const struct backfill_run *runs, int n_runs,
                                            const int *n_free, int n_hosts,
                                            const int64_t *left, int n_pools)
{
    struct backfill_supply *supply = arena_alloc(arena, 1, sizeof(*supply));
    int n_slots, n_parts;
    *supply =
        (struct backfill_supply){.runs = runs, .n_runs = n_runs, .n_hosts = n_hosts};
    count_runs(supply, &n_slots, &n_parts);
    supply->n_free = arena_copy(arena, n_free, (size_t)n_hosts * sizeof(int));
    supply->left = arena_copy(arena, left, (size_t)n_pools * sizeof(*left));
    supply->first_slots = arena_alloc(arena, (size_t)n_runs + 1, sizeof(int));
    supply->first_parts = arena_alloc(arena, (size_t)n_runs + 1, sizeof(int));
    supply->slots = arena_alloc(arena, (size_t)n_slots + 1, sizeof(int));
    supply->parts = arena_alloc(arena, (size_t)n_parts + 1, sizeof(*supply->parts));
    n_slots = n_parts = 0;
    for (int i = 0; i < n_runs; i++) {
        supply->first_slots[i] = n_slots;
        supply->first_parts[i] = n_parts;
        for (int k = 0; k < runs[i].n_pieces; k++) {
            supply->slots[n_slots++] = runs[i].pieces[k].n_slots;
        }
        for (int k = 0; k < runs[i].n_parts; k++) {
            supply->parts[n_parts++] = runs[i].parts[k].milli;
        }
    }
    return supply;
}

/* Takes up to `wanted`. Returns how much is missing. */
static int64_t take_milli(int64_t *left, int64_t wanted)
{
    int64_t n = *left < wanted ? *left : wanted;
    n = n > 0 ? n : 0;
    *left -= n;
    return wanted - n;
}

static int take(int *left, int wanted)
{
    int64_t rest = *left;
    int missing = (int)take_milli(&rest, wanted);
    *left = (int)rest;
    return missing;
}

static int64_t later(const struct backfill_run *run, int64_t start_ms)
{
    return run->end_ms > start_ms ? run->end_ms : start_ms;
}

static int64_t take_any(struct backfill_supply *supply,
                        const struct backfill_want *want, int64_t now_ms)
{
    int missing = want->n_missing;
    for (int i = 0; i < supply->n_hosts && missing > 0; i++) {
        missing = want->allowed[i] ? take(&supply->n_free[i], missing) : missing;
    }
    int64_t start_ms = now_ms;
    for (int i = 0; i < supply->n_ending && missing > 0; i++) {
        const struct backfill_run *run = &supply->runs[i];
        for (int k = 0; k < run->n_pieces && missing > 0; k++) {
            if (want->allowed[run->pieces[k].host]) {
                missing = take(&supply->slots[supply->first_slots[i] + k], missing);
            }
        }
        start_ms = later(run, now_ms);
    }
    return missing > 0 ? BACKFILL_NEVER : start_ms;
}

static int64_t take_piece(struct backfill_supply *supply,
                          const struct rusage_piece *piece, int64_t now_ms)
{
    int missing = take(&supply->n_free[piece->host], piece->n_slots);
    int64_t start_ms = now_ms;
    for (int i = 0; i < supply->n_ending && missing > 0; i++) {
        const struct backfill_run *run = &supply->runs[i];
        for (int k = 0; k < run->n_pieces && missing > 0; k++) {
            if (run->pieces[k].host == piece->host) {
                missing = take(&supply->slots[supply->first_slots[i] + k], missing);
                start_ms = later(run, now_ms);
            }
        }
    }
    return missing > 0 ? BACKFILL_NEVER : start_ms;
}

/* An overcommitted supply first has to be refilled. */
static int64_t take_part(struct backfill_supply *supply,
                         const struct rusage_amount *part, int64_t now_ms)
{
    int64_t *left = &supply->left[part->supply];
    int64_t owed = *left < 0 ? -*left : 0, missing;
    *left += owed;
    missing = take_milli(left, part->milli + owed);
    int64_t start_ms = now_ms;
    for (int i = 0; i < supply->n_ending && missing > 0; i++) {
        const struct backfill_run *run = &supply->runs[i];
        for (int k = 0; k < run->n_parts && missing > 0; k++) {
            if (run->parts[k].supply == part->supply) {
                missing =
                    take_milli(&supply->parts[supply->first_parts[i] + k], missing);
                start_ms = later(run, now_ms);
            }
        }
    }
    return missing > 0 ? BACKFILL_NEVER : start_ms;
}

int64_t backfill_take(struct backfill_supply *supply, const struct backfill_want *want,
                      int64_t now_ms)
{
    int64_t start_ms = want->allowed != NULL ? take_any(supply, want, now_ms) : now_ms;
    for (int i = 0; i < want->n_pieces; i++) {
        int64_t at_ms = take_piece(supply, &want->pieces[i], now_ms);
        start_ms = at_ms > start_ms ? at_ms : start_ms;
    }
    for (int i = 0; i < want->n_parts; i++) {
        int64_t at_ms = take_part(supply, &want->parts[i], now_ms);
        start_ms = at_ms > start_ms ? at_ms : start_ms;
    }
    return start_ms;
}

void backfill_supply_add(const struct backfill_supply *supply, int n_runs, int *n_free,
                         int64_t *left)
{
    for (int i = 0; i < n_runs; i++) {
        const struct backfill_run *run = &supply->runs[i];
        for (int k = 0; k < run->n_pieces; k++) {
            n_free[run->pieces[k].host] += supply->slots[supply->first_slots[i] + k];
        }
        for (int k = 0; k < run->n_parts; k++) {
            left[run->parts[k].supply] += supply->parts[supply->first_parts[i] + k];
        }
    }
}
