/* SPDX-License-Identifier: Apache-2.0 */
/* prop_usage.c: the books lose no millisecond: what is booked, however often it is
 * taken out, is the sum over each millisecond of what was held and used in it. SEED=N
 * repeats one run. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "usage/usage.h"

enum { WORLDS = 2000, LEASES = 2, OWNERS = 3, HOURS = 6, STEPS = 40 };

static const char *const leases[LEASES] = {"a/1/b", "a/2/b"};
static const struct usage_owner owners[OWNERS] = {
    {"ana", "q", "p", ""}, {"ana", "q", "p", "g"}, {"bob", "q", "", ""}};

/* By the definition: levels, and sums by hour, of each lease and side. */
struct twin {
    int held[LEASES][USAGE_SIDES], used[LEASES][USAGE_SIDES][OWNERS];
    int64_t held_ms[LEASES][USAGE_SIDES][HOURS];
    int64_t used_ms[LEASES][USAGE_SIDES][HOURS][OWNERS];
    int64_t idle_ms[LEASES][USAGE_SIDES][HOURS];
};

struct world {
    uint64_t seed;
    struct twin expected, booked;
    int64_t now_ms;                                 /* the greatest that was told */
    struct usage_level levels[LEASES][USAGE_SIDES]; /* as on record */
};

static void pass_millisecond(struct twin *twin, int64_t at_ms)
{
    int64_t hour = at_ms / USAGE_HOUR_MS;
    for (int lease = 0; lease < LEASES; lease++) {
        for (int side = 0; side < USAGE_SIDES; side++) {
            int n_held = twin->held[lease][side], n_used = 0;
            for (int i = 0; i < OWNERS; i++) {
                n_used += twin->used[lease][side][i];
                twin->used_ms[lease][side][hour][i] += twin->used[lease][side][i];
            }
            twin->held_ms[lease][side][hour] += n_held;
            twin->idle_ms[lease][side][hour] += n_held - n_used;
        }
    }
}

static void take_row(void *arg, const struct usage_row *row)
{
    struct world *world = arg;
    struct twin *to = &world->booked;
    int lease = strcmp(row->lease, leases[1]) == 0;
    int64_t hour = row->start_ms / USAGE_HOUR_MS;
    assert_int_equal(row->start_ms % USAGE_HOUR_MS, 0);
    assert_int_equal(row->held_ms, row->used_ms + row->idle_ms);
    to->held_ms[lease][row->side][hour] += row->held_ms;
    to->idle_ms[lease][row->side][hour] += row->idle_ms;
    for (int i = 0; i < OWNERS; i++) {
        if (strcmp(row->owner.user, owners[i].user) == 0 &&
            strcmp(row->owner.account, owners[i].account) == 0) {
            to->used_ms[lease][row->side][hour][i] += row->used_ms;
            return;
        }
    }
    assert_int_equal(row->used_ms, 0); /* nobody's */
}

static void take_level(void *arg, const struct usage_level *level)
{
    struct world *world = arg;
    int lease = strcmp(level->lease, leases[1]) == 0;
    world->levels[lease][level->side] = *level;
    world->levels[lease][level->side].lease = leases[lease];
}

static void take_all(struct world *world, struct usage *usage)
{
    usage_each(usage, take_row, world);
    usage_each_level(usage, take_level, world);
    usage_clear(usage);
}

/* As a daemon that ends and starts again: what is held and used is on record. */
static struct usage *restart(struct world *world, struct usage *usage)
{
    struct usage *other = usage_new();
    take_all(world, usage);
    for (int lease = 0; lease < LEASES; lease++) {
        for (int side = 0; side < USAGE_SIDES; side++) {
            for (int i = 0; i < OWNERS; i++) {
                int n_used = world->expected.used[lease][side][i];
                if (n_used > 0) {
                    usage_change(other, leases[lease], (enum usage_side)side,
                                 &owners[i], n_used, world->now_ms);
                }
            }
            if (world->levels[lease][side].lease != NULL) {
                usage_restore(other, &world->levels[lease][side]);
            }
        }
    }
    usage_book(other, world->now_ms);
    usage_free(usage);
    return other;
}

static void change(struct world *world, struct usage *usage, struct rng *rng,
                   int64_t now_ms)
{
    int lease = (int)rng_below(rng, LEASES), side = (int)rng_below(rng, USAGE_SIDES);
    int owner = (int)rng_below(rng, OWNERS), n_slots = (int)rng_below(rng, 9);
    if (rng_percent(rng, 40)) {
        usage_hold(usage, leases[lease], (enum usage_side)side, n_slots, now_ms);
        world->expected.held[lease][side] = n_slots;
    } else {
        int *n_used = &world->expected.used[lease][side][owner];
        usage_change(usage, leases[lease], (enum usage_side)side, &owners[owner],
                     n_slots - *n_used, now_ms);
        *n_used = n_slots;
    }
}

/* Steps are milliseconds, and seldom such that an hour ends. */
static void play(struct world *world)
{
    struct usage *usage = usage_new();
    struct rng rng;
    rng_init(&rng, world->seed);
    world->now_ms = USAGE_HOUR_MS - 200;
    usage_book(usage, world->now_ms);
    for (int step = 0; step < STEPS; step++) {
        int64_t past_ms = rng_below(&rng, rng_percent(&rng, 2) ? 40000 : 20);
        bool is_back = rng_percent(&rng, 5);
        for (int64_t i = 0; i < past_ms && !is_back; i++) {
            pass_millisecond(&world->expected, world->now_ms++);
        }
        change(world, usage, &rng, is_back ? world->now_ms - past_ms : world->now_ms);
        if (rng_percent(&rng, 10)) {
            take_all(world, usage);
        }
        if (rng_percent(&rng, 5)) {
            usage = restart(world, usage);
        }
    }
    usage_book(usage, world->now_ms);
    usage_each(usage, take_row, world);
    usage_free(usage);
}

static void no_millisecond_is_lost(void **state)
{
    const char *only = getenv("SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only != NULL ? first : WORLDS;
    (void)state;
    for (uint64_t seed = first; seed <= last; seed++) {
        struct world world = {.seed = seed};
        play(&world);
        const struct twin *a = &world.expected, *b = &world.booked;
        if (memcmp(a->held_ms, b->held_ms, sizeof(a->held_ms)) != 0 ||
            memcmp(a->used_ms, b->used_ms, sizeof(a->used_ms)) != 0 ||
            memcmp(a->idle_ms, b->idle_ms, sizeof(a->idle_ms)) != 0) {
            fail_msg("seed %" PRIu64 ": booked and passed time differ", seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_millisecond_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
