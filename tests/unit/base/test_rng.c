/* SPDX-License-Identifier: Apache-2.0 */
/* test_rng.c: same seed, same numbers; bounds hold; chances are about right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

static void numbers_are_splitmix64(void **state)
{
    struct rng rng;
    rng_init(&rng, 1234567); /* the reference implementation's own test */
    assert_true(rng_next(&rng) == UINT64_C(6457827717110365317));
    assert_true(rng_next(&rng) == UINT64_C(3203168211198807973));
    assert_true(rng_next(&rng) == UINT64_C(9817491932198370423));
}

static void below_is_below_and_even(void **state)
{
    int seen[7] = {0};
    struct rng rng;
    rng_init(&rng, 1);
    for (int i = 0; i < 7000; i++) {
        seen[rng_below(&rng, 7)]++;
    }
    for (int i = 0; i < 7; i++) {
        assert_in_range(seen[i], 850, 1150);
    }
    assert_int_equal(rng_below(&rng, 1), 0);
    for (int i = 0; i < 100; i++) {
        assert_true(rng_below(&rng, INT64_MAX) >= 0);
    }
}

static void percent_is_a_chance(void **state)
{
    struct rng rng;
    rng_init(&rng, 2);
    int hits = 0;
    for (int i = 0; i < 10000; i++) {
        assert_false(rng_percent(&rng, 0));
        assert_true(rng_percent(&rng, 100));
        hits += rng_percent(&rng, 30);
    }
    assert_in_range(hits, 2800, 3200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_splitmix64),
        cmocka_unit_test(below_is_below_and_even),
        cmocka_unit_test(percent_is_a_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
