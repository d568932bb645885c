/* SPDX-License-Identifier: Apache-2.0 */
/* prop_slot_pool.c: random slot pools: the slots in use never exceed the pool, and no
 * slot idles while a queue has pending jobs that fit. Over a long time with all queues
 * busy, each queue gets its SLOT_SHARE relative to the sum of shares, within 1 percent
 * of the pool, for any lengths of jobs, and no queue starves. SEED=N repeats one world.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/prop/fairshare_world.h"

enum {
    WORLDS = 12,
    QUEUES_OF_WORLD = 6,
    PERCENT = 100,
    MINUTE_MS = 60000,
    HOUR_MS = 3600000
};

struct slot_pool_trial {
    uint64_t seed;
    struct rng rng;
    char text[4096];
    char names[QUEUES_OF_WORLD][16];
    int shares[QUEUES_OF_WORLD], n_queues, n_slots, sum;
    int64_t longest_ms;
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

static void add_text(struct slot_pool_trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_text(struct slot_pool_trial *trial, const char *format, ...)
{
    size_t at = strlen(trial->text);
    va_list args;
    va_start(args, format);
    vsnprintf(trial->text + at, sizeof(trial->text) - at, format, args);
    va_end(args);
}

/* Of 100 in every third world. */
static void choose_shares(struct slot_pool_trial *trial)
{
    int left = PERCENT, n_queues = trial->n_queues;
    for (int i = 0; i < n_queues; i++) {
        int most = 2 * left / (n_queues - i) - 3;
        bool is_last = i == n_queues - 1;
        trial->shares[i] =
            is_last ? left : 3 + (int)rng_below(&trial->rng, most > 3 ? most - 3 : 1);
        left -= trial->shares[i];
    }
    for (int i = 0; i < n_queues && trial->seed % 3 != 0; i++) {
        trial->shares[i] = 1 + (int)rng_below(&trial->rng, PERCENT);
    }
}

/* Queues of one pool, with priorities in any order. */
static void trial_init(struct slot_pool_trial *trial, uint64_t seed)
{
    memset(trial, 0, sizeof(*trial));
    trial->seed = seed;
    rng_init(&trial->rng, seed);
    trial->n_queues = 2 + (int)rng_below(&trial->rng, QUEUES_OF_WORLD - 1);
    trial->n_slots = 8 + (int)rng_below(&trial->rng, 40);
    choose_shares(trial);
    for (int i = 0; i < trial->n_queues; i++) {
        snprintf(trial->names[i], sizeof(trial->names[i]), "q%d", i);
        add_text(trial,
                 "Begin Queue\nQUEUE_NAME = %s\nPRIORITY = %d\nSLOT_POOL = A\n"
                 "SLOT_SHARE = %d\nHIST_HOURS = %d\nEnd Queue\n",
                 trial->names[i], 1 + (int)rng_below(&trial->rng, 90), trial->shares[i],
                 seed % 5 == 0 ? 0 : 5);
    }
}

static struct fairshare_world *make_world(struct slot_pool_trial *trial)
{
    return fairshare_world_new(&trial->rng, trial->text, trial->n_slots);
}

static void look(void *arg, struct fairshare_world *world)
{
    const struct slot_pool_trial *trial = arg;
    int n_free = fairshare_world_free_slots(world);
    if (n_free < 0) {
        fail_msg("SEED=%d: more slots in use than there are", (int)trial->seed);
    }
    for (int i = 0; i < fairshare_world_count(world); i++) {
        const struct fairshare_world_class *line = fairshare_world_at(world, i);
        if (line->n_waiting > 0 && line->n_slots <= n_free) {
            fail_msg("SEED=%d: %d slots idle, a job of %s with %d waits",
                     (int)trial->seed, n_free, line->queue, line->n_slots);
        }
    }
}

/* Jobs of minutes in some queues, of up to ten hours in others. */
static void add_busy(struct slot_pool_trial *trial, struct fairshare_world *world)
{
    for (int i = 0; i < trial->n_queues; i++) {
        bool is_long = rng_below(&trial->rng, 2) == 0;
        int64_t shortest_ms =
            (10 + rng_below(&trial->rng, is_long ? 590 : 50)) * MINUTE_MS;
        int64_t longest_ms = shortest_ms + rng_below(&trial->rng, shortest_ms);
        fairshare_world_add(
            world, &(struct fairshare_world_class){.queue = trial->names[i],
                                                   .user = "ana",
                                                   .n_slots = 1,
                                                   .run_ms = {shortest_ms, longest_ms},
                                                   .n_waiting = INT_MAX});
        trial->sum += trial->shares[i];
        trial->longest_ms =
            longest_ms > trial->longest_ms ? longest_ms : trial->longest_ms;
    }
}

/* A queue that used more than its share for the longest job waits until it is even;
 * four times that bounds the effect of other queues and of rounding. */
static int64_t longest_wait_ms(const struct slot_pool_trial *trial, int queue)
{
    double part = (double)(trial->shares[queue] * trial->n_slots) / PERCENT;
    double due = (double)(trial->shares[queue] * trial->n_slots) / trial->sum;
    double most = part > due ? part : due;
    return (int64_t)(4 * (most > 1 ? most : 1) / due * (double)trial->longest_ms);
}

static void shares_are_kept_over_time(void **state)
{
    enum { HOURS = 1500 };
    (void)state;
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        struct slot_pool_trial trial;
        trial_init(&trial, seed);
        struct fairshare_world *world = make_world(&trial);
        add_busy(&trial, world);
        fairshare_world_run(world, 100 * (int64_t)HOUR_MS, look, &trial);
        fairshare_world_count_from(world);
        fairshare_world_run(world, HOURS * (int64_t)HOUR_MS, look, &trial);
        for (int i = 0; i < trial.n_queues; i++) {
            const struct fairshare_world_class *line = fairshare_world_at(world, i);
            double had =
                (double)line->slot_ms / ((double)HOURS * HOUR_MS * trial.n_slots);
            double due = (double)trial.shares[i] / trial.sum;
            if (had < due - 0.01 || had > due + 0.01) {
                fail_msg("SEED=%d: %s had %.3f, expected %.3f", (int)seed, line->queue,
                         had, due);
            }
            if (line->waited_ms > longest_wait_ms(&trial, i)) {
                fail_msg("SEED=%d: %s waited %lld h for a slot, expected at most %lld",
                         (int)seed, line->queue, (long long)(line->waited_ms / HOUR_MS),
                         (long long)(longest_wait_ms(&trial, i) / HOUR_MS));
            }
        }
        fairshare_world_free(world);
    }
}

/* Queues become empty and fill up, and jobs use several slots. */
static void nothing_idles(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        struct slot_pool_trial trial;
        trial_init(&trial, seed);
        add_text(&trial, "Begin Queue\nQUEUE_NAME = out\nPRIORITY = 40\nEnd Queue\n");
        struct fairshare_world *world = make_world(&trial);
        struct fairshare_world_class *lines[QUEUES_OF_WORLD + 1];
        for (int i = 0; i <= trial.n_queues; i++) {
            int64_t shortest_ms = (1 + rng_below(&trial.rng, 30)) * MINUTE_MS;
            lines[i] = fairshare_world_add(
                world, &(struct fairshare_world_class){
                           .queue = i < trial.n_queues ? trial.names[i] : "out",
                           .user = "ana",
                           .n_slots = 1 + (int)rng_below(&trial.rng, 4),
                           .run_ms = {shortest_ms, 2 * shortest_ms}});
        }
        for (int round = 0; round < 200; round++) {
            for (int i = 0; i <= trial.n_queues; i++) {
                lines[i]->n_waiting += (int)rng_below(&trial.rng, 20);
            }
            fairshare_world_run(world, rng_below(&trial.rng, 60) * MINUTE_MS, look,
                                &trial);
        }
        fairshare_world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_kept_over_time),
        cmocka_unit_test(nothing_idles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
