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

/* Slots of a host are amounts too: of the supply with the index of the host. The index
 * of a resource's supply is that plus the number of hosts. */
struct backfill_supply {
    const struct backfill_run *runs;
    int n_ending; /* runs with an end: the first ones */
    int n_hosts, n_supplies;
    int64_t *left;                 /* by supply: free now; negative: overcommitted */
    int *first;                    /* by run, and for the end: its first amount */
    struct rusage_amount *amounts; /* of all runs: what is not taken yet */
};

static int count_amounts(const struct backfill_run *runs, int n_runs)
{
    int n_amounts = 0;
    for (int i = 0; i < n_runs; i++) {
        n_amounts += runs[i].n_pieces + runs[i].n_amounts;
    }
    return n_amounts;
}

struct backfill_supply *backfill_supply_new(struct arena *arena,
                                            const struct backfill_run *runs, int n_runs,
                                            const int *n_free, int n_hosts,
                                            const int64_t *left, int n_supplies)
{
    struct backfill_supply *supply = arena_alloc(arena, 1, sizeof(*supply));
    size_t n_amounts = (size_t)count_amounts(runs, n_runs);
    *supply = (struct backfill_supply){
        .runs = runs,
        .n_hosts = n_hosts,
        .n_supplies = n_hosts + n_supplies,
        .left = arena_alloc(arena, (size_t)(n_hosts + n_supplies), sizeof(int64_t)),
        .first = arena_alloc(arena, (size_t)n_runs + 1, sizeof(int)),
        .amounts = arena_alloc(arena, n_amounts + 1, sizeof(*supply->amounts)),
    };
    for (int i = 0; i < supply->n_supplies; i++) {
        supply->left[i] = i < n_hosts ? n_free[i] : left[i - n_hosts];
    }
    struct rusage_amount *amount = supply->amounts;
    for (int i = 0; i < n_runs; i++) {
        const struct backfill_run *run = &runs[i];
        supply->n_ending += run->end_ms != BACKFILL_NEVER;
        for (int k = 0; k < run->n_pieces; k++) {
            *amount++ =
                (struct rusage_amount){run->pieces[k].host, run->pieces[k].n_slots};
        }
        for (int k = 0; k < run->n_amounts; k++) {
            *amount++ = (struct rusage_amount){n_hosts + run->amounts[k].supply,
                                               run->amounts[k].milli};
        }
        supply->first[i + 1] = (int)(amount - supply->amounts);
    }
    return supply;
}

/* What a job wants: slots of any allowed host, or an amount of one supply. */
static bool is_wanted(const struct backfill_supply *supply, const uint8_t *allowed,
                      int wanted, int index)
{
    return allowed == NULL ? index == wanted
                           : index < supply->n_hosts && allowed[index];
}

/* Takes so much of what is wanted. Returns when the job has all of it. */
static int64_t take(struct backfill_supply *supply, const uint8_t *allowed, int wanted,
                    int64_t missing, int64_t now_ms)
{
    int64_t start_ms = now_ms;
    for (int i = 0; i < supply->n_supplies && missing > 0; i++) {
        if (is_wanted(supply, allowed, wanted, i)) {
            missing -= rusage_supply_take_some(&supply->left[i], missing);
        }
    }
    for (int i = 0; i < supply->n_ending && missing > 0; i++) {
        int64_t end_ms = supply->runs[i].end_ms;
        for (int k = supply->first[i]; k < supply->first[i + 1]; k++) {
            struct rusage_amount *amount = &supply->amounts[k];
            if (is_wanted(supply, allowed, wanted, amount->supply)) {
                missing -= rusage_supply_take_some(&amount->milli, missing);
            }
        }
        start_ms = end_ms > now_ms ? end_ms : now_ms;
    }
    return missing > 0 ? BACKFILL_NEVER : start_ms;
}

int64_t backfill_take(struct backfill_supply *supply, const struct backfill_need *need,
                      int64_t now_ms)
{
    int64_t start_ms = need->allowed != NULL
                           ? take(supply, need->allowed, -1, need->n_missing, now_ms)
                           : now_ms;
    for (int i = 0; i < need->n_pieces; i++) {
        const struct rusage_piece *piece = &need->pieces[i];
        int64_t at_ms = take(supply, NULL, piece->host, piece->n_slots, now_ms);
        start_ms = at_ms > start_ms ? at_ms : start_ms;
    }
    for (int i = 0; i < need->n_amounts; i++) {
        int index = supply->n_hosts + need->amounts[i].supply;
        int64_t *left = &supply->left[index];
        /* An overcommitted supply first has to be refilled. */
        int64_t owed = *left < 0 ? -*left : 0;
        *left += owed;
        int64_t at_ms =
            take(supply, NULL, index, need->amounts[i].milli + owed, now_ms);
        start_ms = at_ms > start_ms ? at_ms : start_ms;
    }
    return start_ms;
}

void backfill_supply_add(const struct backfill_supply *supply, int n_runs, int *n_free,
                         int64_t *left)
{
    for (int i = 0; i < supply->first[n_runs]; i++) {
        const struct rusage_amount *amount = &supply->amounts[i];
        if (amount->supply < supply->n_hosts) {
            n_free[amount->supply] += (int)amount->milli;
        } else {
            left[amount->supply - supply->n_hosts] += amount->milli;
        }
    }
}
