/* SPDX-License-Identifier: Apache-2.0 */
/* test_dependents.c: whose conditions are evaluated again: each once, however many
 * elements of an array have changed, and none is forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/job_id.h"
#include "site/job/dependents.h"

enum { ARRAY = 1, FIRST = 2, SECOND = 3 };

static uint64_t key_of(uint64_t id, int index)
{
    return job_id_key(id, index);
}

static int set_up(void **state)
{
    struct dependents *depends = dependents_new();
    dependents_add(depends, key_of(FIRST, 0), "ended(1)");
    *state = depends;
    return 0;
}

static int tear_down(void **state)
{
    dependents_free(*state);
    return 0;
}

static int count_taken(struct dependents *depends, uint64_t id)
{
    uint64_t key;
    int count = 0;
    while (dependents_take(depends, &key)) {
        count += key == key_of(id, 0);
    }
    return count;
}

/* With a job of 50,000 elements and 240 that wait for it there were 12,000,000. */
static void test_all_elements_in_one_batch(void **state)
{
    for (int i = 1; i <= 1000; i++) {
        dependents_note(*state, key_of(ARRAY, i));
    }
    assert_int_equal(count_taken(*state, FIRST), 1);
    assert_int_equal(count_taken(*state, FIRST), 0);
    dependents_note(*state, key_of(ARRAY, 1));
    assert_int_equal(count_taken(*state, FIRST), 1);
}

static void test_one_that_comes_between_two_changes(void **state)
{
    dependents_note(*state, key_of(ARRAY, 1));
    dependents_add(*state, key_of(SECOND, 0), "done(1)");
    dependents_note(*state, key_of(ARRAY, 2));
    assert_int_equal(count_taken(*state, SECOND), 1);
}

/* What was taken may have been judged before the change. */
static void test_a_change_after_one_was_taken(void **state)
{
    uint64_t key;
    dependents_note(*state, key_of(ARRAY, 1));
    assert_true(dependents_take(*state, &key));
    dependents_note(*state, key_of(ARRAY, 2));
    assert_int_equal(count_taken(*state, FIRST), 1);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_all_elements_in_one_batch),
        STORY(test_one_that_comes_between_two_changes),
        STORY(test_a_change_after_one_was_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
