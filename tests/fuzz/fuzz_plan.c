/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_plan.c: text of Pool, PlanNode and TimeWindow sections. A plan that is read
 * without errors can be used: quotas keep the limits and the size of the pool, and a
 * cycle grants only existing slots. */
#include <string.h>

#include "broker/plan/plan.h"
#include "broker/pool/pool.h"
#include "tests/fuzz/input.h"

/* Every leaf requests any number, or a few slots; every third holds some. */
static struct plan_use *make_uses(const struct plan *plan, int64_t slots,
                                  struct arena *arena)
{
    struct plan_use *uses = arena_alloc(arena, (size_t)plan->n_nodes, sizeof(*uses));
    for (int i = 0; i < plan->n_nodes; i++) {
        uses[i].demand = i % 2 == 0 ? PLAN_UNLIMITED : i;
        uses[i].alloc = i % 3 == 0 ? slots / (i + 4) : 0;
        uses[i].recalled = uses[i].alloc / 2;
    }
    return uses;
}

static void check_cycle(const struct pool_cycle *cycle)
{
    const struct plan *plan = cycle->plan;
    int64_t quotas = 0, held = 0, granted = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        if (cycle->shares[i].quota < 0 ||
            cycle->shares[i].quota > plan->nodes[i].limit) {
            input_fail("quota of %s is %lld", plan->nodes[i].name,
                       (long long)cycle->shares[i].quota);
        }
    }
    for (int i = 0; i < plan->n_top; i++) {
        quotas += cycle->shares[i].quota;
        held += pool_held(cycle, i);
        granted += cycle->moves[i].grant;
    }
    if (quotas > cycle->slots || (granted > 0 && held > cycle->slots)) {
        input_fail("%lld slots, %lld of quotas, %lld held", (long long)cycle->slots,
                   (long long)quotas, (long long)held);
    }
}

static void use_plan(const struct plan *plan, struct arena *arena)
{
    const int64_t sizes[] = {0, 7, plan->configured, PLAN_SLOTS_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct pool_cycle cycle;
        pool_cycle(plan, sizes[i], make_uses(plan, sizes[i], arena), &cycle, arena);
        check_cycle(&cycle);
        pool_explain_cycle(&cycle, true, arena);
        pool_cycle_hosts(plan, sizes[i] / 8, 8, make_uses(plan, sizes[i], arena),
                         &cycle, arena);
        check_cycle(&cycle);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct conf conf;
    struct plan_pools pools;
    arena_init(&arena);
    conf_init(&conf, &arena);
    conf_read(&conf, "fuzz.conf", (const char *)data, size);
    conf_check(&conf);
    plan_config_read(&conf, &pools);
    for (int i = 0; i < pools.n_pools && conf.n_errors == 0; i++) {
        const struct plan_pool *pool = &pools.pools[i];
        for (int k = 0; k < (pool->n_windows > 0 ? pool->n_windows : 1); k++) {
            use_plan(&pool->plans[k], &arena);
        }
    }
    arena_release(&arena);
    return 0;
}
