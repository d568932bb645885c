/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of queues: parsing, errors, and their effect on jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/queue/queue.h"

static const char *const own_hosts[] = {"n1"};

struct world {
    struct arena arena;
    struct conf conf;
    struct groups groups;
    struct queue_config *queues;
    int n_queues;
};

static void read_keys(struct world *world, const char *keys)
{
    char text[512];
    snprintf(text, sizeof(text),
             "Begin UserGroup\nGROUP_NAME GROUP_MEMBER\nlab (ana bo)\nEnd UserGroup\n"
             "Begin Queue\nQUEUE_NAME = q\n%s\nEnd Queue\n",
             keys);
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "lsb.queues", text, strlen(text));
    groups_read(&world->conf, own_hosts, 1, &world->groups);
    queue_read(&world->conf, &world->groups, &world->queues, &world->n_queues);
}

static int check(const struct world *world, int *n_slots, int *max_slots,
                 int64_t *run_limit_ms, struct err *err)
{
    const struct queue_rules *rules = &world->queues[0].rules;
    struct job_rules_stack stack = {.queue = &rules->job};
    struct job_spec spec = {
        .n_slots = *n_slots, .run_limit_ms = *run_limit_ms, .command = "run me"};
    struct job_terms terms = {.max_slots = *max_slots};
    int code = queue_rules_check_user(rules, "ana", err);
    if (code == 0) {
        code = job_rules_check(&stack, &spec, &terms, err);
    }
    *max_slots = terms.max_slots;
    *n_slots = spec.n_slots;
    *run_limit_ms = spec.run_limit_ms;
    return code;
}

/* A job of "ana" that asks for so many slots and minutes (0: nothing said). */
static void test_check(void **state)
{
    static const struct {
        const char *keys;
        int slots, minutes;
        const char *says; /* NULL: taken, with: */
        int slots_then, minutes_then;
    } rows[] = {
        {"", 0, 0, NULL, 1, 0},
        {"", 7, 90, NULL, 7, 90},
        {"USERS = ana", 1, 0, NULL, 1, 0},
        {"USERS = lab", 1, 0, NULL, 1, 0},
        {"USERS = all", 1, 0, NULL, 1, 0},
        {"USERS = bo", 1, 0, "User cannot use the queue", 0, 0},
        {"USERS = all ~lab", 1, 0, "User cannot use the queue", 0, 0},
        {"PROCLIMIT = 4", 4, 0, NULL, 4, 0},
        {"PROCLIMIT = 4", 5, 0, "Too many processors requested", 0, 0},
        {"PROCLIMIT = 2 4", 1, 0, "Too few processors requested", 0, 0},
        {"PROCLIMIT = 2 4", 0, 0, NULL, 2, 0},
        {"PROCLIMIT = 2 3 4", 0, 0, NULL, 3, 0},
        {"TASKLIMIT = 2 3 4", 0, 0, NULL, 3, 0},
        {"RUNLIMIT = 60", 1, 0, NULL, 1, 60},
        {"RUNLIMIT = 10 1:30", 1, 0, NULL, 1, 10},
        {"RUNLIMIT = 10 1:30", 1, 90, NULL, 1, 90},
        {"RUNLIMIT = 10 1:30", 1, 91, "Cannot exceed queue's hard limit", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        struct err err = {.text = ""};
        int slots = rows[i].slots, max_slots = 0;
        int64_t limit_ms = rows[i].minutes * INT64_C(60000);
        read_keys(&world, rows[i].keys);
        assert_int_equal(world.conf.n_errors, 0);
        int code = check(&world, &slots, &max_slots, &limit_ms, &err);
        if (rows[i].says != NULL) {
            assert_true(code != 0);
            assert_non_null(strstr(err.text, rows[i].says));
        } else if (code != 0 || slots != rows[i].slots_then ||
                   limit_ms != rows[i].minutes_then * INT64_C(60000)) {
            fail_msg("%s: %s %d slots, %lld ms", rows[i].keys, err.text, slots,
                     (long long)limit_ms);
        }
        arena_release(&world.arena);
    }
}

/* -n min,max: what the queue allows of it. */
static void test_ranges(void **state)
{
    static const struct {
        const char *keys;
        int min, max;
        const char *says; /* NULL: taken, with: */
        int min_then, max_then;
    } rows[] = {
        {"", 2, 8, NULL, 2, 8},
        {"PROCLIMIT = 4 8", 2, 6, NULL, 4, 6},
        {"PROCLIMIT = 4 8", 5, 20, NULL, 5, 8},
        {"PROCLIMIT = 4 8", 2, 3, "Too few processors requested: 3", 0, 0},
        {"PROCLIMIT = 4 8", 9, 20, "Too many processors requested: 9", 0, 0},
        {"PROCLIMIT = 4 4", 1, 9, NULL, 4, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        struct err err = {.text = ""};
        int min = rows[i].min, max = rows[i].max;
        int64_t limit_ms = 0;
        read_keys(&world, rows[i].keys);
        int code = check(&world, &min, &max, &limit_ms, &err);
        if (rows[i].says != NULL) {
            assert_true(code != 0);
            assert_non_null(strstr(err.text, rows[i].says));
        } else if (code != 0 || min != rows[i].min_then || max != rows[i].max_then) {
            fail_msg("%s with %d,%d: %s %d,%d", rows[i].keys, rows[i].min, rows[i].max,
                     err.text, min, max);
        }
        arena_release(&world.arena);
    }
}

static void test_codes(void **state)
{
    struct world world;
    (void)state;
    read_keys(&world, "REQUEUE_EXIT_VALUES = 99 100-102 ~101\n"
                      "SUCCESS_EXIT_VALUES = 230 all ~5");
    const struct job_rules *rules = &world.queues[0].rules.job;
    assert_int_equal(world.conf.n_errors, 0);
    assert_true(job_rules_requeue(rules, 99));
    assert_true(job_rules_requeue(rules, 102));
    assert_false(job_rules_requeue(rules, 101));
    assert_false(job_rules_requeue(rules, 0));
    assert_true(job_rules_succeed(rules, 0));
    assert_true(job_rules_succeed(rules, 230));
    assert_false(job_rules_succeed(rules, 5));
    assert_false(job_rules_exclude(rules, 99));
    arena_release(&world.arena);
}

/* EXCLUDE(...) among the codes that requeue, in the forms of LSF's manual. */
static void test_exclude(void **state)
{
    enum { NOT, AGAIN, ELSEWHERE };
    static const struct {
        const char *value;
        int code, meant;
    } rows[] = {
        {"30 EXCLUDE(20)", 30, AGAIN},
        {"30 EXCLUDE(20)", 20, ELSEWHERE},
        {"30 EXCLUDE(20)", 21, NOT},
        {"EXCLUDE(20)", 20, ELSEWHERE},
        {"EXCLUDE (20 40-42) 30", 41, ELSEWHERE},
        {"EXCLUDE (20 40-42) 30", 30, AGAIN},
        {"exclude(20) EXCLUDE(21)", 20, ELSEWHERE},
        {"exclude(20) EXCLUDE(21)", 21, ELSEWHERE},
        {"all ~1 ~2 EXCLUDE(9)", 9, ELSEWHERE},
        {"all ~1 ~2 EXCLUDE(9)", 8, AGAIN},
        {"all ~1 ~2 EXCLUDE(9)", 2, NOT},
        {"EXCLUDE(all ~1)", 2, ELSEWHERE},
        {"EXCLUDE(all ~1)", 1, NOT},
        {"EXCLUDE(all ~1)", 0, NOT},
        {"20 EXCLUDE(20)", 20, ELSEWHERE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char text[128];
        snprintf(text, sizeof(text), "REQUEUE_EXIT_VALUES = %s", rows[i].value);
        read_keys(&world, text);
        const struct job_rules *rules = &world.queues[0].rules.job;
        assert_int_equal(world.conf.n_errors, 0);
        bool is_again = job_rules_requeue(rules, rows[i].code);
        bool is_elsewhere = job_rules_exclude(rules, rows[i].code);
        if (is_again != (rows[i].meant != NOT) ||
            is_elsewhere != (rows[i].meant == ELSEWHERE)) {
            fail_msg("%s, %d: %d, %d", rows[i].value, rows[i].code, is_again,
                     is_elsewhere);
        }
        arena_release(&world.arena);
    }
}

static void test_starter(void **state)
{
    static const struct {
        const char *keys, *command;
    } rows[] = {
        {"", "run me"},
        {"JOB_STARTER = env A=1", "env A=1 run me"},
        {"JOB_STARTER = nice sh -c '%USRCMD' && x", "nice sh -c 'run me' && x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_keys(&world, rows[i].keys);
        struct job_rules_stack stack = {.queue = &world.queues[0].rules.job};
        struct job_spec spec = {.command = "run me"};
        job_rules_apply(&world.arena, &stack, 1, &spec);
        assert_string_equal(spec.command, rows[i].command);
        arena_release(&world.arena);
    }
}

static void test_bad(void **state)
{
    static const struct {
        const char *keys, *says;
    } rows[] = {
        {"PROCLIMIT = 4 2", "growing order"},
        {"PROCLIMIT = 1 2 3 4", "4 numbers"},
        {"PROCLIMIT = x", "x"},
        {"RUNLIMIT = 90 60", "the default is above"},
        {"RUNLIMIT = 0", "run limit of 0"},
        {"RUNLIMIT = 90/a/b", "expected [HOURS:]MINUTES[/HOST]"},
        {"RUN_WINDOW = 8", "is not a time window"},
        {"DISPATCH_WINDOW = 8-8", "\" ends when it begins"},
        {"REQUEUE_EXIT_VALUES = 256", "is not an exit code"},
        {"REQUEUE_EXIT_VALUES = EXCLUDE(256)", "\"256\" is not an exit code"},
        {"REQUEUE_EXIT_VALUES = 3 EXCLUDE()", "EXCLUDE(CODE ...)"},
        {"REQUEUE_EXIT_VALUES = EXCLUDE 3", "EXCLUDE(CODE ...)"},
        {"REQUEUE_EXIT_VALUES = 3 EXCLUDE", "EXCLUDE(CODE ...)"},
        {"REQUEUE_EXIT_VALUES = EXCLUDE(EXCLUDE(3))", "is not an exit code"},
        {"SUCCESS_EXIT_VALUES = EXCLUDE(3)", "is not an exit code"},
        {"REQUEUE_EXIT_VALUES = ~", "is not an exit code"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_keys(&world, rows[i].keys);
        if (world.conf.n_errors != 1 ||
            strstr(world.conf.diags->text, rows[i].says) == NULL) {
            fail_msg("%s: %d errors, \"%s\"", rows[i].keys, world.conf.n_errors,
                     world.conf.diags != NULL ? world.conf.diags->text : "");
        }
        arena_release(&world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),   cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_codes),   cmocka_unit_test(test_exclude),
        cmocka_unit_test(test_starter), cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
