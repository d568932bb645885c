/* SPDX-License-Identifier: Apache-2.0 */
/* Limits: to which jobs one applies, which of them share it, how many slots are left.
 * Jobs are written "user queue project host=slots,host=slots". */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sched/limit/limit.h"

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { JOBS_MAX_ROW = 4, HOSTS_MAX_ROW = 2, PROCESSORS = 4 };

static const char *const ana[] = {"ana"};
static const char *const ana_bo[] = {"ana", "bo"};
static const char *const night[] = {"night"};
static const char *const n1[] = {"n1"};
static const char *const n1_n2[] = {"n1", "n2"};
static const char *const gene[] = {"gene"};

#define NAMES(mode, list)                                                              \
    {                                                                                  \
        mode,                                                                          \
        {                                                                              \
            false, list, (int)(sizeof(list) / sizeof((list)[0]))                       \
        }                                                                              \
    }
#define ALL(mode)                                                                      \
    {                                                                                  \
        mode,                                                                          \
        {                                                                              \
            true, NULL, 0                                                              \
        }                                                                              \
    }

struct job_row {
    const char *user, *queue, *project;
    struct host_slots hosts[HOSTS_MAX_ROW];
};

struct row {
    const char *why;
    struct limit limit;
    struct job_row running[JOBS_MAX_ROW];
    struct job_row asked; /* its first host is the one that is looked at */
    int room;             /* -1: any number */
};

#define ANA(...)                                                                       \
    {                                                                                  \
        "ana", "night", "default",                                                     \
        {                                                                              \
            __VA_ARGS__                                                                \
        }                                                                              \
    }
#define BO(...)                                                                        \
    {                                                                                  \
        "bo", "night", "default",                                                      \
        {                                                                              \
            __VA_ARGS__                                                                \
        }                                                                              \
    }

static const struct row rows[] = {
    {"of nobody in particular: all together",
     {"x", {{0}}, 10, -1, -1},
     {ANA({"n1", 3}), BO({"n2", 4})},
     ANA({"n1", 1}),
     3},
    {"jobs, not slots: one more may come, however large",
     {"x", {{0}}, -1, 3, -1},
     {ANA({"n1", 3}), BO({"n2", 4})},
     ANA({"n1", 1}),
     -1},
    {"jobs: no more",
     {"x", {{0}}, -1, 2, -1},
     {ANA({"n1", 3}), BO({"n2", 4})},
     ANA({"n1", 1}),
     0},
    {"users together",
     {"x", {[LIMIT_USERS] = NAMES(LIMIT_TOGETHER, ana_bo)}, 10, -1, -1},
     {ANA({"n1", 3}), BO({"n2", 4})},
     ANA({"n1", 1}),
     3},
    {"each user",
     {"x", {[LIMIT_USERS] = NAMES(LIMIT_EACH, ana_bo)}, 10, -1, -1},
     {ANA({"n1", 3}), BO({"n2", 4})},
     ANA({"n1", 1}),
     7},
    {"another user",
     {"x", {[LIMIT_USERS] = NAMES(LIMIT_EACH, ana)}, 10, -1, -1},
     {ANA({"n1", 3})},
     BO({"n1", 1}),
     -1},
    {"all users but ana",
     {"x", {[LIMIT_USERS] = {LIMIT_EACH, {true, ana, 1}}}, 2, -1, -1},
     {BO({"n1", 2})},
     ANA({"n1", 1}),
     -1},
    {"all users but ana: bo",
     {"x", {[LIMIT_USERS] = {LIMIT_EACH, {true, ana, 1}}}, 2, -1, -1},
     {BO({"n1", 2})},
     BO({"n1", 1}),
     0},
    {"UJOB_LIMIT: each user of a queue",
     {"x",
      {[LIMIT_QUEUES] = NAMES(LIMIT_TOGETHER, night), [LIMIT_USERS] = ALL(LIMIT_EACH)},
      5,
      -1,
      -1},
     {ANA({"n1", 2}), {"ana", "day", "default", {{"n1", 3}}}, BO({"n1", 4})},
     ANA({"n1", 1}),
     3},
    {"another queue",
     {"x", {[LIMIT_QUEUES] = NAMES(LIMIT_TOGETHER, night)}, 5, -1, -1},
     {ANA({"n1", 5})},
     {"ana", "day", "default", {{"n1", 1}}},
     -1},
    {"a project",
     {"x", {[LIMIT_PROJECTS] = NAMES(LIMIT_TOGETHER, gene)}, 5, -1, -1},
     {{"ana", "day", "gene", {{"n1", 4}}}, ANA({"n1", 1})},
     {"bo", "day", "gene", {{"n1", 1}}},
     1},
    {"each host",
     {"x", {[LIMIT_HOSTS] = ALL(LIMIT_EACH)}, 4, -1, -1},
     {ANA({"n1", 3}, {"n2", 1})},
     ANA({"n1", 1}),
     1},
    {"hosts together",
     {"x", {[LIMIT_HOSTS] = NAMES(LIMIT_TOGETHER, n1_n2)}, 6, -1, -1},
     {ANA({"n1", 3}, {"n2", 1})},
     ANA({"n1", 1}),
     2},
    {"hosts together: a job on two of them is one job",
     {"x", {[LIMIT_HOSTS] = NAMES(LIMIT_TOGETHER, n1_n2)}, -1, 2, -1},
     {ANA({"n1", 3}, {"n2", 1})},
     ANA({"n1", 1}),
     -1},
    {"JL/U: each user on a host",
     {"x",
      {[LIMIT_HOSTS] = NAMES(LIMIT_TOGETHER, n1), [LIMIT_USERS] = ALL(LIMIT_EACH)},
      2,
      -1,
      -1},
     {ANA({"n1", 1}, {"n2", 9}), BO({"n1", 2})},
     ANA({"n1", 1}),
     1},
    {"not that host",
     {"x", {[LIMIT_HOSTS] = NAMES(LIMIT_TOGETHER, n1)}, 2, -1, -1},
     {ANA({"n1", 2})},
     ANA({"n2", 1}),
     -1},
    {"half a slot a processor",
     {"x", {[LIMIT_HOSTS] = ALL(LIMIT_EACH)}, -1, -1, 500},
     {ANA({"n1", 1})},
     ANA({"n1", 1}),
     1},
};

static int room_of(struct limits *limits, const struct job_row *job)
{
    struct limit_owner *class =
        limits_join(limits, job->user, job->queue, job->project);
    struct limits_tentative *draft = limits_tentative_new(limits);
    const struct limit *by;
    int room = limits_slots_left(draft, class, &by);
    int there = limits_slots_left_on(draft, class, job->hosts[0].host, PROCESSORS, NULL,
                                     0, &by);
    limits_tentative_free(draft);
    limits_leave(limits, class);
    return there < room ? there : room;
}

static int count_hosts(const struct job_row *job)
{
    return job->hosts[1].host != NULL ? 2 : 1;
}

static void test_room(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct limits *limits = limits_new(&row->limit, 1);
        struct limit_owner *classes[JOBS_MAX_ROW] = {NULL};
        int free_room = room_of(limits, &row->asked);
        for (int k = 0; k < JOBS_MAX_ROW && row->running[k].user != NULL; k++) {
            const struct job_row *job = &row->running[k];
            classes[k] = limits_join(limits, job->user, job->queue, job->project);
            limits_count(limits, classes[k], job->hosts, count_hosts(job), false, 1);
        }
        int room = room_of(limits, &row->asked);
        if (room != (row->room < 0 ? INT_MAX : row->room)) {
            fail_msg("%s: room for %d, expected %d", row->why, room, row->room);
        }
        for (int k = 0; k < JOBS_MAX_ROW && row->running[k].user != NULL; k++) {
            const struct job_row *job = &row->running[k];
            limits_count(limits, classes[k], job->hosts, count_hosts(job), false, -1);
            limits_leave(limits, classes[k]);
        }
        if (room_of(limits, &row->asked) != free_room) {
            fail_msg("%s: all has ended, and something is still counted", row->why);
        }
        limits_free(limits);
    }
    (void)state;
}

static void test_tightest(void **state)
{
    static const struct limit list[] = {{"wide", {{0}}, 10, -1, -1},
                                        {"tight", {{0}}, 4, -1, -1},
                                        {"as tight", {{0}}, 4, -1, -1}};
    struct limits *limits = limits_new(list, 3);
    struct limit_owner *class = limits_join(limits, "ana", "night", "default");
    struct limits_tentative *draft = limits_tentative_new(limits);
    const struct limit *by;
    (void)state;
    assert_int_equal(limits_slots_left(draft, class, &by), 4);
    assert_string_equal(by->name, "tight");
    assert_int_equal(limits_max_slots(class, &by), 4);
    limits_tentative_free(draft);
    limits_leave(limits, class);
    limits_free(limits);
}

/* A draft adds to the counts and leaves them alone. */
static void test_draft(void **state)
{
    static const struct limit limit = {"x", {{0}}, 10, -1, -1};
    static const struct host_slots six = {"n1", 6};
    struct limits *limits = limits_new(&limit, 1);
    struct limit_owner *class = limits_join(limits, "ana", "night", "default");
    struct limits_tentative *draft = limits_tentative_new(limits);
    const struct limit *by;
    (void)state;
    limits_tentative_count(draft, class, &six, 1);
    assert_int_equal(limits_slots_left(draft, class, &by), 4);
    limits_tentative_free(draft);
    draft = limits_tentative_new(limits);
    assert_int_equal(limits_slots_left(draft, class, &by), 10);
    limits_tentative_free(draft);
    limits_leave(limits, class);
    limits_free(limits);
}

/* What the job takes on other hosts of the limit counts too. */
static void test_pieces(void **state)
{
    static const struct limit limit = {
        "x", {[LIMIT_HOSTS] = NAMES(LIMIT_TOGETHER, n1_n2)}, 5, -1, -1};
    static const struct host_slots pieces[] = {{"n1", 3}, {"n9", 7}};
    struct limits *limits = limits_new(&limit, 1);
    struct limit_owner *class = limits_join(limits, "ana", "night", "default");
    struct limits_tentative *draft = limits_tentative_new(limits);
    const struct limit *by;
    (void)state;
    assert_true(limits_have_host_limits(class));
    assert_int_equal(limits_slots_left_on(draft, class, "n2", 4, pieces, 2, &by), 2);
    limits_tentative_free(draft);
    limits_leave(limits, class);
    limits_free(limits);
}

/* What a limit is shown with: each of those who have it, by name; projects may have any
 * name. */
static void test_uses(void **state)
{
    static const struct limit list[] = {
        {"each user, of each project, on each host",
         {[LIMIT_USERS] = ALL(LIMIT_EACH),
          [LIMIT_PROJECTS] = ALL(LIMIT_EACH),
          [LIMIT_HOSTS] = ALL(LIMIT_EACH)},
         9,
         -1,
         -1},
        {"nobody comes", {[LIMIT_QUEUES] = NAMES(LIMIT_TOGETHER, gene)}, 9, -1, -1},
        {"all", {{0}}, 9, -1, -1}};
    static const struct host_slots two[] = {{"n2", 1}, {"n1", 2}}, one = {"n1", 3};
    static const struct {
        int limit;
        const char *user, *project, *host;
        int n_slots, n_jobs;
    } wanted[] = {{0, "ana", "a|b", "n1", 2, 1},
                  {0, "ana", "a|b", "n2", 1, 1},
                  {0, "bo", "", "n1", 3, 1},
                  {2, NULL, NULL, NULL, 6, 2}};
    struct limits *limits = limits_new(list, 3);
    struct limit_owner *of_bo = limits_join(limits, "bo", "night", "");
    struct limit_owner *of_ana = limits_join(limits, "ana", "night", "a|b");
    const struct limit_usage *uses;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    assert_int_equal(limit_usage_list(limits, &arena, &uses), 0);
    limits_count(limits, of_bo, &one, 1, false, 1);
    limits_count(limits, of_ana, two, 2, false, 1);
    assert_int_equal(limit_usage_list(limits, &arena, &uses), 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(uses[i].limit, wanted[i].limit);
        assert_int_equal(uses[i].n_slots, wanted[i].n_slots);
        assert_int_equal(uses[i].n_jobs, wanted[i].n_jobs);
        assert_null(uses[i].each[LIMIT_QUEUES]);
        if (wanted[i].user == NULL) {
            assert_null(uses[i].each[LIMIT_USERS]);
            continue;
        }
        assert_string_equal(uses[i].each[LIMIT_USERS], wanted[i].user);
        assert_string_equal(uses[i].each[LIMIT_PROJECTS], wanted[i].project);
        assert_string_equal(uses[i].each[LIMIT_HOSTS], wanted[i].host);
    }
    limits_leave(limits, of_ana);
    limits_leave(limits, of_bo);
    limits_free(limits);
    arena_release(&arena);
}

/* n1 and n2 have 6 slots and 4 processors each, n3 has 6 and 2. */
static void test_capacity(void **state)
{
    static const struct {
        const char *why;
        struct limit limits[2];
        int n_limits, expected;
    } cases[] = {
        {"no limit", {{"x"}}, 0, 18},
        {"on each host", {{"x", {[LIMIT_HOSTS] = ALL(LIMIT_EACH)}, 3, -1, -1}}, 1, 9},
        {"per processor",
         {{"x", {[LIMIT_HOSTS] = ALL(LIMIT_EACH)}, -1, -1, 1000}},
         1,
         10},
        {"of a group of hosts",
         {{"x", {[LIMIT_HOSTS] = NAMES(LIMIT_TOGETHER, n1_n2)}, 7, -1, -1}},
         1,
         13},
        {"nested groups, whatever their order",
         {{"x", {[LIMIT_HOSTS] = ALL(LIMIT_TOGETHER)}, 10, -1, -1},
          {"y", {[LIMIT_HOSTS] = NAMES(LIMIT_TOGETHER, n1_n2)}, 6, -1, -1}},
         2,
         10},
        {"of no host", {{"x", {{0}}, 3, -1, -1}}, 1, 18},
        {"of jobs", {{"x", {[LIMIT_HOSTS] = ALL(LIMIT_EACH)}, -1, 1, -1}}, 1, 18},
        {"of one user",
         {{"x",
           {[LIMIT_USERS] = NAMES(LIMIT_TOGETHER, ana),
            [LIMIT_HOSTS] = ALL(LIMIT_EACH)},
           1,
           -1,
           -1}},
         1,
         18},
        {"of each user",
         {{"x",
           {[LIMIT_USERS] = ALL(LIMIT_EACH), [LIMIT_HOSTS] = ALL(LIMIT_EACH)},
           1,
           -1,
           -1}},
         1,
         18},
        {"of all queues together",
         {{"x",
           {[LIMIT_QUEUES] = ALL(LIMIT_TOGETHER), [LIMIT_HOSTS] = ALL(LIMIT_EACH)},
           1,
           -1,
           -1}},
         1,
         3},
        {"of one queue of the pool",
         {{"x",
           {[LIMIT_QUEUES] = NAMES(LIMIT_TOGETHER, night),
            [LIMIT_HOSTS] = ALL(LIMIT_EACH)},
           1,
           -1,
           -1}},
         1,
         18},
    };
    static const char *const queues[] = {"night", "day"};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct limit_host hosts[] = {{"n1", 4, 6}, {"n2", 4, 6}, {"n3", 2, 6}};
        struct limits *limits = limits_new(cases[i].limits, cases[i].n_limits);
        int64_t n_slots = limit_capacity(limits, &arena, queues, 2, hosts, 3);
        if (n_slots != cases[i].expected) {
            fail_msg("%s: %d, expected %d", cases[i].why, (int)n_slots,
                     cases[i].expected);
        }
        limits_free(limits);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),  cmocka_unit_test(test_tightest),
        cmocka_unit_test(test_draft), cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_uses),  cmocka_unit_test(test_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
