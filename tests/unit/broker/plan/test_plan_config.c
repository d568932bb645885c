/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_config.c: the Pool, PlanNode and TimeWindow sections, each rule of
 * plan_check.h, and the windows of a day. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "broker/plan/plan.h"

/* Lines 1 to 4, 5 to 6: what is tested begins in line 7. */
#define POOL "Begin Pool\nNAME = p\nSLOTS = 100\nEnd Pool\n"
#define NODES                                                                          \
    "Begin PlanNode\nNAME POOL OWNED RESERVE LIMIT RANK GRACE POLICY SITE QUEUES\n"
#define END "End PlanNode\n"

static struct arena arena;
static struct conf conf;
static struct plan_pools pools;

static int open_conf(void **state)
{
    arena_init(&arena);
    return 0;
}

static int close_conf(void **state)
{
    arena_release(&arena);
    return 0;
}

static bool read_text(const char *text)
{
    conf_init(&conf, &arena);
    conf_read(&conf, "f", text, strlen(text));
    conf_check(&conf);
    return plan_config_read(&conf, &pools);
}

static const struct plan_node *node_of(const struct plan *plan, const char *name)
{
    int found = plan_find(plan, name);
    assert_int_not_equal(found, PLAN_NO_NODE);
    return &plan->nodes[found];
}

static void the_manuals_example_is_read(void **state)
{
    assert_true(read_text(
        "EGO_DISABLE_RECLAIM_HYBRID_OWN = Y\n"
        "Begin Pool\n"
        "NAME = p\n"
        "SLOTS = 60\n"
        "CYCLE = 30s\n"
        "PLACEMENT = balanced\n"
        "REBALANCE = N\n"
        "EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS = Y\n"
        "EGO_CONSUMER_PRIORITY_DEFAULT = 7\n"
        "MAX_RECALL_PER_CYCLE = 5\n"
        "MIN_HOLD = 10\n"
        "MAX_BORROWER_GRACE = 5m\n"
        "ROUND = sticky\n"
        "End Pool\n"
        "Begin PlanNode\n"
        "NAME      POOL  OWNED  RESERVE  LIMIT  RANK  GRACE  POLICY  SITE   QUEUES\n"
        "/eng/sim  p     40     10       50     1     2m     -       south  (normal "
        "short)\n"
        "/eng      p     60     0        -      -     -      hybrid  -      -\n"
        "End PlanNode\n"
        "Begin TimeWindow\n"
        "NAME  POOL  FROM   TO\n"
        "day   p     08:00  20:00\n"
        "night p     20:00  08:00\n"
        "End TimeWindow\n"));
    assert_int_equal(conf.n_errors, 0);
    assert_int_equal(conf.n_warnings, 0);
    const struct plan_pool *pool = plan_config_find(&pools, "p");
    assert_non_null(pool);
    assert_null(plan_config_find(&pools, "q"));
    assert_int_equal(pool->n_windows, 2);
    const struct plan *plan = &pool->plans[1];
    assert_int_equal(plan->configured, 60);
    assert_int_equal(plan->settings.placement, PLAN_BALANCED);
    assert_int_equal(plan->settings.round, PLAN_ROUND_STICKY);
    assert_int_equal(plan->settings.cycle_ms, 30000);
    assert_true(plan->settings.is_even);
    assert_true(plan->settings.keeps_scaled); /* by the line outside sections */
    assert_false(plan->settings.rebalances);
    assert_int_equal(plan->settings.max_recall, 5);
    assert_int_equal(plan->settings.min_hold_ms, 10000);
    assert_int_equal(plan->settings.max_grace_ms, 300000);
    const struct plan_node *sim = node_of(plan, "/eng/sim");
    assert_int_equal(sim->own, 40);
    assert_int_equal(sim->reserve, 10);
    assert_int_equal(sim->limit, 50);
    assert_int_equal(sim->rank, 1);
    assert_int_equal(sim->grace_ms, 120000);
    assert_int_equal(sim->policy, PLAN_HYBRID);
    assert_string_equal(sim->site, "south");
    assert_int_equal(sim->n_queues, 2);
    assert_string_equal(sim->queues[1], "short");
    const struct plan_node *eng = node_of(plan, "/eng");
    assert_ptr_equal(&plan->nodes[sim->parent], eng);
    assert_int_equal(eng->limit, PLAN_UNLIMITED);
    assert_int_equal(eng->rank, 7);
    assert_int_equal(eng->grace_ms, 0);
}

static void defaults_are_as_in_the_manual(void **state)
{
    assert_true(read_text("Begin Pool\nNAME = p\nEnd Pool\n" NODES
                          "/a p 30 - - - - ownership s -\n"
                          "/a/x p - - - - - - s2 -\n/b p 12 - - - - - s3 -\n" END));
    const struct plan *plan = &pools.pools[0].plans[0];
    assert_int_equal(plan->configured, 42); /* what the first level owns */
    assert_int_equal(plan->settings.placement, PLAN_STACKED);
    assert_int_equal(plan->settings.round, PLAN_ROUND_RANK);
    assert_int_equal(plan->settings.cycle_ms, 30000);
    assert_false(plan->settings.is_even);
    assert_false(plan->settings.keeps_scaled);
    assert_true(plan->settings.rebalances);
    assert_int_equal(plan->settings.max_recall, PLAN_UNLIMITED);
    assert_int_equal(plan->settings.min_hold_ms, 0);
    assert_int_equal(plan->settings.max_grace_ms, -1);
    assert_false(plan->settings.keeps_idle);
    assert_int_equal(plan->settings.lost_ms, 300000);
    const struct plan_node *node = node_of(plan, "/a/x");
    assert_int_equal(node->own, 0);
    assert_int_equal(node->reserve, 0);
    assert_int_equal(node->rank, 0);
    assert_int_equal(node->grace_ms, 0);
    assert_int_equal(node->policy, PLAN_OWNERSHIP); /* inherited */
    assert_int_equal(node_of(plan, "/b")->policy, PLAN_HYBRID);
}

static void siblings_stand_by_rank_then_place(void **state)
{
    assert_true(read_text(POOL NODES "/c p 0 0 - 2 - - s1 -\n/b p 100 0 - 1 - - - -\n"
                                     "/a p 0 0 - 1 - - s2 -\n/b/z p 0 0 - 0 - - s3 -\n"
                                     "/b/y p 0 0 - 0 - - s4 -\n" END));
    static const char *const expected[] = {"/b", "/a", "/c", "/b/z", "/b/y"};
    const struct plan *plan = &pools.pools[0].plans[0];
    assert_int_equal(conf.n_errors, 0);
    for (int i = 0; i < plan->n_nodes; i++) {
        assert_string_equal(plan->nodes[i].name, expected[i]);
    }
    assert_int_equal(plan->n_top, 3);
    assert_int_equal(plan->nodes[0].first_child, 3);
    assert_int_equal(plan->by_pos[0], 2);
}

/* ---------------------------------------------------------------- complaints */

/* One complaint of that severity, at that line, of that key, that says so. */
static void expect_one(const char *text, enum conf_severity severity, int line,
                       const char *key, const char *part)
{
    int count = 0;
    bool is_right = false;
    read_text(text);
    for (const struct conf_diag *diag = conf.diags; diag != NULL; diag = diag->next) {
        if (diag->severity == severity) {
            count++;
            is_right = diag->line == line && diag->key != NULL &&
                       strcmp(diag->key, key) == 0 &&
                       strstr(diag->text, part) != NULL &&
                       strstr(diag->text, "expected") != NULL;
        }
    }
    if (count != 1 || !is_right) {
        const struct conf_diag *diag = conf.diags;
        fail_msg("%d complaints, the first in line %d: %s: %s\nexpected \"%s\" of\n%s",
                 count, diag != NULL ? diag->line : 0,
                 diag != NULL && diag->key != NULL ? diag->key : "-",
                 diag != NULL ? diag->text : "", part, text);
    }
    arena_clear(&arena);
}

static void each_rule_is_told_with_line_and_key(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *key, *part;
    } rows[] = {
        {POOL NODES "/a p 100 101 - - - - s -\n" END, 7, "RESERVE",
         "101 reserved of 100"},
        {POOL NODES "/a p 100 0 99 - - - s -\n" END, 7, "LIMIT", "99 is below the 100"},
        {POOL NODES "/a p 100 0 - - - - - -\n/a/b p 60 0 - - - - s -\n"
                    "/a/c p 41 0 - - - - t -\n" END,
         7, "OWNED", "own 101 together"},
        {POOL NODES "/a p 101 0 - - - - s -\n" END, 3, "SLOTS", "owns 101 of 100"},
        {POOL NODES "/a p 100 0 - - - - s -\n/a p 0 0 - - - - t -\n" END, 8, "NAME",
         "\"/a\" twice"},
        {POOL NODES "/a p 100 0 - - - - s -\n/b/c p 0 0 - - - - t -\n" END, 8, "NAME",
         "no parent, expected a node \"/b\""},
        {POOL NODES "/a p 100 0 - - - - s -\nb p 0 0 - - - - t -\n" END, 8, "NAME",
         "\"b\" is not a path"},
        {POOL NODES "/a p 100 0 - - - - s -\n/b/ p 0 0 - - - - t -\n" END, 8, "NAME",
         "is not a path"},
        {POOL NODES "/a p 100 0 - - - hybrid - -\n/a/b p 0 0 - - - ownership s -\n" END,
         8, "POLICY", "ownership below \"/a\", which is hybrid"},
        {POOL NODES "/a p 100 0 - - - - s -\n/a/b p 0 0 - - - - t -\n" END, 7, "SITE",
         "has children"},
        {POOL NODES "/a p 100 0 - - - - s -\n/b p 0 0 - - - - s -\n" END, 8, "SITE",
         "all queues of site \"s\" belong to node \"/a\""},
        {POOL NODES "/a p 100 0 - - - - s (x y)\n/b p 0 0 - - - - s (z y)\n" END, 8,
         "QUEUES", "queue \"y\" of site \"s\" belongs to node \"/a\""},
        {POOL NODES "/a p 100 0 - - - - - (x)\n" END, 7, "QUEUES", "without a site"},
        {POOL NODES "/a q 100 0 - - - - s -\n/b p 100 0 - - - - t -\n" END, 7, "POOL",
         "\"q\" is not known"},
        {POOL NODES "/a - 100 0 - - - - s -\n/b p 100 0 - - - - t -\n" END, 7, "POOL",
         "missing"},
        {POOL NODES "/a p many 0 - - - - s -\n" END, 7, "OWNED", "not a whole number"},
        {POOL NODES "/a p 100 0 - -1 - - s -\n" END, 7, "RANK", "out of bounds"},
        {POOL NODES "/a p 100 0 - 0 - equal s -\n" END, 7, "POLICY", "\"equal\""},
        {POOL NODES "/a p 100 5 - 0 - share s -\n" END, 7, "RESERVE",
         "\"/a\" is of share policy and owns nothing"},
        {POOL NODES "/a p 1 0 - 0 - share - -\n/a/b p 5 0 - 0 - hybrid s -\n" END, 8,
         "POLICY", "hybrid below \"/a\", which is share"},
        {POOL "Begin Pool\nNAME = p\nEnd Pool\n" NODES "/a p 100 - - - - - s -\n" END,
         6, "NAME", "\"p\" twice"},
        {POOL, 2, "NAME", "no nodes"},
        {"Begin Member\nNAME KEY_FILE ROLES\nn k (admin)\nEnd Member\n" POOL NODES
         "/a p 100 0 - - - - s -\n" END,
         11, "SITE", "\"s\" is not a member"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        expect_one(rows[i].text, CONF_ERROR, rows[i].line, rows[i].key, rows[i].part);
    }
}

/* ---------------------------------------------------------------- hours and prices */

#define HOURS_NODES "Begin PlanNode\nNAME POOL OWNED SITE HOURS PRICE\n"

static void hours_and_prices_are_read(void **state)
{
    assert_true(read_text(POOL HOURS_NODES "/a p 100 - 50 3\n/a/b p 0 s - -\n"
                                           "/a/c p 0 t 20 0\n/d p 0 u - -\n" END));
    assert_null(conf.diags);
    const struct plan *plan = &pools.pools[0].plans[0];
    assert_int_equal(node_of(plan, "/a")->hours, 50);
    assert_int_equal(node_of(plan, "/a/b")->hours, 0);
    assert_int_equal(plan_price(plan, plan_find(plan, "/a/b")), 3);
    assert_int_equal(plan_price(plan, plan_find(plan, "/a/c")), 0);
    assert_int_equal(plan_price(plan, plan_find(plan, "/d")), 0);
}

static void hours_that_cannot_hold_are_told(void **state)
{
    static const struct {
        const char *row;
        const char *key, *part;
    } rows[] = {
        {"/a p 100 s -1 -\n", "HOURS", "out of bounds"},
        {"/a p 100 s 0 -\n", "HOURS", "out of bounds"},
        {"/a p 100 s 1000000001 -\n", "HOURS", "out of bounds"},
        {"/a p 100 s 1.5 -\n", "HOURS", "not a whole number"},
        {"/a p 100 s - -3\n", "PRICE", "out of bounds"},
        {"/a p 100 s - 100001\n", "PRICE", "out of bounds"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char all[400];
        snprintf(all, sizeof(all), "%s%s%s%s", POOL, HOURS_NODES, rows[i].row, END);
        expect_one(all, CONF_ERROR, 7, rows[i].key, rows[i].part);
    }
    expect_one(POOL HOURS_NODES "/a p 100 - 50 -\n/a/b p 0 - - -\n"
                                "/a/b/c p 0 s 51 -\n" END,
               CONF_WARNING, 9, "HOURS", "51 are above the 50 of \"/a\"");
    expect_one(POOL "Begin PlanNode\nNAME POOL OWNED POLICY SITE HOURS\n"
                    "/a p 100 ownership s 9\n" END,
               CONF_WARNING, 7, "HOURS", "stays idle when its hours are used up");
}

/* A price may differ by window; a month has one quota. */
static void hours_are_the_same_in_all_windows(void **state)
{
#define HOURS_WINDOWS                                                                  \
    "Begin Pool\nNAME = p\nEnd Pool\nBegin TimeWindow\nNAME POOL FROM TO\n"            \
    "day p 08:00 20:00\nnight p 20:00 08:00\nEnd TimeWindow\n"                         \
    "Begin PlanNode\nNAME POOL OWNED SITE WINDOW HOURS PRICE\n"
    assert_true(
        read_text(HOURS_WINDOWS "/a p 9 s day 50 3\n/a p 9 s night 50 1\n" END));
    assert_null(conf.diags);
    assert_int_equal(plan_price(&pools.pools[0].plans[0], 0), 3);
    assert_int_equal(plan_price(&pools.pools[0].plans[1], 0), 1);
    expect_one(HOURS_WINDOWS "/a p 9 s - 50 3\n/a p 9 s night 40 1\n" END, CONF_ERROR,
               12, "HOURS", "another row of \"/a\" has 50");
    expect_one(HOURS_WINDOWS "/a p 9 s - - 3\n/a p 9 s night 40 1\n" END, CONF_ERROR,
               12, "HOURS", "another row of \"/a\" has none");
}

static void all_queues_and_one_of_them_collide(void **state)
{
    read_text(POOL NODES "/a p 100 0 - - - - s (x y)\n/b p 0 0 - - - - s -\n" END);
    assert_int_equal(conf.n_errors, 2); /* each of the two queues */
    assert_int_equal(conf.diags->line, 7);
    assert_string_equal(conf.diags->key, "QUEUES");
}

static void reserves_of_children_fit_their_parent(void **state)
{
    read_text(POOL NODES "/a p 100 0 - - - - - -\n/a/b p 60 60 - - - - s -\n"
                         "/a/c p 41 41 - - - - t -\n" END);
    assert_int_equal(conf.n_errors, 2); /* they own too much as well */
    assert_string_equal(conf.last_diag->key, "RESERVE");
    assert_non_null(strstr(conf.last_diag->text, "reserve 101 together"));
}

/* Ratios are compared with nothing: neither with the pool, nor with the children's, nor
 * with limits. */
static void ratios_have_no_balance(void **state)
{
    read_text(POOL NODES "/a p 1 - - - - share - -\n/a/b p 25 - 2 - - - s -\n" END);
    assert_int_equal(conf.n_errors, 0);
    assert_null(conf.diags);
}

static void doubtful_plans_are_warned_of(void **state)
{
    expect_one(POOL NODES "/a p 60 0 - - - - s -\n" END, CONF_WARNING, 3, "SLOTS",
               "owns 60 of 100");
    expect_one("Begin Pool\nNAME = p\nSHARING = N\nEnd Pool\n" NODES
               "/a p 60 0 - - - - s -\n" END,
               CONF_WARNING, 3, "SHARING", "no node is of ownership policy");
    expect_one(POOL NODES "/a p 100 0 200 - - - - -\n/a/b p 0 0 300 - - - s -\n" END,
               CONF_WARNING, 8, "LIMIT", "300 is above its parent's 200");
    expect_one(POOL NODES "/a p 100 0 - - - - - -\n" END, CONF_WARNING, 7, "SITE",
               "\" has no SITE and so gets nothing, expected one");
    expect_one(POOL NODES "/a p 100 0 - - 30s - - -\n/a/b p 100 0 - - - - s -\n" END,
               CONF_WARNING, 7, "GRACE", "expected GRACE at leaves only");
    read_text(POOL NODES "/a p 60 0 - - - - s -\n" END);
    assert_int_equal(conf.n_errors, 0);
}

static void overcommitment_may_be_allowed(void **state)
{
    read_text("Begin Pool\nNAME = p\nSLOTS = 10\nALLOW_OVERCOMMIT = Y\nEnd Pool\n" NODES
              "/a p 60 0 - - - - s -\n" END);
    assert_int_equal(conf.n_errors, 0);
}

/* ---------------------------------------------------------------- windows */

#define WINDOWS "Begin TimeWindow\nNAME POOL FROM TO\n"
#define WINDOW_NODES "Begin PlanNode\nNAME POOL OWNED SITE WINDOW\n"

static void rows_of_a_window_stand_for_the_others(void **state)
{
    read_text("Begin Pool\nNAME = p\nEnd Pool\n" WINDOWS
              "day p 08:00 20:00\nnight p 20:00 08:00\nEnd TimeWindow\n" WINDOW_NODES
              "/a p 10 s -\n/b p 5 t -\n/b p 20 t night\n/c p 1 u day\n" END);
    assert_int_equal(conf.n_errors, 0);
    const struct plan *day = &pools.pools[0].plans[0], *night = day + 1;
    assert_int_equal(day->configured, 16);
    assert_int_equal(night->configured, 30);
    assert_int_equal(day->n_nodes, 3);
    assert_int_equal(night->n_nodes, 2);
    assert_int_equal(node_of(night, "/b")->own, 20);
}

static void what_holds_in_all_windows_is_told_once(void **state)
{
    expect_one("Begin Pool\nNAME = p\nEnd Pool\n" WINDOWS
               "day p 08:00 20:00\nnight p 20:00 08:00\nEnd TimeWindow\n"
               "Begin PlanNode\nNAME POOL OWNED RESERVE SITE\n/a p 1 2 s\n" END,
               CONF_ERROR, 11, "RESERVE", "2 reserved of 1");
}

static void windows_divide_the_day(void **state)
{
    static const struct {
        const char *windows;
        int line;
        const char *key, *part;
    } rows[] = {
        {"day p 08:00 20:00\nnight p 20:30 08:00\n", 6, "FROM",
         "no window covers 20:00"},
        {"day p 08:00 20:00\nnight p 19:00 08:00\n", 6, "FROM",
         "\"day\" and \"night\" both cover 19:00"},
        {"day p 08:00 20:00\nday p 20:00 08:00\n", 7, "NAME", "\"day\" twice"},
        {"day q 08:00 20:00\n", 6, "POOL", "\"q\" is not known"},
        {"day p 8:00 20:00\n", 6, "FROM", "not a time of day"},
        {"day p 08:00 24:01\n", 6, "TO", "not a time of day"},
        {"day p 08:60 24:00\n", 6, "FROM", "not a time of day"},
        {"day p 08:00 -\n", 6, "TO", "missing"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text =
            arena_printf(&arena,
                         "Begin Pool\nNAME = p\nEnd Pool\n" WINDOWS
                         "%sEnd TimeWindow\n" WINDOW_NODES "/a p 1 s -\n" END,
                         rows[i].windows);
        read_text(text);
        const struct conf_diag *found = NULL;
        for (const struct conf_diag *diag = conf.diags; diag != NULL;
             diag = diag->next) {
            bool is_right = diag->line == rows[i].line && diag->key != NULL &&
                            strcmp(diag->key, rows[i].key) == 0 &&
                            strstr(diag->text, rows[i].part) != NULL;
            found = is_right ? diag : found;
        }
        if (found == NULL) {
            fail_msg("not told: \"%s\" of\n%s", rows[i].part, text);
        }
        arena_clear(&arena);
    }
}

#define HOUR INT64_C(3600000)

static void the_window_in_force_goes_over_midnight(void **state)
{
    static const struct plan_window windows[] = {
        {"day", 8 * 60, 20 * 60}, {"late", 20 * 60, 1440}, {"early", 0, 8 * 60}};
    struct err err;
    assert_int_equal(plan_window_check(windows, 3, &err), 0);
    assert_int_equal(plan_window_at(windows, 3, 0), 2);
    assert_int_equal(plan_window_at(windows, 3, 8 * HOUR - 1), 2);
    assert_int_equal(plan_window_at(windows, 3, 8 * HOUR), 0);
    assert_int_equal(plan_window_at(windows, 3, 47 * HOUR), 1);
    assert_int_equal(plan_window_end_ms(windows, 3, 47 * HOUR), 48 * HOUR);
    assert_int_equal(plan_window_end_ms(windows, 3, 24 * HOUR), 32 * HOUR);

    static const struct plan_window two[] = {{"day", 480, 1200}, {"night", 1200, 480}};
    assert_int_equal(plan_window_at(two, 2, 2 * HOUR), 1);
    assert_int_equal(plan_window_end_ms(two, 2, 23 * HOUR), 32 * HOUR);
    assert_int_equal(plan_window_end_ms(two, 2, 2 * HOUR), 8 * HOUR);
    assert_true(plan_window_end_ms(two, 1, 2 * HOUR) == INT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_conf, close_conf)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_manuals_example_is_read),
        TEST(defaults_are_as_in_the_manual),
        TEST(siblings_stand_by_rank_then_place),
        TEST(each_rule_is_told_with_line_and_key),
        TEST(hours_and_prices_are_read),
        TEST(hours_that_cannot_hold_are_told),
        TEST(hours_are_the_same_in_all_windows),
        TEST(all_queues_and_one_of_them_collide),
        TEST(reserves_of_children_fit_their_parent),
        TEST(ratios_have_no_balance),
        TEST(doubtful_plans_are_warned_of),
        TEST(overcommitment_may_be_allowed),
        TEST(rows_of_a_window_stand_for_the_others),
        TEST(what_holds_in_all_windows_is_told_once),
        TEST(windows_divide_the_day),
        TEST(the_window_in_force_goes_over_midnight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
