/* SPDX-License-Identifier: Apache-2.0 */
/* prop_fairshare.c: random trees of users, three levels deep, all with pending jobs,
 * some of minutes, some of ten hours and more. Over a long time each user gets its
 * share in slot hours, within 2 percent of the site, no user starves, and no slot
 * idles. SEED=N repeats one world.
 *
 * This requires that the cost of a slot does not depend on the length of jobs
 * (RUN_TIME_DECAY, or no RUN_TIME_FACTOR), and enough slots that the additional slot
 * that RUN_JOB_FACTOR counts for each user is small: ADR 11 has the arithmetic. With
 * few slots and LSF's defaults, only starvation is checked. */
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

struct fairshare_trial {
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
static void add_group(struct fairshare_trial *trial, int department, int group,
                      double part)
{
    int shares[2] = {1 + (int)rng_below(&trial->rng, 3),
                     1 + (int)rng_below(&trial->rng, 3)};
    int first = trial->n_users;
    for (int i = 0; i < 2; i++) {
        snprintf(trial->users[first + i], sizeof(trial->users[0]), "u%d", first + i);
        trial->due[first + i] = part * shares[i] / (shares[0] + shares[1]);
    }
    trial->n_users += 2;
    add_text(trial->groups, sizeof(trial->groups),
             "g%d%d (u%d u%d) ([u%d, %d] [u%d, %d])\n", department, group, first,
             first + 1, first, shares[0], first + 1, shares[1]);
}

static void add_department(struct fairshare_trial *trial, int department, double part)
{
    int n_groups = 1 + (int)rng_below(&trial->rng, 2), sum = 0, shares[2];
    char members[64] = "", below[64] = "";
    for (int i = 0; i < n_groups; i++) {
        shares[i] = 1 + (int)rng_below(&trial->rng, 4);
        sum += shares[i];
        add_text(members, sizeof(members), "g%d%d ", department, i);
        add_text(below, sizeof(below), "[g%d%d, %d] ", department, i, shares[i]);
    }
    for (int i = 0; i < n_groups; i++) {
        add_group(trial, department, i, part * shares[i] / sum);
    }
    add_text(trial->groups, sizeof(trial->groups), "d%d (%s) (%s)\n", department,
             members, below);
}

/* Departments of groups of users. */
static void trial_init(struct fairshare_trial *trial, uint64_t seed, const char *keys)
{
    memset(trial, 0, sizeof(*trial));
    trial->seed = seed;
    rng_init(&trial->rng, seed);
    int n_departments = 2 + (int)rng_below(&trial->rng, 2), sum = 0, shares[3];
    for (int i = 0; i < n_departments; i++) {
        shares[i] = 1 + (int)rng_below(&trial->rng, 6);
        sum += shares[i];
        add_text(trial->top, sizeof(trial->top), "[d%d, %d] ", i, shares[i]);
    }
    for (int i = 0; i < n_departments; i++) {
        add_department(trial, i, (double)shares[i] / sum);
    }
    snprintf(trial->text, sizeof(trial->text),
             "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\n%sEnd UserGroup\n"
             "Begin Queue\nQUEUE_NAME = q\nFAIRSHARE = USER_SHARES[%s]\n%sEnd Queue\n",
             trial->groups, trial->top, keys);
}

/* With all users busy. */
static struct fairshare_world *make_world(struct fairshare_trial *trial, int n_slots)
{
    struct fairshare_world *world =
        fairshare_world_new(&trial->rng, trial->text, n_slots);
    trial->n_slots = n_slots;
    for (int i = 0; i < trial->n_users; i++) {
        bool is_long = rng_below(&trial->rng, 2) == 0;
        int64_t shortest_ms =
            (10 + rng_below(&trial->rng, is_long ? 590 : 50)) * MINUTE_MS;
        int64_t longest_ms = shortest_ms + rng_below(&trial->rng, shortest_ms);
        fairshare_world_add(
            world, &(struct fairshare_world_class){.queue = "q",
                                                   .user = trial->users[i],
                                                   .n_slots = 1,
                                                   .run_ms = {shortest_ms, longest_ms},
                                                   .n_waiting = INT_MAX});
        trial->longest_ms =
            longest_ms > trial->longest_ms ? longest_ms : trial->longest_ms;
    }
    return world;
}

static void look(void *arg, struct fairshare_world *world)
{
    const struct fairshare_trial *trial = arg;
    if (fairshare_world_free_slots(world) != 0) {
        fail_msg("SEED=%d: slots idle", (int)trial->seed);
    }
}

static void nobody_starves(const struct fairshare_trial *trial,
                           const struct fairshare_world *world)
{
    for (int i = 0; i < trial->n_users; i++) {
        const struct fairshare_world_class *line = fairshare_world_at(world, i);
        if (line->waited_ms > LATE_HOURS * (int64_t)HOUR_MS + 2 * trial->longest_ms) {
            fail_msg("SEED=%d: %s waited %lld h for a slot", (int)trial->seed,
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
        struct fairshare_trial trial;
        trial_init(&trial, seed, keys[seed % 2]);
        struct fairshare_world *world =
            make_world(&trial, 48 + (int)rng_below(&trial.rng, 100));
        fairshare_world_run(world, 50 * (int64_t)HOUR_MS, look, &trial);
        fairshare_world_count_from(world);
        fairshare_world_run(world, HOURS * (int64_t)HOUR_MS, look, &trial);
        for (int i = 0; i < trial.n_users; i++) {
            const struct fairshare_world_class *line = fairshare_world_at(world, i);
            double had =
                (double)line->slot_ms / ((double)HOURS * HOUR_MS * trial.n_slots);
            if (had < trial.due[i] - 0.02 || had > trial.due[i] + 0.02) {
                fail_msg("SEED=%d: %s had %.3f, expected %.3f", (int)seed, line->user,
                         had, trial.due[i]);
            }
        }
        nobody_starves(&trial, world);
        fairshare_world_free(world);
    }
}

static void nobody_starves_on_a_few_slots(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        struct fairshare_trial trial;
        trial_init(&trial, seed, "");
        struct fairshare_world *world =
            make_world(&trial, 4 + (int)rng_below(&trial.rng, 12));
        fairshare_world_run(world, 500 * (int64_t)HOUR_MS, look, &trial);
        nobody_starves(&trial, world);
        fairshare_world_free(world);
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
