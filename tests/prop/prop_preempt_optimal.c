/* SPDX-License-Identifier: Apache-2.0 */
/* prop_preempt_optimal.c: random hosts, with jobs on one or several hosts, against a
 * twin that tries all subsets of the jobs. The search finds a subset as small as the
 * smallest that empties hosts with enough slots, and none if there is none. SEED=N
 * repeats one world. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sched/preempt/preempt_optimal.h"

enum { HOSTS = 8, JOBS = 10, WORLDS = 20000 };

struct trial {
    uint64_t seed;
    struct rng rng;
    struct preempt_optimal_host hosts[HOSTS];
    int jobs[HOSTS][JOBS];
    int n_hosts, n_jobs;
    int n_wanted;
};

static int between(struct trial *trial, int low, int high)
{
    return low + (int)rng_below(&trial->rng, high - low + 1);
}

static void make(struct trial *trial, uint64_t seed)
{
    memset(trial, 0, sizeof(*trial));
    trial->seed = seed;
    rng_init(&trial->rng, seed);
    trial->n_hosts = between(trial, 1, HOSTS);
    trial->n_jobs = between(trial, 1, JOBS);
    bool is_even = rng_percent(&trial->rng, 50);
    int parallel_percent = rng_percent(&trial->rng, 50) ? 30 : 0;
    for (int i = 0; i < trial->n_hosts; i++) {
        trial->hosts[i].n_slots = is_even ? 4 : between(trial, 1, 9);
        trial->hosts[i].jobs = trial->jobs[i];
    }
    for (int job = 0; job < trial->n_jobs; job++) {
        int first = between(trial, 0, trial->n_hosts - 1);
        for (int i = 0; i < trial->n_hosts; i++) {
            if (i == first || rng_percent(&trial->rng, parallel_percent)) {
                trial->jobs[i][trial->hosts[i].n_jobs++] = job;
            }
        }
    }
    trial->n_wanted = between(trial, 1, 30);
}

static int slots_without(const struct trial *trial, unsigned subset)
{
    int n_slots = 0;
    for (int i = 0; i < trial->n_hosts; i++) {
        bool is_empty = true;
        for (int k = 0; k < trial->hosts[i].n_jobs; k++) {
            is_empty = is_empty && (subset & 1U << trial->jobs[i][k]) != 0;
        }
        n_slots += is_empty ? trial->hosts[i].n_slots : 0;
    }
    return n_slots;
}

static int count(unsigned subset)
{
    return __builtin_popcount(subset);
}

/* -1: not even all jobs suffice. */
static int least(const struct trial *trial)
{
    int best = -1;
    for (unsigned subset = 0; subset < 1U << trial->n_jobs; subset++) {
        if ((best < 0 || count(subset) < best) &&
            slots_without(trial, subset) >= trial->n_wanted) {
            best = count(subset);
        }
    }
    return best;
}

static bool run(uint64_t seed)
{
    struct trial trial;
    bool chosen[JOBS] = {false};
    unsigned subset = 0;
    make(&trial, seed);
    int best = least(&trial);
    bool is_found = preempt_optimal_select(trial.hosts, trial.n_hosts, trial.n_jobs,
                                           trial.n_wanted, chosen);
    for (int i = 0; i < trial.n_jobs; i++) {
        subset |= chosen[i] ? 1U << i : 0;
    }
    bool is_good = is_found == (best >= 0) &&
                   (!is_found || (slots_without(&trial, subset) >= trial.n_wanted &&
                                  count(subset) == best));
    if (!is_good) {
        fail_msg("SEED=%" PRIu64 ": found %d of %d jobs, the fewest are %d", seed,
                 is_found ? count(subset) : -1, trial.n_jobs, best);
    }
    return best > 1;
}

static void test_worlds(void **state)
{
    const char *text = getenv("SEED");
    int n_hard = 0;
    (void)state;
    if (text != NULL) {
        run(strtoull(text, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        n_hard += run(seed);
    }
    assert_true(n_hard > WORLDS / 4); /* otherwise too little was tested */
}

/* The search ends even with thousands of equal hosts. */
static void test_many(void **state)
{
    enum { MANY = 5000 };
    static int jobs[MANY][3];
    static struct preempt_optimal_host hosts[MANY];
    static bool chosen[3 * MANY];
    int n_chosen = 0;
    (void)state;
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < 3; k++) {
            jobs[i][k] = 3 * i + k;
        }
        hosts[i] = (struct preempt_optimal_host){
            .n_slots = 60 + i % 9, .jobs = jobs[i], .n_jobs = 3};
    }
    assert_true(preempt_optimal_select(hosts, MANY, 3 * MANY, 1000, chosen));
    for (int i = 0; i < 3 * MANY; i++) {
        n_chosen += chosen[i];
    }
    assert_int_equal(n_chosen, 45); /* 15 hosts of 68 slots: 1,020 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worlds),
                                       cmocka_unit_test(test_many)};
    return cmocka_run_group_tests_name("preempt_whole", tests, NULL, NULL);
}
