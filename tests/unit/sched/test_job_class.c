/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of equal pending jobs: the order of entries, and adding and removing them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sched/pending/pending.h"

static void test_order(void **state)
{
    static const struct {
        const char *why;
        struct job_class_entry a, b;
    } rows[] = {
        {"by submission", {0, 0, 1, 0}, {0, 0, 2, 0}},
        {"a higher priority first", {10, 0, 2, 0}, {9, 0, 1, 0}},
        {"a lower place first: btop", {0, -1, 2, 0}, {0, 0, 1, 0}},
        {"priority before place", {1, 5, 2, 0}, {0, -5, 1, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (job_class_compare(&rows[i].a, &rows[i].b) >= 0 ||
            job_class_compare(&rows[i].b, &rows[i].a) <= 0) {
            fail_msg("%s", rows[i].why);
        }
    }
}

/* JOB_PRIORITY_OVER_TIME = 3/20: a job passes later ones whose priority exceeds its own
 * by less than the raises that they have missed; within an interval the priority alone
 * counts. */
static void test_priority_over_time(void **state)
{
    const struct job_raise raise = {3, 20 * 60000}, none = {0, 0};
    static const struct {
        int64_t priority, minute, other, other_minute;
        int first; /* -1: the one, 0: alike, 1: the other */
        const char *why;
    } rows[] = {
        {50, 0, 50, 19, 0, "of one interval"},
        {50, 0, 50, 20, -1, "a raise more"},
        {50, 0, 53, 20, 0, "made up for"},
        {50, 0, 54, 20, 1, "more than made up for"},
        {50, 0, 54, 40, -1, "two raises"},
        {50, 100, 10, 0, -1, "five raises are 15: 40 are more"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t one =
            job_class_priority(&raise, rows[i].priority, rows[i].minute * 60000);
        int64_t other =
            job_class_priority(&raise, rows[i].other, rows[i].other_minute * 60000);
        int first = one > other ? -1 : one < other;
        if (first != rows[i].first) {
            fail_msg("%s: %d", rows[i].why, first);
        }
    }
    assert_int_equal(job_class_priority(&none, 50, 1000000000), 50);
}

static void test_names(void **state)
{
    struct job_class_set *classes = job_class_set_new();
    struct job_class_entry entries[3] = {{.key = 1}, {.key = 2}, {.key = 3}};
    (void)state;
    struct job_class *a = job_class_add(classes, "a", &entries[0]);
    struct job_class *b = job_class_add(classes, "b", &entries[1]);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(job_class_add(classes, "a", &entries[2]), a);
    assert_int_equal(job_class_set_count(classes), 2);
    job_class_remove(classes, a, &entries[0]);
    assert_int_equal(job_class_set_count(classes), 2);
    job_class_remove(classes, a, &entries[2]);
    assert_int_equal(job_class_set_count(classes), 1); /* nobody stands in it */
    assert_ptr_equal(job_class_set_at(classes, 0), b);
    job_class_set_free(classes);
}

static void test_verdict(void **state)
{
    struct job_class_set *classes = job_class_set_new();
    struct job_class_entry entry = {.key = 1};
    struct job_class *class = job_class_add(classes, "a", &entry);
    struct pending_verdict verdict = {.reason = REASON_BUSY, .n_full = 3};
    (void)state;
    assert_int_equal(job_class_verdict(class)->reason, REASON_NEW);
    job_class_set_verdicts(classes, &verdict);
    assert_int_equal(job_class_verdict(class)->n_full, 3);
    job_class_set_free(classes);
}

/* The number of a class's head tells that its first entry is another one, also where
 * that class has been dropped and another one has its index. */
static void test_heads(void **state)
{
    struct job_class_set *classes = job_class_set_new();
    struct job_class_entry entries[4] = {
        {.key = 1}, {.key = 2}, {.key = 3}, {.key = 4}};
    (void)state;
    struct job_class *a = job_class_add(classes, "a", &entries[1]);
    struct job_class *b = job_class_add(classes, "b", &entries[3]);
    uint64_t first = job_class_set_views(classes)[0].generation,
             other = job_class_set_views(classes)[1].generation;
    assert_int_not_equal(first, other);
    job_class_add(classes, "a", &entries[2]);
    assert_int_equal(job_class_set_views(classes)[0].generation, first);
    assert_int_equal(job_class_set_views(classes)[0].n_entries, 2);
    job_class_add(classes, "a", &entries[0]);
    assert_int_not_equal(job_class_set_views(classes)[0].generation, first);
    assert_ptr_equal(job_class_set_views(classes)[0].entries[0], &entries[0]);
    uint64_t second = job_class_set_views(classes)[0].generation;
    job_class_remove(classes, a, &entries[1]);
    assert_int_equal(job_class_set_views(classes)[0].generation, second);
    job_class_remove(classes, a, &entries[0]);
    assert_int_not_equal(job_class_set_views(classes)[0].generation, first);
    assert_int_not_equal(job_class_set_views(classes)[0].generation, second);
    assert_int_equal(job_class_set_views(classes)[1].generation, other);
    job_class_remove(classes, a, &entries[2]);
    assert_int_equal(job_class_set_views(classes)[0].generation, other);
    job_class_remove(classes, b, &entries[3]);
    job_class_add(classes, "b", &entries[3]);
    assert_true(job_class_set_views(classes)[0].generation > other);
    job_class_set_free(classes);
}

enum { TURNS = 200, TURNS_OF_RANDOM = 3000 };

static void check_sorted(const struct job_class *class, int n_expected)
{
    int n_turns;
    struct job_class_entry *const *entries = job_class_entries(class, &n_turns);
    assert_int_equal(n_turns, n_expected);
    for (int i = 1; i < n_turns; i++) {
        assert_true(job_class_compare(entries[i - 1], entries[i]) < 0);
    }
}

/* Jobs come, leave from the front as they start and from anywhere as they are killed,
 * and come back. */
static void test_coming_and_going(void **state)
{
    struct job_class_set *classes = job_class_set_new();
    struct job_class_entry entries[TURNS];
    bool is_in[TURNS] = {false};
    struct job_class *class = NULL;
    struct rng rng;
    int count = 0;
    (void)state;
    rng_init(&rng, 8);
    for (int i = 0; i < TURNS; i++) {
        entries[i] = (struct job_class_entry){.priority = (int64_t)rng_below(&rng, 3),
                                              .key = (uint64_t)i + 1};
    }
    for (int i = 0; i < TURNS_OF_RANDOM; i++) {
        int at = (int)rng_below(&rng, TURNS);
        int n_turns;
        if (count > 0 && rng_below(&rng, 3) == 0) { /* the front */
            at = (int)job_class_entries(class, &n_turns)[0]->key - 1;
        }
        if (is_in[at]) {
            job_class_remove(classes, class, &entries[at]);
        } else {
            class = job_class_add(classes, "a", &entries[at]);
        }
        count += is_in[at] ? -1 : 1;
        is_in[at] = !is_in[at];
        if (count > 0) {
            check_sorted(class, count);
        }
    }
    job_class_set_free(classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order), cmocka_unit_test(test_priority_over_time),
        cmocka_unit_test(test_names), cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_heads), cmocka_unit_test(test_coming_and_going),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
