/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_unused.c: when the demand of a leaf that starts nothing does not count, and
 * when it is asked again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/pool/pool_unused.h"

enum { CYCLE_MS = 30000, MINUTE_MS = 60000 };

static struct pool_unused unused;
static int64_t now_ms;
static uint64_t needs, session;
static int64_t news;
static bool is_collecting;

/* One cycle later: the leaf has `alloc` slots, uses some, and jobs wait for others. */
static void look_at(int64_t alloc, int64_t n_used, int64_t n_waiting, int64_t quota)
{
    const struct plan_use use = {.alloc = alloc, .demand = n_used + n_waiting};
    const struct pool_unused_look look = {.n_used = n_used,
                                          .quota = quota,
                                          .n_pool = 10,
                                          .news = news,
                                          .needs = needs,
                                          .session = session,
                                          .is_collecting = is_collecting,
                                          .cycle_ms = CYCLE_MS,
                                          .now_ms = now_ms += CYCLE_MS};
    unused = pool_unused_next(&unused, &use, &look);
}

static int begin(void **state)
{
    (void)state;
    unused = (struct pool_unused){0};
    now_ms = 0;
    needs = session = 1;
    news = 1;
    is_collecting = false;
    return 0;
}

/* 5 of its slots are idle for a whole cycle, and 8 are waited for. */
static void leave_them_unused(void)
{
    look_at(5, 0, 8, 5);
    assert_false(unused.is_capped);
    look_at(5, 0, 8, 5);
    assert_true(unused.is_capped);
    assert_int_equal(unused.cap, 0);
}

static void a_cycle_of_idle_slots_is_enough(void **state)
{
    (void)state;
    leave_them_unused();
    look_at(0, 0, 8, 5); /* they are gone, and nothing has changed */
    assert_true(unused.is_capped);
}

static void who_starts_jobs_is_given_time(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        look_at(5, i, 8, 5);
        assert_false(unused.is_capped);
    }
}

static void a_leaf_without_waiting_jobs_is_left_alone(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        look_at(5, 2, 0, 5);
        assert_false(unused.is_capped);
    }
}

static void it_counts_with_what_it_uses(void **state)
{
    (void)state;
    look_at(5, 1, 9, 5);
    look_at(5, 1, 9, 5);
    look_at(5, 1, 9, 5);
    assert_true(unused.is_capped);
    assert_int_equal(unused.cap, 1);
    /* A job ends and the next one starts: fewer wait, and it has not more to say. */
    look_at(1, 1, 8, 5);
    look_at(1, 0, 8, 5);
    look_at(1, 1, 7, 5);
    assert_true(unused.is_capped);
}

static void it_is_asked_again_when_something_changes(void **state)
{
    (void)state;
    leave_them_unused();
    look_at(0, 0, 9, 5); /* another job */
    assert_false(unused.is_capped);
    begin(NULL);
    leave_them_unused();
    look_at(0, 0, 8, 8); /* more slots than it failed with */
    assert_false(unused.is_capped);
    begin(NULL);
    leave_them_unused();
    look_at(8, 8, 0, 5); /* idle slots that nobody wanted were enough */
    assert_false(unused.is_capped);
    begin(NULL);
    leave_them_unused();
    unused.n_pool = 9; /* the pool has grown */
    look_at(0, 0, 8, 5);
    assert_false(unused.is_capped);
}

/* The slots that its quota has beyond those never come: to ask for them for ever would
 * end the jobs of others for ever. */
static void what_never_comes_is_asked_for_once(void **state)
{
    (void)state;
    look_at(5, 0, 8, 6);
    look_at(5, 0, 8, 6);
    assert_true(unused.is_capped);
    look_at(0, 0, 8, 6); /* one more than it had */
    assert_false(unused.is_capped);
    look_at(5, 0, 8, 6);
    look_at(5, 0, 8, 6);
    assert_true(unused.is_capped);
    look_at(0, 0, 8, 6);
    assert_true(unused.is_capped);
    look_at(0, 0, 8, 7);
    assert_false(unused.is_capped);
}

/* A site that has the slots finds that its jobs cannot use them, and says so: they wait
 * again when the slots are gone. */
/* No job waits: there is nothing that any requires. */
static void nothing_waits(int64_t alloc)
{
    uint64_t before = needs;
    needs = 0;
    look_at(alloc, 0, 0, 0);
    needs = before;
}

static void demand_that_vanishes_with_its_slots(void **state)
{
    (void)state;
    look_at(0, 0, 3, 3);
    nothing_waits(1); /* the jobs may have been killed */
    assert_false(unused.is_capped);
    look_at(0, 0, 3, 3);
    nothing_waits(1);
    assert_true(unused.is_capped);
    look_at(0, 0, 3, 3); /* more slots than it had: once more */
    assert_false(unused.is_capped);
    nothing_waits(1);
    assert_true(unused.is_capped);
    nothing_waits(1);
    look_at(0, 0, 3, 3);
    assert_true(unused.is_capped);
    look_at(0, 0, 4, 3); /* another job */
    assert_false(unused.is_capped);
}

static void a_start_shows_that_its_jobs_can_use_slots(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        look_at(0, 0, 3, 3);
        look_at(1, 1, 2, 3);
        look_at(1, 0, 0, 0); /* ended, and the others were killed */
        assert_false(unused.is_capped);
    }
}

/* Minutes from its failure until it is asked again, with nothing changed. */
static int64_t pause_min(void)
{
    int64_t from_ms = now_ms;
    while (unused.is_capped) {
        look_at(0, 0, 8, 5);
    }
    return (now_ms - from_ms) / MINUTE_MS;
}

static void each_failure_doubles_the_pause(void **state)
{
    (void)state;
    static const int64_t expected[] = {10, 20, 40, 60, 60};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        leave_them_unused();
        assert_int_equal(pause_min(), expected[i]);
    }
    look_at(5, 5, 3, 5); /* it has used all: it is as any other leaf */
    look_at(5, 0, 8, 5);
    look_at(5, 0, 8, 5);
    assert_int_equal(pause_min(), 10);
}

static void other_needs_are_a_change(void **state)
{
    (void)state;
    leave_them_unused();
    needs = 2;
    look_at(0, 0, 8, 5);
    assert_false(unused.is_capped);
    leave_them_unused();
    look_at(0, 0, 8, 5); /* the same ones */
    assert_true(unused.is_capped);
}

static void another_host_and_another_session_are_changes(void **state)
{
    (void)state;
    leave_them_unused();
    news++;
    look_at(0, 0, 8, 5);
    assert_false(unused.is_capped);
    leave_them_unused();
    session++;
    look_at(0, 0, 8, 5);
    assert_false(unused.is_capped);
    leave_them_unused(); /* the same ones: it is not asked in turns */
    for (int i = 0; i < 5; i++) {
        look_at(0, 0, 8, 5);
        assert_true(unused.is_capped);
    }
}

/* Its jobs need more than the idle slots, and the others are recalled for it. */
static void who_collects_slots_is_given_time(void **state)
{
    (void)state;
    is_collecting = true;
    for (int i = 0; i < 5; i++) {
        look_at(5, 0, 8, 8);
    }
    assert_false(unused.is_capped);
    is_collecting = false;
    leave_them_unused();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_cycle_of_idle_slots_is_enough, begin),
        cmocka_unit_test_setup(who_starts_jobs_is_given_time, begin),
        cmocka_unit_test_setup(a_leaf_without_waiting_jobs_is_left_alone, begin),
        cmocka_unit_test_setup(it_counts_with_what_it_uses, begin),
        cmocka_unit_test_setup(it_is_asked_again_when_something_changes, begin),
        cmocka_unit_test_setup(what_never_comes_is_asked_for_once, begin),
        cmocka_unit_test_setup(demand_that_vanishes_with_its_slots, begin),
        cmocka_unit_test_setup(a_start_shows_that_its_jobs_can_use_slots, begin),
        cmocka_unit_test_setup(each_failure_doubles_the_pause, begin),
        cmocka_unit_test_setup(other_needs_are_a_change, begin),
        cmocka_unit_test_setup(another_host_and_another_session_are_changes, begin),
        cmocka_unit_test_setup(who_collects_slots_is_given_time, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
