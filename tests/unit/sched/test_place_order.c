/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is: slot pools between queues, fairshare between users, and both. Each
 * row is a configuration, what its jobs have and wait for, and how many start. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/fairshare/fairshare.h"
#include "sched/limit/limit.h"
#include "sched/place/place.h"

enum { QUEUES = 12, LINES = 32, TURNS = 4096, HOSTS = 8 };

static const int64_t now_ms = 1800000000000;

struct world {
    struct arena arena;
    struct conf conf;
    struct groups groups;
    struct queue_config *queues;
    int n_queues;
    struct fairshare shares;
    struct slot_pools pools;
    struct limits *limits;
    struct fairshare_tree *trees[QUEUES];
    struct place_host hosts[HOSTS];
    int used[QUEUES];
    double use[QUEUES];
    struct place_class lines[LINES];
    struct job_class_entry turns[TURNS];
    const struct job_class_entry *queued[TURNS];
    int n_lines, n_turns;
    struct place_snapshot snapshot;
    struct place_plan plan;
};

static void init(struct world *world, const char *text)
{
    static const char *const names[] = {"h1", "h2"};
    memset(world, 0, sizeof(*world));
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "text", text, strlen(text));
    conf_check(&world->conf);
    groups_read(&world->conf, names, 2, &world->groups);
    queue_read(&world->conf, &world->groups, &world->queues, &world->n_queues);
    fairshare_load(&world->conf, &world->groups, world->queues, world->n_queues,
                   &world->shares);
    slot_pool_config_read(&world->conf, &world->groups, world->queues, world->n_queues,
                          &world->shares, &world->pools);
    if (world->conf.n_errors > 0) {
        fail_msg("%s", world->conf.diags->text);
    }
    const struct limit *limits;
    int n_limits;
    limit_config_read(&world->conf, &world->groups, &limits, &n_limits);
    world->limits = limits_new(limits, n_limits);
    for (int i = 0; i < world->shares.n_scopes; i++) {
        world->trees[i] = fairshare_tree_new(&world->shares.scopes[i]);
    }
    world->snapshot = (struct place_snapshot){
        .hosts = world->hosts,
        .queues = world->queues,
        .n_queues = world->n_queues,
        .classes = world->lines,
        .limits = world->limits,
        .fairshare = &world->shares,
        .fairshare_trees = (const struct fairshare_tree *const *)world->trees,
        .slot_pools = &world->pools,
        .queue_used = world->used,
        .queue_usage = world->use,
        .now_ms = now_ms,
        .max_starts = INT_MAX,
    };
}

static void release(struct world *world)
{
    for (int i = 0; i < world->shares.n_scopes; i++) {
        fairshare_tree_free(world->trees[i]);
    }
    for (int i = 0; i < world->n_lines; i++) {
        limits_leave(world->limits, (struct limit_owner *)world->lines[i].limit_class);
    }
    limits_free(world->limits);
    arena_release(&world->arena);
}

static void add_host(struct world *world, const char *name, int max, int used)
{
    world->hosts[world->snapshot.n_hosts++] = (struct place_host){.name = name,
                                                                  .site = "",
                                                                  .lease = "",
                                                                  .max = max,
                                                                  .used = used,
                                                                  .is_open = true};
}

static int find_queue(const struct world *world, const char *name)
{
    for (int i = 0; i < world->n_queues; i++) {
        if (strcmp(world->queues[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("no queue %s", name);
    return -1;
}

/* So many jobs of a user wait. */
static struct place_class *add_jobs(struct world *world, const char *queue,
                                    const char *user, int n_jobs, int n_slots)
{
    struct place_class *line = &world->lines[world->n_lines++];
    int at = find_queue(world, queue), scope = world->shares.scope_of[at];
    *line = (struct place_class){
        .queue = at,
        .account = scope >= 0 ? fairshare_tree_join(world->trees[scope], user, "") : 0,
        .n_slots = n_slots,
        .entries = &world->queued[world->n_turns],
        .n_entries = n_jobs,
        .limit_class = limits_join(world->limits, user, queue, "default"),
        .max_starts = INT_MAX,
    };
    for (int i = 0; i < n_jobs; i++, world->n_turns++) {
        assert_true(world->n_turns < TURNS);
        world->turns[world->n_turns].key = (uint64_t)world->n_turns + 1;
        world->queued[world->n_turns] = &world->turns[world->n_turns];
    }
    world->snapshot.n_classes = world->n_lines;
    return line;
}

static void plan(struct world *world)
{
    place_plan(&world->arena, &world->snapshot, &world->plan);
}

static const struct place_class *line_of(const struct world *world, uint64_t job)
{
    for (int i = 0; i < world->n_lines; i++) {
        const struct place_class *line = &world->lines[i];
        if (job >= line->entries[0]->key &&
            job < line->entries[0]->key + (uint64_t)line->n_entries) {
            return line;
        }
    }
    return NULL;
}

/* Slots that start in the queue. */
static int given(const struct world *world, const char *queue)
{
    int n_slots = 0, at = find_queue(world, queue);
    for (int i = 0; i < world->plan.n_starts; i++) {
        const struct place_class *line = line_of(world, world->plan.starts[i].job);
        n_slots += line->queue == at ? line->n_slots : 0;
    }
    return n_slots;
}

static int started(const struct world *world, const struct place_class *line)
{
    int count = 0;
    for (int i = 0; i < world->plan.n_starts; i++) {
        count += line_of(world, world->plan.starts[i].job) == line;
    }
    return count;
}

/* "queue1 queue2": the queues in the order of their first start. */
static void write_order(const struct world *world, char *text, size_t size)
{
    bool is_seen[QUEUES] = {false};
    text[0] = '\0';
    for (int i = 0; i < world->plan.n_starts; i++) {
        int queue = line_of(world, world->plan.starts[i].job)->queue;
        size_t at = strlen(text);
        if (!is_seen[queue]) {
            snprintf(text + at, size - at, "%s%s", at > 0 ? " " : "",
                     world->queues[queue].name);
        }
        is_seen[queue] = true;
    }
}

#define QUEUE(name, priority, keys)                                                    \
    "Begin Queue\nQUEUE_NAME = " name "\nPRIORITY = " priority "\n" keys "\nEnd "      \
    "Queue\n"
#define POOL(pool, share) "SLOT_POOL = " pool "\nSLOT_SHARE = " share "\n"

static const char three[] =
    QUEUE("queue1", "50", POOL("A", "50")) QUEUE("queue2", "48", POOL("A", "30"))
        QUEUE("queue3", "46", POOL("A", "20")) QUEUE("queue4", "44", "");

/* ---------------------------------------------------------------- pools */

static void test_parts_of_a_pool(void **state)
{
    static const struct {
        const char *why;
        int slots[2]; /* of the hosts */
        int used[4];  /* slots of jobs of queue1 to queue4 */
        int jobs[4];  /* that wait */
        int given[4];
    } rows[] = {
        {"Q1: 6, 4, 2 of 12", {6, 6}, {0}, {20, 20, 20, 0}, {6, 4, 2, 0}},
        {"Q3: 8, 5, 2 of 15", {8, 7}, {0}, {20, 20, 20, 0}, {8, 5, 2, 0}},
        {"Q4: one has no work", {8, 7}, {0}, {20, 0, 20, 0}, {11, 0, 4, 0}},
        {"Q5: one alone has work", {8, 7}, {0}, {0, 0, 20, 0}, {0, 0, 15, 0}},
        {"a queue that has its part gets no more",
         {6, 6},
         {6, 1, 1, 0},
         {9, 9, 9, 0},
         {0, 3, 1, 0}},
        {"one that has more keeps it",
         {6, 6},
         {8, 1, 1, 0},
         {9, 9, 9, 0},
         {0, 2, 0, 0}},
        {"Q2: a queue outside has eaten slots; parts are of all of them",
         {6, 6},
         {1, 1, 1, 9},
         {9, 9, 9, 0},
         {0, 0, 0, 0}},
        {"what it leaves goes in order",
         {6, 6},
         {1, 1, 1, 6},
         {9, 9, 9, 0},
         {3, 0, 0, 0}},
        {"it is served after them, as it stands below",
         {6, 6},
         {0},
         {3, 3, 3, 9},
         {3, 3, 3, 3}},
        {"and gets nothing where they have use for all",
         {6, 6},
         {0},
         {9, 9, 9, 9},
         {6, 4, 2, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        init(&world, three);
        int used = 0;
        for (int k = 0; k < 4; k++) {
            world.used[k] = rows[i].used[k];
            used += rows[i].used[k];
        }
        int on_first = used < rows[i].slots[0] ? used : rows[i].slots[0];
        add_host(&world, "h1", rows[i].slots[0], on_first);
        add_host(&world, "h2", rows[i].slots[1], used - on_first);
        for (int k = 0; k < 4; k++) {
            if (rows[i].jobs[k] > 0) {
                add_jobs(&world, world.queues[k].name, "ana", rows[i].jobs[k], 1);
            }
        }
        plan(&world);
        for (int k = 0; k < 4; k++) {
            int n_slots = given(&world, world.queues[k].name);
            if (n_slots != rows[i].given[k]) {
                fail_msg("%s: %s got %d, expected %d", rows[i].why,
                         world.queues[k].name, n_slots, rows[i].given[k]);
            }
        }
        release(&world);
    }
}

/* The order of the seed: pools and other queues merged. */
static void test_order_of_all_queues(void **state)
{
    static const struct {
        const char *why;
        double use[8];
        const char *order;
    } rows[] = {
        {"by priority", {0}, "queue1 queue2 queue3 queue4 queue5 queue6 queue7 queue8"},
        {"a pool's queues change places among themselves only",
         {9, 0, 1, 5, 0, 3, 2, 1},
         "queue2 queue3 queue1 queue4 queue5 queue8 queue7 queue6"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char order[128];
        init(&world,
             QUEUE("queue1", "50", POOL("pool1", "10")) QUEUE("queue8", "15",
                                                              POOL("pool2", "10"))
                 QUEUE("queue2", "45", POOL("pool1", "10")) QUEUE("queue4", "35", "")
                     QUEUE("queue3", "40", POOL("pool1", "10"))
                         QUEUE("queue5", "30", "")
                             QUEUE("queue6", "25", POOL("pool2", "10"))
                                 QUEUE("queue7", "20", POOL("pool2", "10")));
        for (int k = 1; k <= 8; k++) {
            char name[16];
            snprintf(name, sizeof(name), "queue%d", k);
            world.use[find_queue(&world, name)] = rows[i].use[k - 1];
            add_jobs(&world, name, "ana", 2, 1);
        }
        add_host(&world, "h1", 100, 0);
        plan(&world);
        write_order(&world, order, sizeof(order));
        if (strcmp(order, rows[i].order) != 0) {
            fail_msg("%s: %s", rows[i].why, order);
        }
        release(&world);
    }
}

/* A queue in the middle takes all it can before the pool's lower ones. */
static void test_a_queue_outside_takes_all_it_can(void **state)
{
    struct world world;
    (void)state;
    init(&world, QUEUE("queue1", "50", POOL("A", "50")) QUEUE("out", "40", "")
                     QUEUE("queue2", "30", POOL("A", "50")));
    add_host(&world, "h1", 10, 0);
    add_jobs(&world, "queue1", "ana", 20, 1);
    add_jobs(&world, "queue2", "ana", 20, 1);
    add_jobs(&world, "out", "ana", 20, 1);
    plan(&world);
    assert_int_equal(given(&world, "queue1"), 5);
    assert_int_equal(given(&world, "out"), 5);
    assert_int_equal(given(&world, "queue2"), 0);
    assert_int_equal(world.plan.verdicts[1].reason, REASON_BUSY);
    release(&world);
}

static void test_limits_pass_slots_on(void **state)
{
    struct world world;
    (void)state;
    /* Entitled to 50, with a job limit of 40: the other 10 go to the other queue. */
    init(&world, QUEUE("queue1", "50", POOL("A", "50") "QJOB_LIMIT = 40")
                     QUEUE("queue2", "48", POOL("A", "50")));
    add_host(&world, "h1", 100, 0);
    add_jobs(&world, "queue1", "ana", 200, 1);
    add_jobs(&world, "queue2", "ana", 200, 1);
    plan(&world);
    assert_int_equal(given(&world, "queue1"), 40);
    assert_int_equal(given(&world, "queue2"), 60);
    assert_int_equal(world.plan.verdicts[0].reason, REASON_LIMIT);
    assert_int_equal(world.plan.verdicts[1].reason, REASON_SLOT_POOL);
    assert_string_equal(world.plan.verdicts[1].limit, "A");
    assert_int_equal(world.plan.waiting_own, 140); /* more slots would help those */
    release(&world);
}

/* Jobs that fit nowhere do not hold slots back from those that do. */
static void test_what_does_not_fit_passes_slots_on(void **state)
{
    struct world world;
    static const uint8_t none[HOSTS] = {0};
    static const struct place_filter filter = {.matches = none};
    (void)state;
    init(&world, three);
    add_host(&world, "h1", 6, 0);
    add_host(&world, "h2", 6, 0);
    add_jobs(&world, "queue1", "ana", 5, 7); /* one fits the 12 */
    struct place_class *line = add_jobs(&world, "queue2", "ana", 5, 1);
    line->filter = &filter;
    add_jobs(&world, "queue3", "ana", 20, 1);
    plan(&world);
    assert_int_equal(given(&world, "queue1"), 7); /* below its part, so beyond it */
    assert_int_equal(given(&world, "queue2"), 0);
    assert_int_equal(given(&world, "queue3"), 5);
    release(&world);
}

static void test_max_slots_in_pool(void **state)
{
    struct world world;
    (void)state;
    init(&world, QUEUE("queue1", "50", POOL("A", "50") "MAX_SLOTS_IN_POOL = 6")
                     QUEUE("queue2", "48", POOL("A", "50")) QUEUE("out", "1", ""));
    add_host(&world, "h1", 12, 2);
    world.used[0] = 2;
    add_jobs(&world, "queue1", "ana", 20, 1);
    add_jobs(&world, "queue2", "ana", 20, 2);
    add_jobs(&world, "out", "ana", 20, 1);
    plan(&world);
    /* It has 2: one to each part of 3, but a second job of queue2 would be one too
     * many, so queue1 gets that. */
    assert_int_equal(given(&world, "queue1"), 2);
    assert_int_equal(given(&world, "queue2"), 2);
    assert_int_equal(given(&world, "out"), 6);
    assert_int_equal(world.plan.verdicts[1].reason, REASON_LIMIT);
    assert_string_equal(world.plan.verdicts[1].limit,
                        "MAX_SLOTS_IN_POOL of slot pool A (6)");
    release(&world);
}

static void test_use_priority_in_pool(void **state)
{
    (void)state;
    for (int by_priority = 0; by_priority < 2; by_priority++) {
        struct world world;
        char text[512];
        snprintf(text, sizeof(text),
                 QUEUE("queue1", "50", POOL("A", "30") "USE_PRIORITY_IN_POOL = %s")
                     QUEUE("queue2", "48", POOL("A", "30"))
                         QUEUE("queue3", "46", POOL("A", "30")),
                 by_priority ? "Y" : "N");
        init(&world, text);
        add_host(&world, "h1", 20, 0);
        add_jobs(&world, "queue1", "ana", 20, 1);
        int first = world.n_turns;
        add_jobs(&world, "queue3", "ana", 20, 1);
        for (int i = first; i < world.n_turns; i++) {
            world.turns[i].priority = 9;
        }
        plan(&world);
        /* 6 each at first; 8 are left: by share 4 each, or to the urgent ones. */
        assert_int_equal(given(&world, "queue1"), by_priority ? 6 : 10);
        assert_int_equal(given(&world, "queue3"), by_priority ? 14 : 10);
        release(&world);
    }
}

/* ---------------------------------------------------------------- users */

static void test_users_take_turns(void **state)
{
    static const struct {
        const char *why, *shares;
        int jobs[4];  /* of ana, bo, dan, eve */
        int slots[4]; /* that each has already */
        int given[4];
    } rows[] = {
        {"alike", "[ana, 1] [bo, 1]", {20, 20}, {0}, {6, 6}},
        {"by shares: (1 + 8) / 3 = 1 + 2; the last one by the order they are listed in",
         "[ana, 3] [bo, 1]",
         {20, 20},
         {0},
         {9, 3}},
        {"a user with slots waits", "[ana, 1] [bo, 1]", {20, 20}, {6, 0}, {3, 9}},
        {"one alone takes all", "[ana, 1] [bo, 9]", {20, 0}, {0}, {12, 0}},
        {"a user and a group as a whole",
         "[ana, 1] [chem, 1]",
         {20, 0, 20, 20},
         {0},
         {6, 0, 6, 0}},
        {"each of a group", "[ana, 1] [chem@, 1]", {20, 0, 20, 20}, {0}, {4, 0, 4, 4}},
        {"a tree: half to the lab, of that two thirds to ana",
         "[lab, 1] [chem, 1]",
         {20, 20, 20, 0},
         {0},
         {4, 2, 6, 0}},
        {"all others together",
         "[ana, 1] [others, 1]",
         {20, 0, 20, 20},
         {0},
         {6, 0, 6, 0}},
        {"each of the others",
         "[ana, 1] [default, 1]",
         {20, 0, 20, 20},
         {0},
         {4, 0, 4, 4}},
    };
    static const char *const users[] = {"ana", "bo", "dan", "eve"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        struct place_class *lines[4] = {NULL};
        char text[512];
        snprintf(
            text, sizeof(text),
            "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\n"
            "lab (ana bo) ([ana, 2] [bo, 1])\nchem (dan eve) ()\nEnd UserGroup\n" QUEUE(
                "q", "1", "FAIRSHARE = USER_SHARES[%s]"),
            rows[i].shares);
        init(&world, text);
        add_host(&world, "h1", 12, 0);
        for (int k = 0; k < 4; k++) {
            if (rows[i].jobs[k] > 0) {
                lines[k] = add_jobs(&world, "q", users[k], rows[i].jobs[k], 1);
            }
            if (rows[i].slots[k] > 0) {
                struct fairshare_job job = {.n_slots = rows[i].slots[k]};
                fairshare_tree_count_job(world.trees[0], lines[k]->account, &job, 1,
                                         now_ms);
            }
        }
        plan(&world);
        for (int k = 0; k < 4; k++) {
            int n = lines[k] != NULL ? started(&world, lines[k]) : 0;
            if (n != rows[i].given[k]) {
                fail_msg("%s: %s started %d, expected %d", rows[i].why, users[k], n,
                         rows[i].given[k]);
            }
        }
        release(&world);
    }
}

/* FAIRSHARE_QUEUES: a user has one priority in all; by queue first, or by user. */
static void test_sets_of_queues(void **state)
{
    (void)state;
    for (int by_queue = 0; by_queue < 2; by_queue++) {
        struct world world;
        char text[512];
        snprintf(text, sizeof(text),
                 QUEUE("high", "9",
                       "FAIRSHARE = USER_SHARES[[default, 1]]\nFAIRSHARE_QUEUES = "
                       "low\n%s") QUEUE("mid", "5", "") QUEUE("low", "1", ""),
                 by_queue ? "DISPATCH_ORDER = QUEUE" : "");
        init(&world, text);
        add_host(&world, "h1", 4, 0);
        struct place_class *ana = add_jobs(&world, "high", "ana", 9, 1);
        struct place_class *bo = add_jobs(&world, "low", "bo", 9, 1);
        plan(&world);
        assert_int_equal(started(&world, ana), by_queue ? 4 : 2);
        assert_int_equal(started(&world, bo), by_queue ? 0 : 2);
        release(&world);
    }
}

/* What one queue of a partition gives away counts in the other. */
static void test_partitions(void **state)
{
    struct world world;
    (void)state;
    init(&world,
         QUEUE("high", "9", "QJOB_LIMIT = 4")
             QUEUE("low", "1", "") "Begin HostPartition\nHPART_NAME HOSTS USER_SHARES\n"
                                   "p all ([default, 1])\nEnd HostPartition\n");
    add_host(&world, "h1", 8, 0);
    add_jobs(&world, "high", "ana", 9, 1);
    struct place_class *ana = add_jobs(&world, "low", "ana", 9, 1);
    struct place_class *bo = add_jobs(&world, "low", "bo", 9, 1);
    plan(&world);
    assert_int_equal(given(&world, "high"), 4);
    assert_int_equal(started(&world, ana), 0);
    assert_int_equal(started(&world, bo), 4);
    release(&world);
}

/* Users' order in a queue, the pool's part of it. */
static void test_both_at_once(void **state)
{
    struct world world;
    (void)state;
    init(&world,
         QUEUE("queue1", "50", POOL("A", "50") "FAIRSHARE = USER_SHARES[[default, 1]]")
             QUEUE("queue2", "48", POOL("A", "50")));
    add_host(&world, "h1", 12, 0);
    struct place_class *ana = add_jobs(&world, "queue1", "ana", 20, 1);
    struct place_class *bo = add_jobs(&world, "queue1", "bo", 20, 1);
    add_jobs(&world, "queue2", "ana", 20, 1);
    plan(&world);
    assert_int_equal(started(&world, ana), 3);
    assert_int_equal(started(&world, bo), 3);
    assert_int_equal(given(&world, "queue2"), 6);
    release(&world);
}

/* A user's line that cannot start does not hold back the next user. */
static void test_a_user_who_is_stuck_holds_nobody_back(void **state)
{
    struct world world;
    (void)state;
    init(&world,
         QUEUE("q", "1", "UJOB_LIMIT = 2\nFAIRSHARE = USER_SHARES[[ana, 9] [bo, 1]]"));
    add_host(&world, "h1", 12, 0);
    struct place_class *ana = add_jobs(&world, "q", "ana", 20, 1);
    struct place_class *bo = add_jobs(&world, "q", "bo", 20, 1);
    plan(&world);
    assert_int_equal(started(&world, ana), 2);
    assert_int_equal(started(&world, bo), 2);
    assert_int_equal(world.plan.verdicts[0].reason, REASON_LIMIT);
    release(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_a_pool),
        cmocka_unit_test(test_order_of_all_queues),
        cmocka_unit_test(test_a_queue_outside_takes_all_it_can),
        cmocka_unit_test(test_limits_pass_slots_on),
        cmocka_unit_test(test_what_does_not_fit_passes_slots_on),
        cmocka_unit_test(test_max_slots_in_pool),
        cmocka_unit_test(test_use_priority_in_pool),
        cmocka_unit_test(test_users_take_turns),
        cmocka_unit_test(test_sets_of_queues),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_both_at_once),
        cmocka_unit_test(test_a_user_who_is_stuck_holds_nobody_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
