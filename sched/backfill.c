/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.c: see backfill.h.
 *
 *     n1 has 4 slots. 08:00: job 1 (1 slot, limit 2 h) runs; job 2 wants 4, has 3
 *     job 2 lacks 1: job 1's, which is there at 10:00
 *     job 3 (2 slots) may use job 2's until then: with a limit of 1 h at 08:30 it does,
 *     with one of 2 h it does not */
#include "sched/backfill.h"

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

/* What is left of what is free, and of what falls free, as jobs take of it. */
struct supply {
    int *n_free; /* by host */
    int n_hosts;
    const struct backfill_run *runs;
    int *first; /* by run: of its pieces, in ... */
    int *left;  /* ... what is left of each */
    int n_runs; /* that end */
};

static void supply_init(struct supply *supply, struct arena *arena, const int *n_free)
{
    int n_pieces = 0, n_runs = 0;
    supply->n_free = arena_copy(arena, n_free, (size_t)supply->n_hosts * sizeof(int));
    while (n_runs < supply->n_runs && supply->runs[n_runs].end_ms != BACKFILL_NEVER) {
        n_pieces += supply->runs[n_runs++].n_pieces;
    }
    supply->n_runs = n_runs;
    supply->first = arena_alloc(arena, (size_t)n_runs + 1, sizeof(int));
    supply->left = arena_alloc(arena, (size_t)n_pieces + 1, sizeof(int));
    for (int i = 0, at = 0; i < n_runs; i++) {
        supply->first[i] = at;
        for (int k = 0; k < supply->runs[i].n_pieces; k++) {
            supply->left[at++] = supply->runs[i].pieces[k].n_slots;
        }
    }
}

/* Takes up to `wanted`; returns what is still wanted. */
static int take(int *left, int wanted)
{
    int n = *left < wanted ? *left : wanted;
    n = n > 0 ? n : 0;
    *left -= n;
    return wanted - n;
}

static int64_t start_of(struct supply *supply, const struct backfill_want *want,
                        int64_t now_ms)
{
    int missing = want->n_missing;
    for (int i = 0; i < supply->n_hosts && missing > 0; i++) {
        missing = want->allowed[i] ? take(&supply->n_free[i], missing) : missing;
    }
    int64_t start_ms = now_ms;
    for (int i = 0; i < supply->n_runs && missing > 0; i++) {
        const struct backfill_run *run = &supply->runs[i];
        for (int k = 0; k < run->n_pieces && missing > 0; k++) {
            if (want->allowed[run->pieces[k].host]) {
                missing = take(&supply->left[supply->first[i] + k], missing);
            }
        }
        start_ms = run->end_ms > now_ms ? run->end_ms : now_ms;
    }
    return missing > 0 ? BACKFILL_NEVER : start_ms;
}

void backfill_starts(struct arena *arena, const struct backfill_run *runs, int n_runs,
                     const int *n_free, int n_hosts, const struct backfill_want *wants,
                     int n_wants, int64_t now_ms, int64_t *starts_ms)
{
    struct supply supply = {.runs = runs, .n_runs = n_runs, .n_hosts = n_hosts};
    supply_init(&supply, arena, n_free);
    for (int i = 0; i < n_wants; i++) {
        starts_ms[i] = start_of(&supply, &wants[i], now_ms);
    }
}
