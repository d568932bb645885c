/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_view.c: the pages of a large plan are of one computation, a page may begin
 * after a node or after so many rows, and rows may be arrays of the fields asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/conf/conf.h"
#include "broker/broker_parts.h"
#include "broker/view/broker_view.h"
#include "tests/unit/broker/stage.h"

enum { NODES = 1800, MORE_NODES = 40000, PAGE = 100, TEXT_SIZE = 2 << 20 };

static struct arena arena;
static struct plan_pools pools;
static struct stage stage;

/* /q0, /q1, ... each of them a queue of south. */
static int open_nodes(int n_nodes)
{
    static char text[TEXT_SIZE];
    struct conf *conf;
    int n = snprintf(text, sizeof(text), "%s",
                     "Begin Pool\nNAME = p\nCYCLE = 10s\nEnd Pool\n"
                     "Begin PlanNode\nNAME POOL OWNED SITE QUEUES\n");
    for (int i = 0; i < n_nodes; i++) {
        n += snprintf(text + n, sizeof(text) - (size_t)n, "/q%d p 1 south (q%d)\n", i,
                      i);
    }
    n += snprintf(text + n, sizeof(text) - (size_t)n, "End PlanNode\n");
    assert_true(n < TEXT_SIZE);
    arena_init(&arena);
    conf = arena_alloc(&arena, 1, sizeof(*conf));
    conf_init(conf, &arena);
    conf_read(conf, "stage", text, strlen(text));
    conf_check(conf);
    assert_true(plan_config_read(conf, &pools));
    stage_open_pools(&stage, &pools);
    return 0;
}

static int open_plan(void **state)
{
    (void)state;
    return open_nodes(NODES);
}

static int open_larger_plan(void **state)
{
    (void)state;
    return open_nodes(MORE_NODES);
}

static int close_plan(void **state)
{
    (void)state;
    stage_close(&stage);
    arena_release(&arena);
    return 0;
}

/* Rows of the page after that; `next` is where the next one begins. */
static const struct value *ask(const char *host, const char *after, int64_t now_ms,
                               const char **next)
{
    struct msg_query query = {
        .kind = QUERY_PLAN, .name = "p", .host = host, .after = after, .limit = PAGE};
    struct value *page = plan_view_page(stage.broker, &arena, &query, now_ms, next);
    return value_find(page, "nodes");
}

static const char *first_node(const struct value *rows)
{
    for (const struct value *at = rows->first->first; at != NULL; at = at->next) {
        if (strcmp(at->key, "node") == 0) {
            return at->text;
        }
    }
    return "";
}

static int n_computed(void)
{
    return stage.broker->pools.items[0].look->n_computed;
}

static void pages_of_a_listing_are_of_one_computation(void **state)
{
    (void)state;
    const char *next = "";
    int n_pages = 0, n_rows = 0;
    int64_t now_ms = stage.now_ms;
    do {
        n_rows += (int)ask("", next, now_ms, &next)->count;
        n_pages++;
        now_ms += 2000; /* a slow client */
    } while (next[0] != '\0');
    assert_int_equal(n_rows, NODES);
    assert_int_equal(n_pages, NODES / PAGE);
    assert_int_equal(n_computed(), 1);
    ask("", "", now_ms, &next); /* another listing, later */
    assert_int_equal(n_computed(), 2);
}

static void nodes_by_name_are_of_one_computation(void **state)
{
    (void)state;
    const char *next;
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "/q%d", i * 17);
        const struct value *rows = ask(name, "", stage.now_ms + i, &next);
        assert_int_equal(rows->count, 1);
        assert_string_equal(first_node(rows), name);
    }
    assert_int_equal(n_computed(), 1);
}

/* 40,000 nodes, each 20 of them for a millisecond. */
static void a_larger_plan_is_computed_more_seldom(void **state)
{
    (void)state;
    const char *next;
    ask("/q1", "", stage.now_ms, &next);
    ask("/q1", "", stage.now_ms + 1999, &next);
    assert_int_equal(n_computed(), 1);
    ask("/q1", "", stage.now_ms + 2000, &next);
    assert_int_equal(n_computed(), 2);
}

static void rows_are_arrays_of_the_fields_asked_for(void **state)
{
    (void)state;
    struct msg_query query = {.kind = QUERY_PLAN,
                              .name = "p",
                              .after = "7",
                              .limit = 2,
                              .fields = "owned,node,nothing,queues"};
    const char *next;
    const struct value *page =
        plan_view_page(stage.broker, &arena, &query, stage.now_ms, &next);
    const struct value *fields = value_find(page, "fields");
    const struct value *row = value_find(page, "nodes")->first;
    assert_int_equal(value_find(page, "n_nodes")->number, NODES);
    assert_int_equal(fields->count, 4);
    assert_string_equal(fields->first->next->text, "node");
    assert_int_equal(row->kind, VALUE_ARRAY);
    assert_int_equal(row->count, 4);
    assert_int_equal(row->first->number, 1);
    assert_string_equal(row->first->next->text, "/q7");
    assert_int_equal(row->first->next->next->kind, VALUE_NULL);
    assert_string_equal(row->last->first->text, "q7");
    assert_string_equal(next, "/q8");
    query.fields = ""; /* objects again */
    page = plan_view_page(stage.broker, &arena, &query, stage.now_ms, &next);
    assert_null(value_find(page, "fields"));
    assert_string_equal(value_find(value_find(page, "nodes")->first, "node")->text,
                        "/q7");
}

/* A query of many names does not make long rows. */
static void a_row_has_no_more_values_than_there_are_fields(void **state)
{
    (void)state;
    static char names[4000];
    struct msg_query query = {.kind = QUERY_PLAN, .name = "p", .fields = names};
    const char *next;
    for (size_t i = 0; i + 5 < sizeof(names); i += 4) {
        memcpy(names + i, "why,", 4);
    }
    const struct value *page =
        plan_view_page(stage.broker, &arena, &query, stage.now_ms, &next);
    assert_in_range(value_find(page, "nodes")->first->count, 1, 30);
}

static void a_page_begins_after_so_many_rows(void **state)
{
    (void)state;
    const char *next;
    const struct value *rows = ask("", "700", stage.now_ms, &next);
    assert_string_equal(first_node(rows), "/q700");
    assert_int_equal(rows->count, PAGE);
    assert_string_equal(next, "/q799");
    assert_string_equal(first_node(ask("", next, stage.now_ms, &next)), "/q800");
    rows = ask("", "1799", stage.now_ms, &next);
    assert_int_equal(rows->count, 1);
    assert_string_equal(next, "");
    assert_int_equal(ask("", "1800", stage.now_ms, &next)->count, 0);
    assert_string_equal(next, "");
    assert_int_equal(ask("", "99999999999999999999", stage.now_ms, &next)->count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_of_a_listing_are_of_one_computation,
                                        open_plan, close_plan),
        cmocka_unit_test_setup_teardown(nodes_by_name_are_of_one_computation, open_plan,
                                        close_plan),
        cmocka_unit_test_setup_teardown(a_larger_plan_is_computed_more_seldom,
                                        open_larger_plan, close_plan),
        cmocka_unit_test_setup_teardown(rows_are_arrays_of_the_fields_asked_for,
                                        open_plan, close_plan),
        cmocka_unit_test_setup_teardown(a_row_has_no_more_values_than_there_are_fields,
                                        open_plan, close_plan),
        cmocka_unit_test_setup_teardown(a_page_begins_after_so_many_rows, open_plan,
                                        close_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
