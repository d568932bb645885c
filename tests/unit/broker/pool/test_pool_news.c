/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_news.c: which changes of a pool's hosts are news to leaves whose jobs could
 * not use what they got. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/lease/lease.h"
#include "broker/pool/pool_table.h"

static struct arena arena;
static struct pool_news news;
static struct lease leases[2];

/* One cycle later: the hosts of the pool, with their slots. */
static void look_at(struct pool_host *hosts, int n_hosts)
{
    struct pool_snapshot snapshot = {.hosts = hosts, .n_hosts = n_hosts};
    news = pool_news_next(&news, &snapshot, &arena);
}

static int begin(void **state)
{
    (void)state;
    arena_init(&arena);
    news = (struct pool_news){0};
    leases[0].row.id = "north/1/pool:p";
    leases[1].row.id = "west/1/pool:p";
    struct pool_host hosts[] = {{&leases[0], "n2", 4, 0}, {&leases[0], "n1", 4, 4}};
    look_at(hosts, 2);
    assert_int_equal(news.count, 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void hosts_that_stay_or_go_are_none(void **state)
{
    (void)state;
    struct pool_host other_order[] = {{&leases[0], "n1", 1, 1},
                                      {&leases[0], "n2", 7, 0}};
    look_at(other_order, 2);
    assert_int_equal(news.count, 1);
    struct pool_host one[] = {{&leases[0], "n2", 7, 0}};
    look_at(one, 1);
    look_at(one, 0);
    assert_int_equal(news.count, 1);
}

static void a_host_that_comes_is_one(void **state)
{
    (void)state;
    struct pool_host more[] = {
        {&leases[0], "n1", 4, 4}, {&leases[0], "n2", 4, 4}, {&leases[0], "n3", 1, 0}};
    look_at(more, 3);
    assert_int_equal(news.count, 2);
    look_at(more, 3);
    assert_int_equal(news.count, 2);
}

static void a_host_that_is_open_again_is_one(void **state)
{
    (void)state;
    struct pool_host closed[] = {{&leases[0], "n1", 0, 0}, {&leases[0], "n2", 4, 4}};
    struct pool_host open[] = {{&leases[0], "n1", 4, 4}, {&leases[0], "n2", 0, 0}};
    look_at(closed, 2);
    assert_int_equal(news.count, 1);
    look_at(open, 2);
    assert_int_equal(news.count, 2);
}

static void the_same_name_at_another_provider_is_one(void **state)
{
    (void)state;
    struct pool_host other[] = {{&leases[1], "n1", 4, 4}, {&leases[1], "n2", 4, 4}};
    look_at(other, 2);
    assert_int_equal(news.count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hosts_that_stay_or_go_are_none, begin, end),
        cmocka_unit_test_setup_teardown(a_host_that_comes_is_one, begin, end),
        cmocka_unit_test_setup_teardown(a_host_that_is_open_again_is_one, begin, end),
        cmocka_unit_test_setup_teardown(the_same_name_at_another_provider_is_one, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
