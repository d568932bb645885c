/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs reserve decides where they start. The world: hosts n1, n2 and n3 of 4 slots
 * each. The memory of n3 is unknown. `mem` is a supply of each host; `lic` is one
 * supply of n1 and n2, and another of n3. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/place/place.h"

enum { HOSTS = 3, POOLS = 4, ITEMS_MAX = 2, TRIES_MAX = 2, ROW_JOBS = 4 };
enum { MEM, LIC };
#define J RESREQ_SCOPE_JOB
#define H RESREQ_SCOPE_HOST
#define S RESREQ_SCOPE_SLOT

static const int mem_pools[HOSTS] = {0, 1, -1};
static const int lic_pools[HOSTS] = {2, 2, 3};
static const struct rusage_resource kinds[] = {
    {"mem", RESOURCE_MEM, mem_pools, false, NULL},
    {"lic", RESOURCE_BUILTINS, lic_pools, false, NULL}};
static const struct place_host hosts[HOSTS] = {
    {.name = "n1", .site = "", .lease = "", .max = 4, .is_open = true},
    {.name = "n2", .site = "", .lease = "", .max = 4, .is_open = true},
    {.name = "n3", .site = "", .lease = "", .max = 4, .is_open = true},
};
static const struct queue_config stacked = {.name = "normal", .priority = 30};
static const struct queue_config balanced = {
    .name = "normal", .priority = 30, .is_balanced = true};

/* Amounts are whole, of item 0 and 1; n_slots 0 ends the jobs. */
struct job_row {
    int n_slots, max_slots;
    struct rusage_item items[TRIES_MAX][ITEMS_MAX];
    int n_items[TRIES_MAX]; /* 0: no such alternative */
};

struct row {
    const char *why;
    int64_t left[POOLS]; /* mem of n1, n2; lic of n1 and n2, of n3 */
    bool is_balanced;
    struct job_row jobs[ROW_JOBS];
    const char *starts; /* "1:n1=1 ..."; an alternative that is not the first: "1b:" */
    const char *reason; /* of the first job that stays */
};

/* clang-format off */
static const struct row rows[] = {
    {"nothing is reserved: any host", {0, 0, 0, 0}, false,
     {{1, 0, {{{0}}}, {0}}}, "1:n1=1", NULL},
    {"memory on each host of the job", {100, 70, 0, 0}, false,
     {{6, 0, {{{MEM, H, 70, 0}}}, {1}}}, "1:n1=4,n2=2", NULL},
    {"a host without enough is passed over", {60, 70, 0, 0}, false,
     {{1, 0, {{{MEM, H, 70, 0}}}, {1}}}, "1:n2=1", NULL},
    {"one that has none, too", {60, 60, 0, 0}, false,
     {{1, 0, {{{MEM, H, 61, 0}}}, {1}}}, "",
     "Job's resource reservation not satisfied: mem (need 61, 3 hosts of 3 lack it)"},
    {"each start leaves less", {100, 70, 0, 0}, false,
     {{1, 0, {{{MEM, H, 60, 0}}}, {1}}, {1, 0, {{{MEM, H, 60, 0}}}, {1}},
      {1, 0, {{{MEM, H, 40, 0}}}, {1}}, {1, 0, {{{MEM, H, 40, 0}}}, {1}}},
     "1:n1=1 2:n2=1 3:n1=1",
     "Job's resource reservation not satisfied: mem (need 40, 3 hosts of 3 lack it)"},
    {"for each slot, as many as there is for", {100, 70, 0, 0}, false,
     {{5, 0, {{{MEM, S, 30, 0}}}, {1}}}, "1:n1=3,n2=2", NULL},
    {"a slot too many", {100, 70, 0, 0}, false,
     {{6, 0, {{{MEM, S, 30, 0}}}, {1}}}, "",
     "Job's resource reservation not satisfied: mem (need 30 for each slot, 1 host of 3 "
     "lacks it)"},
    {"min,max: as many as there is for", {100, 70, 0, 0}, false,
     {{2, 9, {{{MEM, S, 30, 0}}}, {1}}}, "1:n1=3,n2=2", NULL},
    {"balanced, too", {100, 70, 0, 0}, true,
     {{4, 0, {{{MEM, S, 30, 0}}}, {1}}}, "1:n1=2,n2=2", NULL},
    {"shared: once for the job, of its first host", {0, 0, 2, 0}, false,
     {{6, 0, {{{LIC, J, 1, 0}}}, {1}}, {1, 0, {{{LIC, J, 1, 0}}}, {1}},
      {1, 0, {{{LIC, J, 1, 0}}}, {1}}},
     "1:n1=4,n2=2 2:n2=1",
     "Job's resource reservation not satisfied: lic (need 1, 3 hosts of 3 lack it)"},
    {"shared: for each host", {0, 0, 3, 0}, false,
     {{6, 0, {{{LIC, H, 2, 0}}}, {1}}}, "",
     "Job's resource reservation not satisfied: lic (need 2, 1 host of 3 lacks it)"},
    {"shared: for each slot, wherever it is", {0, 0, 5, 0}, false,
     {{5, 0, {{{LIC, S, 1, 0}}}, {1}}}, "1:n1=4,n2=1", NULL},
    {"another place has its own", {0, 0, 0, 3}, false,
     {{3, 0, {{{LIC, S, 1, 0}}}, {1}}}, "1:n3=3", NULL},
    {"places add up", {0, 0, 5, 3}, true,
     {{8, 0, {{{LIC, S, 1, 0}}}, {1}}}, "1:n1=3,n2=2,n3=3", NULL},
    {"all that is asked for", {100, 100, 2, 0}, false,
     {{4, 0, {{{MEM, S, 30, 0}, {LIC, S, 1, 0}}}, {2}}}, "",
     "Job's resource reservation not satisfied: lic (need 1 for each slot)"},
    {"the second alternative where the first is not there", {100, 70, 1, 0}, false,
     {{1, 0, {{{LIC, J, 1, 0}}, {{MEM, H, 50, 0}}}, {1, 1}},
      {1, 0, {{{LIC, J, 1, 0}}, {{MEM, H, 50, 0}}}, {1, 1}},
      {1, 0, {{{LIC, J, 1, 0}}, {{MEM, H, 90, 0}}}, {1, 1}}},
     "1:n1=1 2b:n2=1 3b:n1=1", NULL},
    {"less than nothing is left", {-5, 10, 0, 0}, false,
     {{1, 0, {{{MEM, H, 5, 0}}}, {1}}}, "1:n2=1", NULL},
    {"an amount of nothing: where there is such a thing", {0, -1, 0, 0}, false,
     {{1, 0, {{{MEM, H, 0, 0}}}, {1}}}, "1:n1=1", NULL},
};
/* clang-format on */

struct world {
    struct arena arena;
    struct place_class classes[ROW_JOBS];
    struct job_class_entry entries[ROW_JOBS];
    const struct job_class_entry *queued[ROW_JOBS];
    struct rusage_item items[ROW_JOBS][TRIES_MAX][ITEMS_MAX];
    struct rusage_request asks[ROW_JOBS][TRIES_MAX];
    int64_t left[POOLS];
    struct rusage_supply reserve;
    struct place_snapshot snapshot;
    struct place_plan plan;
};

static void add_job(struct world *world, const struct job_row *job)
{
    int index = world->snapshot.n_classes++;
    struct place_class *class = &world->classes[index];
    world->entries[index].key = (uint64_t)index + 1;
    world->queued[index] = &world->entries[index];
    *class = (struct place_class){.n_slots = job->n_slots,
                                  .max_slots = job->max_slots,
                                  .entries = &world->queued[index],
                                  .n_entries = 1,
                                  .rusages = world->asks[index],
                                  .max_starts = INT_MAX};
    for (; class->n_rusages < TRIES_MAX && job->n_items[class->n_rusages] > 0;
         class->n_rusages++) {
        struct rusage_item *items = world->items[index][class->n_rusages];
        memcpy(items, job->items[class->n_rusages], sizeof(job->items[0]));
        for (int i = 0; i < ITEMS_MAX; i++) {
            items[i].milli *= 1000;
        }
        world->asks[index][class->n_rusages] = (struct rusage_request){
            .items = items, .n_items = job->n_items[class->n_rusages]};
    }
}

static void plan(struct world *world, const struct row *row)
{
    memset(world, 0, sizeof(*world));
    arena_init(&world->arena);
    for (int i = 0; i < POOLS; i++) {
        world->left[i] = row->left[i] * 1000;
    }
    world->reserve = (struct rusage_supply){
        .resources = kinds, .n_resources = 2, .left = world->left, .n_supplies = POOLS};
    world->snapshot = (struct place_snapshot){
        .hosts = hosts,
        .n_hosts = HOSTS,
        .queues = row->is_balanced ? &balanced : &stacked,
        .n_queues = 1,
        .classes = world->classes,
        .supply = &world->reserve,
        .max_starts = ROW_JOBS,
    };
    for (int i = 0; i < ROW_JOBS && row->jobs[i].n_slots > 0; i++) {
        add_job(world, &row->jobs[i]);
    }
    place_plan(&world->arena, &world->snapshot, &world->plan);
}

static const char *starts_of(struct world *world)
{
    const char *text = "";
    for (int i = 0; i < world->plan.n_starts; i++) {
        const struct place_start *start = &world->plan.starts[i];
        bool is_second = start->rusage == &world->asks[start->job - 1][1];
        text = arena_printf(&world->arena, "%s%s%d%s:", text, i > 0 ? " " : "",
                            (int)start->job, is_second ? "b" : "");
        for (int k = 0; k < start->n_hosts; k++) {
            text = arena_printf(&world->arena, "%s%s%s=%d", text, k > 0 ? "," : "",
                                start->hosts[k].host, start->hosts[k].n_slots);
        }
    }
    return text;
}

static void test_placement(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        plan(&world, &rows[i]);
        const char *starts = starts_of(&world), *reason = NULL;
        for (int k = world.snapshot.n_classes - 1; k >= 0; k--) {
            if (world.plan.verdicts[k].reason != REASON_STARTED) {
                reason = pending_reason_text(&world.arena, &world.plan.verdicts[k]);
            }
        }
        if (strcmp(starts, rows[i].starts) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", rows[i].why, starts,
                     rows[i].starts);
        }
        if ((reason == NULL) != (rows[i].reason == NULL) ||
            (reason != NULL && strcmp(reason, rows[i].reason) != 0)) {
            fail_msg("%s: \"%s\"", rows[i].why, reason != NULL ? reason : "no reason");
        }
        arena_release(&world.arena);
    }
}

/* A host that is full but has the memory: it is slots that are missing. */
static void test_slots_or_memory(void **state)
{
    static const struct {
        int used[HOSTS];
        bool is_closed; /* n1: it will be open again, with its memory */
        enum pending_reason reason;
        int n_full, n_lacking;
    } cases[] = {
        {{4, 0, 0}, false, REASON_BUSY, 1, 2},
        {{4, 4, 4}, false, REASON_BUSY, 1, 2},
        {{0, 4, 0}, false, REASON_STARTED, 0, 0},
        {{0, 0, 0}, true, REASON_BUSY, 0, 2},
    };
    static const struct row row = {.left = {100, 0, 0, 0},
                                   .jobs = {{1, 0, {{{MEM, H, 50, 0}}}, {1}}}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world world;
        struct place_host used[HOSTS];
        memcpy(used, hosts, sizeof(used));
        for (int k = 0; k < HOSTS; k++) {
            used[k].used = cases[i].used[k];
        }
        used[0].is_open = !cases[i].is_closed;
        plan(&world, &row);
        world.snapshot.hosts = used;
        place_plan(&world.arena, &world.snapshot, &world.plan);
        const struct pending_verdict *verdict = &world.plan.verdicts[0];
        assert_int_equal(verdict->reason, cases[i].reason);
        assert_int_equal(verdict->n_full, cases[i].n_full);
        assert_int_equal(verdict->n_short, cases[i].n_lacking);
        arena_release(&world.arena);
    }
}

/* A suspended job takes what it gave back before anybody else, or keeps what of it is
 * there until all is. */
static void test_returns(void **state)
{
    static const struct host_slots at = {"n1", 1};
    static const int place = 0;
    static const struct rusage_amount parts[] = {{2, 3000}};
    static const struct place_resume still = {.job = 9,
                                              .hosts = &at,
                                              .indexes = &place,
                                              .n_hosts = 1,
                                              .released = parts,
                                              .n_released = 1};
    static const struct {
        int64_t lic;
        int n_returns, n_starts;
    } cases[] = {{2, 0, 0}, {3, 1, 0}, {4, 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct row row = {.left = {0, 0, cases[i].lic, 0},
                                .jobs = {{1, 0, {{{LIC, J, 1, 0}}}, {1}}}};
        struct world world;
        plan(&world, &row);
        world.snapshot.resumes = &still;
        world.snapshot.n_resumes = 1;
        place_plan(&world.arena, &world.snapshot, &world.plan);
        assert_int_equal(world.plan.n_resumes, cases[i].n_returns);
        assert_int_equal(world.plan.n_starts, cases[i].n_starts);
        arena_release(&world.arena);
    }
}

/* The item that is lacking is the one for which a host has no slot. */
static void test_lack(void **state)
{
    static const enum resreq_scope scopes[] = {J, H, S};
    static const int64_t amounts[] = {-1, 0, 4, 5, 6}, asked[] = {0, 1, 4, 5, 6};
    enum { N = sizeof(amounts) / sizeof(amounts[0]) };
    const struct rusage_supply supply = {.resources = kinds, .n_resources = 2};
    (void)state;
    for (int i = 0; i < N * N * N * 3 * HOSTS * 2; i++) {
        const int64_t left[POOLS] = {amounts[i % N], 5, amounts[i / N % N], 5};
        const uint8_t has[HOSTS] = {i / (N * N * N * 3 * HOSTS) % 2 != 0, 0, 1};
        const struct rusage_item items[] = {
            {MEM, scopes[i / (N * N * N) % 3], asked[i / N / N % N], 0},
            {LIC, S, 5, 0}};
        const struct rusage_request request = {
            .items = items, .n_items = 2, .has = has};
        int host = i / (N * N * N * 3) % HOSTS, lacking = -1;
        int n_slots =
            rusage_supply_max_slots_alone(&supply, left, &request, host, &lacking);
        int item = rusage_supply_find_lack(&supply, left, &request, host);
        assert_int_equal(item >= 0, n_slots == 0);
        assert_true(item < 0 || item == lacking);
    }
}

/* A host is used while so much is left before the job takes any. */
static void test_threshold(void **state)
{
    static const struct {
        int64_t left, milli, threshold;
        int n_slots; /* on n1, of an amount for each slot */
        const char *why;
    } cases[] = {
        {10, 3, 0, 3, "no threshold"},
        {10, 3, 10, 3, "so much is left: as many slots as the amount allows"},
        {10, 3, 11, 0, "less is left, though enough for the amount"},
        {2, 3, 1, 0, "the threshold is met, the amount is not"},
        {5, 0, 6, 0, "also of a job that takes nothing"},
    };
    const struct rusage_supply supply = {.resources = kinds, .n_resources = 2};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t left[POOLS] = {cases[i].left, 0, 0, 0};
        const struct rusage_item item = {MEM, S, cases[i].milli, cases[i].threshold};
        const struct rusage_request request = {.items = &item, .n_items = 1};
        int lacking = -1;
        int n_slots =
            rusage_supply_max_slots_alone(&supply, left, &request, 0, &lacking);
        if (n_slots != cases[i].n_slots) {
            fail_msg("%s: %d slots", cases[i].why, n_slots);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placement), cmocka_unit_test(test_slots_or_memory),
        cmocka_unit_test(test_returns),   cmocka_unit_test(test_lack),
        cmocka_unit_test(test_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
