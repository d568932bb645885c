/* SPDX-License-Identifier: Apache-2.0 */
/* prop_fairshare_order.c: the order of a pass over users with shares against a twin
 * without state: for each job it compares all classes, and descends from the root with
 * every priority computed again. SEED=N repeats one world. */
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sched/fairshare/fairshare.h"
#include "sched/place/place.h"

enum {
    WORLDS = 1500,
    USERS = 12,
    CLASSES = 40,
    ENTRIES = 8,
    TEXT = 4096,
    HOUR_MS = 3600000,
};

static const int64_t now_ms = 1800000000000;

struct world {
    uint64_t seed;
    struct rng rng;
    struct arena arena;
    char text[TEXT];
    struct conf conf;
    struct groups groups;
    struct queue_config *queues;
    int n_queues;
    struct fairshare shares;
    struct fairshare_tree *trees[4];
    struct place_class classes[CLASSES];
    struct job_class_entry entries[CLASSES][ENTRIES];
    const struct job_class_entry *queued[CLASSES][ENTRIES];
    int n_classes, n_slots;
    struct place_plan plan;
};

static uint64_t first_seed(void)
{
    const char *text = getenv("SEED");
    return text != NULL ? strtoull(text, NULL, 10) : 1;
}

static uint64_t last_seed(void)
{
    return getenv("SEED") != NULL ? first_seed() : WORLDS;
}

static void say(struct world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(struct world *world, const char *format, ...)
{
    size_t at = strlen(world->text);
    va_list args;
    va_start(args, format);
    vsnprintf(world->text + at, sizeof(world->text) - at, format, args);
    va_end(args);
}

static int between(struct world *world, int low, int high)
{
    return low + (int)rng_below(&world->rng, high - low + 1);
}

/* u0..u11; a: u0 u1 u2 with shares, b: a and u3 with shares, c: u4 u5 u6 in one class.
 */
static void write_conf(struct world *world)
{
    static const char *const lists[] = {
        "[default, 2]", "[b, 3] [c, 2] [u7, 1] [default, 1]",
        "[b, 1] [c@, 1] [others, 2]", "[a, 5] [u0, 1] [c, 2] [others, 1]"};
    static const char *const factors[] = {"", "RUN_JOB_FACTOR = 0\n",
                                          "ENABLE_HIST_RUN_TIME = Y\n",
                                          "CPU_TIME_FACTOR = 0\nRUN_TIME_FACTOR = 0\n"
                                          "RUN_JOB_FACTOR = 0\n"};
    bool is_set = between(world, 0, 2) == 0, has_other = between(world, 0, 1) == 0;
    say(world,
        "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\n"
        "a (u0 u1 u2) ([u0, %d] [u1, %d] [u2, 1])\nb (a u3) ([a, %d] [u3, 1])\n"
        "c (u4 u5 u6) ()\nEnd UserGroup\n",
        between(world, 1, 4), between(world, 1, 4), between(world, 1, 4));
    say(world,
        "Begin Queue\nQUEUE_NAME = q0\nPRIORITY = %d\nFAIRSHARE = USER_SHARES[%s]\n%s",
        between(world, 1, 5), lists[between(world, 0, 3)],
        factors[between(world, 0, 3)]);
    if (is_set) {
        say(world, "FAIRSHARE_QUEUES = q1\n%s",
            between(world, 0, 1) ? "DISPATCH_ORDER = QUEUE\n" : "");
    }
    say(world, "End Queue\nBegin Queue\nQUEUE_NAME = q1\nPRIORITY = %d\n",
        between(world, 1, 5));
    if (!is_set && has_other) {
        say(world, "FAIRSHARE = USER_SHARES[%s]\n", lists[between(world, 0, 3)]);
    }
    say(world, "End Queue\nBegin Queue\nQUEUE_NAME = q2\nPRIORITY = %d\nEnd Queue\n",
        between(world, 1, 5));
}

static void add_line(struct world *world)
{
    struct place_class *class = &world->classes[world->n_classes];
    char user[8];
    int queue = between(world, 0, 2), scope = world->shares.scope_of[queue];
    snprintf(user, sizeof(user), "u%d", between(world, 0, USERS - 1) % 100);
    *class = (struct place_class){
        .queue = queue,
        .account = scope >= 0 ? fairshare_tree_join(world->trees[scope], user, "") : 0,
        .n_slots = between(world, 0, 3) > 0 ? 1 : between(world, 1, 3),
        .entries = world->queued[world->n_classes],
        .n_entries = between(world, 1, ENTRIES),
        .max_starts = INT_MAX,
        .waiting_since_ms = between(world, 0, 1)
                                ? now_ms - between(world, 0, 99) * (int64_t)HOUR_MS
                                : 0,
    };
    for (int i = 0; i < class->n_entries; i++) {
        struct job_class_entry *entry = &world->entries[world->n_classes][i];
        entry->key = (uint64_t)(i * CLASSES + world->n_classes + 1);
        entry->priority = 50;
        world->queued[world->n_classes][i] = entry;
    }
    if (scope >= 0 && between(world, 0, 2) == 0) {
        struct fairshare_job job = {.n_slots = between(world, 1, 4),
                                    .start_ms =
                                        now_ms - between(world, 0, 10) * HOUR_MS};
        fairshare_tree_count_job(world->trees[scope], class->account, &job, 1, now_ms);
        fairshare_tree_add_finished(world->trees[scope], class->account,
                                    between(world, 0, 9) * (double)HOUR_MS,
                                    between(world, 0, 9) * (double)HOUR_MS, now_ms);
    }
    world->n_classes++;
}

/* Ranks change no order among siblings. */
static void rank_all(struct world *world, uint64_t seed)
{
    for (int i = 0; i < world->shares.n_scopes; i++) {
        struct fairshare_tree *tree = world->trees[i];
        int n = fairshare_tree_count(tree);
        int *before = arena_alloc(&world->arena, (size_t)n * (size_t)n, sizeof(int));
        for (int at = 0; at < n * n; at++) {
            before[at] = fairshare_tree_compare(tree, at / n, 1, at % n, 1);
        }
        fairshare_tree_rank(tree);
        for (int at = 0; at < n * n; at++) {
            int a = at / n, b = at % n;
            int after = fairshare_tree_compare(tree, a, 1, b, 1);
            if (fairshare_tree_at(tree, a)->parent ==
                    fairshare_tree_at(tree, b)->parent &&
                ((after < 0) != (before[at] < 0) || (after > 0) != (before[at] > 0))) {
                fail_msg("SEED=%" PRIu64 ": %s and %s: %d, ranked %d", seed,
                         fairshare_tree_at(tree, a)->name,
                         fairshare_tree_at(tree, b)->name, before[at], after);
            }
        }
    }
}

static void init(struct world *world, uint64_t seed)
{
    static const char *const names[] = {"h1"};
    memset(world, 0, sizeof(*world));
    world->seed = seed;
    rng_init(&world->rng, seed);
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    write_conf(world);
    conf_read(&world->conf, "text", world->text, strlen(world->text));
    groups_read(&world->conf, names, 1, &world->groups);
    queue_read(&world->conf, &world->groups, &world->queues, &world->n_queues);
    fairshare_load(&world->conf, &world->groups, world->queues, world->n_queues,
                   &world->shares);
    if (world->conf.n_errors > 0) {
        fail_msg("SEED=%" PRIu64 ": %s", seed, world->conf.diags->text);
    }
    for (int i = 0; i < world->shares.n_scopes; i++) {
        world->trees[i] = fairshare_tree_new(&world->shares.scopes[i]);
    }
    int n_classes = between(world, 1, CLASSES), n_before = between(world, 0, n_classes);
    for (int i = 0; i < n_classes; i++) {
        if (i == n_before) {
            rank_all(world, seed);
        }
        add_line(world);
    }
    world->n_slots = between(world, 0, 60);
}

static void release(struct world *world)
{
    for (int i = 0; i < world->shares.n_scopes; i++) {
        fairshare_tree_free(world->trees[i]);
    }
    arena_release(&world->arena);
}

static void plan(struct world *world)
{
    struct place_host host = {
        .name = "h1", .site = "", .lease = "", .max = world->n_slots, .is_open = true};
    struct place_snapshot snapshot = {
        .hosts = &host,
        .n_hosts = 1,
        .queues = world->queues,
        .n_queues = world->n_queues,
        .classes = world->classes,
        .n_classes = world->n_classes,
        .fairshare = &world->shares,
        .fairshare_trees = (const struct fairshare_tree *const *)world->trees,
        .now_ms = now_ms,
        .max_starts = INT_MAX,
    };
    place_plan(&world->arena, &snapshot, &world->plan);
}

/* ---------------------------------------------------------------- the twin */

struct twin {
    const struct world *world;
    int next[CLASSES]; /* the next entry */
    bool is_gone[CLASSES];
    int64_t given[4][64]; /* by scope and account */
    int n_free;
};

static bool is_left(const struct twin *twin, int class)
{
    return !twin->is_gone[class] &&
           twin->next[class] < twin->world->classes[class].n_entries;
}

static int scope_of(const struct twin *twin, int class)
{
    return twin->world->shares.scope_of[twin->world->classes[class].queue];
}

/* The priority of the queue, or the highest of the queues that share its order. */
static void place_of_queue(const struct twin *twin, int class, int *priority,
                           int *queue)
{
    const struct world *world = twin->world;
    int scope = scope_of(twin, class);
    *queue = world->classes[class].queue;
    *priority = world->queues[*queue].priority;
    if (scope < 0 || world->shares.scopes[scope].is_by_queue) {
        return;
    }
    for (int i = 0; i < world->n_queues; i++) {
        bool is_higher = world->queues[i].priority > *priority ||
                         (world->queues[i].priority == *priority && i < *queue);
        if (world->shares.scope_of[i] == scope && is_higher) {
            *queue = i;
            *priority = world->queues[i].priority;
        }
    }
}

/* The ancestors of a, from the root's child to the account of its class. */
static int chain(const struct fairshare_tree *tree, int account, int *path)
{
    int depth = 0, count = 0, up[SHARE_DEPTH_MAX + 2];
    for (int at = fairshare_tree_at(tree, account)->sharing_account; at > 0;
         at = fairshare_tree_at(tree, at)->parent) {
        up[depth++] = at;
    }
    while (depth > 0) {
        path[count++] = up[--depth];
    }
    return count;
}

/* Lines a and b have one order. */
static bool stand_together(const struct twin *twin, int a, int b)
{
    const struct world *world = twin->world;
    int scope = scope_of(twin, a);
    return scope == scope_of(twin, b) &&
           (!world->shares.scopes[scope].is_by_queue ||
            world->classes[a].queue == world->classes[b].queue);
}

/* The submission of the oldest pending job of the class's account. */
static int64_t since_of(const struct twin *twin, int class)
{
    const struct world *world = twin->world;
    const struct fairshare_tree *tree = world->trees[scope_of(twin, class)];
    int stand = fairshare_tree_at(tree, world->classes[class].account)->sharing_account;
    int64_t oldest_ms = 0;
    for (int i = 0; i < world->n_classes; i++) {
        int64_t since_ms = world->classes[i].waiting_since_ms;
        if (stand_together(twin, class, i) && since_ms != 0 &&
            fairshare_tree_at(tree, world->classes[i].account)->sharing_account ==
                stand &&
            (oldest_ms == 0 || since_ms < oldest_ms)) {
            oldest_ms = since_ms;
        }
    }
    return oldest_ms;
}

/* The account, or one below it, has another class that is not finished and late. */
static bool has_late(const struct twin *twin, int class, int account)
{
    int scope = scope_of(twin, class);
    const struct fairshare_tree *tree = twin->world->trees[scope];
    for (int i = 0; i < twin->world->n_classes; i++) {
        if (!is_left(twin, i) || !stand_together(twin, class, i)) {
            continue;
        }
        int stand =
            fairshare_tree_at(tree, twin->world->classes[i].account)->sharing_account;
        int64_t since_ms = since_of(twin, i);
        bool is_late = since_ms != 0 && twin->given[scope][stand] == 0 &&
                       fairshare_tree_is_late(tree, stand, since_ms, now_ms);
        for (int at = stand; at >= 0 && is_late;
             at = fairshare_tree_at(tree, at)->parent) {
            if (at == account) {
                return true;
            }
        }
    }
    return false;
}

/* Below 0 if class a is served before class b. */
static int compare(const struct twin *twin, int a, int b)
{
    const struct world *world = twin->world;
    const struct place_class *left = &world->classes[a], *right = &world->classes[b];
    int a_priority, b_priority, a_queue, b_queue, scope = scope_of(twin, a);
    place_of_queue(twin, a, &a_priority, &a_queue);
    place_of_queue(twin, b, &b_priority, &b_queue);
    if (a_priority != b_priority) {
        return b_priority - a_priority;
    }
    if (a_queue != b_queue) {
        return a_queue - b_queue;
    }
    if (scope >= 0) {
        const struct fairshare_tree *tree = world->trees[scope];
        int a_path[SHARE_DEPTH_MAX + 2], b_path[SHARE_DEPTH_MAX + 2];
        int a_depth = chain(tree, left->account, a_path);
        int b_depth = chain(tree, right->account, b_path);
        for (int i = 0; i < a_depth && i < b_depth; i++) {
            if (a_path[i] != b_path[i]) {
                bool a_late = has_late(twin, a, a_path[i]);
                if (a_late != has_late(twin, a, b_path[i])) {
                    return a_late ? -1 : 1;
                }
                return fairshare_tree_compare(
                    tree, a_path[i],
                    fairshare_tree_priority(tree, a_path[i],
                                            twin->given[scope][a_path[i]], now_ms),
                    b_path[i],
                    fairshare_tree_priority(tree, b_path[i],
                                            twin->given[scope][b_path[i]], now_ms));
            }
        }
    }
    if (world->queues[left->queue].priority != world->queues[right->queue].priority) {
        return world->queues[right->queue].priority -
               world->queues[left->queue].priority;
    }
    if (left->queue != right->queue) {
        return left->queue - right->queue;
    }
    return job_class_compare(left->entries[twin->next[a]],
                             right->entries[twin->next[b]]);
}

static int first_class(const struct twin *twin)
{
    int first = -1;
    for (int i = 0; i < twin->world->n_classes; i++) {
        if (is_left(twin, i) && (first < 0 || compare(twin, i, first) < 0)) {
            first = i;
        }
    }
    return first;
}

/* The keys of the jobs that start, in order. */
static int run_twin(const struct world *world, uint64_t *keys)
{
    struct twin twin = {.world = world, .n_free = world->n_slots};
    int count = 0, class;
    while ((class = first_class(&twin)) >= 0) {
        const struct place_class *of = &world->classes[class];
        int scope = scope_of(&twin, class);
        if (of->n_slots > twin.n_free) {
            twin.is_gone[class] = true;
            continue;
        }
        keys[count++] = of->entries[twin.next[class]++]->key;
        twin.n_free -= of->n_slots;
        for (int at = of->account; scope >= 0 && at >= 0;
             at = fairshare_tree_at(world->trees[scope], at)->parent) {
            assert_in_range(at, 0, 63);
            twin.given[scope][at] += of->n_slots;
        }
    }
    return count;
}

static void same_as_the_twin(void **state)
{
    static struct world world;
    (void)state;
    for (uint64_t seed = first_seed(); seed <= last_seed(); seed++) {
        uint64_t keys[CLASSES * ENTRIES];
        init(&world, seed);
        int n_keys = run_twin(&world, keys);
        plan(&world);
        for (int i = 0; i < n_keys && i < world.plan.n_starts; i++) {
            if (world.plan.starts[i].job != keys[i]) {
                fail_msg("SEED=%" PRIu64 ": start %d is %" PRIu64
                         ", of the twin %" PRIu64 "\n%s",
                         seed, i, world.plan.starts[i].job, keys[i], world.text);
            }
        }
        if (world.plan.n_starts != n_keys) {
            fail_msg("SEED=%" PRIu64 ": %d starts, of the twin %d", seed,
                     world.plan.n_starts, n_keys);
        }
        release(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_the_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
