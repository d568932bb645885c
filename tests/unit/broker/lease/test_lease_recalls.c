/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_recalls.c: the list of bounds that a leaf's contract has to come down to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/lease/lease.h"

static struct effects effects;
static struct lease lease;
static struct host_split host;

/* A contract that holds 10 slots. */
static int open_contract(void **state)
{
    (void)state;
    host = (struct host_split){.host = "n1", .n_slots = 10, .consumer = 10};
    lease = (struct lease){.node = "/eng"};
    lease.row = (struct row_lease){
        .id = "north/p/south:/eng", .hosts = &host, .n_hosts = 1, .reason = ""};
    effects_init(&effects);
    return 0;
}

static int close_contract(void **state)
{
    (void)state;
    effects_release(&effects);
    return 0;
}

static void recall(int n_slots, int64_t deadline_ms)
{
    const struct lease_recalls_order order = {
        .pool = "p", .n_slots = n_slots, .why = "", .deadline_ms = deadline_ms};
    lease_recalls_add(&lease, &order, 0, &effects);
}

/* The bounds are `n_held` at `deadline_ms`, and no more than these. */
static void expect(int n_bounds, const struct lease_recalls_bound *bounds)
{
    assert_int_equal(lease.recalls.n_bounds, n_bounds);
    for (int i = 0; i < n_bounds; i++) {
        assert_int_equal(lease.recalls.bounds[i].n_held, bounds[i].n_held);
        assert_int_equal(lease.recalls.bounds[i].n_slots, bounds[i].n_slots);
        assert_int_equal(lease.recalls.bounds[i].deadline_ms, bounds[i].deadline_ms);
    }
}

static void test_bounds_fall_from_one_deadline_to_the_next(void **state)
{
    (void)state;
    recall(2, 100);
    recall(3, 200);
    expect(2, (struct lease_recalls_bound[]){{8, 2, 100}, {5, 3, 200}});
    assert_int_equal(lease_recalls_count(&lease), 5);
}

static void test_recalls_with_one_deadline_are_one_bound(void **state)
{
    (void)state;
    recall(2, 100);
    recall(3, 100);
    expect(1, (struct lease_recalls_bound[]){{5, 5, 100}});
}

/* A shorter grace does not overtake an earlier recall. */
static void test_a_later_recall_is_not_due_earlier(void **state)
{
    (void)state;
    recall(2, 100);
    recall(3, 50);
    expect(1, (struct lease_recalls_bound[]){{5, 5, 100}});
}

static void test_a_full_list_grows_no_more(void **state)
{
    (void)state;
    host.n_slots = host.consumer = 2 * RECALLS_MAX;
    for (int i = 0; i <= RECALLS_MAX; i++) {
        recall(1, 100 + i);
    }
    assert_int_equal(lease.recalls.n_bounds, RECALLS_MAX);
    assert_int_equal(lease_recalls_count(&lease), RECALLS_MAX + 1);
    assert_int_equal(lease.recalls.bounds[RECALLS_MAX - 1].deadline_ms,
                     100 + RECALLS_MAX);
}

static void test_no_more_is_recalled_than_it_holds(void **state)
{
    (void)state;
    recall(12, 100);
    assert_int_equal(lease.recalls.bounds[0].n_held, 0);
    assert_int_equal(lease_recalls_count(&lease), 10);
}

static void test_a_cancel_relaxes_the_latest_bounds(void **state)
{
    (void)state;
    recall(2, 100);
    recall(3, 200);
    lease_recalls_cancel(&lease, 1);
    expect(2, (struct lease_recalls_bound[]){{8, 2, 100}, {6, 2, 200}});
    lease_recalls_cancel(&lease, 3);
    expect(1, (struct lease_recalls_bound[]){{9, 1, 100}});
    lease_recalls_cancel(&lease, 1);
    expect(0, NULL);
}

/* The bound that is left is the earlier one, with its deadline and its slots. */
static void test_a_cancel_of_a_whole_bound_removes_it(void **state)
{
    (void)state;
    recall(2, 100);
    recall(3, 200);
    lease_recalls_cancel(&lease, 3);
    expect(1, (struct lease_recalls_bound[]){{8, 2, 100}});
    assert_int_equal(lease_recalls_count(&lease), 2);
}

/* What a bound that is gone said counts no more. */
static void test_a_cancel_reads_no_old_bounds(void **state)
{
    (void)state;
    recall(2, 100);
    recall(3, 200);
    host.n_slots = host.consumer = 5; /* all of it was given back */
    lease_recalls_settle(&lease, 100, &effects);
    expect(0, NULL);
    recall(2, 300);
    lease_recalls_cancel(&lease, 1);
    expect(1, (struct lease_recalls_bound[]){{4, 1, 300}});
}

static void test_bounds_that_are_kept_are_settled(void **state)
{
    (void)state;
    recall(2, 100);
    recall(3, 200);
    host.n_slots = host.consumer = 9;
    lease_recalls_settle(&lease, 50, &effects);
    assert_int_equal(lease.recalls.n_bounds, 2);
    host.n_slots = host.consumer = 8;
    lease_recalls_settle(&lease, 60, &effects);
    expect(1, (struct lease_recalls_bound[]){{5, 3, 200}});
    const struct effect *last = &effects.items[effects.count - 1];
    assert_int_equal(last->row.history.event, HISTORY_RECALL_DONE);
    assert_int_equal(last->row.history.slots, 2);
}

static void test_the_providers_list_replaces_another(void **state)
{
    (void)state;
    const struct recall stated[] = {{8, 40}, {5, 90}};
    const struct msg_state say = {.recalls = stated, .n_recalls = 2};
    recall(2, 100);
    assert_true(lease_recalls_replace(&lease, &say, 1000));
    expect(2, (struct lease_recalls_bound[]){{8, 2, 1040}, {5, 3, 1090}});
    /* The deadlines stay what they were when first stated. */
    assert_false(lease_recalls_replace(&lease, &say, 1020));
    expect(2, (struct lease_recalls_bound[]){{8, 2, 1040}, {5, 3, 1090}});
}

static void test_messages_carry_the_time_that_is_left(void **state)
{
    (void)state;
    const struct recall *list;
    int n_list;
    recall(2, 100);
    recall(3, 200);
    lease_recalls_fill(&lease.recalls, 150, &effects.arena, &list, &n_list);
    assert_int_equal(n_list, 2);
    assert_int_equal(list[0].n_held, 8);
    assert_int_equal(list[0].left_ms, 0);
    assert_int_equal(list[1].n_held, 5);
    assert_int_equal(list[1].left_ms, 50);
}

/* Slots without a deadline are the last bound, whenever more of them are recalled. */
static void test_slots_that_wait_for_their_jobs_are_one_bound(void **state)
{
    (void)state;
    recall(2, 100);
    recall(1, RECALL_AT_END_MS);
    recall(1, RECALL_AT_END_MS + 50);
    expect(2,
           (struct lease_recalls_bound[]){{8, 2, 100}, {6, 2, RECALL_AT_END_MS + 50}});
    assert_int_equal(lease_recalls_count(&lease), 4);
    assert_int_equal(lease_recalls_count_waiting(&lease, 60), 2);
    const struct effect *last = &effects.items[effects.count - 1];
    assert_int_equal(last->row.history.deadline_ms, 0);
    host.n_slots = host.consumer = 7;
    assert_int_equal(lease_recalls_count_waiting(&lease, 60), 1);
    lease_recalls_cancel(&lease, 1);
    expect(0, NULL);
    assert_int_equal(lease_recalls_count_waiting(&lease, 60), 0);
}

static void test_a_full_list_gives_no_deadline_up(void **state)
{
    (void)state;
    host.n_slots = host.consumer = 2 * RECALLS_MAX;
    for (int i = 0; i < RECALLS_MAX; i++) {
        recall(1, 100 + i);
    }
    recall(1, RECALL_AT_END_MS);
    assert_int_equal(lease_recalls_count(&lease), RECALLS_MAX);
    assert_int_equal(lease.recalls.bounds[RECALLS_MAX - 1].deadline_ms,
                     99 + RECALLS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_contract, close_contract)
        TEST(test_bounds_fall_from_one_deadline_to_the_next),
        TEST(test_recalls_with_one_deadline_are_one_bound),
        TEST(test_a_later_recall_is_not_due_earlier),
        TEST(test_a_full_list_grows_no_more),
        TEST(test_no_more_is_recalled_than_it_holds),
        TEST(test_a_cancel_relaxes_the_latest_bounds),
        TEST(test_a_cancel_of_a_whole_bound_removes_it),
        TEST(test_a_cancel_reads_no_old_bounds),
        TEST(test_bounds_that_are_kept_are_settled),
        TEST(test_the_providers_list_replaces_another),
        TEST(test_messages_carry_the_time_that_is_left),
        TEST(test_slots_that_wait_for_their_jobs_are_one_bound),
        TEST(test_a_full_list_gives_no_deadline_up),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
