/* SPDX-License-Identifier: Apache-2.0 */
/* test_place_grow.c: a running job that would have more slots, in a pass: what it gets,
 * in whose turn, and what stands against it. Job 1 runs, and has what the row says. */
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

enum { LIST_MAX = 4 };

static const struct queue_term terms_all[] = {{.kind = QUEUE_ALL, .name = ""},
                                              {.kind = QUEUE_ALL_REMOTE, .name = ""}};
static const struct queue_config queues[] = {
    {.name = "high", .priority = 30, .terms = terms_all, .n_terms = 2},
    {.name = "low", .priority = 20, .terms = terms_all, .n_terms = 2},
};
enum { HIGH, LOW };

struct host_text {
    const char *name;
    int max, used;
    bool is_taken, is_shared;
};

struct row {
    const char *why;
    struct host_text hosts[LIST_MAX];
    struct host_slots has[LIST_MAX]; /* of job 1, counted in the hosts */
    int wanted;
    bool is_exclusive;
    struct {
        uint64_t id;
        int queue, n_slots;
    } waiting[LIST_MAX]; /* job 1 is of queue low */
    const char *starts;  /* more for job 1: "1+" */
    const char *reason;  /* of job 1, where it gets nothing */
};

static const struct row rows[] = {
    {"all that it asks for, on hosts with room",
     {{"n1", 4, 2}, {"n2", 4, 0}},
     {{"n1", 2}},
     3,
     false,
     {{0}},
     "1+:n2=3",
     ""},
    {"what there is, if it is less",
     {{"n1", 4, 3}, {"n2", 2, 1}},
     {{"n1", 3}},
     9,
     false,
     {{0}},
     "1+:n2=1,n1=1",
     ""},
    {"nothing is free", {{"n1", 2, 2}}, {{"n1", 2}}, 2, false, {{0}}, "", "busy"},
    {"never a borrowed host",
     {{"n1", 2, 2}, {"b1@north", 4, 0}},
     {{"n1", 2}},
     2,
     false,
     {{2, LOW, 2}},
     "2:b1@north=2",
     "busy"},
    {"queues above go first",
     {{"n1", 4, 2}},
     {{"n1", 2}},
     2,
     false,
     {{2, HIGH, 1}},
     "2:n1=1 1+:n1=1",
     ""},
    {"who came later to its queue stands behind it",
     {{"n1", 4, 2}},
     {{"n1", 2}},
     1,
     false,
     {{2, LOW, 1}},
     "1+:n1=1 2:n1=1",
     ""},
    {"an exclusive one has more of its own hosts, and hosts where nothing runs",
     {{"n1", 4, 2, true}, {"n2", 4, 1}, {"n3", 2, 0}},
     {{"n1", 2}},
     9,
     true,
     {{2, LOW, 3}},
     "1+:n3=2,n1=2 2:n2=3",
     ""},
    {"also where nobody else would find a slot",
     {{"n1", 4, 2, true}},
     {{"n1", 2}},
     9,
     true,
     {{0}},
     "1+:n1=2",
     ""},
    {"and nothing else, neither does anybody else then",
     {{"n1", 2, 2, true}, {"n2", 4, 1}, {"n3", 4, 0, false, true}},
     {{"n1", 2}},
     9,
     true,
     {{0}},
     "",
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

struct stage {
    struct arena arena;
    struct place_host hosts[LIST_MAX];
    struct job_class_entry turns[LIST_MAX + 1];
    const struct job_class_entry *queued[LIST_MAX + 1];
    struct place_class lines[LIST_MAX + 1];
    struct place_grow grow;
    int places[LIST_MAX];
    struct place_snapshot snapshot;
    struct place_plan plan;
};

static void add_line(struct stage *stage, uint64_t id, int queue, int n_slots)
{
    int at = stage->snapshot.n_classes++;
    stage->turns[at] = (struct job_class_entry){.key = id};
    stage->queued[at] = &stage->turns[at];
    stage->lines[at] = (struct place_class){.queue = queue,
                                            .n_slots = n_slots,
                                            .entries = &stage->queued[at],
                                            .n_entries = 1,
                                            .max_starts = INT_MAX};
}

static void give_running(struct stage *stage, const struct row *row)
{
    struct place_class *line = &stage->lines[0];
    int n_hosts = 0;
    add_line(stage, 1, LOW, 1);
    line->max_slots = row->wanted;
    line->scope = HOST_SCOPE_OWN;
    line->grow = &stage->grow;
    while (n_hosts < LIST_MAX && row->has[n_hosts].host != NULL) {
        for (int i = 0; i < stage->snapshot.n_hosts; i++) {
            if (strcmp(stage->hosts[i].name, row->has[n_hosts].host) == 0) {
                stage->places[n_hosts] = i;
            }
        }
        n_hosts++;
    }
    stage->grow = (struct place_grow){.hosts = row->has,
                                      .indexes = stage->places,
                                      .n_hosts = n_hosts,
                                      .is_exclusive = row->is_exclusive};
}

static void stage_init(struct stage *stage, const struct row *row)
{
    memset(stage, 0, sizeof(*stage));
    arena_init(&stage->arena);
    stage->snapshot = (struct place_snapshot){.hosts = stage->hosts,
                                              .queues = queues,
                                              .n_queues = 2,
                                              .classes = stage->lines,
                                              .max_starts = LIST_MAX};
    stage->snapshot.n_hosts = give_hosts(row, stage->hosts);
    give_running(stage, row);
    for (int i = 0; i < LIST_MAX && row->waiting[i].id != 0; i++) {
        add_line(stage, row->waiting[i].id, row->waiting[i].queue,
                 row->waiting[i].n_slots);
    }
}

static const char *starts_of(struct stage *stage)
{
    const char *text = "";
    place_plan(&stage->arena, &stage->snapshot, &stage->plan);
    for (int i = 0; i < stage->plan.n_starts; i++) {
        const struct place_start *start = &stage->plan.starts[i];
        text = arena_printf(&stage->arena, "%s%s%d%s:", text, i > 0 ? " " : "",
                            (int)start->job, start->is_grow ? "+" : "");
        for (int k = 0; k < start->n_hosts; k++) {
            text = arena_printf(&stage->arena, "%s%s%s=%d", text, k > 0 ? "," : "",
                                start->hosts[k].host, start->hosts[k].n_slots);
        }
    }
    return text;
}

static void running_jobs_get_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct stage stage;
        stage_init(&stage, row);
        const char *starts = starts_of(&stage);
        enum pending_reason reason = stage.plan.verdicts[0].reason;
        const char *why = reason == REASON_STARTED ? "" : pending_reason_name(reason);
        if (strcmp(starts, row->starts) != 0 || strcmp(why, row->reason) != 0) {
            fail_msg("%s: \"%s\" (%s), expected \"%s\" (%s)", row->why, starts, why,
                     row->starts, row->reason);
        }
        arena_release(&stage.arena);
    }
}

/* One limit, of which the running job has 2 slots and is one job. */
static void limits_hold_for_more(void **state)
{
    static const struct {
        const char *why;
        int side, slots, jobs;
        enum limit_mode mode;
        const char *starts;
    } cases[] = {
        {"slots of its user", LIMIT_USERS, 3, -1, LIMIT_EACH, "1+:n2=1"},
        {"all of them", LIMIT_USERS, 2, -1, LIMIT_EACH, ""},
        {"it is one job, and stays it", LIMIT_USERS, -1, 1, LIMIT_EACH, "1+:n2=3"},
        {"slots on each host", LIMIT_HOSTS, 2, -1, LIMIT_EACH, "1+:n2=2"},
        {"slots on all", LIMIT_HOSTS, 3, -1, LIMIT_TOGETHER, "1+:n2=1"},
        {"a job on each host", LIMIT_HOSTS, -1, 1, LIMIT_EACH, "1+:n2=3"},
    };
    static const struct row row = {
        .hosts = {{"n1", 4, 2}, {"n2", 4, 0}}, .has = {{"n1", 2}}, .wanted = 3};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct limit limit = {.name = "some",
                              .slots = cases[i].slots,
                              .jobs = cases[i].jobs,
                              .per_processor_milli = -1};
        limit.sides[cases[i].side] =
            (struct limit_side){.mode = cases[i].mode, .names = {.is_all = true}};
        struct limits *limits = limits_new(&limit, 1);
        struct limit_owner *class = limits_join(limits, "ana", "low", "p");
        struct stage stage;
        limits_count(limits, class, row.has, 1, false, 1);
        stage_init(&stage, &row);
        stage.snapshot.limits = limits;
        stage.lines[0].limit_class = class;
        const char *starts = starts_of(&stage);
        if (strcmp(starts, cases[i].starts) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i].why, starts,
                     cases[i].starts);
        }
        arena_release(&stage.arena);
        limits_count(limits, class, row.has, 1, false, -1);
        limits_leave(limits, class);
        limits_free(limits);
    }
}

/* The job is among the counts again when others come: one that would be the second. */
static void it_is_one_job_to_those_behind_it(void **state)
{
    static const struct row row = {.hosts = {{"n1", 4, 2}, {"n2", 4, 0}},
                                   .has = {{"n1", 2}},
                                   .wanted = 1,
                                   .waiting = {{2, LOW, 1}}};
    struct limit limit = {
        .name = "some", .slots = -1, .jobs = 1, .per_processor_milli = -1};
    struct stage stage;
    (void)state;
    limit.sides[LIMIT_USERS] =
        (struct limit_side){.mode = LIMIT_EACH, .names = {.is_all = true}};
    struct limits *limits = limits_new(&limit, 1);
    struct limit_owner *class = limits_join(limits, "ana", "low", "p");
    limits_count(limits, class, row.has, 1, false, 1);
    stage_init(&stage, &row);
    stage.snapshot.limits = limits;
    stage.lines[0].limit_class = stage.lines[1].limit_class = class;
    assert_string_equal(starts_of(&stage), "1+:n2=1");
    assert_int_equal(stage.plan.verdicts[1].reason, REASON_LIMIT);
    arena_release(&stage.arena);
    limits_count(limits, class, row.has, 1, false, -1);
    limits_leave(limits, class);
    limits_free(limits);
}

/* What it reserves: of each slot again, of a host once, of the job not again (which its
 * line does not ask for). */
static void it_reserves_for_what_comes(void **state)
{
    static const int pools[] = {0, 1};
    static const struct rusage_resource kind = {"mem", RESOURCE_MEM, pools, false};
    static const uint8_t has[] = {1, 0};
    static const struct {
        const char *why;
        enum resreq_scope scope;
        int64_t left[2];
        const char *starts;
    } cases[] = {
        {"of each slot, where there is enough",
         RESREQ_SCOPE_SLOT,
         {100, 30},
         "1+:n2=1,n1=2"},
        {"of a host that it has it has enough", RESREQ_SCOPE_HOST, {0, 0}, "1+:n1=2"},
        {"of another it needs it", RESREQ_SCOPE_HOST, {0, 30}, "1+:n2=3"},
    };
    static const struct row row = {
        .hosts = {{"n1", 4, 2}, {"n2", 4, 0}}, .has = {{"n1", 2}}, .wanted = 3};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct rusage_item ask = {0, cases[i].scope, 30};
        const struct rusage_request asks = {.items = &ask, .n_items = 1, .has = has};
        const struct rusage_supply reserve = {.resources = &kind,
                                              .n_resources = 1,
                                              .left = cases[i].left,
                                              .n_supplies = 2};
        struct stage stage;
        stage_init(&stage, &row);
        stage.snapshot.supply = &reserve;
        stage.lines[0].rusages = &asks;
        stage.lines[0].n_rusages = 1;
        const char *starts = starts_of(&stage);
        if (strcmp(starts, cases[i].starts) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i].why, starts,
                     cases[i].starts);
        }
        arena_release(&stage.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_jobs_get_more),
        cmocka_unit_test(limits_hold_for_more),
        cmocka_unit_test(it_is_one_job_to_those_behind_it),
        cmocka_unit_test(it_reserves_for_what_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
