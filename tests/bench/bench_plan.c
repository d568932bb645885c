/* SPDX-License-Identifier: Apache-2.0 */
/* bench_plan.c: quotas of plans of 100, 10,000 and 100,000 nodes, and a whole cycle of
 * 10,000 nodes over 100,000 slots: the pure functions, as the broker calls them.
 *
 * The trees have three levels, with ten children per node below the first. A third of
 * the leaves is idle, and the slots are at the wrong leaves, so that a cycle grants and
 * recalls. Every run has a new arena. The floor is the time to sort as many numbers as
 * there are nodes. */
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "broker/pool/pool.h"
#include "tests/bench/bench.h"

enum { CHILDREN = 10 };

static double cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct tree {
    struct arena arena;
    struct plan plan;
    struct plan_use *uses;
    int64_t slots;
};

/* Each first-level node has ten children with ten leaves each; or, if flat, all nodes
 * are siblings with their own weights and bounds. */
static void make(struct tree *tree, int n_nodes, int64_t slots, bool is_flat)
{
    struct rng rng;
    struct plan_settings settings = {
        .rebalances = true, .max_recall = PLAN_UNLIMITED, .max_grace_ms = -1};
    struct plan_node *nodes = mem_alloc((size_t)n_nodes, sizeof(*nodes));
    int family = is_flat ? 1 : 1 + CHILDREN + CHILDREN * CHILDREN;
    rng_init(&rng, 1);
    arena_init(&tree->arena);
    for (int i = 0; i < n_nodes; i++) {
        int at = i % family;
        const char *name = arena_printf(&tree->arena, "/n%d", i / family);
        int64_t own = slots / (n_nodes / family + 1);
        if (at > CHILDREN) {
            name = arena_printf(&tree->arena, "%s/m%d/l%d", name,
                                (at - 1 - CHILDREN) / CHILDREN, at);
            own = own / CHILDREN / CHILDREN;
        } else if (at > 0) {
            name = arena_printf(&tree->arena, "%s/m%d", name, at - 1);
            own = own / CHILDREN;
        } else if (is_flat) {
            own = rng_below(&rng, 2 * own);
        }
        nodes[i] = (struct plan_node){.name = name,
                                      .own = own,
                                      .reserve = own / 10,
                                      .limit = own * 4 + 10,
                                      .rank = rng_below(&rng, 5)};
    }
    plan_build(&tree->plan, &settings, nodes, n_nodes, &tree->arena);
    free(nodes);
    tree->slots = slots;
    tree->uses = arena_alloc(&tree->arena, (size_t)n_nodes, sizeof(*tree->uses));
    int64_t left = slots;
    for (int i = 0; i < tree->plan.n_nodes; i++) {
        struct plan_use *use = &tree->uses[i];
        if (plan_is_leaf(&tree->plan.nodes[i])) {
            use->demand = rng_percent(&rng, 33) ? 0 : rng_below(&rng, 40);
            use->alloc = plan_min(rng_below(&rng, 20), left);
            left -= use->alloc;
        }
    }
}

static void measure_quotas(struct bench_series *series, int n_nodes, bool is_flat)
{
    struct tree tree;
    make(&tree, n_nodes, (int64_t)n_nodes * 10, is_flat);
    for (int run = 0; run <= BENCH_RUNS; run++) {
        struct arena arena;
        arena_init(&arena);
        double start = cpu_now();
        const struct plan_use *sums = plan_quota_sum(&tree.plan, tree.uses, &arena);
        const struct plan_quota *shares =
            plan_quota_all(&tree.plan, tree.slots, sums, &arena);
        double taken_s = cpu_now() - start;
        if (shares[0].quota == 0) {
            bench_fail("a quota of nothing");
        }
        if (run > 0) { /* the first one warms the memory */
            bench_add(series, taken_s * 1e3);
        }
        arena_release(&arena);
    }
    arena_release(&tree.arena);
}

static void measure_cycle(struct bench_series *series, int n_nodes, int64_t slots)
{
    struct tree tree;
    make(&tree, n_nodes, slots, false);
    for (int run = 0; run <= BENCH_RUNS; run++) {
        struct pool_cycle cycle;
        struct arena arena;
        arena_init(&arena);
        double start = cpu_now();
        pool_cycle(&tree.plan, tree.slots, tree.uses, &cycle, &arena);
        double taken_s = cpu_now() - start;
        int64_t granted = 0, recalled = 0;
        for (int i = 0; i < tree.plan.n_top; i++) {
            granted += cycle.moves[i].grant;
            recalled += cycle.moves[i].recall;
        }
        if (granted == 0 || recalled == 0) {
            bench_fail("%lld granted, %lld recalled, expected some of each",
                       (long long)granted, (long long)recalled);
        }
        if (run > 0) {
            bench_add(series, taken_s * 1e3);
        }
        arena_release(&arena);
    }
    arena_release(&tree.arena);
}

static int compare(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void measure_floor(struct bench_series *series, int count)
{
    int64_t *numbers = mem_alloc((size_t)count, sizeof(*numbers));
    for (int run = 0; run < BENCH_RUNS; run++) {
        struct rng rng;
        rng_init(&rng, (uint64_t)run);
        for (int i = 0; i < count; i++) {
            numbers[i] = rng_below(&rng, INT32_MAX);
        }
        double start = cpu_now();
        qsort(numbers, (size_t)count, sizeof(*numbers), compare);
        bench_add(series, (cpu_now() - start) * 1e3);
    }
    free(numbers);
}

int main(void)
{
    static const struct {
        int n_nodes;
        bool is_flat;
        const char *work, *aim;
    } quotas[] = {{100, false, "quotas of 100 nodes", ""},
                  {10000, false, "quotas of 10,000 nodes", ""},
                  {100000, false, "quotas of 100,000 nodes", "50"},
                  {100000, true, "quotas of 100,000 siblings", "50"}};
    bench_print_head("hybrid plans");
    for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
        struct bench_series series = {0}, floor = {0};
        measure_quotas(&series, quotas[i].n_nodes, quotas[i].is_flat);
        measure_floor(&floor, quotas[i].n_nodes);
        bench_print_row_floor(quotas[i].work, "ms of CPU", &series, quotas[i].aim,
                              "sort", &floor);
    }
    struct bench_series cycle = {0}, floor = {0};
    measure_cycle(&cycle, 10000, 100000);
    measure_floor(&floor, 10000);
    bench_print_row_floor("a cycle of 10,000 nodes, 100,000 slots", "ms of CPU", &cycle,
                          "100", "sort", &floor);
    return 0;
}
