/* SPDX-License-Identifier: Apache-2.0 */
/* test_timer_heap.c: timers are due by instant, then by key, after any moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/timer_heap.h"

enum { N_ALARMS = 50 };

static struct timer items[N_ALARMS];
static char keys[N_ALARMS][16];

static void make_items(void)
{
    for (int i = 0; i < N_ALARMS; i++) {
        snprintf(keys[i], sizeof(keys[i]), "k%02d", i);
        items[i] = (struct timer){.key = keys[i], .at_ms = INT64_MAX};
    }
}

static void none_is_set_at_first(void **state)
{
    struct timer_heap heap;
    timer_heap_init(&heap);
    assert_true(timer_heap_wake_ms(&heap) == INT64_MAX);
    assert_null(timer_heap_find_due(&heap, INT64_MAX - 1));
    timer_heap_release(&heap);
}

static void equal_instants_ring_by_key(void **state)
{
    struct timer_heap heap;
    timer_heap_init(&heap);
    make_items();
    for (int i = N_ALARMS - 1; i >= 0; i--) {
        timer_heap_set(&heap, &items[i], 1000);
    }
    assert_null(timer_heap_find_due(&heap, 999));
    for (int i = 0; i < N_ALARMS; i++) {
        struct timer *due = timer_heap_find_due(&heap, 1000);
        assert_ptr_equal(due, &items[i]);
        timer_heap_set(&heap, due, INT64_MAX);
    }
    assert_true(timer_heap_wake_ms(&heap) == INT64_MAX);
    timer_heap_release(&heap);
}

/* Compares with a search through all timers. */
static void the_earliest_is_found_after_any_moves(void **state)
{
    struct timer_heap heap;
    struct rng rng;
    timer_heap_init(&heap);
    rng_init(&rng, 7);
    make_items();
    for (int round = 0; round < 5000; round++) {
        struct timer *item = &items[rng_below(&rng, N_ALARMS)];
        timer_heap_set(&heap, item,
                       rng_percent(&rng, 30) ? INT64_MAX : rng_below(&rng, 40));
        struct timer *first = NULL;
        for (int i = 0; i < N_ALARMS; i++) {
            if (items[i].at_ms != INT64_MAX &&
                (first == NULL || items[i].at_ms < first->at_ms)) {
                first = &items[i];
            }
        }
        assert_ptr_equal(timer_heap_find_due(&heap, INT64_MAX - 1), first);
    }
    timer_heap_release(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_is_set_at_first),
        cmocka_unit_test(equal_instants_ring_by_key),
        cmocka_unit_test(the_earliest_is_found_after_any_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
