/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_split.c: sums and comparisons over the hosts of a lease. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "broker/lease/lease.h"

static void nothing_is_idle_on_a_host_that_is_down(void **state)
{
    const struct host_split hosts[] = {{"n1", 4, 3, 1, 2, 1, false, {{0}}},
                                       {"n2", 4, 1, 3, 0, 1, false, {{0}}},
                                       {"n3", 6, 4, 2, 3, 2, true, {{0}}}};
    struct lease_split split = lease_split_sum(hosts, 3);
    assert_int_equal(split.provider.available, 4 + 3);
    assert_int_equal(split.provider.used, 5);
    assert_int_equal(split.provider.idle, 2);
    assert_int_equal(split.consumer.available, 4 + 2);
    assert_int_equal(split.consumer.used, 4);
    assert_int_equal(split.consumer.idle, 2);
}

static void what_does_not_add_up_is_refused(void **state)
{
    static const struct {
        struct host_split host;
        int rc;
        const char *why;
    } rows[] = {
        {{"n1", 4, 3, 1, 3, 1, false, {{0}}}, 0, "all in use"},
        {{"n1", 0, 0, 0, 0, 0, false, {{0}}}, 0, "no slots"},
        {{"n1", 4, 3, 2, 0, 0, false, {{0}}}, ERR_BOUNDS, "held twice"},
        {{"n1", 4, 2, 1, 0, 0, false, {{0}}}, ERR_BOUNDS, "held by nobody"},
        {{"n1", 4, 5, -1, 0, 0, false, {{0}}}, ERR_BOUNDS, "adds up, with a debt"},
        {{"n1", 4, 3, 1, 4, 0, false, {{0}}},
         ERR_BOUNDS,
         "the provider uses more than it holds"},
        {{"n1", 4, 3, 1, 0, 2, false, {{0}}},
         ERR_BOUNDS,
         "the consumer uses more than it holds"},
        {{"n1", 4, 3, 1, -1, 0, false, {{0}}}, ERR_BOUNDS, "uses less than nothing"},
        {{"n1", SLOTS_MAX + 1, SLOTS_MAX, 1, 0, 0, false, {{0}}},
         ERR_BOUNDS,
         "too many slots"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err = {0};
        if (lease_split_check(&rows[i].host, 1, &err) != rows[i].rc) {
            fail_msg("%s: %s", rows[i].why, err.text);
        }
    }
}

static void a_split_is_hosts_slots_and_holdings(void **state)
{
    const struct host_split split[] = {{"n1", 4, 3, 1, 2, 1, false, {{0}}},
                                       {"n2", 4, 4, 0, 0, 0, false, {{0}}}};
    struct host_split other[2];
    memcpy(other, split, sizeof(other));
    other[0].provider_used = 0;
    assert_true(lease_split_is_same(split, 2, other, 2));
    assert_true(lease_split_is_same_down(split, other, 2));
    other[1].is_down = true;
    assert_true(lease_split_is_same(split, 2, other, 2));
    assert_false(lease_split_is_same_down(split, other, 2));
    other[1].provider = 3;
    other[1].consumer = 1;
    assert_false(lease_split_is_same(split, 2, other, 2));
    assert_false(lease_split_is_same(split, 2, split, 1));
    other[1].host = "n9";
    assert_false(lease_split_has_same_hosts(split, 2, other, 2));
}

static void what_is_kept_is_its_own(void **state)
{
    char name[] = "n1";
    const struct host_split split = {name, 4, 3, 1, 2, 1, true, {{0}}};
    struct host_split *kept = lease_split_dup(&split, 1);
    name[0] = 'x';
    assert_string_equal(kept->host, "n1");
    assert_true(kept->is_down);
    assert_int_equal(kept->provider, 3);
    free(kept);
    assert_null(lease_split_dup(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_idle_on_a_host_that_is_down),
        cmocka_unit_test(what_does_not_add_up_is_refused),
        cmocka_unit_test(a_split_is_hosts_slots_and_holdings),
        cmocka_unit_test(what_is_kept_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
