/* SPDX-License-Identifier: Apache-2.0 */
/* plan_stage.h: a pool and its nodes from short lines, by way of the configuration that
 * says the same; and what its leaves want and have.
 * Layer: tests. */
#ifndef SUBLET_TESTS_PLAN_STAGE_H
#define SUBLET_TESTS_PLAN_STAGE_H

#include "broker/plan/plan.h"
#include "broker/pool/pool.h"

struct plan_stage {
    struct arena arena;
    const char *text; /* the configuration */
    const struct plan *plan;
    struct plan_use *uses;
    struct pool_cycle cycle;
};

void plan_stage_init(struct plan_stage *stage);
void plan_stage_release(struct plan_stage *stage);

/* "SLOTS=100 ROUND=sticky": keys of section Pool; its name is p. */
void plan_stage_pool(struct plan_stage *stage, const char *keys);
/* "/a OWNED=10 LIMIT=12": keys of section PlanNode. */
void plan_stage_node(struct plan_stage *stage, const char *keys);

/* Reads it all; fails the test where that gives errors. Nobody wants or has anything.
 */
void plan_stage_build(struct plan_stage *stage);

/* "/a=10 /b=inf", "*=inf" for all leaves. */
void plan_stage_demand(struct plan_stage *stage, const char *pairs);
/* "/a=10 /b=8:3:2": has 8, of which 3 are recalled and 2 young. */
void plan_stage_alloc(struct plan_stage *stage, const char *pairs);

/* One cycle; `hosts` 0: not exclusive. */
void plan_stage_run(struct plan_stage *stage, int64_t slots, int64_t hosts);

int plan_stage_find(const struct plan_stage *stage, const char *node);

#endif
