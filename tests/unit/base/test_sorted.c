/* SPDX-License-Identifier: Apache-2.0 */
/* test_sorted.c: items stay in the order of their keys, whatever order they come in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/sorted.h"

enum { N_KEYS = 40 };

static int compare(const void *key, const void *item)
{
    const int *a = key, *b = item;
    return (*a > *b) - (*a < *b);
}

static int values[N_KEYS];

static void an_empty_array_has_nothing(void **state)
{
    (void)state;
    int key = 1, count = 0;
    assert_int_equal(sorted_place(NULL, 0, &key, compare), 0);
    assert_null(sorted_find(NULL, 0, &key, compare));
    assert_null(sorted_remove(NULL, &count, &key, compare));
    assert_int_equal(count, 0);
}

static void items_are_in_order_after_each_change(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 7);
    int **items = NULL;
    bool is_in[N_KEYS] = {false};
    int count = 0, capacity = 0;
    for (int i = 0; i < N_KEYS; i++) {
        values[i] = i;
    }
    for (int step = 0; step < 2000; step++) {
        int key = (int)rng_below(&rng, N_KEYS);
        const int *found = sorted_find(items, count, &key, compare);
        assert_ptr_equal(found, is_in[key] ? &values[key] : NULL);
        if (found == NULL) {
            items = sorted_add(items, &count, &capacity, &key, compare, &values[key]);
        } else {
            assert_ptr_equal(sorted_remove(items, &count, &key, compare), &values[key]);
        }
        is_in[key] = !is_in[key];
        for (int i = 0, next = 0; next < N_KEYS; next++) {
            if (is_in[next]) {
                assert_int_equal(*items[i], next);
                assert_int_equal(sorted_place(items, count, &next, compare), i);
                i++;
            }
        }
    }
    free(items);
}

static void a_missing_key_has_the_place_of_the_next(void **state)
{
    (void)state;
    int first = 10, second = 20, below = 5, between = 15, above = 25;
    int *items[] = {&first, &second};
    assert_int_equal(sorted_place(items, 2, &below, compare), 0);
    assert_int_equal(sorted_place(items, 2, &first, compare), 0);
    assert_int_equal(sorted_place(items, 2, &between, compare), 1);
    assert_int_equal(sorted_place(items, 2, &above, compare), 2);
    assert_null(sorted_find(items, 2, &between, compare));
    assert_null(sorted_find(items, 2, &above, compare));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_array_has_nothing),
        cmocka_unit_test(items_are_in_order_after_each_change),
        cmocka_unit_test(a_missing_key_has_the_place_of_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
