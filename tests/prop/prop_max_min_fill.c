/* SPDX-License-Identifier: Apache-2.0 */
/* prop_max_min_fill.c: random fills against a twin that works differently.
 *
 * The twin looks for the water level among the levels where some item reaches a bound
 * (lo/w or hi/w), as exact fractions; between two of them the sum grows linearly. It
 * gives each share as a fraction, so floor, ceiling and which share has a remainder are
 * known without rounding. SEED=N repeats one run. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/max_min_fill.h"
#include "base/rng.h"

enum { ITEMS_MAX = 8, WORLDS = 30000 };

__extension__ typedef __int128 wide;

struct fraction {
    wide over, under; /* under > 0 */
};

static uint64_t first_seed(void)
{
    const char *text = getenv("SEED");
    return text != NULL ? strtoull(text, NULL, 10) : 1;
}

static uint64_t last_seed(void)
{
    return getenv("SEED") != NULL ? first_seed() : WORLDS;
}

/* Sum of clamp(level * w, lo, hi), times level.under. */
static wide sum_at(struct fraction level, const struct max_min_fill_item *items,
                   int n_items)
{
    wide sum = 0;
    for (int i = 0; i < n_items; i++) {
        wide share = level.over * items[i].weight;
        wide lo = items[i].lo * level.under, hi = items[i].hi * level.under;
        sum += share < lo ? lo : share > hi ? hi : share;
    }
    return sum;
}

/* The highest level with a bound in it whose sum is no more than the amount. */
static struct fraction level_below(int64_t amount,
                                   const struct max_min_fill_item *items, int n_items)
{
    struct fraction best = {0, 1};
    for (int i = 0; i < 2 * n_items; i++) {
        const struct max_min_fill_item *item = &items[i / 2];
        struct fraction level = {i % 2 == 0 ? item->lo : item->hi, item->weight};
        if (sum_at(level, items, n_items) <= amount * level.under &&
            level.over * best.under > best.over * level.under) {
            best = level;
        }
    }
    return best;
}

static void twin(int64_t amount, const struct max_min_fill_item *items, int n_items,
                 struct fraction *shares)
{
    struct fraction level = level_below(amount, items, n_items);
    wide left = amount, weights = 0;
    for (int i = 0; i < n_items; i++) {
        wide at = level.over * items[i].weight;
        if (at >= items[i].hi * level.under) {
            shares[i] = (struct fraction){items[i].hi, 1};
        } else if (at < items[i].lo * level.under) {
            shares[i] = (struct fraction){items[i].lo, 1};
        } else {
            shares[i] =
                (struct fraction){0, 0}; /* between its bounds: shares the rest */
            weights += items[i].weight;
            continue;
        }
        left -= shares[i].over;
    }
    for (int i = 0; i < n_items; i++) {
        if (shares[i].under == 0) {
            shares[i] = (struct fraction){left * items[i].weight, weights};
        }
    }
}

struct world {
    int64_t amount;
    struct max_min_fill_item items[ITEMS_MAX];
    int n_items;
    int64_t sum_lo, sum_hi;
};

static struct world make_world(struct rng *rng)
{
    static const int64_t sizes[] = {3, 20, 1000, INT32_MAX};
    struct world world = {0};
    int64_t size = sizes[rng_below(rng, 4)];
    world.n_items = (int)rng_below(rng, ITEMS_MAX) + 1;
    for (int i = 0; i < world.n_items; i++) {
        struct max_min_fill_item *item = &world.items[i];
        item->weight = 1 + rng_below(rng, size);
        item->hi = rng_below(rng, size + 1);
        item->lo = rng_percent(rng, 50) ? rng_below(rng, item->hi + 1) : 0;
        world.sum_lo += item->lo;
        world.sum_hi += item->hi;
    }
    world.amount = rng_below(rng, world.sum_hi + world.sum_hi / 8 + 2);
    return world;
}

static void check_bounds_and_sum(const struct world *world, int64_t returned,
                                 uint64_t seed)
{
    int64_t sum = 0;
    for (int i = 0; i < world->n_items; i++) {
        const struct max_min_fill_item *item = &world->items[i];
        if (item->share < item->lo || item->share > item->hi) {
            fail_msg("seed %" PRIu64 ": item %d is out of its bounds", seed, i);
        }
        sum += item->share;
    }
    int64_t expected = world->amount < world->sum_lo   ? world->sum_lo
                       : world->amount > world->sum_hi ? world->sum_hi
                                                       : world->amount;
    if (sum != expected || returned != expected) {
        fail_msg("seed %" PRIu64 ": shares add up to %" PRId64 ", expected %" PRId64,
                 seed, sum, expected);
    }
}

/* Floors, and one more for the first items by rank with a remainder. */
static void check_against_twin(const struct world *world, uint64_t seed)
{
    struct fraction shares[ITEMS_MAX];
    twin(world->amount, world->items, world->n_items, shares);
    wide left = world->amount;
    for (int i = 0; i < world->n_items; i++) {
        left -= shares[i].over / shares[i].under;
    }
    for (int i = 0; i < world->n_items; i++) {
        wide expected = shares[i].over / shares[i].under;
        if (left > 0 && shares[i].over % shares[i].under != 0) {
            expected++;
            left--;
        }
        if (world->items[i].share != expected) {
            fail_msg("seed %" PRIu64 ": item %d has %" PRId64 ", its twin %" PRId64,
                     seed, i, world->items[i].share, (int64_t)expected);
        }
    }
}

static void fills_are_as_defined(void **state)
{
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        struct rng rng;
        rng_init(&rng, seed);
        struct world world = make_world(&rng);
        int64_t returned =
            max_min_fill_shares(world.amount, world.items, world.n_items);
        check_bounds_and_sum(&world, returned, seed);
        if (world.amount > world.sum_lo && world.amount < world.sum_hi) {
            check_against_twin(&world, seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_are_as_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
