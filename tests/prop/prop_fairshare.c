/* SPDX-License-Identifier: Apache-2.0 */
/* prop_fairshare.c: random trees of users, three levels deep, who are all busy, some
 * with jobs of minutes, some with jobs of ten hours and more: over a long time each has
 * its part of the shares in slot hours, within 2 percent of the site; nobody starves,
 * and nothing idles. SEED=N repeats one world.
 *
 * That holds where what a slot costs does not hang on how long jobs are
 * (RUN_TIME_DECAY, or no RUN_TIME_FACTOR), and where slots are enough that the one slot
 * more that RUN_JOB_FACTOR counts for everybody is small against what each has: the
 * arithmetic is in ADR 28. On a handful of slots, with LSF's defaults, it is only that
 * nobody starves.
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
    WORLDS = 6,
    USERS = 12,
    TEXT = 2048,
    MINUTE_MS = 60000,
    HOUR_MS = 3600000,
    LATE_HOURS = 50, /* 10 times HIST_HOURS */
};

struct event_log {
    uint64_t seed;
    struct rng rng;
    char groups[TEXT], top[TEXT / 4], text[2 * TEXT];
    char users[USERS][8];
    int n_users, n_slots;
    double due[USERS]; /* of the site */
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

static void add_text(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_text(char *text, size_t size, const char *format, ...)
{
    size_t at = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + at, size - at, format, args);
    va_end(args);
}

/* Two users and their shares of the group's part. */
static void add_group(struct event_log *story, int department, int group, double part)
{
    int shares[2] = {1 + (int)rng_below(&story->rng, 3),
                     1 + (int)rng_below(&story->rng, 3)};
    int first = story->n_users;
    for (int i = 0; i < 2; i++) {
        snprintf(story->users[first + i], sizeof(story->users[0]), "u%d", first + i);
        story->due[first + i] = part * shares[i] / (shares[0] + shares[1]);
    }
    story->n_users += 2;
    add_text(story->groups, sizeof(story->groups),
             "g%d%d (u%d u%d) ([u%d, %d] [u%d, %d])\n", department, group, first,
             first + 1, first, shares[0], first + 1, shares[1]);
}

static void add_department(struct event_log *story, int department, double part)
{
    int n_groups = 1 + (int)rng_below(&story->rng, 2), sum = 0, shares[2];
    char members[64] = "", below[64] = "";
    for (int i = 0; i < n_groups; i++) {
        shares[i] = 1 + (int)rng_below(&story->rng, 4);
        sum += shares[i];
        add_text(members, sizeof(members), "g%d%d ", department, i);
        add_text(below, sizeof(below), "[g%d%d, %d] ", department, i, shares[i]);
    }
    for (int i = 0; i < n_groups; i++) {
        add_group(story, department, i, part * shares[i] / sum);
    }
    add_text(story->groups, sizeof(story->groups), "d%d (%s) (%s)\n", department,
             members, below);
}

/* Departments of groups of users. */
static void story_init(struct event_log *story, uint64_t seed, const char *keys)
{
    memset(story, 0, sizeof(*story));
    story->seed = seed;
    rng_init(&story->rng, seed);
    int n_departments = 2 + (int)rng_below(&story->rng, 2), sum = 0, shares[3];
    for (int i = 0; i < n_departments; i++) {
        shares[i] = 1 + (int)rng_below(&story->rng, 6);
        sum += shares[i];
        add_text(story->top, sizeof(story->top), "[d%d, %d] ", i, shares[i]);
    }
    for (int i = 0; i < n_departments; i++) {
        add_department(story, i, (double)shares[i] / sum);
    }
    snprintf(story->text, sizeof(story->text),
             "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\n%sEnd UserGroup\n"
             "Begin Queue\nQUEUE_NAME = q\nFAIRSHARE = USER_SHARES[%s]\n%sEnd Queue\n",
             story->groups, story->top, keys);
}

/* With all users busy. */
static struct share_world *make_world(struct event_log *story, int n_slots)
{
    struct share_world *world = share_world_new(&story->rng, story->text, n_slots);
    story->n_slots = n_slots;
    for (int i = 0; i < story->n_users; i++) {
        bool is_long = rng_below(&story->rng, 2) == 0;
        int64_t shortest_ms =
            (10 + rng_below(&story->rng, is_long ? 590 : 50)) * MINUTE_MS;
        int64_t longest_ms = shortest_ms + rng_below(&story->rng, shortest_ms);
        share_world_add(world,
                        &(struct share_world_line){.queue = "q",
                                                   .user = story->users[i],
                                                   .n_slots = 1,
                                                   .run_ms = {shortest_ms, longest_ms},
                                                   .n_waiting = INT_MAX});
        story->longest_ms =
            longest_ms > story->longest_ms ? longest_ms : story->longest_ms;
    }
    return world;
}

static void look(void *arg, struct share_world *world)
{
    const struct event_log *story = arg;
    if (share_world_free_slots(world) != 0) {
        fail_msg("SEED=%d: slots idle", (int)story->seed);
    }
}

static void nobody_starves(const struct event_log *story,
                           const struct share_world *world)
{
    for (int i = 0; i < story->n_users; i++) {
        const struct share_world_line *line = share_world_at(world, i);
        if (line->waited_ms > LATE_HOURS * (int64_t)HOUR_MS + 2 * story->longest_ms) {
            fail_msg("SEED=%d: %s waited %lld h for a slot", (int)story->seed,
                     line->user, (long long)(line->waited_ms / HOUR_MS));
        }
    }
}

static void each_has_its_part(void **state)
{
    enum { HOURS = 800 };
    static const char *const keys[] = {"RUN_TIME_DECAY = Y\n", "RUN_TIME_FACTOR = 0\n"};
    (void)state;
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        struct event_log story;
        story_init(&story, seed, keys[seed % 2]);
        struct share_world *world =
            make_world(&story, 48 + (int)rng_below(&story.rng, 100));
        share_world_run(world, 50 * (int64_t)HOUR_MS, look, &story);
        share_world_count_from(world);
        share_world_run(world, HOURS * (int64_t)HOUR_MS, look, &story);
        for (int i = 0; i < story.n_users; i++) {
            const struct share_world_line *line = share_world_at(world, i);
            double had =
                (double)line->slot_ms / ((double)HOURS * HOUR_MS * story.n_slots);
            if (had < story.due[i] - 0.02 || had > story.due[i] + 0.02) {
                fail_msg("SEED=%d: %s had %.3f, expected %.3f", (int)seed, line->user,
                         had, story.due[i]);
            }
        }
        nobody_starves(&story, world);
        share_world_free(world);
    }
}

static void nobody_starves_on_a_few_slots(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        struct event_log story;
        story_init(&story, seed, "");
        struct share_world *world =
            make_world(&story, 4 + (int)rng_below(&story.rng, 12));
        share_world_run(world, 500 * (int64_t)HOUR_MS, look, &story);
        nobody_starves(&story, world);
        share_world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_part),
        cmocka_unit_test(nobody_starves_on_a_few_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
