/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.c: see backfill.h.
 *
 *     n1 has 4 slots. 08:00: job 1 (1 slot, limit 2 h) runs; job 2 wants 4, has 3
 *     job 2 lacks 1 slot, which job 1 frees at 10:00
 *     at 08:30 job 3 (2 slots) may use those of job 2 if its run limit is 1 h, but not
 * if it is 2 h */
#include "sched/reservation/backfill.h"

#include <stdlib.h>
#include <string.h>

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
struct run_amount {
    int run;
    struct rusage_amount *amount;
};

struct backfill_supply {
    struct arena *arena;
    const struct backfill_run *runs;
    int n_runs;
    int n_ending; /* runs with an end: the first ones */
    int n_hosts, n_supplies;
    int64_t *left;                 /* by supply: free now; negative: overcommitted */
    int *first;                    /* by run, and for the end: its first amount */
    struct rusage_amount *amounts; /* of all runs: what is not taken yet */
    struct run_amount *indexed;    /* the same by host; NULL: not asked for yet ... */
    int *first_of;                 /* ... and the first one of each, and of supplies */
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
        .arena = arena,
        .runs = runs,
        .n_runs = n_runs,
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

/* Amounts of hosts by host, then those of supplies, each in the order of the runs. */
static void index_amounts(struct backfill_supply *supply)
{
    int n_hosts = supply->n_hosts, n_amounts = supply->first[supply->n_runs];
    if (supply->indexed != NULL) {
        return;
    }
    supply->first_of =
        arena_alloc(supply->arena, (size_t)n_hosts + 2, sizeof(*supply->first_of));
    supply->indexed =
        arena_alloc(supply->arena, (size_t)n_amounts + 1, sizeof(*supply->indexed));
    for (int pass = 0; pass < 2; pass++) {
        for (int run = 0; run < supply->n_runs; run++) {
            for (int k = supply->first[run]; k < supply->first[run + 1]; k++) {
                int of = supply->amounts[k].supply;
                of = of < n_hosts ? of : n_hosts;
                if (pass == 0) {
                    supply->first_of[of + 1]++;
                } else {
                    supply->indexed[supply->first_of[of]++] =
                        (struct run_amount){run, &supply->amounts[k]};
                }
            }
        }
        for (int i = 0; pass == 0 && i < n_hosts; i++) {
            supply->first_of[i + 1] += supply->first_of[i];
        }
    }
    /* Each first one is that of the next by now. */
    memmove(&supply->first_of[1], &supply->first_of[0],
            ((size_t)n_hosts + 1) * sizeof(*supply->first_of));
    supply->first_of[0] = 0;
}

/* Takes so much of one supply: the first one that gives all of it says when. */
static int64_t take(struct backfill_supply *supply, int wanted, int64_t missing,
                    int64_t now_ms)
{
    int64_t start_ms = now_ms;
    int of = wanted < supply->n_hosts ? wanted : supply->n_hosts;
    index_amounts(supply);
    missing -= rusage_supply_take_some(&supply->left[wanted], missing);
    for (int i = supply->first_of[of]; i < supply->first_of[of + 1] && missing > 0;
         i++) {
        const struct run_amount *at = &supply->indexed[i];
        if (at->run < supply->n_ending && at->amount->supply == wanted) {
            int64_t end_ms = supply->runs[at->run].end_ms;
            missing -= rusage_supply_take_some(&at->amount->milli, missing);
            start_ms = end_ms > now_ms ? end_ms : now_ms;
        }
    }
    return missing > 0 ? BACKFILL_NEVER : start_ms;
}

/* The same of slots of any allowed host. */
static int64_t take_slots(struct backfill_supply *supply, const uint8_t *allowed,
                          int64_t missing, int64_t now_ms)
{
    int64_t start_ms = now_ms;
    for (int i = 0; i < supply->n_hosts && missing > 0; i++) {
        if (allowed[i]) {
            missing -= rusage_supply_take_some(&supply->left[i], missing);
        }
    }
    for (int i = 0; i < supply->n_ending && missing > 0; i++) {
        int64_t end_ms = supply->runs[i].end_ms;
        for (int k = supply->first[i]; k < supply->first[i + 1]; k++) {
            struct rusage_amount *amount = &supply->amounts[k];
            if (amount->supply < supply->n_hosts && allowed[amount->supply]) {
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
                           ? take_slots(supply, need->allowed, need->n_missing, now_ms)
                           : now_ms;
    for (int i = 0; i < need->n_pieces; i++) {
        const struct rusage_piece *piece = &need->pieces[i];
        int64_t at_ms = take(supply, piece->host, piece->n_slots, now_ms);
        start_ms = at_ms > start_ms ? at_ms : start_ms;
    }
    for (int i = 0; i < need->n_amounts; i++) {
        int index = supply->n_hosts + need->amounts[i].supply;
        int64_t *left = &supply->left[index];
        /* An overcommitted supply first has to be refilled. */
        int64_t owed = *left < 0 ? -*left : 0;
        *left += owed;
        int64_t at_ms = take(supply, index, need->amounts[i].milli + owed, now_ms);
        start_ms = at_ms > start_ms ? at_ms : start_ms;
    }
    return start_ms;
}

int backfill_supply_freed(struct backfill_supply *supply, int n_runs, int host)
{
    int64_t n_freed = 0;
    index_amounts(supply);
    for (int i = supply->first_of[host];
         i < supply->first_of[host + 1] && supply->indexed[i].run < n_runs; i++) {
        n_freed += supply->indexed[i].amount->milli;
    }
    return (int)n_freed;
}

void backfill_supply_add_left(struct backfill_supply *supply, int n_runs, int64_t *left)
{
    int n_hosts = supply->n_hosts;
    index_amounts(supply);
    for (int i = supply->first_of[n_hosts];
         i < supply->first_of[n_hosts + 1] && supply->indexed[i].run < n_runs; i++) {
        const struct rusage_amount *amount = supply->indexed[i].amount;
        left[amount->supply - n_hosts] += amount->milli;
    }
}
