/* SPDX-License-Identifier: Apache-2.0 */
/* plan_world.c: see plan_world.h. */
#include "tests/prop/plan_world.h"

#include <stdlib.h>
#include <string.h>

enum { CHILDREN_MAX = 4, LEVELS = 3 };

uint64_t plan_world_first(void)
{
    const char *text = getenv("SEED");
    return text != NULL ? strtoull(text, NULL, 10) : 1;
}

uint64_t plan_world_last(uint64_t n_worlds)
{
    return getenv("SEED") != NULL ? plan_world_first() : n_worlds;
}

static int64_t some(struct rng *rng, int64_t most)
{
    return most > 0 ? rng_below(rng, most + 1) : 0;
}

static void add_nodes(struct plan_world *world, struct rng *rng, const char *above,
                      int64_t own, int level)
{
    int n_children = 1 + (int)rng_below(rng, CHILDREN_MAX);
    int64_t reservable = own;
    for (int i = 0; i < n_children && world->n_nodes < PLAN_WORLD_NODES_MAX; i++) {
        struct plan_node *node = &world->nodes[world->n_nodes++];
        bool takes_all = i == n_children - 1 && rng_percent(rng, 50);
        node->name = arena_printf(&world->arena, "%s/%c", above, 'a' + i);
        node->policy = PLAN_INHERITS;
        node->own = rng_percent(rng, 30) ? 0 : takes_all ? own : some(rng, own);
        own -= node->own;
        node->reserve = rng_percent(rng, 30) ? some(rng, node->own) : 0;
        node->reserve = plan_min(node->reserve, reservable);
        reservable -= node->reserve;
        node->limit = rng_percent(rng, 30) ? node->own + some(rng, 30) : PLAN_UNLIMITED;
        node->rank = rng_below(rng, 3);
        node->grace_ms = rng_below(rng, 5);
        if (level < LEVELS && rng_percent(rng, 50)) {
            add_nodes(world, rng, node->name, node->own, level + 1);
        }
    }
}

/* Few slots in use, or all in use by few nodes. */
static void use_slots(struct plan_world *world, struct rng *rng)
{
    int64_t left = rng_percent(rng, 80) ? world->slots : world->slots * 2;
    for (int i = 0; i < world->plan.n_nodes; i++) {
        if (!plan_is_leaf(&world->plan.nodes[i])) {
            continue;
        }
        struct plan_use *use = &world->uses[i];
        use->demand = rng_percent(rng, 25)   ? 0
                      : rng_percent(rng, 40) ? PLAN_UNLIMITED
                                             : some(rng, world->slots + 5);
        use->alloc = rng_percent(rng, 40) ? 0 : some(rng, left);
        left -= use->alloc;
    }
}

void plan_world_build(struct plan_world *world)
{
    plan_build(&world->plan, &world->settings, world->nodes, world->n_nodes,
               &world->arena);
}

void plan_world_init(struct plan_world *world, uint64_t seed, bool with_ownership)
{
    struct rng rng;
    memset(world, 0, sizeof(*world));
    arena_init(&world->arena);
    rng_init(&rng, seed);
    world->seed = seed;
    int64_t size = rng_percent(&rng, 50) ? 12 : 200;
    world->settings = (struct plan_settings){
        .is_even = rng_percent(&rng, 40),
        .rebalances = rng_percent(&rng, 50),
        .keeps_scaled = rng_percent(&rng, 20),
        .keeps_idle = rng_percent(&rng, 30),
        .max_recall = PLAN_UNLIMITED,
        .max_grace_ms = -1,
    };
    add_nodes(world, &rng, "", size, 1);
    for (int i = 0; i < world->n_nodes && with_ownership; i++) {
        bool is_top = strrchr(world->nodes[i].name, '/') == world->nodes[i].name;
        if (is_top && rng_percent(&rng, 60)) {
            bool is_share = rng_percent(&rng, 40);
            world->nodes[i].policy = is_share ? PLAN_SHARE : PLAN_OWNERSHIP;
            for (int k = i; k < world->n_nodes && is_share; k++) {
                bool is_below =
                    k == i || strncmp(world->nodes[k].name, world->nodes[i].name,
                                      strlen(world->nodes[i].name)) == 0;
                world->nodes[k].reserve = is_below ? 0 : world->nodes[k].reserve;
            }
        }
    }
    plan_world_build(world);
    if (world->plan.configured == 0 || rng_percent(&rng, 20)) {
        world->settings.slots = world->plan.configured + 1 + some(&rng, size);
        plan_world_build(world);
    }
    world->slots = rng_percent(&rng, 30) ? world->plan.configured
                                         : some(&rng, 2 * world->plan.configured);
    use_slots(world, &rng);
}

void plan_world_release(struct plan_world *world)
{
    arena_release(&world->arena);
}

void plan_world_cycle(struct plan_world *world, struct pool_cycle *cycle)
{
    pool_cycle(&world->plan, world->slots, world->uses, cycle, &world->arena);
}
