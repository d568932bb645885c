/* SPDX-License-Identifier: Apache-2.0 */
/* prop_affinity.c: random hosts and requests. Whatever is given is free and whole, and
 * lies as same, exclusive and distribute ask; a job that fits with n tasks fits with
 * fewer. Without levels that exclude, as many tasks fit as a twin counts. SEED=N
 * repeats one world. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sched/affinity/affinity.h"

enum { WORLDS = 20000, TASKS = 10, THREADS = 64 };

struct trial {
    uint64_t seed;
    struct rng rng;
    struct arena arena;
    struct cpu_topology topology;
    struct affinity_use use;
    struct affinity_request request;
    struct cpu_set tasks[TASKS];
};

static int between(struct trial *trial, int low, int high)
{
    return low + (int)rng_below(&trial->rng, high - low + 1);
}

static void make_topology(struct trial *trial)
{
    const char *text = "";
    int n_nodes = between(trial, 1, 2), n_threads = between(trial, 1, 2), cpu = 0;
    int socket = 0;
    struct err err;
    for (int node = 0; node < n_nodes; node++) {
        int n_sockets = between(trial, 1, 2);
        text =
            arena_printf(&trial->arena, "%s%s%d:1:", text, node > 0 ? "|" : "", node);
        for (int i = 0; i < n_sockets; i++) {
            int n_cores = between(trial, 1, 4);
            text = arena_printf(&trial->arena, "%s%s%d=", text, i > 0 ? "/" : "",
                                socket++);
            for (int k = 0; k < n_cores * n_threads; k++) {
                text = arena_printf(&trial->arena, "%s%s%d", text,
                                    k == 0              ? ""
                                    : k % n_threads > 0 ? ","
                                                        : ";",
                                    cpu++);
            }
        }
    }
    assert_int_equal(cpu_topology_parse(&trial->arena, text, &trial->topology, &err),
                     0);
    int percent = between(trial, 0, 2) * 20;
    for (int i = 0; i < cpu; i++) {
        if (rng_percent(&trial->rng, percent)) {
            cpu_set_add(&trial->use.used, i);
        }
        if (rng_percent(&trial->rng, percent / 4)) {
            cpu_set_add(&trial->use.closed, i);
        }
    }
}

static void make_request(struct trial *trial)
{
    struct affinity_request *request = &trial->request;
    request->is_given = true;
    request->unit = (enum cpu_level)between(trial, CPU_LEVEL_NUMA, CPU_LEVEL_THREAD);
    request->n_units = between(trial, 1, 3);
    request->count = rng_percent(&trial->rng, 25) ? 2 : 1;
    if (request->unit > CPU_LEVEL_NUMA && rng_percent(&trial->rng, 50)) {
        request->same =
            (enum cpu_level)between(trial, CPU_LEVEL_NUMA, (int)request->unit - 1);
    }
    if (rng_percent(&trial->rng, 40)) {
        int lowest =
            request->unit < CPU_LEVEL_CORE ? (int)request->unit : CPU_LEVEL_CORE;
        request->exclusive = (enum cpu_level)between(trial, CPU_LEVEL_NUMA, lowest);
        request->scopes = (unsigned)between(trial, 1, 7);
    }
    request->distribution =
        (enum affinity_distribution)between(trial, AFFINITY_ANY, AFFINITY_BALANCE);
    request->pack = (enum cpu_level)between(trial, CPU_LEVEL_NUMA, (int)request->unit);
}

/* ---------------------------------------------------------------- what must hold */

static void expect(const struct trial *trial, bool holds, const char *what)
{
    if (!holds) {
        fail_msg("SEED=%" PRIu64 ": %s", trial->seed, what);
    }
}

/* The elements of a level that the set has a part of. */
static uint64_t elements(const struct trial *trial, const struct cpu_set *set,
                         enum cpu_level level)
{
    uint64_t mask = 0;
    for (int i = 0; i < trial->topology.n_units; i++) {
        const struct cpu_unit *unit = &trial->topology.units[i];
        if (cpu_set_has(set, unit->cpu)) {
            mask |= UINT64_C(1) << unit->of[level];
        }
    }
    return mask;
}

static void check_free_and_whole(const struct trial *trial, int n_tasks)
{
    struct cpu_set seen = trial->use.used;
    cpu_set_join(&seen, &trial->use.closed);
    for (int i = 0; i < n_tasks; i++) {
        const struct cpu_set *task = &trial->tasks[i];
        uint64_t mask = elements(trial, task, trial->request.unit);
        expect(trial, !cpu_set_meets(task, &seen), "a thread twice");
        expect(trial,
               __builtin_popcountll(mask) ==
                   trial->request.n_units * trial->request.count,
               "the number of units");
        for (int k = 0; k < trial->topology.n_units; k++) {
            const struct cpu_unit *unit = &trial->topology.units[k];
            if ((mask >> unit->of[trial->request.unit] & 1) != 0) {
                expect(trial, cpu_set_has(task, unit->cpu), "a part of a unit");
            }
        }
        cpu_set_join(&seen, task);
    }
}

static void check_levels(const struct trial *trial, int n_tasks)
{
    const struct affinity_request *request = &trial->request;
    uint64_t taken = 0, all = 0;
    for (int i = 0; i < n_tasks; i++) {
        const struct cpu_set *task = &trial->tasks[i];
        uint64_t here = elements(trial, task, request->exclusive);
        if (request->same != CPU_LEVEL_HOST && request->count == 1) {
            uint64_t same = elements(trial, task, request->same);
            expect(trial, __builtin_popcountll(same) == 1, "same");
        }
        if (request->exclusive != CPU_LEVEL_HOST &&
            (request->scopes & CPU_SCOPE_INJOB) != 0) {
            expect(trial, (taken & here) == 0, "injob");
        }
        if (request->exclusive != CPU_LEVEL_HOST &&
            (request->scopes & CPU_SCOPE_INTASK) != 0) {
            expect(trial, __builtin_popcountll(here) >= request->count, "intask");
        }
        taken |= here;
        all |= elements(trial, task, request->pack);
    }
    if (request->exclusive != CPU_LEVEL_HOST &&
        (request->scopes & CPU_SCOPE_ALLJOBS) != 0) {
        uint64_t others = elements(trial, &trial->use.used, request->exclusive);
        expect(trial, (taken & others) == 0, "alljobs");
    }
    if (request->distribution == AFFINITY_PACK_ONE && n_tasks > 0) {
        expect(trial, __builtin_popcountll(all) == 1, "pack(LEVEL=1)");
    }
}

/* Free units in an element. */
static int count_free(const struct trial *trial, enum cpu_level level, int element)
{
    int n_free = 0;
    for (int e = 0; e < trial->topology.n_of[trial->request.unit]; e++) {
        bool is_free = true, is_inside = false;
        for (int i = 0; i < trial->topology.n_units; i++) {
            const struct cpu_unit *unit = &trial->topology.units[i];
            if (unit->of[trial->request.unit] == e) {
                is_free = is_free && !cpu_set_has(&trial->use.used, unit->cpu) &&
                          !cpu_set_has(&trial->use.closed, unit->cpu);
                is_inside = is_inside || unit->of[level] == element;
            }
        }
        n_free += is_free && is_inside;
    }
    return n_free;
}

/* Times of n_units that fit into one element, from one element of `same` each. */
static int count_times(const struct trial *trial, enum cpu_level level, int element)
{
    const struct affinity_request *request = &trial->request;
    if (request->same <= level) {
        return count_free(trial, level, element) / request->n_units;
    }
    int n_times = 0;
    for (int e = 0; e < trial->topology.n_of[request->same]; e++) {
        for (int i = 0; i < trial->topology.n_units; i++) {
            const int *of = trial->topology.units[i].of;
            if (of[request->same] == e && of[level] == element) {
                n_times += count_free(trial, request->same, e) / request->n_units;
                break;
            }
        }
    }
    return n_times;
}

static int count_tasks(const struct trial *trial)
{
    const struct affinity_request *request = &trial->request;
    int most = 0;
    bool is_one = request->distribution == AFFINITY_PACK_ONE;
    enum cpu_level level = is_one ? request->pack : CPU_LEVEL_HOST;
    for (int e = 0; e < trial->topology.n_of[level]; e++) {
        int n = count_times(trial, level, e) / request->count;
        most = n > most ? n : most;
    }
    return most < TASKS ? most : TASKS;
}

static void run(uint64_t seed)
{
    struct trial trial = {.seed = seed};
    rng_init(&trial.rng, seed);
    arena_init(&trial.arena);
    make_topology(&trial);
    make_request(&trial);
    int n_fit =
        affinity_fit(&trial.topology, &trial.use, &trial.request, TASKS, trial.tasks);
    check_free_and_whole(&trial, n_fit);
    check_levels(&trial, n_fit);
    for (int n = 0; n <= n_fit; n++) {
        expect(&trial,
               affinity_fit(&trial.topology, &trial.use, &trial.request, n,
                            trial.tasks) == n,
               "fewer tasks do not fit");
        check_free_and_whole(&trial, n);
        check_levels(&trial, n);
    }
    if (trial.request.exclusive == CPU_LEVEL_HOST) {
        expect(&trial, n_fit == count_tasks(&trial), "another number of tasks");
    }
    arena_release(&trial.arena);
}

static void test_worlds(void **state)
{
    const char *one = getenv("SEED");
    (void)state;
    for (uint64_t seed = 1; seed <= WORLDS && one == NULL; seed++) {
        run(seed);
    }
    if (one != NULL) {
        run(strtoull(one, NULL, 10));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worlds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
