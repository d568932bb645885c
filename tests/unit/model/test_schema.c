/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema.c: numbers that are on the wire, and copies of structs by their tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/msg.h"
#include "model/record.h"
#include "model/row.h"

/* Peers of other versions know enums by these numbers: they never change. */
static void test_enums_keep_their_numbers(void **state)
{
    assert_int_equal(LEASE_EXCLUSIVE, 0);
    assert_int_equal(LEASE_SHARED, 1);
    assert_int_equal(LEASE_POOL, 2);
    assert_int_equal(LEASE_PENDING, 0);
    assert_int_equal(LEASE_ACTIVE, 1);
    assert_int_equal(LEASE_INACTIVE, 2);
    assert_int_equal(LEASE_DRAINING, 3);
    assert_int_equal(LEASE_ENDED, 4);
    assert_int_equal(RECLAIM_LSF, 0);
    assert_int_equal(RECLAIM_DEMAND, 1);
    assert_int_equal(CONTROL_SIGNAL, 0);
    assert_int_equal(CONTROL_SUSPEND, 1);
    assert_int_equal(CONTROL_RESUME, 2);
    assert_int_equal(CONTROL_KILL, 3);
    assert_int_equal(OUTPUT_OUT, 0);
    assert_int_equal(OUTPUT_ERR, 1);
    assert_int_equal(RUN_END_NONE, 0);
    assert_int_equal(RUN_END_EXITED, 1);
    assert_int_equal(RUN_END_SIGNALLED, 2);
    assert_int_equal(RUN_END_FAILED, 3);
    assert_int_equal(RUN_END_LOST, 4);
    assert_int_equal(RUN_END_LIMIT, 5);
    assert_int_equal(RUN_CAUSE_NONE, 0);
    assert_int_equal(RUN_CAUSE_RUN_LIMIT, 1);
    assert_int_equal(RUN_CAUSE_CPU_LIMIT, 2);
    assert_int_equal(RUN_CAUSE_MEM_LIMIT, 3);
    assert_int_equal(RUN_CAUSE_SWAP_LIMIT, 4);
    assert_int_equal(RUN_CAUSE_PROCESS_LIMIT, 5);
    assert_int_equal(RUN_CAUSE_THREAD_LIMIT, 6);
    assert_int_equal(RUN_CAUSE_PRE_EXEC, 7);
    assert_int_equal(RUN_CAUSE_NOT_BEGUN, 8);
    assert_int_equal(RUN_UNKNOWN, 0);
    assert_int_equal(RUN_WAITING, 1);
    assert_int_equal(RUN_RUNNING, 2);
    assert_int_equal(RUN_SUSPENDED, 3);
    assert_int_equal(RUN_ENDED, 4);
    assert_int_equal(ATTEMPT_TAKEN, 0);
    assert_int_equal(ATTEMPT_REFUSED, 1);
    assert_int_equal(ATTEMPT_RUNNING, 2);
    assert_int_equal(ATTEMPT_SUSPENDED, 3);
    assert_int_equal(ATTEMPT_ENDED, 4);
    assert_int_equal(ATTEMPT_LOST, 5);
    assert_int_equal(ATTEMPT_ABSENT, 6);
    assert_int_equal(INTERACTION_NONE, 0);
    assert_int_equal(INTERACTION_PIPES, 1);
    assert_int_equal(INTERACTION_PTY, 2);
    assert_int_equal(INTERACTION_SHELL, 3);
    assert_int_equal(RESIZE_NONE, 0);
    assert_int_equal(RESIZE_GROW, 1);
    assert_int_equal(RESIZE_SHRINK, 2);
    assert_int_equal(QUERY_JOBS, 0);
    assert_int_equal(QUERY_HOSTS, 1);
    assert_int_equal(QUERY_QUEUES, 2);
    assert_int_equal(QUERY_EXPORTS, 3);
    assert_int_equal(QUERY_LEASES, 4);
    assert_int_equal(QUERY_LEASE_HISTORY, 5);
    assert_int_equal(QUERY_SITES, 6);
    assert_int_equal(QUERY_RECLAIM, 7);
    assert_int_equal(QUERY_VERSION, 8);
    assert_int_equal(QUERY_EVENTS, 9);
    assert_int_equal(QUERY_LOAD, 10);
    assert_int_equal(QUERY_HIST, 11);
    assert_int_equal(QUERY_USERS, 12);
    assert_int_equal(QUERY_POOLS, 13);
    assert_int_equal(QUERY_PLAN, 14);
    assert_int_equal(QUERY_LIMITS, 15);
    assert_int_equal(RECLAIM_ALL, 0);
    assert_int_equal(RECLAIM_PROVIDER, 1);
    assert_int_equal(RECLAIM_LEASE, 2);
    assert_int_equal(DRAIN_LEASE, 0);
    assert_int_equal(DRAIN_SITE, 1);
    assert_int_equal(RESIZABLE_NO, 0);
    assert_int_equal(RESIZABLE_YES, 1);
    assert_int_equal(RESIZABLE_AUTO, 2);
    assert_int_equal(JOB_RESIZE_TO, 0);
    assert_int_equal(JOB_RESIZE_RELEASE, 1);
    assert_int_equal(JOB_RESIZE_KEEP, 2);
    assert_int_equal(JOB_RESIZE_CANCEL, 3);
    assert_int_equal(JOB_FIELD_NAME, 0);
    assert_int_equal(JOB_FIELD_RUN_LIMIT, 11);
    assert_int_equal(JOB_FIELD_GROUP, 21);
    assert_int_equal(MOVE_REQUEUE, 0);
    assert_int_equal(MOVE_SWITCH, 1);
    assert_int_equal(MOVE_TOP, 2);
    assert_int_equal(MOVE_BOTTOM, 3);
    assert_int_equal(MOVE_RERUN, 4);
    assert_int_equal(QUEUE_OPEN, 0);
    assert_int_equal(QUEUE_CLOSE, 1);
    assert_int_equal(QUEUE_ACTIVATE, 2);
    assert_int_equal(QUEUE_INACTIVATE, 3);
}

static struct row_run run_of(const struct job_spec *spec,
                             const struct host_slots *hosts)
{
    return (struct row_run){.run = {"south", 7},
                            .job = "12",
                            .lease = "",
                            .hosts = hosts,
                            .n_hosts = 2,
                            .spec = spec,
                            .exit = {.text = "it ended"}};
}

static const char *const env[] = {"A=1", "B="};
static const struct host_slots hosts[] = {{"n1", 1}, {"n2", 3}};

static void test_a_copy_owns_all_that_it_points_to(void **state)
{
    const struct job_spec spec = {
        .name = "a", .command = "true", .env = env, .n_env = 2};
    const struct row_run run = run_of(&spec, hosts);
    const struct schema *schema = schema_row_kinds[ROW_RUN];
    struct row_run *copy = record_dup(schema, &run);
    assert_true(record_is_same(schema, &run, copy));
    assert_ptr_not_equal(copy->spec, run.spec);
    assert_ptr_not_equal(copy->spec->env, env);
    assert_ptr_not_equal(copy->spec->env[0], env[0]);
    assert_ptr_not_equal(copy->hosts, hosts);
    assert_ptr_not_equal(copy->hosts[1].host, hosts[1].host);
    assert_string_equal(copy->spec->cwd, ""); /* NULL in the original */
    free(copy);

    struct arena arena;
    arena_init(&arena);
    struct row_run in_arena = run;
    record_copy(&arena, schema, &in_arena, &in_arena);
    assert_true(record_is_same(schema, &run, &in_arena));
    assert_ptr_not_equal(in_arena.exit.text, run.exit.text);
    assert_null(in_arena.spec->cwd);
    arena_release(&arena);
}

static void test_each_difference_is_seen(void **state)
{
    const struct job_spec spec = {.command = "true", .env = env, .n_env = 2};
    const char *const other_env[] = {"A=1", "B=2"};
    const struct host_slots other_hosts[] = {{"n1", 1}, {"n2", 4}};
    const struct job_spec others[] = {
        {.command = "true", .env = env, .n_env = 1},
        {.command = "true", .env = other_env, .n_env = 2},
        {.command = "false", .env = env, .n_env = 2},
        {.command = "true", .env = env, .n_env = 2, .is_exclusive = true},
        {.command = "true", .env = env, .n_env = 2, .umask = 1},
    };
    const struct schema *schema = schema_row_kinds[ROW_RUN];
    const struct row_run run = run_of(&spec, hosts);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct row_run other = run_of(&others[i], hosts);
        assert_false(record_is_same(schema, &run, &other));
    }
    struct row_run other = run_of(&spec, other_hosts);
    assert_false(record_is_same(schema, &run, &other));
    other = run_of(NULL, hosts);
    assert_false(record_is_same(schema, &run, &other));
    assert_false(record_is_same(schema, &other, &run));
    other = run_of(&spec, hosts);
    other.run.attempt = 8;
    assert_false(record_is_same(schema, &run, &other));
    other = run_of(&spec, hosts);
    other.exit.text = "it did not";
    assert_false(record_is_same(schema, &run, &other));
    assert_true(record_is_same_list(&schema_run_slots, hosts, 1, other_hosts, 1));
    assert_false(record_is_same_list(&schema_run_slots, hosts, 2, other_hosts, 1));
}

static void test_rows_sort_by_kind_and_key(void **state)
{
    const struct row rows[] = {
        {.kind = ROW_COUNTER, .counter = {"boot", 1}},
        {.kind = ROW_KEPT, .kept = {"gpu", "/a", 1, false}},
        {.kind = ROW_JOB_STATE, .job_state = {.id = 9, .index = 10}},
        {.kind = ROW_JOB_STATE, .job_state = {.id = 10, .index = 9}},
        {.kind = ROW_RUN, .run = {.run = {"south", 9}}},
        {.kind = ROW_RUN, .run = {.run = {"south", 10}}},
    };
    char last[ROW_KEY_SIZE] = "", key[ROW_KEY_SIZE];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        row_key(&rows[i], key);
        assert_true(strcmp(last, key) < 0);
        memcpy(last, key, sizeof(last));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enums_keep_their_numbers),
        cmocka_unit_test(test_a_copy_owns_all_that_it_points_to),
        cmocka_unit_test(test_each_difference_is_seen),
        cmocka_unit_test(test_rows_sort_by_kind_and_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
