/* SPDX-License-Identifier: Apache-2.0 */
/* prop_share.c: random trees of users who are all busy: over a long time each has its
 * part of the shares in slot hours, within 2 percent of the site; nobody starves, and
 * nothing idles. SEED=N repeats one world.
 *
 * The worlds count run time of ended jobs too, and have slots enough that the one slot
 * more that RUN_JOB_FACTOR counts for everybody is small against what each has: with
 * few slots LSF's formula itself keeps other parts (docs/scheduling.md). */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/prop/share_world.h"

enum { WORLDS = 6, USERS = 6, MINUTE_MS = 60000, HOUR_MS = 3600000, HOURS = 60 };

struct story {
    uint64_t seed;
    struct rng rng;
    char text[2048];
    int shares[USERS], n_users;
    double due[USERS]; /* of the site */
    int n_slots;
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

/* u0 and u1 alone, or u2 and those behind it in a group with a part of its own. */
static void story_init(struct story *story, uint64_t seed)
{
    bool has_group = seed % 2 == 0;
    int sum = 0, in_group = 0, of_group;
    memset(story, 0, sizeof(*story));
    story->seed = seed;
    rng_init(&story->rng, seed);
    story->n_users = 3 + (int)rng_below(&story->rng, USERS - 2);
    story->n_slots = 300 + (int)rng_below(&story->rng, 200);
    of_group = 2 + (int)rng_below(&story->rng, 6);
    for (int i = 0; i < story->n_users; i++) {
        story->shares[i] = 2 + (int)rng_below(&story->rng, 5);
        sum += i < 2 || !has_group ? story->shares[i] : 0;
        in_group += i < 2 ? 0 : story->shares[i];
    }
    sum += has_group ? of_group : 0;
    char members[128] = "", below[128] = "", top[256] = "";
    for (int i = 0; i < story->n_users; i++) {
        bool is_below = i >= 2 && has_group;
        char *list = is_below ? below : top;
        size_t size = is_below ? sizeof(below) : sizeof(top);
        snprintf(list + strlen(list), size - strlen(list), "[u%d, %d] ", i,
                 story->shares[i]);
        if (is_below) {
            snprintf(members + strlen(members), sizeof(members) - strlen(members),
                     "u%d ", i);
        }
        story->due[i] = is_below ? (double)of_group / sum * story->shares[i] / in_group
                                 : (double)story->shares[i] / sum;
    }
    if (has_group) {
        snprintf(top + strlen(top), sizeof(top) - strlen(top), "[lab, %d]", of_group);
        snprintf(story->text, sizeof(story->text),
                 "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\nlab (%s) (%s)\n"
                 "End UserGroup\n",
                 members, below);
    }
    snprintf(story->text + strlen(story->text),
             sizeof(story->text) - strlen(story->text),
             "Begin Queue\nQUEUE_NAME = q\nFAIRSHARE = USER_SHARES[%s]\n"
             "ENABLE_HIST_RUN_TIME = Y\n%sEnd Queue\n",
             top, seed % 3 == 0 ? "RUN_TIME_DECAY = Y\n" : "");
}

static void look(void *arg, struct share_world *world)
{
    const struct story *story = arg;
    if (share_world_free_slots(world) != 0) {
        fail_msg("SEED=%d: slots idle", (int)story->seed);
    }
}

static void each_has_its_part(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        struct story story;
        story_init(&story, seed);
        struct share_world *world =
            share_world_new(&story.rng, story.text, story.n_slots);
        static const char *const users[USERS] = {"u0", "u1", "u2", "u3", "u4", "u5"};
        for (int i = 0; i < story.n_users; i++) {
            int64_t shortest_ms = (5 + rng_below(&story.rng, 20)) * MINUTE_MS;
            share_world_add(world, &(struct share_world_line){
                                       .queue = "q",
                                       .user = users[i],
                                       .n_slots = 1,
                                       .run_ms = {shortest_ms, 2 * shortest_ms},
                                       .n_waiting = INT_MAX});
        }
        share_world_run(world, 20 * (int64_t)HOUR_MS, look, &story);
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
            if (line->waited_ms > HOUR_MS) {
                fail_msg("SEED=%d: %s waited %lld min for a slot", (int)seed,
                         line->user, (long long)(line->waited_ms / MINUTE_MS));
            }
        }
        share_world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
