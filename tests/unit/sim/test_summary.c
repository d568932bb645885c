/* SPDX-License-Identifier: Apache-2.0 */
/* test_summary.c: the numbers of a simulation, as docs/simulate.md defines them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/play/summary.h"

static struct arena arena;
static struct summary *summary;

static int open_summary(void **state)
{
    static const char *const sites[] = {"north", "south"};

    arena_init(&arena);
    summary = summary_new(sites, 2);
    return 0;
}

static int close_summary(void **state)
{
    summary_free(summary);
    arena_release(&arena);
    return 0;
}

static double number(const struct value *root, const char *path)
{
    const struct value *found = value_find(root, path);

    assert_non_null(found);
    assert_true(found->kind == VALUE_INT || found->kind == VALUE_REAL);
    return found->kind == VALUE_INT ? (double)found->number : found->real;
}

static void assert_near(double found, double expected)
{
    if (found < expected - 0.0006 || found > expected + 0.0006) {
        fail_msg("%g, expected %g", found, expected);
    }
}

static void levels_are_weighted_by_time(void **state)
{
    struct summary_level level = {.n_slots = 4, .n_used = 4, .n_lent = 2};
    const struct value *root;

    summary_level(summary, 0, &level, 0);
    level.n_used = 1;
    level.n_lent = 0;
    summary_level(summary, 0, &level,
                  1800000); /* half an hour of 4, one and a half of 1 */
    summary_finish(summary, 7200000);
    root = summary_show(summary, &arena, 7, 7200000);
    assert_near(number(root, "sites.north.utilisation"), 3.5 / 8);
    assert_near(number(root, "sites.north.lent_slot_h"), 1);
    assert_near(number(root, "sites.north.borrowed_slot_h"), 0);
    assert_near(number(root, "until_s"), 7200);
    assert_near(number(root, "seed"), 7);
    /* a site without slots has none to use */
    assert_int_equal(value_find(root, "sites.south.utilisation")->kind, VALUE_NULL);
}

static void waits_are_those_of_jobs_that_ran(void **state)
{
    const struct value *root;

    for (int i = 1; i <= 20; i++) {
        summary_ended(summary, 0, i != 20, i * 1000, 100000); /* waits 1 s to 20 s */
    }
    summary_finish(summary, 1000);
    root = summary_show(summary, &arena, 1, 1000);
    assert_near(number(root, "sites.north.jobs_done"), 19); /* one is in state EXIT */
    assert_near(number(root, "sites.north.wait_mean_s"), 10.5);
    assert_near(number(root, "sites.north.wait_p95_s"), 19); /* nearest rank */
    assert_near(number(root, "sites.north.slowdown_mean"), 1.105);
    assert_int_equal(value_find(root, "sites.south.wait_mean_s")->kind, VALUE_NULL);
}

static void slowdown_is_bounded(void **state)
{
    static const struct {
        const char *why;
        int64_t wait_ms, run_ms;
        double slowdown;
    } rows[] = {
        {"no wait", 0, 60000, 1},
        {"a wait as long as the run", 60000, 60000, 2},
        {"a short run counts as 10 s", 19000, 1000, 2},
        {"at least 1", 0, 1000, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct summary *one = summary_new((const char *const[]){"a"}, 1);
        const struct value *root;

        summary_ended(one, 0, true, rows[i].wait_ms, rows[i].run_ms);
        root = summary_show(one, &arena, 1, 0);
        assert_near(number(root, "sites.a.slowdown_mean"), rows[i].slowdown);
        assert_near(number(root, "sites.a.slowdown_p95"), rows[i].slowdown);
        summary_free(one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(levels_are_weighted_by_time, open_summary,
                                        close_summary),
        cmocka_unit_test_setup_teardown(waits_are_those_of_jobs_that_ran, open_summary,
                                        close_summary),
        cmocka_unit_test_setup_teardown(slowdown_is_bounded, open_summary,
                                        close_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
