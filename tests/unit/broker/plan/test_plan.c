/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c: reads tests/data/plan.tsv and holds cycles to it; then explanations, and
 * what changes from one policy to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "broker/pool/pool.h"
#include "broker/pool/pool_switch.h"
#include "tests/unit/broker/plan_stage.h"

enum { LINE_SIZE = 512, COLUMNS = 5 };

static const char data_file[] = "tests/data/plan.tsv";

/* ---------------------------------------------------------------- the rows */

enum figure { QUOTA, SCALED, CLAIM, GRANT, RECALL, CANCEL, WAIT, FREE, N_FIGURES };

static const char *const figure_names[N_FIGURES] = {
    "quota", "scaled", "claim", "grant", "recall", "cancel", "wait", "free"};

static int64_t figure_of(const struct pool_cycle *cycle, int node, enum figure figure)
{
    switch (figure) {
    case SCALED:
        return cycle->shares[node].scaled;
    case CLAIM:
        return cycle->shares[node].claim;
    case GRANT:
        return cycle->moves[node].grant;
    case RECALL:
        return cycle->moves[node].recall;
    case CANCEL:
        return cycle->moves[node].cancel;
    case WAIT:
        return cycle->moves[node].wait;
    case FREE:
        return cycle->moves[node].free;
    case QUOTA:
    case N_FIGURES:
        break;
    }
    return cycle->shares[node].quota;
}

static void expect(const struct plan_stage *stage, enum figure figure, int node,
                   int64_t expected, int number, const char *why)
{
    int64_t got = figure_of(&stage->cycle, node, figure);
    if (got != expected) {
        fail_msg("%s:%d: %s of %s is %lld, expected %lld: %s", data_file, number,
                 figure_names[figure], stage->plan->nodes[node].name, (long long)got,
                 (long long)expected, why);
    }
}

/* Leaves that `seen` does not have move nothing of that kind. */
static void expect_nothing_else(const struct plan_stage *stage, enum figure figure,
                                const bool *seen, int number, const char *why)
{
    for (int i = 0; i < stage->plan->n_nodes; i++) {
        if (plan_is_leaf(&stage->plan->nodes[i]) && !seen[i]) {
            expect(stage, figure, i, 0, number, why);
        }
    }
}

static void check_figures(struct plan_stage *stage, char *expected, int number,
                          const char *why)
{
    enum figure figure = QUOTA;
    bool is_given[N_FIGURES] = {false};
    bool *seen[N_FIGURES];
    for (int i = 0; i < N_FIGURES; i++) {
        seen[i] =
            arena_alloc(&stage->arena, (size_t)stage->plan->n_nodes, sizeof(bool));
    }
    for (char *word; (word = strsep(&expected, " ")) != NULL;) {
        char *name = strsep(&word, "=");
        if (word != NULL) {
            int node = plan_stage_find(stage, name);
            seen[figure][node] = true;
            expect(stage, figure, node, strtoll(word, NULL, 10), number, why);
            continue;
        }
        int found = 0;
        while (found < N_FIGURES && strcmp(figure_names[found], name) != 0) {
            found++;
        }
        if (found == N_FIGURES) {
            fail_msg("%s:%d: unknown word \"%s\"", data_file, number, name);
        }
        figure = (enum figure)found;
        is_given[figure] = true;
    }
    for (int i = GRANT; i <= WAIT; i++) {
        if (is_given[i]) {
            expect_nothing_else(stage, (enum figure)i, seen[i], number, why);
        }
    }
}

static void run_row(struct plan_stage *stage, char *line, int number)
{
    char *columns[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = strsep(&line, "\t");
        if (columns[i] == NULL) {
            fail_msg("%s:%d: %d columns, expected %d", data_file, number, i, COLUMNS);
        }
    }
    if (stage->plan == NULL) {
        plan_stage_build(stage);
    }
    memset(stage->uses, 0, (size_t)stage->plan->n_nodes * sizeof(*stage->uses));
    plan_stage_demand(stage, columns[2]);
    plan_stage_alloc(stage, columns[3]);
    long long slots = 0, each = 1;
    int n_numbers = sscanf(columns[1], "%lldx%lld", &slots, &each);
    assert_true(n_numbers > 0);
    plan_stage_run(stage, slots * each, n_numbers == 2 ? slots : 0);
    check_figures(stage, columns[0], number, columns[4]);
}

static void rows_hold(void **state)
{
    FILE *file = fopen(data_file, "r");
    struct plan_stage stage;
    char line[LINE_SIZE];
    int n_rows = 0;
    assert_non_null(file);
    plan_stage_init(&stage);
    for (int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "@pool", 5) == 0) {
            plan_stage_release(&stage);
            plan_stage_init(&stage);
            plan_stage_pool(&stage, line + 5);
        } else if (strncmp(line, "@node ", 6) == 0) {
            plan_stage_node(&stage, line + 6);
        } else if (line[0] != '#' && line[0] != '\0') {
            run_row(&stage, line, number);
            n_rows++;
        }
    }
    plan_stage_release(&stage);
    fclose(file);
    assert_true(n_rows > 80);
}

/* ---------------------------------------------------------------- W23 */

static void switching_policies_keeps_what_is_owned(void **state)
{
    static const struct {
        enum plan_policy before, after;
        struct pool_holding holding;
        int64_t own, keep;
        const char *why;
    } rows[] = {
        {PLAN_OWNERSHIP, PLAN_HYBRID, {14, 4}, 8, 8, "10 of its own, 8 of them kept"},
        {PLAN_OWNERSHIP,
         PLAN_HYBRID,
         {6, 0},
         12,
         6,
         "what it lent comes home by itself"},
        {PLAN_OWNERSHIP, PLAN_HYBRID, {14, 10}, 8, 4, "borrowed slots are recalled"},
        {PLAN_HYBRID, PLAN_OWNERSHIP, {14, 0}, 8, 8, "more than it owns now"},
        {PLAN_HYBRID, PLAN_OWNERSHIP, {5, 0}, 8, 5, "less than it owns now"},
        {PLAN_HYBRID, PLAN_HYBRID, {14, 0}, 8, 14, "the next quota decides"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t keep = pool_switch_keep(rows[i].before, rows[i].after, rows[i].holding,
                                        rows[i].own);
        if (keep != rows[i].keep) {
            fail_msg("keeps %lld, expected %lld: %s", (long long)keep,
                     (long long)rows[i].keep, rows[i].why);
        }
    }
}

/* ---------------------------------------------------------------- why */

static void expect_why(struct plan_stage *stage, const char *node, const char *rule,
                       const char *text)
{
    int found = plan_stage_find(stage, node);
    const char *why = pool_explain(&stage->cycle, found, &stage->arena);
    assert_string_equal(pool_explain_rule(stage->cycle.shares[found].rule), rule);
    if (strcmp(why, text) != 0) {
        fail_msg("%s: \"%s\", expected \"%s\"", node, why, text);
    }
}

static void each_rule_says_why(void **state)
{
    struct plan_stage stage;
    plan_stage_init(&stage);
    plan_stage_pool(&stage, "SLOTS=100");
    plan_stage_node(&stage, "/x OWNED=10 LIMIT=10");
    plan_stage_node(&stage, "/y OWNED=20 RESERVE=6");
    plan_stage_node(&stage, "/z OWNED=20 GRACE=2m");
    plan_stage_node(&stage, "/w OWNED=50");
    plan_stage_node(&stage, "/v");
    plan_stage_node(&stage, "/u");
    plan_stage_build(&stage);
    plan_stage_demand(&stage, "/x=30 /z=inf /w=inf /v=9");
    plan_stage_alloc(&stage, "/z=40 /v=3");
    plan_stage_run(&stage, 86, 0);
    expect_why(&stage, "/x", "limit",
               "10 of 30 wanted: its LIMIT is 10; gets 10 idle slots now");
    expect_why(&stage, "/y", "reserve",
               "6 of 0 wanted: its RESERVE keeps 6; 6 are kept idle for it");
    expect_why(
        &stage, "/z", "level",
        "20 of any number wanted: its share by OWNED 20 is 20.000; 20 are recalled "
        "within 120 s, as others have less than their quota");
    expect_why(&stage, "/w", "level",
               "50 of any number wanted: its share by OWNED 50 is 50.000; gets 27 idle "
               "slots now, 23 when they are returned");
    expect_why(
        &stage, "/v", "last",
        "0 of 9 wanted: it owns nothing, and its siblings take all; 3 are recalled "
        "within 0 s, as others have less than their quota");
    expect_why(&stage, "/u", "none", "0 of 0 wanted: it has no demand");
    plan_stage_release(&stage);
}

static void odd_slots_and_floors_say_why(void **state)
{
    struct plan_stage stage;
    plan_stage_init(&stage);
    plan_stage_pool(&stage, "");
    plan_stage_node(&stage, "/a OWNED=10");
    plan_stage_node(&stage, "/b OWNED=20");
    plan_stage_node(&stage, "/c");
    plan_stage_node(&stage, "/d");
    plan_stage_build(&stage);
    plan_stage_demand(&stage, "/a=inf /b=inf");
    plan_stage_alloc(&stage, "/a=4 /b=6");
    plan_stage_run(&stage, 10, 0);
    expect_why(
        &stage, "/a", "level",
        "4 of any number wanted: its share by OWNED 10 is 3.333, rounded up by rank");
    plan_stage_demand(&stage, "/a=0 /b=0 /c=9 /d=9");
    plan_stage_alloc(&stage, "/a=0 /b=0 /c=5:1 /d=2");
    plan_stage_run(&stage, 7, 0);
    expect_why(
        &stage, "/c", "even",
        "4 of 9 wanted: an equal part of what is left makes 3.500, rounded up by "
        "rank");
    plan_stage_alloc(&stage, "/c=4:1 /d=3");
    plan_stage_run(&stage, 7, 0);
    expect_why(
        &stage, "/c", "even",
        "4 of 9 wanted: an equal part of what is left makes 3.500, rounded up by "
        "rank; the recall of 1 is cancelled");
    plan_stage_release(&stage);
}

/* ---------------------------------------------------------------- what is shown */

static void a_view_has_nodes_in_file_order_with_nulls_for_no_bound(void **state)
{
    struct plan_stage stage;
    plan_stage_init(&stage);
    plan_stage_pool(&stage, "");
    plan_stage_node(&stage, "/b OWNED=10 LIMIT=12 RANK=2");
    plan_stage_node(&stage, "/a/x");
    plan_stage_node(&stage, "/a RANK=1");
    plan_stage_build(&stage);
    plan_stage_demand(&stage, "/b=20 /a/x=inf");
    plan_stage_run(&stage, 20, 0);
    const struct value *view = pool_explain_cycle(&stage.cycle, true, &stage.arena);
    assert_int_equal(value_find(view, "schema_version")->number, 1);
    assert_int_equal(value_find(view, "slots")->number, 20);
    const struct value *row = value_find(view, "nodes")->first;
    assert_string_equal(value_find(row, "node")->text, "/b");
    assert_int_equal(value_find(row, "limit")->number, 12);
    assert_int_equal(value_find(row, "quota")->number, 12);
    assert_int_equal(value_find(row, "scaled")->number, 12);
    row = row->next;
    assert_string_equal(value_find(row, "node")->text, "/a/x");
    assert_int_equal(value_find(row, "demand")->kind, VALUE_NULL);
    assert_int_equal(value_find(row, "limit")->kind, VALUE_NULL);
    assert_string_equal(value_find(row, "rule")->text, "even");
    row = row->next;
    assert_string_equal(value_find(row, "node")->text, "/a");
    assert_int_equal(value_find(row, "grant")->number, 8);
    assert_null(row->next);
    plan_stage_release(&stage);
}

static void graces_are_cut_at_the_pools(void **state)
{
    struct plan_stage stage;
    plan_stage_init(&stage);
    plan_stage_pool(&stage, "MAX_BORROWER_GRACE=1m");
    plan_stage_node(&stage, "/a OWNED=1 GRACE=30");
    plan_stage_node(&stage, "/b OWNED=1 GRACE=1h");
    plan_stage_build(&stage);
    assert_int_equal(plan_grace_ms(stage.plan, 0), 30000);
    assert_int_equal(plan_grace_ms(stage.plan, 1), 60000);
    plan_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold),
        cmocka_unit_test(switching_policies_keeps_what_is_owned),
        cmocka_unit_test(each_rule_says_why),
        cmocka_unit_test(odd_slots_and_floors_say_why),
        cmocka_unit_test(a_view_has_nodes_in_file_order_with_nulls_for_no_bound),
        cmocka_unit_test(graces_are_cut_at_the_pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
