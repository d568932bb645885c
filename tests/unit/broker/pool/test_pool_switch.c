/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_switch.c: what leaves give back when their branch goes over to another
 * policy, and what the cycle makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "broker/pool/pool.h"
#include "broker/pool/pool_switch.h"
#include "tests/unit/broker/plan_stage.h"

struct pair {
    struct plan_stage before, after;
};

/* Nodes by their keys; `%` stands for the policy. `alloc` says which node has what. */
static void open(struct pair *pair, const char *const *nodes, const char *before,
                 const char *after, const char *alloc)
{
    plan_stage_init(&pair->before);
    plan_stage_init(&pair->after);
    plan_stage_pool(&pair->before, "");
    plan_stage_pool(&pair->after, "");
    for (int i = 0; nodes[i] != NULL; i++) {
        const char *mark = strchr(nodes[i], '%');
        int length = (int)(mark != NULL ? (size_t)(mark - nodes[i]) : strlen(nodes[i]));
        const char *rest = mark != NULL ? mark + 1 : "";
        plan_stage_node(&pair->before,
                        arena_printf(&pair->before.arena, "%.*s%s%s", length, nodes[i],
                                     mark != NULL ? before : "", rest));
        plan_stage_node(&pair->after,
                        arena_printf(&pair->after.arena, "%.*s%s%s", length, nodes[i],
                                     mark != NULL ? after : "", rest));
    }
    plan_stage_build(&pair->before);
    plan_stage_build(&pair->after);
    plan_stage_demand(&pair->before, "*=inf");
    plan_stage_demand(&pair->after, "*=inf");
    plan_stage_alloc(&pair->before, alloc);
    plan_stage_alloc(&pair->after, alloc);
}

static void close(struct pair *pair)
{
    plan_stage_release(&pair->before);
    plan_stage_release(&pair->after);
}

static void change(struct pair *pair, int64_t slots)
{
    const struct plan *plan = pair->after.plan;
    int was[16];
    plan_stage_run(&pair->before, slots, 0);
    for (int i = 0; i < plan->n_nodes; i++) {
        was[i] = plan_find(pair->before.plan, plan->nodes[i].name);
    }
    struct pool_last_cycle before = {pair->before.plan, slots};
    pool_switch_force(before, was, plan, slots, pair->after.uses, &pair->after.arena);
    plan_stage_run(&pair->after, slots, 0);
}

/* "/a 6, /b 0": what each leaf gives back, in the order of the plan. */
static void expect_forced(struct pair *pair, const char *expected, const char *why)
{
    char text[128] = "";
    for (int i = 0; i < pair->after.plan->n_nodes; i++) {
        if (plan_is_leaf(&pair->after.plan->nodes[i])) {
            size_t length = strlen(text);
            snprintf(text + length, sizeof(text) - length, "%s%s %lld",
                     length > 0 ? ", " : "", pair->after.plan->nodes[i].name,
                     (long long)pair->after.uses[i].forced);
        }
    }
    if (strcmp(text, expected) != 0) {
        fail_msg("%s: %s, expected %s", why, text, expected);
    }
}

static void what_leaves_give_back(void **state)
{
    (void)state;
    static const struct {
        const char *nodes[6];
        const char *before, *after, *alloc;
        int64_t slots;
        const char *expected, *why;
    } rows[] = {
        {{"/a OWNED=8 POLICY=%", "/b OWNED=22 POLICY=%"},
         "hybrid",
         "ownership",
         "/a=14 /b=16",
         30,
         "/a 6, /b 0",
         "W23: hybrid used 14, owns 8: the borrowed 6 go"},
        {{"/a OWNED=8 POLICY=%", "/b OWNED=22 POLICY=%"},
         "ownership",
         "hybrid",
         "/a=8 /b=22",
         30,
         "/a 0, /b 0",
         "nobody has more than it owns"},
        {{"/a OWNED=20 POLICY=%", "/a/x OWNED=10", "/a/y OWNED=10", "/b OWNED=10"},
         "ownership",
         "hybrid",
         "/a/x=14 /a/y=6 /b=10",
         30,
         "/b 0, /a/x 4, /a/y 0",
         "/a/x has borrowed 4 of /a/y"},
        {{"/a OWNED=20 POLICY=%", "/a/x OWNED=10", "/a/y OWNED=10", "/b OWNED=10"},
         "hybrid",
         "ownership",
         "/a/x=14 /a/y=6 /b=10",
         30,
         "/b 0, /a/x 4, /a/y 0",
         "the same the other way: /a/x owns 10"},
        {{"/a OWNED=20 POLICY=%", "/a/x OWNED=8", "/a/y OWNED=8", "/b OWNED=10"},
         "ownership",
         "hybrid",
         "/a/x=16 /a/y=4 /b=10",
         30,
         "/b 0, /a/x 4, /a/y 0",
         "4 of /a are nobody's in it, and stay; what /a/x has of /a/y goes"},
        {{"/a OWNED=20 POLICY=%", "/b OWNED=10", "/a/x", "/a/y"},
         "hybrid",
         "ownership",
         "/a/x=20 /a/y=5 /b=5",
         30,
         "/b 0, /a/x 4, /a/y 1",
         "ownership that is not divided stays in the branch: 25 have 20, 20 to 5"},
        {{"/a OWNED=15 POLICY=hybrid", "/b OWNED=15 POLICY=hybrid"},
         "",
         "",
         "/a=30",
         30,
         "/a 0, /b 0",
         "the policy stays: the next quota decides"},
        {{"/a OWNED=20 POLICY=%", "/b OWNED=20 POLICY=%"},
         "hybrid",
         "ownership",
         "/a=20 /b=0",
         20,
         "/a 0, /b 0",
         "in a pool half the size the first owns 20 of 20: ranks count"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pair pair;
        open(&pair, rows[i].nodes, rows[i].before, rows[i].after, rows[i].alloc);
        change(&pair, rows[i].slots);
        expect_forced(&pair, rows[i].expected, rows[i].why);
        close(&pair);
    }
}

/* Nobody else wants anything: it is recalled all the same, and nothing is granted to it
 * meanwhile; then it is granted again. */
static void the_cycle_recalls_it_for_nobody(void **state)
{
    (void)state;
    static const char *const nodes[] = {"/a OWNED=8 POLICY=%", "/b OWNED=22 POLICY=%",
                                        NULL};
    struct pair pair;
    open(&pair, nodes, "ownership", "hybrid", "/a=8");
    int a = plan_stage_find(&pair.before, "/a");
    pair.before.uses[a].alloc = pair.after.uses[a].alloc =
        12; /* its limit was raised */
    plan_stage_demand(&pair.after, "/b=0");
    change(&pair, 30);
    const struct pool_move *move = &pair.after.cycle.moves[a];
    assert_int_equal(pair.after.cycle.shares[a].quota, 30);
    assert_int_equal(move->recall, 4);
    assert_int_equal(move->grant, 0);
    assert_int_equal(pool_why(&pair.after.cycle, a), POOL_WHY_SWITCH);
    assert_non_null(strstr(pool_explain(&pair.after.cycle, a, &pair.after.arena),
                           "4 are recalled within 0 s, as its policy has changed with "
                           "the time window"));
    /* The next cycle, nothing home yet: neither recalled again nor cancelled. */
    pair.after.uses[a].recalled = 4;
    plan_stage_run(&pair.after, 30, 0);
    assert_int_equal(move[0].recall, 4); /* the cycle before is as it was */
    assert_int_equal(pair.after.cycle.moves[a].recall, 0);
    assert_int_equal(pair.after.cycle.moves[a].cancel, 0);
    assert_int_equal(pair.after.cycle.moves[a].grant, 0);
    /* Home. */
    pair.after.uses[a] =
        (struct plan_use){.alloc = 8, .demand = pair.after.uses[a].demand};
    plan_stage_run(&pair.after, 30, 0);
    assert_int_equal(pair.after.cycle.moves[a].grant, 22);
    close(&pair);
}

static void without_rebalance_nothing_is_forced(void **state)
{
    (void)state;
    struct plan_stage stage;
    plan_stage_init(&stage);
    plan_stage_pool(&stage, "REBALANCE=N");
    plan_stage_node(&stage, "/a OWNED=8");
    plan_stage_node(&stage, "/b OWNED=8");
    plan_stage_build(&stage);
    plan_stage_demand(&stage, "/a=inf");
    plan_stage_alloc(&stage, "/a=14");
    int a = plan_stage_find(&stage, "/a");
    stage.uses[a].forced = 6;
    plan_stage_run(&stage, 16, 0);
    assert_int_equal(stage.cycle.moves[a].recall, 0);
    plan_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leaves_give_back),
        cmocka_unit_test(the_cycle_recalls_it_for_nobody),
        cmocka_unit_test(without_rebalance_nothing_is_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
