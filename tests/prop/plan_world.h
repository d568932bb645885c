/* SPDX-License-Identifier: Apache-2.0 */
/* plan_world.h: random plans that satisfy plan_check.h, and random use.
 * Layer: tests. */
#ifndef SUBLET_TESTS_PLAN_WORLD_H
#define SUBLET_TESTS_PLAN_WORLD_H

#include "base/rng.h"
#include "broker/pool/pool.h"

enum { PLAN_WORLD_NODES_MAX = 64 };

struct plan_world {
    struct arena arena;
    uint64_t seed;
    struct plan_settings settings;
    struct plan_node nodes[PLAN_WORLD_NODES_MAX]; /* in file order */
    int n_nodes;
    struct plan plan;
    struct plan_use uses[PLAN_WORLD_NODES_MAX]; /* in the plan's order */
    int64_t slots;
};

/* Worlds 1 to `n_worlds`, or the one of SEED. */
uint64_t plan_world_first(void);
uint64_t plan_world_last(uint64_t n_worlds);

/* Up to three levels and some hundred slots, optionally with ownership policy. */
void plan_world_init(struct plan_world *world, uint64_t seed, bool with_ownership);
void plan_world_release(struct plan_world *world);

/* Builds the plan again, after a change of `nodes` or `settings`. */
void plan_world_build(struct plan_world *world);

void plan_world_cycle(struct plan_world *world, struct pool_cycle *cycle);

/* Fails the test with the seed, the failed property, and the node (or PLAN_NO_NODE). */
#define PLAN_WORLD_EXPECT(world, condition, what, node)                                \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fail_msg("seed %" PRIu64 ": %s: %s", (world)->seed, what,                  \
                     (node) == PLAN_NO_NODE ? "" : (world)->plan.nodes[node].name);    \
        }                                                                              \
    } while (0)

#endif
