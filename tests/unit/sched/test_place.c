/* SPDX-License-Identifier: Apache-2.0 */
/* test_place.c: where jobs go, by preference, load, lease and requirements; rows are
 * place_rows.h's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/sched/place_rows.h"

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct place_row rows[] = {
    {"one job, one host", {{"n1", 4, 0}}, {{1, 0, 1}}, "1:n1=1", {REASON_STARTED}, 0},
    {"the least loaded host first",
     {{"n1", 4, 2}, {"n2", 4, 1}},
     {{1, 0, 1}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"load is used / max, not used: 1/2 is more than 2/8",
     {{"n1", 2, 1}, {"n2", 8, 2}},
     {{1, 0, 1}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"equal loads: file order, and the load counts what was just placed",
     {{"n1", 4, 0}, {"n2", 4, 0}},
     {{1, 0, 1}, {2, 0, 1}, {3, 0, 1}},
     "1:n1=1 2:n2=1 3:n1=1",
     {REASON_STARTED, REASON_STARTED, REASON_STARTED},
     0},
    {"higher queue priority first, then id",
     {{"n1", 1, 0}},
     {{1, 0, 1}, {2, 1, 1}, {3, 1, 1}},
     "2:n1=1",
     {REASON_BUSY, REASON_STARTED, REASON_BUSY},
     2},
    {"equal priorities: the queue that stands first in the file",
     {{"n1", 1, 0}},
     {{1, 2, 1}, {2, 1, 1}},
     "2:n1=1",
     {REASON_BUSY, REASON_STARTED},
     1},
    {"a job that does not fit holds nobody back",
     {{"n1", 2, 1}},
     {{1, 0, 2}, {2, 0, 1}},
     "2:n1=1",
     {REASON_BUSY, REASON_STARTED},
     2},
    {"own hosts before borrowed ones of the same preference, however loaded",
     {{"n1", 4, 3}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 1, 1}},
     "1:n1=1",
     {REASON_STARTED},
     0},
    {"a full own host leaves the borrowed one",
     {{"n1", 4, 4}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 1, 1}},
     "1:b1@north=1",
     {REASON_STARTED},
     0},
    {"preference beats own",
     {{"n1", 4, 0}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 2, 1}},
     "1:b1@north=1",
     {REASON_STARTED},
     0},
    {"preference beats load",
     {{"n1", 4, 0}, {"n2", 4, 3}},
     {{1, 3, 1}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"a job's preference beats its queue's",
     {{"n1", 4, 0}, {"n2", 4, 3}},
     {{1, 3, 1, "n1+1 others"}},
     "1:n1=1",
     {REASON_STARTED},
     0},
    {"a list without a preference leaves the queue's",
     {{"n1", 4, 0}, {"n2", 4, 3}},
     {{1, 3, 1, "n1 n2"}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"a borrowed host that the list names may be lent by several leases",
     {{"b1@north", 2, 2, "north/1/x"}, {"b1@north", 2, 0, "north/2/x"}},
     {{1, 1, 1, "b1@north"}, {2, 1, 1, "b2@north"}},
     "1:b1@north=1",
     {REASON_STARTED, REASON_NO_HOST},
     0},
    {"others are the hosts of the queue that the job does not name",
     {{"n1", 4, 3}, {"n2", 4, 0}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 0, 4, "n1+1 others"}},
     "1:n1=1,n2=3",
     {REASON_STARTED},
     0},
    {"a parallel job takes slots along the order",
     {{"n1", 4, 2}, {"n2", 4, 1}, {"n3", 4, 0}},
     {{1, 0, 8}},
     "1:n3=4,n2=3,n1=1",
     {REASON_STARTED},
     0},
    {"a parallel job is on own hosts or on one lease, never on both",
     {{"n1", 2, 0},
      {"b1@north", 2, 0, "north/1/x"},
      {"b2@north", 2, 1, "north/1/x"},
      {"c1@west", 2, 0, "west/1/x"}},
     {{1, 1, 3}},
     "1:b1@north=2,b2@north=1",
     {REASON_STARTED},
     0},
    {"not enough anywhere, though enough together",
     {{"n1", 2, 0}, {"b1@north", 2, 0, "north/1/x"}},
     {{1, 1, 3}},
     "",
     {REASON_TOO_LARGE},
     3},
    {"enough slots, but in use", {{"n1", 4, 2}}, {{1, 0, 3}}, "", {REASON_BUSY}, 3},
    {"a closed host takes nothing",
     {{"n1", 4, 0, NULL, true}, {"n2", 4, 3}},
     {{1, 0, 1}, {2, 0, 1}},
     "1:n2=1",
     {REASON_STARTED, REASON_BUSY},
     1},
    {"all closed", {{"n1", 4, 0, NULL, true}}, {{1, 0, 1}}, "", {REASON_CLOSED}, 1},
    {"no host at all", {{"n1", 4, 0}}, {{1, 5, 1}}, "", {REASON_NO_HOST}, 0},
    {"nothing is borrowed yet", {{"n1", 4, 0}}, {{1, 4, 1}}, "", {REASON_NO_HOST}, 0},
    {"-m narrows the queue's hosts",
     {{"n1", 4, 0}, {"n2", 4, 3}},
     {{1, 0, 1, "n2"}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"-m does not widen them",
     {{"n1", 4, 0}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 0, 1, "b1@north"}},
     "",
     {REASON_NO_HOST},
     0},
    {"used above max (it shrank): nothing new",
     {{"n1", 2, 3}},
     {{1, 0, 1}},
     "",
     {REASON_BUSY},
     1},
    {"one that is stuck does not speak for a smaller one behind it",
     {{"n1", 4, 2}},
     {{1, 0, 3}, {2, 0, 3}, {3, 0, 2}, {4, 0, 1}},
     "3:n1=2",
     {REASON_BUSY, REASON_BUSY, REASON_STARTED, REASON_BUSY},
     7},
};

static void test_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct place_row *row = &rows[i];
        struct place_host hosts[PLACE_ROWS_MAX];
        struct place_rows_waiting waiting;
        struct place_snapshot snapshot = {.queues = place_rows_queues,
                                          .n_queues = PLACE_ROWS_QUEUES,
                                          .max_starts = PLACE_ROWS_MAX};
        struct place_plan plan;
        struct arena arena;
        char starts[256];
        arena_init(&arena);
        snapshot.n_hosts = place_rows_hosts(row, hosts);
        snapshot.n_classes = place_rows_jobs(&arena, row, &waiting);
        snapshot.hosts = hosts;
        snapshot.classes = waiting.lines;
        place_plan(&arena, &snapshot, &plan);
        place_rows_starts(&plan, starts, sizeof(starts));
        if (strcmp(starts, row->starts) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", row->why, starts, row->starts);
        }
        for (int k = 0; k < snapshot.n_classes; k++) {
            if (plan.verdicts[k].reason != row->reasons[k]) {
                fail_msg("%s: job %d: %s", row->why, k + 1,
                         pending_reason_text(&arena, &plan.verdicts[k]));
            }
        }
        if (plan.waiting_own != row->waiting_own) {
            fail_msg("%s: %d slots wait for own hosts", row->why, plan.waiting_own);
        }
        arena_release(&arena);
    }
}

static void test_waiting_of_leases(void **state)
{
    const struct place_host hosts[] = {
        {"n1", "", "", 1, 1, 0, true},
        {"b1@north", "north", "north/1/x", 0, 0, 0, true},
        {"b2@north", "north", "north/1/x", 1, 1, 0, true},
        {"c1@west", "west", "west/1/x", 0, 0, 0, false},
    };
    static const struct place_row row = {
        .jobs = {{1, 0, 1}, /* own only */
                 {2, 1, 2}, /* all */
                 {3, 1, 4, "b2@north"}},
    };
    struct place_rows_waiting waiting;
    struct place_snapshot snapshot = {.hosts = hosts,
                                      .n_hosts = 4,
                                      .queues = place_rows_queues,
                                      .n_queues = PLACE_ROWS_QUEUES,
                                      .classes = waiting.lines,
                                      .max_starts = PLACE_ROWS_MAX};
    struct place_plan plan;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    snapshot.n_classes = place_rows_jobs(&arena, &row, &waiting);
    place_plan(&arena, &snapshot, &plan);
    assert_int_equal(plan.n_starts, 0);
    assert_int_equal(plan.waiting_own, 3);
    assert_int_equal(plan.waiting_lease[1], 6); /* 2 and the 4 that name one of it */
    assert_int_equal(plan.waiting_lease[2], 0); /* counted at the first host */
    assert_int_equal(plan.waiting_lease[3], 2);
    arena_release(&arena);
}

/* An interactive job goes nowhere where these are not taken, and does not want more
 * there; where they are it is as any other. */
static void test_interactive_lines(void **state)
{
    struct place_host hosts[] = {
        {"n1", "", "", 1, 1, 0, true},
        {"b1@north", "north", "north/1/x", 1, 0, 0, true, .is_batch_only = true},
        {"c1@west", "west", "west/1/x", 0, 0, 0, true},
    };
    static const struct place_row row = {.jobs = {{1, 1, 1}}};
    (void)state;
    for (int takes = 0; takes < 2; takes++) {
        struct place_rows_waiting waiting;
        struct place_plan plan;
        struct arena arena;
        arena_init(&arena);
        struct place_snapshot snapshot = {.hosts = hosts,
                                          .n_hosts = 3,
                                          .queues = place_rows_queues,
                                          .n_queues = PLACE_ROWS_QUEUES,
                                          .classes = waiting.lines,
                                          .max_starts = PLACE_ROWS_MAX};
        snapshot.n_classes = place_rows_jobs(&arena, &row, &waiting);
        waiting.lines[0].scope = HOST_SCOPE_INTERACTIVE;
        hosts[1].is_batch_only = takes == 0;
        place_plan(&arena, &snapshot, &plan);
        assert_int_equal(plan.n_starts, takes);
        assert_int_equal(plan.waiting_lease[1], 0);
        assert_int_equal(plan.waiting_lease[2], takes == 0);
        waiting.lines[0].scope = HOST_SCOPE_OWN;
        place_plan(&arena, &snapshot, &plan);
        assert_int_equal(plan.n_starts, 0);
        assert_int_equal(plan.waiting_lease[2], 0);
        arena_release(&arena);
    }
}

/* ---------------------------------------------------------------- requirements */

/* n1 to n3 and a borrowed one, all alike but for what requirements make of them. */
static void plan_filtered(struct arena *arena, const struct place_filter *filter,
                          int n_slots, struct place_plan *plan)
{
    static const struct place_host hosts[] = {
        {"n1", "", "", 4, 2, 0, true},
        {"n2", "", "", 4, 0, 0, true},
        {"n3", "", "", 4, 1, 0, true},
        {"b1@north", "north", "north/1/x", 4, 3, 0, true},
    };
    const struct place_row row = {.jobs = {{1, 1, n_slots}}};
    struct place_rows_waiting waiting;
    struct place_snapshot snapshot = {.hosts = hosts,
                                      .n_hosts = 4,
                                      .queues = place_rows_queues,
                                      .n_queues = PLACE_ROWS_QUEUES,
                                      .classes = waiting.lines,
                                      .max_starts = 1};
    snapshot.n_classes = place_rows_jobs(arena, &row, &waiting);
    waiting.lines[0].filter = filter;
    place_plan(arena, &snapshot, plan);
}

static void test_requirements(void **state)
{
    static const struct {
        const char *why;
        uint8_t matches[4];
        int places[4];
        bool has_order;
        int n_slots;
        const char *starts;
        enum pending_reason reason;
    } filtered[] = {
        {"the least used of those that match",
         {1, 0, 1, 0},
         {0},
         false,
         1,
         "1:n3=1",
         REASON_STARTED},
        {"an order goes before use",
         {1, 1, 1, 1},
         {2, 1, 0, 3},
         true,
         1,
         "1:n3=1",
         REASON_STARTED},
        {"and before own and borrowed",
         {1, 1, 1, 1},
         {1, 1, 1, 0},
         true,
         1,
         "1:b1@north=1",
         REASON_STARTED},
        {"equal in the order: as without",
         {1, 1, 1, 0},
         {1, 1, 1, 0},
         true,
         1,
         "1:n2=1",
         REASON_STARTED},
        {"a parallel job takes along the order",
         {1, 1, 1, 0},
         {0, 2, 1, 0},
         true,
         6,
         "1:n1=2,n3=3,n2=1",
         REASON_STARTED},
        {"and only where it may", {1, 0, 1, 0}, {0}, false, 6, "", REASON_BUSY},
        {"no host meets them", {0, 0, 0, 0}, {0}, false, 1, "", REASON_UNMET},
        {"too large for those that do",
         {0, 0, 0, 1},
         {0},
         false,
         5,
         "",
         REASON_TOO_LARGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(filtered) / sizeof(filtered[0]); i++) {
        struct place_filter filter = {
            .matches = filtered[i].matches,
            .ranks = filtered[i].has_order ? filtered[i].places : NULL};
        struct place_plan plan;
        struct arena arena;
        char starts[256];
        arena_init(&arena);
        plan_filtered(&arena, &filter, filtered[i].n_slots, &plan);
        place_rows_starts(&plan, starts, sizeof(starts));
        if (strcmp(starts, filtered[i].starts) != 0 ||
            plan.verdicts[0].reason != filtered[i].reason) {
            fail_msg("%s: \"%s\" %s", filtered[i].why, starts,
                     pending_reason_text(&arena, &plan.verdicts[0]));
        }
        arena_release(&arena);
    }
}

static void test_stuck_is_of_one_filter(void **state)
{
    static const uint8_t none[] = {0}, all[] = {1};
    static const struct place_host host = {"n1", "", "", 2, 0, 0, true};
    static const struct place_row row = {
        .jobs = {{1, 0, 1}, {2, 0, 1}, {3, 0, 1}, {4, 0, 1}}};
    struct place_filter unmet = {.matches = none}, met = {.matches = all};
    struct place_rows_waiting waiting;
    struct place_snapshot snapshot = {.hosts = &host,
                                      .n_hosts = 1,
                                      .queues = place_rows_queues,
                                      .n_queues = PLACE_ROWS_QUEUES,
                                      .classes = waiting.lines,
                                      .max_starts = PLACE_ROWS_MAX};
    struct place_plan plan;
    struct arena arena;
    char starts[64];
    (void)state;
    arena_init(&arena);
    snapshot.n_classes = place_rows_jobs(&arena, &row, &waiting);
    waiting.lines[0].filter = waiting.lines[2].filter = &unmet;
    waiting.lines[1].filter = &met;
    place_plan(&arena, &snapshot, &plan);
    place_rows_starts(&plan, starts, sizeof(starts));
    assert_string_equal(starts, "2:n1=1 4:n1=1");
    assert_int_equal(plan.waiting_own, 0);
    arena_release(&arena);
}

/* Two queues say the same of hosts, but the leaf that the host stands for is one's. */
static void test_alike_but_for_a_leaf(void **state)
{
    static const struct queue_term terms_borrowed[] = {
        {.kind = QUEUE_ALL_REMOTE, .name = ""}};
    static const struct queue_config both[] = {{"low", 10, terms_borrowed, 1, ""},
                                               {"high", 20, terms_borrowed, 1, ""}};
    static const char *const low[] = {"low"};
    static const struct place_host host = {.name = "n1@north",
                                           .site = "north",
                                           .lease = "L",
                                           .max = 4,
                                           .is_open = true,
                                           .queues = low,
                                           .n_queues = 1};
    static const struct place_row row = {.jobs = {{1, 0, 1}, {2, 1, 1}}};
    struct place_rows_waiting waiting;
    struct place_snapshot snapshot = {.hosts = &host,
                                      .n_hosts = 1,
                                      .queues = both,
                                      .n_queues = 2,
                                      .classes = waiting.lines,
                                      .max_starts = PLACE_ROWS_MAX};
    struct place_plan plan;
    struct arena arena;
    char starts[64];
    (void)state;
    arena_init(&arena);
    snapshot.n_classes = place_rows_jobs(&arena, &row, &waiting);
    place_plan(&arena, &snapshot, &plan);
    place_rows_starts(&plan, starts, sizeof(starts));
    assert_string_equal(starts, "1:n1@north=1");
    assert_int_equal(plan.verdicts[1].reason, REASON_NO_HOST);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_requirements),
        cmocka_unit_test(test_stuck_is_of_one_filter),
        cmocka_unit_test(test_alike_but_for_a_leaf),
        cmocka_unit_test(test_interactive_lines),
        cmocka_unit_test(test_waiting_of_leases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
