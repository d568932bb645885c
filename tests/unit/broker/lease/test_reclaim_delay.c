/* SPDX-License-Identifier: Apache-2.0 */
/* test_reclaim_delay.c: which reclaim delay is in force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "broker/lease/lease.h"

#define TEN_YEARS_MS (INT64_C(3650) * 24 * 60 * 60 * 1000)

static void the_nearest_wins(void **state)
{
    static const struct {
        int64_t lease, provider, all, site; /* -1, site 0: not set */
        int64_t delay;
        enum reclaim_delay_source source;
        const char *why;
    } rows[] = {
        {-1, -1, -1, 0, 600000, RECLAIM_DELAY_FROM_DEFAULT,
         "nothing is set: LSF's ten minutes"},
        {-1, -1, -1, 5000, 5000, RECLAIM_DELAY_FROM_SITE,
         "the provider's MC_RECLAIM_DELAY"},
        {-1, -1, -1, 50, 1000, RECLAIM_DELAY_FROM_SITE,
         "a site that always wants it: at least a second"},
        {-1, -1, 40, 50, 40, RECLAIM_DELAY_FROM_ALL,
         "for all beats what the site says"},
        {-1, 30, 40, 50, 30, RECLAIM_DELAY_FROM_PROVIDER,
         "of the provider beats for all"},
        {20, 30, 40, 50, 20, RECLAIM_DELAY_FROM_LEASE, "of the lease beats all"},
        {20, -1, -1, 0, 20, RECLAIM_DELAY_FROM_LEASE, "of the lease alone"},
        {-1, -1, -1, INT64_MAX, TEN_YEARS_MS, RECLAIM_DELAY_FROM_SITE,
         "a site that never wants it: at most ten years"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reclaim_delays overrides;
        reclaim_delay_init(&overrides);
        reclaim_delay_set(&overrides, RECLAIM_LEASE, "north/1/south", rows[i].lease);
        reclaim_delay_set(&overrides, RECLAIM_PROVIDER, "north", rows[i].provider);
        reclaim_delay_set(&overrides, RECLAIM_ALL, "", rows[i].all);
        enum reclaim_delay_source source;
        int64_t delay = reclaim_delay_get_ms(&overrides, "north/1/south", "north",
                                             rows[i].site, &source);
        if (delay != rows[i].delay || source != rows[i].source) {
            fail_msg("%s: %lld by %s", rows[i].why, (long long)delay,
                     reclaim_delay_source_name(source));
        }
        reclaim_delay_release(&overrides);
    }
}

static void an_override_is_replaced_and_removed(void **state)
{
    struct reclaim_delays overrides;
    reclaim_delay_init(&overrides);
    for (int i = 0; i < 100; i++) { /* out of order */
        char name[16];
        snprintf(name, sizeof(name), "s%02d", (i * 37) % 100);
        reclaim_delay_set(&overrides, RECLAIM_PROVIDER, name, i + 1);
    }
    reclaim_delay_set(&overrides, RECLAIM_PROVIDER, "s37", 5000);
    assert_int_equal(reclaim_delay_find_override(&overrides, RECLAIM_PROVIDER, "s37"),
                     5000);
    assert_int_equal(reclaim_delay_find_override(&overrides, RECLAIM_PROVIDER, "s74"),
                     3);
    assert_int_equal(reclaim_delay_find_override(&overrides, RECLAIM_LEASE, "s37"), -1);
    reclaim_delay_set(&overrides, RECLAIM_LEASE, "s37", 0);
    assert_int_equal(reclaim_delay_find_override(&overrides, RECLAIM_LEASE, "s37"), 0);
    reclaim_delay_set(&overrides, RECLAIM_LEASE, "s37", -1);
    reclaim_delay_set(&overrides, RECLAIM_PROVIDER, "s37", 0); /* at once */
    assert_int_equal(reclaim_delay_find_override(&overrides, RECLAIM_PROVIDER, "s37"),
                     0);
    reclaim_delay_set(&overrides, RECLAIM_PROVIDER, "s37", -1);
    assert_int_equal(reclaim_delay_find_override(&overrides, RECLAIM_PROVIDER, "s37"),
                     -1);
    reclaim_delay_set(&overrides, RECLAIM_PROVIDER, "nobody", -1);
    assert_int_equal(
        reclaim_delay_find_override(&overrides, RECLAIM_PROVIDER, "nobody"), -1);
    for (int i = 2; i < 100; i++) { /* s37 was the second; the others stay */
        char name[16];
        snprintf(name, sizeof(name), "s%02d", (i * 37) % 100);
        assert_int_equal(
            reclaim_delay_find_override(&overrides, RECLAIM_PROVIDER, name), i + 1);
    }
    reclaim_delay_release(&overrides);
}

/* The bounds of MC_RECLAIM_DELAY, and the words that `sublet check` has for it. */
static void a_delay_has_the_bounds_of_the_configuration(void **state)
{
    static const struct {
        int64_t delay_ms;
        const char *refusal; /* NULL: none */
    } rows[] = {
        {1000, NULL},
        {TEN_YEARS_MS, NULL},
        {999, "0.999s is out of bounds, expected 1s to 3650d"},
        {0, "0 is out of bounds, expected 1s to 3650d"},
        {-2, "-0.002s is out of bounds, expected 1s to 3650d"},
        {TEN_YEARS_MS + 86400000, "3651d is out of bounds, expected 1s to 3650d"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err;
        int rc = reclaim_delay_check(rows[i].delay_ms, &err);
        assert_int_equal(rc, rows[i].refusal == NULL ? 0 : ERR_BOUNDS);
        if (rows[i].refusal != NULL) {
            assert_string_equal(err.text, rows[i].refusal);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_wins),
        cmocka_unit_test(an_override_is_replaced_and_removed),
        cmocka_unit_test(a_delay_has_the_bounds_of_the_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
