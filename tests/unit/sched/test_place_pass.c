/* SPDX-License-Identifier: Apache-2.0 */
/* test_place_pass.c: a pass as it goes on: classes of many jobs, full hosts, resumption
 * of suspended jobs, limits. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/sched/place_rows.h"

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* ---------------------------------------------------------------- lines */

enum { TURNS = 10000 };

struct long_line {
    struct job_class_entry turns[TURNS];
    const struct job_class_entry *queued[TURNS];
    struct place_class line;
    struct place_snapshot snapshot;
    struct place_plan plan;
    struct arena arena;
};

static const struct place_host small_host = {"n1", "", "", 4, 1, 0, true};

static struct long_line *long_line_new(void)
{
    struct long_line *all = calloc(1, sizeof(*all));
    for (int i = 0; i < TURNS; i++) {
        all->turns[i].key = (uint64_t)i + 1;
        all->queued[i] = &all->turns[i];
    }
    all->line = (struct place_class){.n_slots = 1,
                                     .entries = all->queued,
                                     .n_entries = TURNS,
                                     .max_starts = INT_MAX};
    all->snapshot = (struct place_snapshot){.hosts = &small_host,
                                            .n_hosts = 1,
                                            .queues = place_rows_queues,
                                            .n_queues = PLACE_ROWS_QUEUES,
                                            .classes = &all->line,
                                            .n_classes = 1,
                                            .max_starts = TURNS};
    arena_init(&all->arena);
    return all;
}

static void long_line_free(struct long_line *all)
{
    arena_release(&all->arena);
    free(all);
}

static void test_many_alike(void **state)
{
    struct long_line *all = long_line_new();
    (void)state;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 3);
    assert_int_equal(all->plan.starts[2].job, 3);
    assert_int_equal(all->plan.waiting_own, TURNS - 3);
    assert_int_equal(all->plan.verdicts[0].reason, REASON_BUSY);
    assert_int_equal(all->plan.verdicts[0].n_full, 1);
    assert_false(all->plan.is_cut);
    long_line_free(all);
}

static void test_array_limit(void **state)
{
    struct long_line *all = long_line_new();
    (void)state;
    all->line.max_starts = 2;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 2);
    assert_int_equal(all->plan.verdicts[0].reason, REASON_ARRAY_LIMIT);
    assert_int_equal(all->plan.waiting_own, 0); /* more slots would not help */
    long_line_free(all);
}

static void test_cut(void **state)
{
    struct long_line *all = long_line_new();
    (void)state;
    all->snapshot.max_starts = 2;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 2);
    assert_true(all->plan.is_cut);
    assert_int_equal(all->plan.waiting_own, 0); /* nobody has looked at them all */
    long_line_free(all);
}

static void test_veto(void **state)
{
    struct long_line *all = long_line_new();
    (void)state;
    all->line.veto = REASON_QUEUE_WINDOW;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 0);
    assert_int_equal(all->plan.verdicts[0].reason, REASON_QUEUE_WINDOW);
    assert_int_equal(all->plan.waiting_own, 0);
    long_line_free(all);
}

/* No host has a slot left after the first line: the others are told what holds for
 * them, not what held when the last of their like was told. */
static void test_full(void **state)
{
    static const struct {
        const char *why;
        int queue, n_slots, max_starts;
        enum pending_reason veto, reason;
        int n_full, n_excluded;
    } cases[] = {
        {"takes all that is free", 3, 1, INT_MAX, REASON_NEW, REASON_BUSY, 1, 0},
        {"alike", 3, 1, INT_MAX, REASON_NEW, REASON_BUSY, 1, 0},
        {"wider", 3, 4, INT_MAX, REASON_NEW, REASON_BUSY, 1, 0},
        {"as wide again, behind others", 0, 4, INT_MAX, REASON_NEW, REASON_BUSY, 1, 0},
        {"the host is too small", 0, 5, INT_MAX, REASON_NEW, REASON_TOO_LARGE, 1, 0},
        {"no host", 5, 1, INT_MAX, REASON_NEW, REASON_NO_HOST, 0, 1},
        {"its array has enough", 0, 1, 0, REASON_NEW, REASON_ARRAY_LIMIT, 0, 0},
        {"its queue is closed", 0, 1, INT_MAX, REASON_QUEUE_WINDOW, REASON_QUEUE_WINDOW,
         0, 0},
    };
    enum { LINES = sizeof(cases) / sizeof(cases[0]), EACH = 5 };
    struct long_line *all = long_line_new();
    struct place_class lines[LINES];
    (void)state;
    for (int i = 0; i < LINES; i++) {
        lines[i] = (struct place_class){.queue = cases[i].queue,
                                        .n_slots = cases[i].n_slots,
                                        .entries = &all->queued[i * EACH],
                                        .n_entries = EACH,
                                        .max_starts = cases[i].max_starts,
                                        .veto = cases[i].veto};
    }
    all->snapshot.classes = lines;
    all->snapshot.n_classes = LINES;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 3);
    assert_int_equal(all->plan.starts[2].job, 3);
    assert_false(all->plan.is_cut);
    assert_int_equal(all->plan.waiting_own, 2 + EACH + 4 * EACH * 2 + 5 * EACH);
    for (int i = 0; i < LINES; i++) {
        const struct pending_verdict *verdict = &all->plan.verdicts[i];
        if (verdict->reason != cases[i].reason || verdict->n_full != cases[i].n_full ||
            verdict->n_excluded != cases[i].n_excluded) {
            fail_msg("%s: %s, %d full, %d excluded", cases[i].why,
                     pending_reason_name(verdict->reason), verdict->n_full,
                     verdict->n_excluded);
        }
    }
    long_line_free(all);
}

/* ---------------------------------------------------------------- resumption */

static const struct host_slots n1_four[] = {{"n1", 4}}, n1_two[] = {{"n1", 2}};

/* Two jobs of queue 0 that are suspended on n1, of 4 slots and of 2, and one of 1 slot
 * that waits for it in the same queue. */
static void test_returns(void **state)
{
    static const struct {
        const char *why;
        struct place_host host;
        int n_returns, n_starts;
        uint64_t first;
    } cases[] = {
        {"both fit, and the waiting one", {.max = 8}, 2, 1, 1},
        {"the first has all", {.max = 4}, 1, 0, 1},
        {"the second fits; what is left is kept for the first",
         {.max = 6, .used = 3},
         1,
         0,
         2},
        {"nothing fits, and what is free is kept", {.max = 6, .used = 5}, 0, 0, 0},
        {"an exclusive job has the host",
         {.max = 8, .is_used_exclusively = true},
         0,
         0,
         0},
        {"a suspended one keeps it", {.max = 8, .is_held = true}, 2, 0, 1},
        {"an exclusive one goes on alone", {.max = 8}, 1, 0, 1},
        {"an exclusive one waits, the other fits, and nothing more begins",
         {.max = 8, .used = 1},
         1,
         0,
         2},
        {"an exclusive one waits for others",
         {.max = 8, .has_foreign_jobs = true},
         1,
         1,
         2},
        {"a host that takes nothing new has what it had",
         {.n_resume_slots = 6},
         2,
         0,
         1},
        {"and no more", {.n_resume_slots = 5, .used = 2}, 1, 0, 2},
        {"a host that is too small now, and nothing else runs there: one by one",
         {.max = 1, .is_idle = true},
         1,
         0,
         1},
        {"leases have idle slots of a host that is too small now: all is for the job",
         {.max = 1, .n_resume_alone = 3},
         1,
         0,
         1},
        {"the host has as many slots as the job, but leases never give one back",
         {.max = 3, .n_resume_alone = 4},
         1,
         0,
         1},
        {"it is large enough: the job waits until they return",
         {.max = 1, .n_resume_alone = 5},
         0,
         0,
         0},
        {"something runs there", {.max = 1, .used = 1, .n_resume_alone = 3}, 0, 0, 0},
        {"others have slots of it", {.max = 1}, 0, 0, 0},
        {"closed", {.max = 4, .is_idle = true}, 1, 0, 1},
    };
    static const int places[] = {0};
    struct place_resume returns[] = {
        {.job = 1, .hosts = n1_four, .indexes = places, .n_hosts = 1},
        {.job = 2, .hosts = n1_two, .indexes = places, .n_hosts = 1}};
    static const struct place_row row = {.jobs = {{3, 0, 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct place_host host = cases[i].host;
        struct place_rows_waiting waiting;
        struct place_snapshot snapshot = {.hosts = &host,
                                          .n_hosts = 1,
                                          .queues = place_rows_queues,
                                          .n_queues = PLACE_ROWS_QUEUES,
                                          .classes = waiting.lines,
                                          .resumes = returns,
                                          .n_resumes = 2,
                                          .max_starts = PLACE_ROWS_MAX};
        struct place_plan plan;
        struct arena arena;
        arena_init(&arena);
        host.name = "n1";
        host.site = host.lease = "";
        host.is_open = strcmp(cases[i].why, "closed") != 0;
        returns[0].is_exclusive = strncmp(cases[i].why, "an exclusive one", 16) == 0;
        snapshot.n_classes = place_rows_jobs(&arena, &row, &waiting);
        place_plan(&arena, &snapshot, &plan);
        if (plan.n_resumes != cases[i].n_returns ||
            plan.n_starts != cases[i].n_starts ||
            (plan.n_resumes > 0 && plan.resumes[0] != cases[i].first)) {
            fail_msg("%s: %d go on, %d start", cases[i].why, plan.n_resumes,
                     plan.n_starts);
        }
        arena_release(&arena);
    }
}

/* ---------------------------------------------------------------- limits */

/* Two hosts of 4 slots; the job of 3 slots, and then jobs of 1, all of queue 0. */
static void test_limits(void **state)
{
    static const char *const n1[] = {"n1"};
    static const struct place_host hosts[] = {{"n1", "", "", 4, 0, 0, true},
                                              {"n2", "", "", 4, 0, 0, true}};
    static const struct limit all = {
        .name = "all", .slots = 4, .jobs = -1, .per_processor_milli = -1};
    static const struct limit jobs = {
        .name = "jobs", .slots = -1, .jobs = 2, .per_processor_milli = -1};
    static const struct limit each_host = {
        .name = "each host",
        .slots = 2,
        .jobs = -1,
        .per_processor_milli = -1,
        .sides[LIMIT_HOSTS] = {LIMIT_EACH, {true, NULL, 0}}};
    static const struct limit on_n1 = {
        .name = "on n1",
        .slots = 0,
        .jobs = -1,
        .per_processor_milli = -1,
        .sides[LIMIT_HOSTS] = {LIMIT_TOGETHER, {false, n1, 1}}};
    static const struct limit half = {
        .name = "half",
        .slots = -1,
        .jobs = -1,
        .per_processor_milli = 500,
        .sides[LIMIT_HOSTS] = {LIMIT_EACH, {true, NULL, 0}}};
    static const struct {
        const char *why;
        const struct limit *limit;
        const char *starts;
        enum pending_reason first, rest; /* where they do not start */
    } cases[] = {
        {"slots in all", &all, "1:n1=3 2:n2=1", REASON_STARTED, REASON_LIMIT},
        {"jobs in all", &jobs, "1:n1=3 2:n2=1", REASON_STARTED, REASON_LIMIT},
        {"two of each host: the parallel job is spread", &each_host,
         "1:n1=2,n2=1 2:n2=1", REASON_STARTED, REASON_HOST_LIMIT},
        {"none of a host", &on_n1, "1:n2=3 2:n2=1", REASON_STARTED, REASON_HOST_LIMIT},
        {"half a slot a processor", &half, "1:n1=2,n2=1 2:n2=1", REASON_STARTED,
         REASON_HOST_LIMIT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct limits *limits = limits_new(cases[i].limit, 1);
        struct limit_owner *class = limits_join(limits, "ana", "own", "default");
        static const struct place_row row = {
            .jobs = {{1, 0, 3}, {2, 0, 1}, {3, 0, 1}, {4, 0, 1}}};
        struct place_rows_waiting waiting;
        struct place_snapshot snapshot = {.hosts = hosts,
                                          .n_hosts = 2,
                                          .queues = place_rows_queues,
                                          .n_queues = PLACE_ROWS_QUEUES,
                                          .classes = waiting.lines,
                                          .limits = limits,
                                          .max_starts = PLACE_ROWS_MAX};
        struct place_plan plan;
        struct arena arena;
        char starts[256];
        arena_init(&arena);
        snapshot.n_classes = place_rows_jobs(&arena, &row, &waiting);
        for (int k = 0; k < snapshot.n_classes; k++) {
            waiting.lines[k].limit_class = class;
        }
        place_plan(&arena, &snapshot, &plan);
        place_rows_starts(&plan, starts, sizeof(starts));
        assert_string_equal(starts, cases[i].starts);
        assert_int_equal(plan.verdicts[0].reason, cases[i].first);
        assert_int_equal(plan.verdicts[3].reason, cases[i].rest);
        assert_string_equal(plan.verdicts[3].limit, cases[i].limit->name);
        arena_release(&arena);
        limits_leave(limits, class);
        limits_free(limits);
    }
}

/* ---------------------------------------------------------------- jobs that wait */

/* A job may use the hosts of any of its alternatives; each counts once. */
static void test_waiting_for(void **state)
{
    static const uint8_t own[] = {1, 0, 0}, away[] = {0, 1, 0}, all[] = {1, 1, 1};
    static const struct {
        const char *why;
        const uint8_t *first, *second;
        int of_own, of_north, of_south;
    } rows[] = {
        {"the first or the second", own, away, 3, 3, 0},
        {"the other way round", away, own, 3, 3, 0},
        {"hosts of both", all, own, 3, 3, 3},
    };
    static const struct place_host hosts[] = {
        {"n1", "", "", 4, 4, 0, true},
        {"b1@north", "north", "north/1/x", 4, 4, 0, true},
        {"b1@south", "south", "south/1/x", 4, 4, 0, true}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct place_filter first = {.matches = rows[i].first},
                            second = {.matches = rows[i].second};
        struct rusage_request asks[] = {{.filter = &first}, {.filter = &second}};
        const struct job_class_entry turn = {.key = 1}, *queued = &turn;
        struct place_class line = {.queue = 1,
                                   .n_slots = 3,
                                   .rusages = asks,
                                   .n_rusages = 2,
                                   .entries = &queued,
                                   .n_entries = 1,
                                   .max_starts = INT_MAX};
        struct place_snapshot snapshot = {.hosts = hosts,
                                          .n_hosts = 3,
                                          .queues = place_rows_queues,
                                          .n_queues = PLACE_ROWS_QUEUES,
                                          .classes = &line,
                                          .n_classes = 1,
                                          .max_starts = 1};
        struct place_plan plan;
        struct arena arena;
        arena_init(&arena);
        place_plan(&arena, &snapshot, &plan);
        if (plan.waiting_own != rows[i].of_own ||
            plan.waiting_lease[1] != rows[i].of_north ||
            plan.waiting_lease[2] != rows[i].of_south) {
            fail_msg("%s: %d own, %d of north, %d of south", rows[i].why,
                     plan.waiting_own, plan.waiting_lease[1], plan.waiting_lease[2]);
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_alike), cmocka_unit_test(test_array_limit),
        cmocka_unit_test(test_cut),        cmocka_unit_test(test_veto),
        cmocka_unit_test(test_full),       cmocka_unit_test(test_returns),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_waiting_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
