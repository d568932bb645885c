/* SPDX-License-Identifier: Apache-2.0 */
/* test_place_span.c: jobs whose slots have to lie in some way: on which hosts they
 * start, and what they are told where they do not. prop_place_span.c has all ways. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/place/place.h"

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { LIST_MAX = 6 };

static const struct queue_term terms_all[] = {{.kind = QUEUE_ALL, .name = ""},
                                              {.kind = QUEUE_ALL_REMOTE, .name = ""}};
static const struct queue_config queues[] = {
    {.name = "stacked", .priority = 30, .terms = terms_all, .n_terms = 2},
    {.name = "balanced",
     .priority = 20,
     .terms = terms_all,
     .n_terms = 2,
     .is_balanced = true},
};

struct host_text {
    const char *name;
    int max, used;
};

struct job_text {
    uint64_t id;
    int queue, min, max;
    bool is_exclusive;
};

struct row {
    const char *why;
    struct host_text hosts[LIST_MAX];
    struct place_span shape;
    struct job_text jobs[LIST_MAX];
    const char *starts;
    const char *told; /* to the first that stays; NULL: none does */
};

static const int two_kinds[] = {0, 1, 0, 1, 0, 1};
static const int unlike[] = {-1, -1, -1, -1, -1, -1};
static const int sizes[] = {2, 4, 2, 4, 2, 4};

static const struct row rows[] = {
    {"one host: the first in order that has room for all",
     {{"n1", 8, 5}, {"n2", 8, 4}, {"n3", 8, 1}},
     {.kind = PLACE_SPAN_HOST},
     {{1, 0, 4}},
     "1:n3=4"},
    {"one host: not the slots of two",
     {{"n1", 4, 1}, {"n2", 8, 2}},
     {.kind = PLACE_SPAN_HOST},
     {{1, 0, 7}},
     "",
     "The free slots do not meet the job's span, same or cu section: no host has 7 "
     "free "
     "slots (span[hosts=1]); most free: n2 with 6"},
    {"one host: none that is large enough",
     {{"n1", 4, 1}, {"n2", 8, 2}},
     {.kind = PLACE_SPAN_HOST},
     {{1, 0, 9}},
     "",
     "The job's span, same or cu section cannot be met even if all hosts were idle: no "
     "host has 9 slots (span[hosts=1]); the largest: n2 with 8"},
    {"full hosts are full hosts, whatever the shape",
     {{"n1", 4, 4}, {"n2", 8, 8}},
     {.kind = PLACE_SPAN_HOST},
     {{1, 0, 4}},
     "",
     "All slots of the hosts that the job may use are occupied"},
    {"a range: as many as the host has",
     {{"n1", 4, 2}, {"n2", 8, 2}},
     {.kind = PLACE_SPAN_HOST},
     {{1, 0, 3, 9}},
     "1:n2=6"},
    {"one host, and nobody else on it",
     {{"n1", 8, 1}, {"n2", 4, 0}},
     {.kind = PLACE_SPAN_HOST},
     {{1, 0, 3, 0, true}, {2, 0, 1}},
     "1:n2=3 2:n1=1"},
    {"the second of two jobs finds what the first has left",
     {{"n1", 4, 0}, {"n2", 4, 0}},
     {.kind = PLACE_SPAN_HOST},
     {{1, 0, 3}, {2, 0, 2}, {3, 0, 2}, {4, 0, 1}},
     "1:n1=3 2:n2=2 3:n2=2 4:n1=1"},
    {"tiles: so many on each host, along the order",
     {{"n1", 4, 1}, {"n2", 4, 0}, {"n3", 4, 2}},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 2},
     {{1, 0, 6}},
     "1:n2=2,n1=2,n3=2"},
    {"tiles: hosts with fewer free slots are of use for the rest",
     {{"n1", 4, 3}, {"n2", 4, 0}, {"n3", 4, 0}},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 4},
     {{1, 0, 9}},
     "1:n2=4,n3=4,n1=1"},
    {"tiles: PLACEMENT of the queue changes nothing",
     {{"n1", 4, 0}, {"n2", 4, 0}, {"n3", 4, 0}},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 4},
     {{1, 1, 8}},
     "1:n1=4,n2=4"},
    {"tiles: a range ends where a whole one does",
     {{"n1", 4, 0}, {"n2", 4, 2}},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 4},
     {{1, 0, 2, 8}},
     "1:n1=4"},
    {"tiles: two hosts are too few",
     {{"n1", 4, 0}, {"n2", 4, 2}, {"n3", 4, 1}},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 2},
     {{1, 0, 7}},
     "",
     "The job's span, same or cu section cannot be met even if all hosts were idle: 6 "
     "of 7 "
     "slots have room on idle hosts (span[ptile=2])"},
    {"tiles: as many as each host has, or its type is given",
     {{"n1", 8, 0}, {"n2", 8, 0}, {"n3", 8, 0}},
     {.kind = PLACE_SPAN_PTILE, .ptiles = sizes},
     {{1, 0, 8}},
     "1:n1=2,n2=4,n3=2"},
    {"blocks: as many whole ones on a host as fit",
     {{"n1", 5, 0}, {"n2", 7, 2}, {"n3", 9, 5}},
     {.kind = PLACE_SPAN_BLOCK, .n_slots = 2},
     {{1, 0, 10}},
     "1:n1=4,n2=4,n3=2"},
    {"blocks: the rest beside them",
     {{"n1", 5, 0}, {"n2", 7, 2}},
     {.kind = PLACE_SPAN_BLOCK, .n_slots = 2},
     {{1, 0, 9}},
     "1:n1=5,n2=4"},
    {"stripe: one on each in turn, whatever the queue says",
     {{"n1", 4, 0}, {"n2", 4, 0}, {"n3", 4, 0}},
     {.kind = PLACE_SPAN_STRIPE},
     {{1, 0, 4}},
     "1:n1=2,n2=1,n3=1"},
    {"stripe=2: up to two on each",
     {{"n1", 4, 0}, {"n2", 4, 3}, {"n3", 4, 0}},
     {.kind = PLACE_SPAN_STRIPE, .n_slots = 2},
     {{1, 0, 5}},
     "1:n1=2,n3=2,n2=1"},
    {"stripe=2: no more, however free the hosts are",
     {{"n1", 8, 0}, {"n2", 8, 0}},
     {.kind = PLACE_SPAN_STRIPE, .n_slots = 2},
     {{1, 0, 5}},
     "",
     "The job's span, same or cu section cannot be met even if all hosts were idle: 4 "
     "of 5 slots have room on idle hosts (span[stripe=2])"},
    {"alike: not the hosts of two kinds",
     {{"n1", 4, 0}, {"n2", 4, 0}, {"n3", 4, 0}},
     {.n_same = 1, .same = {two_kinds}, .n_same_groups = {2}},
     {{1, 0, 6}},
     "1:n1=4,n3=2"},
    {"alike: the kind of the best host, if it has room; then of what is left",
     {{"n1", 4, 3}, {"n2", 4, 0}, {"n3", 4, 3}, {"n4", 4, 1}},
     {.n_same = 1, .same = {two_kinds}, .n_same_groups = {2}},
     {{1, 1, 2}, {2, 0, 5}},
     "1:n4=2 2:n2=4,n4=1"},
    {"alike: neither kind has room for all",
     {{"n1", 4, 2}, {"n2", 4, 1}, {"n3", 4, 2}},
     {.n_same = 1, .same = {two_kinds}, .n_same_groups = {2}},
     {{1, 0, 5}},
     "",
     "The free slots do not meet the job's span, same or cu section: 4 of 5 slots have "
     "room (same[])"},
    {"alike: a host like no other takes nothing",
     {{"n1", 4, 0}, {"n2", 4, 0}},
     {.n_same = 1, .same = {unlike}, .n_same_groups = {0}},
     {{1, 0, 1}},
     "",
     "The job's span, same or cu section cannot be met even if all hosts were idle: 0 "
     "of 1 "
     "slots have room on idle hosts (same[])"},
    {"alike in one of two ways: the first that will do",
     {{"n1", 4, 0}, {"n2", 4, 0}, {"n3", 4, 0}},
     {.n_same = 2, .same = {unlike, two_kinds}, .n_same_groups = {0, 2}},
     {{1, 0, 8}},
     "1:n1=4,n3=4"},
    {"tiles on hosts that are alike",
     {{"n1", 4, 0}, {"n2", 4, 1}, {"n3", 4, 1}, {"n4", 4, 1}},
     {.kind = PLACE_SPAN_PTILE,
      .n_slots = 2,
      .n_same = 1,
      .same = {two_kinds},
      .n_same_groups = {2}},
     {{1, 0, 4}},
     "1:n1=2,n3=2"},
    {"own hosts or those of a lease, never both",
     {{"n1", 4, 2}, {"b1@north", 4, 1}, {"b2@north", 4, 1}},
     {.kind = PLACE_SPAN_PTILE, .n_slots = 2},
     {{1, 0, 4}, {2, 0, 2}},
     "1:b1@north=2,b2@north=2 2:n1=2"},
};

struct waiting {
    struct job_class_entry turns[LIST_MAX];
    const struct job_class_entry *queued[LIST_MAX];
    struct place_class lines[LIST_MAX];
};

static int give_hosts(const struct row *row, struct place_host *hosts)
{
    int count = 0;
    for (; count < LIST_MAX && row->hosts[count].name != NULL; count++) {
        const struct host_text *from = &row->hosts[count];
        bool is_own = strchr(from->name, '@') == NULL;
        hosts[count] = (struct place_host){.name = from->name,
                                           .site = is_own ? "" : "north",
                                           .lease = is_own ? "" : "north/1/x",
                                           .max = from->max,
                                           .used = from->used,
                                           .is_open = true};
    }
    return count;
}

static int give_jobs(const struct row *row, const struct place_filter *filter,
                     struct waiting *waiting)
{
    int count = 0;
    for (; count < LIST_MAX && row->jobs[count].id != 0; count++) {
        const struct job_text *from = &row->jobs[count];
        waiting->turns[count] = (struct job_class_entry){.key = from->id};
        waiting->queued[count] = &waiting->turns[count];
        waiting->lines[count] = (struct place_class){.queue = from->queue,
                                                     .n_slots = from->min,
                                                     .max_slots = from->max,
                                                     .is_exclusive = from->is_exclusive,
                                                     .filter = filter,
                                                     .entries = &waiting->queued[count],
                                                     .n_entries = 1,
                                                     .max_starts = INT_MAX};
    }
    return count;
}

static int by_id(const void *left, const void *right)
{
    const struct place_start *a = left, *b = right;
    return a->job < b->job ? -1 : a->job > b->job;
}

static void write_starts(const struct place_plan *plan, char *text, size_t size)
{
    text[0] = '\0';
    qsort(plan->starts, (size_t)plan->n_starts, sizeof(*plan->starts), by_id);
    for (int i = 0; i < plan->n_starts; i++) {
        size_t at = strlen(text);
        snprintf(text + at, size - at, "%s%llu:", i > 0 ? " " : "",
                 (unsigned long long)plan->starts[i].job);
        for (int k = 0; k < plan->starts[i].n_hosts; k++) {
            at = strlen(text);
            snprintf(text + at, size - at, "%s%s=%d", k > 0 ? "," : "",
                     plan->starts[i].hosts[k].host, plan->starts[i].hosts[k].n_slots);
        }
    }
}

static void slots_lie_as_they_have_to(void **state)
{
    static const uint8_t all[] = {1, 1, 1, 1, 1, 1};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct place_filter filter = {.matches = all, .span = &row->shape};
        struct place_host hosts[LIST_MAX];
        struct waiting waiting;
        struct place_snapshot snapshot = {.queues = queues,
                                          .n_queues = 2,
                                          .hosts = hosts,
                                          .classes = waiting.lines,
                                          .max_starts = LIST_MAX};
        struct place_plan plan;
        struct arena arena;
        char starts[256];
        const char *told = NULL;
        arena_init(&arena);
        snapshot.n_hosts = give_hosts(row, hosts);
        snapshot.n_classes = give_jobs(row, &filter, &waiting);
        place_plan(&arena, &snapshot, &plan);
        write_starts(&plan, starts, sizeof(starts));
        for (int k = 0; k < snapshot.n_classes && told == NULL; k++) {
            if (plan.verdicts[k].reason != REASON_STARTED) {
                told = pending_reason_text(&arena, &plan.verdicts[k]);
            }
        }
        if (strcmp(starts, row->starts) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", row->why, starts, row->starts);
        }
        if (strcmp(told != NULL ? told : "", row->told != NULL ? row->told : "") != 0) {
            fail_msg("%s: told \"%s\"", row->why, told);
        }
        arena_release(&arena);
    }
}

/* n1 has a rest for nobody, n2 and n3 are full of others' jobs but for some slots. */
static void hosts_are_counted_by_what_they_lack(void **state)
{
    static const uint8_t all[] = {1, 1, 1, 1, 1, 1};
    static const struct row row = {
        "", {{"n1", 8, 6}, {"n2", 8, 4}, {"n3", 8, 8}, {"n4", 8, 3}}, {0}, {{1, 0, 8}}};
    struct place_span shape = {.kind = PLACE_SPAN_PTILE, .n_slots = 4};
    struct place_filter filter = {.matches = all, .span = &shape};
    struct place_host hosts[LIST_MAX];
    struct waiting waiting;
    struct place_snapshot snapshot = {.queues = queues,
                                      .n_queues = 2,
                                      .hosts = hosts,
                                      .classes = waiting.lines,
                                      .max_starts = 1};
    struct place_plan plan;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    shape.n_same = 1;
    shape.same[0] = (const int[]){0, 0, 0, 1, 0, 0};
    shape.n_same_groups[0] = 2;
    snapshot.n_hosts = give_hosts(&row, hosts);
    snapshot.n_classes = give_jobs(&row, &filter, &waiting);
    place_plan(&arena, &snapshot, &plan);
    assert_string_equal(
        pending_reason_text(&arena, &plan.verdicts[0]),
        "The free slots do not meet the job's span, same or cu section: 6 "
        "of 8 slots have room (span[ptile=4] same[])");
    assert_string_equal(pending_reason_hosts(&arena, &plan.verdicts[0]),
                        "1 host without a free slot, 1 host with too few free slots "
                        "for the span, 2 hosts with too few equal hosts (same)");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_lie_as_they_have_to),
        cmocka_unit_test(hosts_are_counted_by_what_they_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
