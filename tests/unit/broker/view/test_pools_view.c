/* SPDX-License-Identifier: Apache-2.0 */
/* test_pools_view.c: the pages of a large plan are of one computation, and a page may
 * begin after a node or after so many rows. */
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

enum { NODES = 1800, PAGE = 100, TEXT_SIZE = 64 * 1024 };

static struct arena arena;
static struct plan_pools pools;
static struct stage stage;

/* /q0, /q1, ... each of them a queue of south. */
static int open_plan(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    struct conf *conf;
    int n = snprintf(text, sizeof(text), "%s",
                     "Begin Pool\nNAME = p\nCYCLE = 10s\nEnd Pool\n"
                     "Begin PlanNode\nNAME POOL OWNED SITE QUEUES\n");
    for (int i = 0; i < NODES; i++) {
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
    struct value *page = pools_view_plan(stage.broker, &arena, &query, now_ms, next);
    const struct value *rows = page->last;
    assert_string_equal(rows->key, "nodes");
    return rows;
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
        cmocka_unit_test_setup_teardown(a_page_begins_after_so_many_rows, open_plan,
                                        close_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
