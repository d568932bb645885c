/* SPDX-License-Identifier: Apache-2.0 */
/* plan_stage.c: see plan_stage.h. */
#include "tests/unit/broker/plan_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void plan_stage_init(struct plan_stage *stage)
{
    *stage = (struct plan_stage){.text = ""};
    arena_init(&stage->arena);
}

void plan_stage_release(struct plan_stage *stage)
{
    arena_release(&stage->arena);
}

static void add_section(struct plan_stage *stage, const char *section,
                        const char *first, const char *keys)
{
    struct conf_words words = conf_words(&stage->arena, keys);
    stage->text =
        arena_printf(&stage->arena, "%sBegin %s\n%s\n", stage->text, section, first);
    for (int i = 0; i < words.count; i++) {
        stage->text =
            arena_printf(&stage->arena, "%s%s\n", stage->text, words.words[i]);
    }
    stage->text = arena_printf(&stage->arena, "%sEnd %s\n", stage->text, section);
}

void plan_stage_pool(struct plan_stage *stage, const char *keys)
{
    add_section(stage, "Pool", "NAME = p", keys);
}

void plan_stage_node(struct plan_stage *stage, const char *keys)
{
    size_t length = strcspn(keys, " ");
    add_section(stage, "PlanNode",
                arena_printf(&stage->arena, "NAME = %.*s\nPOOL = p", (int)length, keys),
                keys + length);
}

void plan_stage_build(struct plan_stage *stage)
{
    struct conf *conf = arena_alloc(&stage->arena, 1, sizeof(*conf));
    struct plan_pools pools;
    conf_init(conf, &stage->arena);
    conf_read(conf, "stage", stage->text, strlen(stage->text));
    conf_check(conf);
    assert_true(plan_config_read(conf, &pools));
    for (const struct conf_diag *diag = conf->diags; diag != NULL; diag = diag->next) {
        if (diag->severity == CONF_ERROR) {
            fail_msg("%s: %s\n%s", diag->key, diag->text, stage->text);
        }
    }
    stage->plan = &pools.pools[0].plans[0];
    stage->uses =
        arena_alloc(&stage->arena, (size_t)stage->plan->n_nodes, sizeof(*stage->uses));
}

int plan_stage_find(const struct plan_stage *stage, const char *node)
{
    int found = plan_find(stage->plan, node);
    if (found == PLAN_NO_NODE) {
        fail_msg("no node \"%s\"", node);
    }
    return found;
}

static void set_demand(struct plan_use *use, const char *value)
{
    use->demand = strcmp(value, "inf") == 0 ? PLAN_UNLIMITED : strtoll(value, NULL, 10);
}

static void set_alloc(struct plan_use *use, const char *value)
{
    long long alloc = 0, recalled = 0, young = 0;
    assert_true(sscanf(value, "%lld:%lld:%lld", &alloc, &recalled, &young) > 0);
    use->alloc = alloc;
    use->recalled = recalled;
    use->young = young;
}

static void set_all(struct plan_stage *stage, const char *pairs,
                    void (*set)(struct plan_use *use, const char *value))
{
    char *rest = arena_str(&stage->arena, pairs);
    for (char *pair; (pair = strsep(&rest, " ")) != NULL;) {
        char *name = strsep(&pair, "=");
        if (pair == NULL) {
            continue; /* a blank too many, or "-" */
        }
        for (int i = 0; i < stage->plan->n_nodes; i++) {
            if (plan_is_leaf(&stage->plan->nodes[i]) &&
                (strcmp(name, "*") == 0 || i == plan_stage_find(stage, name))) {
                set(&stage->uses[i], pair);
            }
        }
    }
}

void plan_stage_demand(struct plan_stage *stage, const char *pairs)
{
    set_all(stage, pairs, set_demand);
}

void plan_stage_alloc(struct plan_stage *stage, const char *pairs)
{
    set_all(stage, pairs, set_alloc);
}

void plan_stage_run(struct plan_stage *stage, int64_t slots, int64_t hosts)
{
    if (hosts > 0) {
        pool_cycle_hosts(stage->plan, hosts, slots / hosts, stage->uses, &stage->cycle,
                         &stage->arena);
    } else {
        pool_cycle(stage->plan, slots, stage->uses, &stage->cycle, &stage->arena);
    }
}
