/* SPDX-License-Identifier: Apache-2.0 */
/* usage_behind.c: the runs and splits behind a difference of books, side by side. */
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "usage/usage.h"

struct pair {
    uint64_t attempt;
    struct usage_run runs[2]; /* of the consumer, of the provider */
    bool has[2];
    UT_hash_handle hh;
};

struct splits {
    struct usage_split *items;
    int count, capacity;
};

struct usage_behind {
    struct arena arena;
    int64_t until_ms;
    struct pair *pairs;
    struct splits splits[USAGE_SIDES][2]; /* of the site, of the broker */
};

struct usage_behind *usage_behind_new(int64_t until_ms)
{
    struct usage_behind *behind = mem_alloc(1, sizeof *behind);

    arena_init(&behind->arena);
    behind->until_ms = until_ms;
    return behind;
}

void usage_behind_free(struct usage_behind *behind)
{
    struct pair *pair, *next;

    if (!behind) {
        return;
    }
    HASH_ITER (hh, behind->pairs, pair, next) {
        HASH_DEL(behind->pairs, pair);
        free(pair);
    }
    for (int side = 0; side < USAGE_SIDES; side++) {
        free(behind->splits[side][0].items);
        free(behind->splits[side][1].items);
    }
    arena_release(&behind->arena);
    free(behind);
}

/* ---- runs */

void usage_behind_run(struct usage_behind *behind, const struct usage_run *run)
{
    int which = run->side == USAGE_LENT;
    struct pair *pair;

    HASH_FIND(hh, behind->pairs, &run->attempt, sizeof run->attempt, pair);
    if (!pair) {
        pair = mem_alloc(1, sizeof *pair);
        pair->attempt = run->attempt;
        HASH_ADD(hh, behind->pairs, attempt, sizeof pair->attempt, pair);
    }
    pair->has[which] = true;
    pair->runs[which] = *run;
    pair->runs[which].job = arena_str(&behind->arena, run->job);
    pair->runs[which].lease = NULL;
}

bool usage_behind_is_single(const struct usage_behind *behind, uint64_t attempt)
{
    const struct pair *pair;

    HASH_FIND(hh, behind->pairs, &attempt, sizeof attempt, pair);
    return pair && !(pair->has[0] && pair->has[1]);
}

uint64_t usage_behind_single(struct usage_behind *behind, uint64_t after)
{
    uint64_t first = 0;

    for (const struct pair *pair = behind->pairs; pair; pair = pair->hh.next) {
        if (pair->attempt > after && !(pair->has[0] && pair->has[1]) &&
            (first == 0 || pair->attempt < first)) {
            first = pair->attempt;
        }
    }
    return first;
}

static bool is_open(const struct usage_run *run)
{
    return run->end_ms == USAGE_OPEN;
}

/* What it has used when the books were read. */
static int64_t used_of(const struct usage_behind *behind, const struct pair *pair,
                       int which)
{
    const struct usage_run *run = &pair->runs[which];

    if (!pair->has[which]) {
        return 0;
    }
    return run->used_ms +
           (is_open(run) ? run->n_slots * (behind->until_ms - run->at_ms) : 0);
}

static int64_t end_of(const struct usage_behind *behind, const struct pair *pair,
                      int which)
{
    const struct usage_run *run = &pair->runs[which];

    return is_open(run) ? behind->until_ms : run->end_ms;
}

/* The latest change that one of the two has and the other one may not have yet. */
static bool is_on_the_way(const struct usage_behind *behind, const struct pair *pair)
{
    int64_t latest_ms = 0;

    if (pair->has[0] && pair->has[1] && !is_open(&pair->runs[0]) &&
        !is_open(&pair->runs[1])) {
        return false; /* both know its end */
    }
    for (int which = 0; which < 2; which++) {
        const struct usage_run *run = &pair->runs[which];
        int64_t changed_ms = run->start_ms;

        changed_ms = run->at_ms > changed_ms ? run->at_ms : changed_ms;
        changed_ms =
            !is_open(run) && run->end_ms > changed_ms ? run->end_ms : changed_ms;
        latest_ms = pair->has[which] && changed_ms > latest_ms ? changed_ms : latest_ms;
    }
    return latest_ms > behind->until_ms - USAGE_ON_THE_WAY_MS;
}

static bool is_same(const struct usage_behind *behind, const struct pair *pair)
{
    return pair->has[0] && pair->has[1] &&
           pair->runs[0].start_ms == pair->runs[1].start_ms &&
           pair->runs[0].end_ms == pair->runs[1].end_ms &&
           used_of(behind, pair, 0) == used_of(behind, pair, 1);
}

static void set_times(const struct usage_behind *behind, const struct pair *pair,
                      struct usage_run_difference *difference)
{
    int any = pair->has[0] ? 0 : 1;
    int64_t starts[2], ends[2];

    for (int which = 0; which < 2; which++) {
        int from = pair->has[which] ? which : any;

        starts[which] = pair->runs[from].start_ms;
        ends[which] = end_of(behind, pair, from);
    }
    int64_t first_ms = starts[0] < starts[1] ? starts[0] : starts[1];
    int64_t last_ms = ends[0] > ends[1] ? ends[0] : ends[1];
    bool is_at_end = pair->has[0] && pair->has[1] && starts[0] == starts[1];
    bool is_at_start = pair->has[0] && pair->has[1] && ends[0] == ends[1];

    difference->from_ms =
        is_at_end && !is_at_start ? (ends[0] < ends[1] ? ends[0] : ends[1]) : first_ms;
    difference->to_ms = is_at_start && !is_at_end
                            ? (starts[0] > starts[1] ? starts[0] : starts[1])
                            : last_ms;
}

static int compare_pairs(const struct pair *one, const struct pair *other)
{
    return (one->attempt > other->attempt) - (one->attempt < other->attempt);
}

void usage_behind_each_run(struct usage_behind *behind, usage_run_difference_fn fn,
                           void *arg)
{
    HASH_SORT(behind->pairs, compare_pairs);
    for (struct pair *pair = behind->pairs; pair; pair = pair->hh.next) {
        if (is_same(behind, pair) || is_on_the_way(behind, pair)) {
            continue;
        }
        struct usage_run_difference difference = {
            .attempt = pair->attempt,
            .job = pair->runs[pair->has[0] ? 0 : 1].job,
            .consumer = pair->has[0] ? &pair->runs[0] : NULL,
            .provider = pair->has[1] ? &pair->runs[1] : NULL,
            .difference_ms = used_of(behind, pair, 0) - used_of(behind, pair, 1)};

        difference.is_shifted =
            pair->has[0] && pair->has[1] && difference.difference_ms == 0;
        set_times(behind, pair, &difference);
        fn(arg, &difference);
    }
}

/* ---- splits */

void usage_behind_split(struct usage_behind *behind, bool is_broker,
                        const struct usage_split *split)
{
    struct splits *splits =
        &behind->splits[split->side == USAGE_PROVIDER ? USAGE_PROVIDER : USAGE_CONSUMER]
                       [is_broker];
    const struct usage_split *last =
        splits->count > 0 ? &splits->items[splits->count - 1] : NULL;

    if (last && last->n_slots == split->n_slots) {
        return;
    }
    splits->items = mem_room(splits->items, splits->count, &splits->capacity,
                             sizeof *splits->items);
    splits->items[splits->count++] = *split;
}

static bool is_late(const struct usage_behind *behind, const struct usage_split *split)
{
    return split->at_ms > behind->until_ms - USAGE_ON_THE_WAY_MS;
}

static void give_split(const struct usage_behind *behind, enum usage_side side,
                       const struct usage_split *site, const struct usage_split *broker,
                       usage_split_difference_fn fn, void *arg)
{
    const struct usage_split_difference difference = {
        side, site ? site->epoch : broker->epoch, site, broker};

    if (!is_late(behind, site ? site : broker)) {
        fn(arg, &difference);
    }
}

/* The first ones hold when the time begins: only their slots are compared. */
static void each_split_of(const struct usage_behind *behind, enum usage_side side,
                          usage_split_difference_fn fn, void *arg)
{
    const struct splits *sites = &behind->splits[side][0];
    const struct splits *brokers = &behind->splits[side][1];
    int i = 0, k = 0;

    if (sites->count > 0 && brokers->count > 0 &&
        sites->items[0].n_slots == brokers->items[0].n_slots) {
        i = k = 1;
    }
    while (i < sites->count || k < brokers->count) {
        const struct usage_split *site = i < sites->count ? &sites->items[i] : NULL;
        const struct usage_split *broker =
            k < brokers->count ? &brokers->items[k] : NULL;

        if (site && broker && site->epoch == broker->epoch) {
            if (site->at_ms != broker->at_ms || site->n_slots != broker->n_slots) {
                give_split(behind, side, site, broker, fn, arg);
            }
            i++;
            k++;
        } else if (!broker || (site && site->epoch < broker->epoch)) {
            give_split(behind, side, site, NULL, fn, arg);
            i++;
        } else {
            give_split(behind, side, NULL, broker, fn, arg);
            k++;
        }
    }
}

void usage_behind_each_split(struct usage_behind *behind, usage_split_difference_fn fn,
                             void *arg)
{
    for (int side = 0; side < USAGE_SIDES; side++) {
        each_split_of(behind, (enum usage_side)side, fn, arg);
    }
}
