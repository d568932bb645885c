/* SPDX-License-Identifier: Apache-2.0 */
/* test_place_resume.c: which suspended jobs go on before which pending ones, and what
 * is kept for those that do not fit yet. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/place/place.h"
#include "sched/preempt/preempt.h"

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* HIGH may preempt LOW and GAPS, MID may not. */
enum { HIGH, MID, LOW, GAPS, QUEUES, HOST_SLOTS = 4, JOBS = 3 };

static const struct queue_term terms_all[] = {{.kind = QUEUE_ALL, .name = ""}};
static const struct queue_config queues[QUEUES] = {
    [HIGH] = {.name = "high", .priority = 9, .terms = terms_all, .n_terms = 1},
    [MID] = {.name = "mid", .priority = 5, .terms = terms_all, .n_terms = 1},
    [LOW] = {.name = "low", .priority = 2, .terms = terms_all, .n_terms = 1},
    [GAPS] = {.name = "gaps", .priority = 1, .terms = terms_all, .n_terms = 1},
};
static const struct preempt_queue preempt_queues[QUEUES] = {
    [HIGH] = {.is_preemptive = true}};
static const struct preempt_policy policy = {
    .is_enabled = true, .queues = preempt_queues, .n_queues = QUEUES};

struct suspended {
    int queue, n_slots; /* 0: there is none */
    bool keeps_nothing, is_late, is_in_time;
};

struct pending {
    int queue, n_slots;
};

/* "resumes 1; starts 12; kept 2:1": jobs by number, as they are listed. */
struct story {
    const char *why;
    int n_free;
    struct suspended suspended[JOBS];
    struct pending pending[JOBS];
    const char *expected;
};

static const struct story rows[] = {
    {"it comes before a queue that may not preempt it",
     1,
     {{LOW, 1}},
     {{MID, 1}},
     "resumes 1; starts; kept"},
    {"it comes after a queue that may preempt it",
     1,
     {{LOW, 1}},
     {{HIGH, 1}},
     "resumes; starts 1; kept"},
    {"between the two",
     2,
     {{LOW, 1}},
     {{HIGH, 1}, {MID, 1}},
     "resumes 1; starts 1; kept"},
    {"what one cannot use is not kept from a smaller one",
     1,
     {{LOW, 3}, {LOW, 1}},
     {{LOW, 1}},
     "resumes 2; starts; kept"},
    {"what is left is kept from its own queue and those behind it",
     2,
     {{LOW, 3}, {LOW, 1}},
     {{LOW, 1}, {GAPS, 1}},
     "resumes 2; starts; kept 1:1"},
    {"and from no queue before its own",
     2,
     {{LOW, 3}},
     {{MID, 1}, {LOW, 1}},
     "resumes; starts 1; kept 1:1"},
    {"unless its time is over",
     2,
     {{LOW, 3, .keeps_nothing = true}},
     {{MID, 1}, {LOW, 1}},
     "resumes; starts 1 2; kept"},
    {"what is kept for one is there for another, of a lower queue",
     2,
     {{LOW, 3}, {GAPS, 2}},
     {{LOW, 2}, {GAPS, 2}},
     "resumes 2; starts; kept"},
    {"in its gap it comes before the reserving queue",
     2,
     {{GAPS, 2, .is_in_time = true}},
     {{LOW, 2}},
     "resumes 1; starts; kept"},
    {"not if it would end too late",
     2,
     {{GAPS, 2, .is_late = true}},
     {{LOW, 2}},
     "resumes; starts 1; kept"},
    {"but before jobs of its own queue",
     2,
     {{GAPS, 2, .is_late = true}},
     {{GAPS, 2}},
     "resumes 1; starts; kept"},
    {"its queue is gone: no queue may preempt it",
     1,
     {{-1, 1}},
     {{MID, 1}},
     "resumes 1; starts; kept"},
    {"its queue is gone: nothing is kept for it",
     1,
     {{-1, 2}},
     {{GAPS, 1}},
     "resumes; starts 1; kept"},
};

static const int places[] = {0};
static const struct place_host n1 = {
    .name = "n1", .site = "", .lease = "", .max = HOST_SLOTS, .is_open = true};

static void tell(const struct place_plan *plan, char *text, size_t size)
{
    int n = snprintf(text, size, "resumes");
    for (int i = 0; i < plan->n_resumes; i++) {
        n += snprintf(text + n, size - (size_t)n, " %d", (int)plan->resumes[i]);
    }
    n += snprintf(text + n, size - (size_t)n, "; starts");
    for (int i = 0; i < plan->n_starts; i++) {
        n += snprintf(text + n, size - (size_t)n, " %d", (int)plan->starts[i].job);
    }
    n += snprintf(text + n, size - (size_t)n, "; kept");
    for (int i = 0; i < plan->n_kept; i++) {
        n += snprintf(text + n, size - (size_t)n, " %d:%d", (int)plan->kept[i].job,
                      plan->kept[i].n_slots);
    }
}

static void check(const struct story *row)
{
    struct place_host host = n1;
    struct host_slots slots[JOBS];
    struct place_resume resumes[JOBS];
    struct job_class_entry turns[JOBS];
    const struct job_class_entry *queued[JOBS];
    struct place_class classes[JOBS];
    const struct preempt_snapshot preempted = {.policy = &policy};
    struct place_snapshot snapshot = {.hosts = &host,
                                      .n_hosts = 1,
                                      .queues = queues,
                                      .n_queues = QUEUES,
                                      .classes = classes,
                                      .resumes = resumes,
                                      .preempt = &preempted,
                                      .max_starts = JOBS};
    struct place_plan plan;
    struct arena arena;
    char text[200];
    host.used = HOST_SLOTS - row->n_free;
    for (int i = 0; i < JOBS && row->suspended[i].n_slots > 0; i++) {
        const struct suspended *job = &row->suspended[i];
        bool has_gap = job->is_late || job->is_in_time;
        slots[i] = (struct host_slots){"n1", job->n_slots};
        resumes[snapshot.n_resumes++] = (struct place_resume){
            .job = (uint64_t)i + 1,
            .queue = job->queue,
            .hosts = &slots[i],
            .indexes = places,
            .n_hosts = 1,
            .keeps_nothing = job->keeps_nothing,
            .backfill = {.lender = has_gap ? 1 : 0, .until_ms = 100},
            .end_ms = job->is_late ? 101 : 100};
    }
    for (int i = 0; i < JOBS && row->pending[i].n_slots > 0; i++) {
        turns[i] = (struct job_class_entry){.key = (uint64_t)i + 1};
        queued[i] = &turns[i];
        classes[snapshot.n_classes++] =
            (struct place_class){.queue = row->pending[i].queue,
                                 .n_slots = row->pending[i].n_slots,
                                 .entries = &queued[i],
                                 .n_entries = 1,
                                 .max_starts = INT_MAX};
    }
    arena_init(&arena);
    place_plan(&arena, &snapshot, &plan);
    tell(&plan, text, sizeof(text));
    if (strcmp(text, row->expected) != 0) {
        fail_msg("%s: %s, expected %s", row->why, text, row->expected);
    }
    arena_release(&arena);
}

static void test_who_goes_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check(&rows[i]);
    }
}

/* A job that grows gets what suspended jobs leave: those that wait to go on, and those
 * that a user has stopped. */
static void test_growing_leaves_what_is_needed(void **state)
{
    static const struct host_slots has = {"n1", 1}, slots = {"n1", 1};
    static const struct place_grow grow = {
        .hosts = &has, .indexes = places, .n_hosts = 1};
    static const struct place_resume resume = {
        .job = 9, .queue = LOW, .hosts = &slots, .indexes = places, .n_hosts = 1};
    static const struct {
        int n_suspended, n_resumes, n_more;
    } cases[] = {{0, 0, 3}, {1, 0, 2}, {2, 1, 1}, {3, 0, 0}, {5, 0, 0}};
    const struct job_class_entry turn = {.key = 1}, *queued = &turn;
    const struct place_class class = {.queue = HIGH,
                                      .n_slots = 1,
                                      .max_slots = HOST_SLOTS,
                                      .entries = &queued,
                                      .n_entries = 1,
                                      .max_starts = INT_MAX,
                                      .grow = &grow};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct place_host host = n1;
        const struct place_snapshot snapshot = {.hosts = &host,
                                                .n_hosts = 1,
                                                .queues = queues,
                                                .n_queues = QUEUES,
                                                .classes = &class,
                                                .n_classes = 1,
                                                .resumes = &resume,
                                                .n_resumes = cases[i].n_resumes,
                                                .max_starts = 1};
        struct place_plan plan;
        struct arena arena;
        host.used = 1;
        host.n_suspended = cases[i].n_suspended;
        arena_init(&arena);
        place_plan(&arena, &snapshot, &plan);
        assert_int_equal(plan.n_resumes, cases[i].n_resumes);
        assert_int_equal(plan.n_starts, cases[i].n_more > 0);
        assert_int_equal(plan.verdicts[0].n_suspended, cases[i].n_more > 0 ? 0 : 3);
        assert_int_equal(plan.n_starts > 0 ? plan.starts[0].hosts[0].n_slots : 0,
                         cases[i].n_more);
        arena_release(&arena);
    }
}

/* A suspended job waits for slots like a pending one, until it goes on: or else a lease
 * by demand would leave its slots with the other side for ever. */
static void test_suspended_jobs_wait_for_slots(void **state)
{
    static const int own_place[] = {0}, leased_place[] = {1};
    static const struct host_slots own = {"n1", 2}, leased = {"n2@north", 1};
    static const struct place_resume resumes[] = {
        {.job = 7, .queue = LOW, .hosts = &own, .indexes = own_place, .n_hosts = 1},
        {.job = 8,
         .queue = LOW,
         .hosts = &leased,
         .indexes = leased_place,
         .n_hosts = 1}};
    static const struct {
        int n_free, n_leased, waiting_own, waiting_lease;
    } cases[] = {{2, 1, 0, 0}, {1, 1, 2, 0}, {0, 1, 2, 0}, {2, 0, 0, 1}, {0, 0, 2, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct place_host hosts[] = {n1, n1};
        const struct place_snapshot snapshot = {.hosts = hosts,
                                                .n_hosts = 2,
                                                .queues = queues,
                                                .n_queues = QUEUES,
                                                .resumes = resumes,
                                                .n_resumes = 2,
                                                .max_starts = 1};
        struct place_plan plan;
        struct arena arena;
        hosts[0].used = HOST_SLOTS - cases[i].n_free;
        hosts[1].name = "n2@north";
        hosts[1].site = "north";
        hosts[1].lease = "north/1/south";
        hosts[1].max = 1;
        hosts[1].used = 1 - cases[i].n_leased;
        arena_init(&arena);
        place_plan(&arena, &snapshot, &plan);
        assert_int_equal(plan.waiting_own, cases[i].waiting_own);
        assert_int_equal(plan.waiting_lease[1], cases[i].waiting_lease);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_goes_on),
        cmocka_unit_test(test_growing_leaves_what_is_needed),
        cmocka_unit_test(test_suspended_jobs_wait_for_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
