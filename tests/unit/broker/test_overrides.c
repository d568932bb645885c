/* SPDX-License-Identifier: Apache-2.0 */
/* test_overrides.c: which reclaim delay is in force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "broker/overrides.h"

static void the_nearest_wins(void **state)
{
    static const struct {
        int64_t lease, provider, all, site; /* -1, site 0: not set */
        int64_t delay;
        enum overrides_source source;
        const char *why;
    } rows[] = {
        {-1, -1, -1, 0, 600000, OVERRIDES_DEFAULT, "nothing is set: LSF's ten minutes"},
        {-1, -1, -1, 50, 50, OVERRIDES_SITE, "the provider's MC_RECLAIM_DELAY"},
        {-1, -1, 40, 50, 40, OVERRIDES_ALL, "for all beats what the site says"},
        {-1, 30, 40, 50, 30, OVERRIDES_PROVIDER, "of the provider beats for all"},
        {20, 30, 40, 50, 20, OVERRIDES_LEASE, "of the lease beats all"},
        {20, -1, -1, 0, 20, OVERRIDES_LEASE, "of the lease alone"},
        {-1, -1, -1, INT64_MAX, OVERRIDES_DELAY_MAX_MS, OVERRIDES_SITE,
         "a site that never wants it: at most a year"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct overrides overrides;
        overrides_init(&overrides);
        overrides_set(&overrides, RECLAIM_LEASE, "north/1/south", rows[i].lease);
        overrides_set(&overrides, RECLAIM_PROVIDER, "north", rows[i].provider);
        overrides_set(&overrides, RECLAIM_ALL, "", rows[i].all);
        enum overrides_source source;
        int64_t delay = overrides_delay_ms(&overrides, "north/1/south", "north",
                                           rows[i].site, &source);
        if (delay != rows[i].delay || source != rows[i].source) {
            fail_msg("%s: %lld by %s", rows[i].why, (long long)delay,
                     overrides_source_name(source));
        }
        overrides_release(&overrides);
    }
}

static void an_override_is_replaced_and_removed(void **state)
{
    struct overrides overrides;
    overrides_init(&overrides);
    for (int i = 0; i < 100; i++) { /* inserted out of order, kept in order */
        char name[16];
        snprintf(name, sizeof(name), "s%02d", (i * 37) % 100);
        overrides_set(&overrides, RECLAIM_PROVIDER, name, i + 1);
    }
    overrides_set(&overrides, RECLAIM_PROVIDER, "s37", 5000);
    assert_int_equal(overrides_find(&overrides, RECLAIM_PROVIDER, "s37"), 5000);
    assert_int_equal(overrides_find(&overrides, RECLAIM_PROVIDER, "s74"), 3);
    assert_int_equal(overrides_find(&overrides, RECLAIM_LEASE, "s37"), -1);
    overrides_set(&overrides, RECLAIM_PROVIDER, "s37", -1);
    assert_int_equal(overrides_find(&overrides, RECLAIM_PROVIDER, "s37"), -1);
    assert_int_equal(overrides.count, 99);
    overrides_set(&overrides, RECLAIM_PROVIDER, "nobody", -1);
    assert_int_equal(overrides.count, 99);
    overrides_release(&overrides);
}

static void a_delay_is_above_zero_and_at_most_a_year(void **state)
{
    assert_false(overrides_is_delay(0));
    assert_false(overrides_is_delay(-1));
    assert_true(overrides_is_delay(1));
    assert_true(overrides_is_delay(OVERRIDES_DELAY_MAX_MS));
    assert_false(overrides_is_delay(OVERRIDES_DELAY_MAX_MS + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_wins),
        cmocka_unit_test(an_override_is_replaced_and_removed),
        cmocka_unit_test(a_delay_is_above_zero_and_at_most_a_year),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
