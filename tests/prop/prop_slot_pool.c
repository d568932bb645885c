/* SPDX-License-Identifier: Apache-2.0 */
/* prop_slot_pool.c: random slot pools: the sum is never above the pool, nothing idles
 * while a queue of the pool that fits has waiting jobs, and over a long time with all
 * queues busy each has its SLOT_SHARE of the sum of the pool's, within 1 percent of the
 * pool, whatever the shares sum to and however long jobs are; and nobody starves.
 * SEED=N repeats one world. */
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

struct event_log {
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

static void add_text(struct event_log *story, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_text(struct event_log *story, const char *format, ...)
{
    size_t at = strlen(story->text);
    va_list args;
    va_start(args, format);
    vsnprintf(story->text + at, sizeof(story->text) - at, format, args);
    va_end(args);
}

/* Of 100 in every third world. */
static void choose_shares(struct event_log *story)
{
    int left = PERCENT, n_queues = story->n_queues;
    for (int i = 0; i < n_queues; i++) {
        int most = 2 * left / (n_queues - i) - 3;
        bool is_last = i == n_queues - 1;
        story->shares[i] =
            is_last ? left : 3 + (int)rng_below(&story->rng, most > 3 ? most - 3 : 1);
        left -= story->shares[i];
    }
    for (int i = 0; i < n_queues && story->seed % 3 != 0; i++) {
        story->shares[i] = 1 + (int)rng_below(&story->rng, PERCENT);
    }
}

/* Queues of one pool, with priorities in any order. */
static void story_init(struct event_log *story, uint64_t seed)
{
    memset(story, 0, sizeof(*story));
    story->seed = seed;
    rng_init(&story->rng, seed);
    story->n_queues = 2 + (int)rng_below(&story->rng, QUEUES_OF_WORLD - 1);
    story->n_slots = 8 + (int)rng_below(&story->rng, 40);
    choose_shares(story);
    for (int i = 0; i < story->n_queues; i++) {
        snprintf(story->names[i], sizeof(story->names[i]), "q%d", i);
        add_text(story,
                 "Begin Queue\nQUEUE_NAME = %s\nPRIORITY = %d\nSLOT_POOL = A\n"
                 "SLOT_SHARE = %d\nHIST_HOURS = %d\nEnd Queue\n",
                 story->names[i], 1 + (int)rng_below(&story->rng, 90), story->shares[i],
                 seed % 5 == 0 ? 0 : 5);
    }
}

static struct share_world *make_world(struct event_log *story)
{
    return share_world_new(&story->rng, story->text, story->n_slots);
}

static void look(void *arg, struct share_world *world)
{
    const struct event_log *story = arg;
    int n_free = share_world_free_slots(world);
    if (n_free < 0) {
        fail_msg("SEED=%d: more slots in use than there are", (int)story->seed);
    }
    for (int i = 0; i < share_world_count(world); i++) {
        const struct share_world_line *line = share_world_at(world, i);
        if (line->n_waiting > 0 && line->n_slots <= n_free) {
            fail_msg("SEED=%d: %d slots idle, a job of %s with %d waits",
                     (int)story->seed, n_free, line->queue, line->n_slots);
        }
    }
}

/* Jobs of minutes in some queues, of up to ten hours in others. */
static void add_busy(struct event_log *story, struct share_world *world)
{
    for (int i = 0; i < story->n_queues; i++) {
        bool is_long = rng_below(&story->rng, 2) == 0;
        int64_t shortest_ms =
            (10 + rng_below(&story->rng, is_long ? 590 : 50)) * MINUTE_MS;
        int64_t longest_ms = shortest_ms + rng_below(&story->rng, shortest_ms);
        share_world_add(world,
                        &(struct share_world_line){.queue = story->names[i],
                                                   .user = "ana",
                                                   .n_slots = 1,
                                                   .run_ms = {shortest_ms, longest_ms},
                                                   .n_waiting = INT_MAX});
        story->sum += story->shares[i];
        story->longest_ms =
            longest_ms > story->longest_ms ? longest_ms : story->longest_ms;
    }
}

/* Who has had the slots of its first round for a longest job, and is due less, waits
 * until it is even; four times that for those before it and for rounding. */
static int64_t longest_wait_ms(const struct event_log *story, int queue)
{
    double part = (double)(story->shares[queue] * story->n_slots) / PERCENT;
    double due = (double)(story->shares[queue] * story->n_slots) / story->sum;
    double most = part > due ? part : due;
    return (int64_t)(4 * (most > 1 ? most : 1) / due * (double)story->longest_ms);
}

static void shares_are_kept_over_time(void **state)
{
    enum { HOURS = 1500 };
    (void)state;
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        struct event_log story;
        story_init(&story, seed);
        struct share_world *world = make_world(&story);
        add_busy(&story, world);
        share_world_run(world, 100 * (int64_t)HOUR_MS, look, &story);
        share_world_count_from(world);
        share_world_run(world, HOURS * (int64_t)HOUR_MS, look, &story);
        for (int i = 0; i < story.n_queues; i++) {
            const struct share_world_line *line = share_world_at(world, i);
            double had =
                (double)line->slot_ms / ((double)HOURS * HOUR_MS * story.n_slots);
            double due = (double)story.shares[i] / story.sum;
            if (had < due - 0.01 || had > due + 0.01) {
                fail_msg("SEED=%d: %s had %.3f, expected %.3f", (int)seed, line->queue,
                         had, due);
            }
            if (line->waited_ms > longest_wait_ms(&story, i)) {
                fail_msg("SEED=%d: %s waited %lld h for a slot, expected at most %lld",
                         (int)seed, line->queue, (long long)(line->waited_ms / HOUR_MS),
                         (long long)(longest_wait_ms(&story, i) / HOUR_MS));
            }
        }
        share_world_free(world);
    }
}

/* Queues run dry and fill up, and jobs take several slots. */
static void nothing_idles(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        struct event_log story;
        story_init(&story, seed);
        add_text(&story, "Begin Queue\nQUEUE_NAME = out\nPRIORITY = 40\nEnd Queue\n");
        struct share_world *world = make_world(&story);
        struct share_world_line *lines[QUEUES_OF_WORLD + 1];
        for (int i = 0; i <= story.n_queues; i++) {
            int64_t shortest_ms = (1 + rng_below(&story.rng, 30)) * MINUTE_MS;
            lines[i] = share_world_add(
                world, &(struct share_world_line){
                           .queue = i < story.n_queues ? story.names[i] : "out",
                           .user = "ana",
                           .n_slots = 1 + (int)rng_below(&story.rng, 4),
                           .run_ms = {shortest_ms, 2 * shortest_ms}});
        }
        for (int round = 0; round < 200; round++) {
            for (int i = 0; i <= story.n_queues; i++) {
                lines[i]->n_waiting += (int)rng_below(&story.rng, 20);
            }
            share_world_run(world, rng_below(&story.rng, 60) * MINUTE_MS, look, &story);
        }
        share_world_free(world);
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
