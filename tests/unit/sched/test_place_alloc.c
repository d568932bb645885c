/* SPDX-License-Identifier: Apache-2.0 */
/* test_place_alloc.c: how a parallel job's slots lie on hosts: from a least to a most
 * number of them, stacked or balanced, with hosts of its own, under limits on hosts. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/place/place.h"

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { LIST_MAX = 6, STACKED = 0, BALANCED = 1 };

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

struct job_text {
    uint64_t id;
    int queue, min, max;
    bool is_exclusive;
};

struct host_text {
    const char *name;
    int max, used;
    bool is_taken, is_shared;
};

struct row {
    const char *why;
    struct host_text hosts[LIST_MAX];
    struct job_text jobs[LIST_MAX];
    const char *starts;
    const char *reasons; /* of those that stay, in their order */
};

static const struct row rows[] = {
    {"stacked: host by host",
     {{"n1", 3, 0}, {"n2", 2, 0}, {"n3", 2, 0}},
     {{1, STACKED, 4, 0}},
     "1:n1=3,n2=1",
     ""},
    {"balanced: one on each, then a second one",
     {{"n1", 3, 0}, {"n2", 2, 0}, {"n3", 2, 0}},
     {{1, BALANCED, 4, 0}},
     "1:n1=2,n2=1,n3=1",
     ""},
    {"balanced: a full host is left out of the next round",
     {{"n1", 1, 0}, {"n2", 4, 0}, {"n3", 2, 0}},
     {{1, BALANCED, 6, 0}},
     "1:n1=1,n2=3,n3=2",
     ""},
    {"balanced: fewer slots than hosts, the best ones",
     {{"n1", 4, 1}, {"n2", 4, 0}, {"n3", 4, 2}},
     {{1, BALANCED, 2, 0}},
     "1:n2=1,n1=1",
     ""},
    {"balanced: the second job finds what the first has left",
     {{"n1", 2, 0}, {"n2", 2, 0}},
     {{1, BALANCED, 3, 0}, {2, BALANCED, 1, 0}, {3, BALANCED, 1, 0}},
     "1:n1=2,n2=1 2:n2=1",
     "busy"},
    {"up to the most that it asks for",
     {{"n1", 3, 0}, {"n2", 2, 0}},
     {{1, STACKED, 2, 4}},
     "1:n1=3,n2=1",
     ""},
    {"as many as there are",
     {{"n1", 3, 1}, {"n2", 2, 1}},
     {{1, STACKED, 2, 9}},
     "1:n1=2,n2=1",
     ""},
    {"not fewer than the least",
     {{"n1", 3, 1}, {"n2", 2, 1}},
     {{1, STACKED, 4, 9}, {2, STACKED, 1, 0}},
     "2:n1=1",
     "busy"},
    {"the least is what there never is",
     {{"n1", 3, 0}},
     {{1, STACKED, 4, 9}},
     "",
     "too_large"},
    {"one group: not the slots of a lease as well",
     {{"n1", 2, 0}, {"b1@north", 3, 0}},
     {{1, STACKED, 2, 5}},
     "1:n1=2",
     ""},
    {"an exclusive job goes where nothing runs, and keeps all else away",
     {{"n1", 4, 1}, {"n2", 4, 0}},
     {{1, STACKED, 1, 0, true}, {2, STACKED, 4, 0}, {3, STACKED, 3, 0}},
     "1:n2=1 3:n1=3",
     "busy"},
    {"its hosts need not be full",
     {{"n1", 4, 0}, {"n2", 4, 0}},
     {{1, STACKED, 5, 0, true}, {2, STACKED, 1, 0}},
     "1:n1=4,n2=1",
     "busy"},
    {"balanced and exclusive",
     {{"n1", 4, 0}, {"n2", 4, 1}, {"n3", 4, 0}},
     {{1, BALANCED, 3, 0, true}},
     "1:n1=2,n3=1",
     ""},
    {"all hosts have something on them",
     {{"n1", 4, 1}, {"n2", 4, 2}},
     {{1, STACKED, 1, 0, true}},
     "",
     "exclusive"},
    {"jobs of consumers are jobs too",
     {{"n1", 4, 0, false, true}, {"n2", 4, 0}},
     {{1, STACKED, 1, 0, true}, {2, STACKED, 1, 0, true}},
     "1:n2=1",
     "exclusive"},
    {"where an exclusive job runs nothing starts",
     {{"n1", 4, 1, true}},
     {{1, STACKED, 1, 0}, {2, STACKED, 1, 0, true}},
     "",
     "busy exclusive"},
    {"what an ordinary job takes in the pass is no host of one's own any more",
     {{"n1", 4, 0}},
     {{1, STACKED, 1, 0}, {2, BALANCED, 1, 0, true}},
     "1:n1=1",
     "exclusive"},
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
                                           .is_used_exclusively = from->is_taken,
                                           .is_shared = from->is_shared,
                                           .is_open = true};
    }
    return count;
}

struct waiting {
    struct job_class_entry turns[LIST_MAX];
    const struct job_class_entry *queued[LIST_MAX];
    struct place_class lines[LIST_MAX];
};

static int give_jobs(const struct row *row, struct waiting *waiting)
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
                                                     .entries = &waiting->queued[count],
                                                     .n_entries = 1,
                                                     .max_starts = INT_MAX};
    }
    return count;
}

static const char *starts_of(struct arena *arena, const struct place_plan *plan)
{
    const char *text = "";
    for (int i = 0; i < plan->n_starts; i++) {
        const struct place_start *start = &plan->starts[i];
        text = arena_printf(arena, "%s%s%llu:", text, i > 0 ? " " : "",
                            (unsigned long long)start->job);
        for (int k = 0; k < start->n_hosts; k++) {
            text = arena_printf(arena, "%s%s%s=%d", text, k > 0 ? "," : "",
                                start->hosts[k].host, start->hosts[k].n_slots);
        }
    }
    return text;
}

static const char *reasons_of(struct arena *arena, const struct place_plan *plan,
                              int n_lines)
{
    const char *text = "";
    for (int i = 0; i < n_lines; i++) {
        if (plan->verdicts[i].reason != REASON_STARTED) {
            text = arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? " " : "",
                                pending_reason_name(plan->verdicts[i].reason));
        }
    }
    return text;
}

static void slots_lie_as_the_rules_say(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct place_host hosts[LIST_MAX];
        struct waiting waiting;
        struct place_snapshot snapshot = {
            .hosts = hosts, .queues = queues, .n_queues = 2, .max_starts = LIST_MAX};
        struct place_plan plan;
        struct arena arena;
        arena_init(&arena);
        snapshot.n_hosts = give_hosts(row, hosts);
        snapshot.n_classes = give_jobs(row, &waiting);
        snapshot.classes = waiting.lines;
        place_plan(&arena, &snapshot, &plan);
        const char *starts = starts_of(&arena, &plan);
        const char *reasons = reasons_of(&arena, &plan, snapshot.n_classes);
        if (strcmp(starts, row->starts) != 0 || strcmp(reasons, row->reasons) != 0) {
            fail_msg("%s: \"%s\" (%s), expected \"%s\" (%s)", row->why, starts, reasons,
                     row->starts, row->reasons);
        }
        arena_release(&arena);
    }
}

/* One limit of slots on each host, or on all together. */
static void limits_on_hosts_bound_each_piece(void **state)
{
    static const struct {
        const char *why;
        enum limit_mode mode;
        int limit, queue, min, max;
        const char *starts;
    } cases[] = {
        {"two on each host, stacked", LIMIT_EACH, 2, STACKED, 1, 9, "1:n1=2,n2=2"},
        {"two on each host, balanced", LIMIT_EACH, 2, BALANCED, 1, 9, "1:n1=2,n2=2"},
        {"three on both, stacked", LIMIT_TOGETHER, 3, STACKED, 1, 9, "1:n1=3"},
        {"three on both, balanced", LIMIT_TOGETHER, 3, BALANCED, 1, 9, "1:n1=2,n2=1"},
        {"three on both are not four", LIMIT_TOGETHER, 3, BALANCED, 4, 9, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct limit limit = {
            .name = "some",
            .sides[LIMIT_HOSTS] = {.mode = cases[i].mode, .names = {.is_all = true}},
            .slots = cases[i].limit,
            .jobs = -1,
            .per_processor_milli = -1};
        const struct row row = {
            .hosts = {{"n1", 4, 0}, {"n2", 4, 0}},
            .jobs = {{1, cases[i].queue, cases[i].min, cases[i].max}}};
        struct limits *limits = limits_new(&limit, 1);
        struct limit_owner *class = limits_join(limits, "ana", "q", "p");
        struct place_host hosts[LIST_MAX];
        struct waiting waiting;
        struct place_snapshot snapshot = {.hosts = hosts,
                                          .queues = queues,
                                          .n_queues = 2,
                                          .limits = limits,
                                          .max_starts = LIST_MAX};
        struct place_plan plan;
        struct arena arena;
        arena_init(&arena);
        snapshot.n_hosts = give_hosts(&row, hosts);
        snapshot.n_classes = give_jobs(&row, &waiting);
        waiting.lines[0].limit_class = class;
        snapshot.classes = waiting.lines;
        place_plan(&arena, &snapshot, &plan);
        const char *starts = starts_of(&arena, &plan);
        if (strcmp(starts, cases[i].starts) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i].why, starts,
                     cases[i].starts);
        }
        limits_leave(limits, class);
        limits_free(limits);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_lie_as_the_rules_say),
        cmocka_unit_test(limits_on_hosts_bound_each_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
