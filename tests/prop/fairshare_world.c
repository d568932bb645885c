/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_world.c: see fairshare_world.h. */
#include "tests/prop/fairshare_world.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/fairshare/fairshare.h"

enum { TURNS = SHARE_WORLD_SLOTS };

static const int64_t first_ms = 1800000000000;

/* A running job. */
struct running {
    int line;
    struct fairshare_job job;
    int64_t end_ms;
};

struct fairshare_world {
    struct arena arena, scratch;
    struct conf conf;
    struct groups groups;
    struct queue_config *queues;
    int n_queues;
    struct fairshare shares;
    struct slot_pools pools;
    struct fairshare_tree *trees[FAIRSHARE_WORLD_CLASSES];
    struct rng *rng;
    int64_t now_ms;
    int n_slots, n_used;
    int *queue_used;
    double *queue_use;
    struct slot_member members[FAIRSHARE_WORLD_CLASSES];
    int64_t settled_ms;
    struct fairshare_world_class lines[FAIRSHARE_WORLD_CLASSES];
    int accounts[FAIRSHARE_WORLD_CLASSES], queue_of[FAIRSHARE_WORLD_CLASSES];
    int n_lines;
    struct running jobs[SHARE_WORLD_SLOTS];
    int n_jobs;
    struct job_class_entry turns[FAIRSHARE_WORLD_CLASSES][TURNS];
    const struct job_class_entry *queued[FAIRSHARE_WORLD_CLASSES][TURNS];
};

struct fairshare_world *fairshare_world_new(struct rng *rng, const char *text,
                                            int n_slots)
{
    static const char *const names[] = {"h1"};
    struct fairshare_world *world = mem_alloc(1, sizeof(*world));
    world->rng = rng;
    world->n_slots = n_slots;
    world->now_ms = world->settled_ms = first_ms;
    assert_in_range(n_slots, 1, SHARE_WORLD_SLOTS);
    arena_init(&world->arena);
    arena_init(&world->scratch);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "text", text, strlen(text));
    conf_check(&world->conf);
    groups_read(&world->conf, names, 1, &world->groups);
    queue_read(&world->conf, &world->groups, &world->queues, &world->n_queues);
    fairshare_load(&world->conf, &world->groups, world->queues, world->n_queues,
                   &world->shares);
    slot_pool_config_read(&world->conf, &world->groups, world->queues, world->n_queues,
                          &world->shares, &world->pools);
    if (world->conf.n_errors > 0) {
        fail_msg("%s", world->conf.diags->text);
    }
    for (int i = 0; i < world->shares.n_scopes; i++) {
        world->trees[i] = fairshare_tree_new(&world->shares.scopes[i]);
    }
    size_t n_queues = (size_t)world->n_queues;
    world->queue_used = arena_alloc(&world->arena, n_queues, sizeof(int));
    world->queue_use = arena_alloc(&world->arena, n_queues, sizeof(double));
    return world;
}

void fairshare_world_free(struct fairshare_world *world)
{
    for (int i = 0; i < world->shares.n_scopes; i++) {
        fairshare_tree_free(world->trees[i]);
    }
    arena_release(&world->arena);
    arena_release(&world->scratch);
    free(world);
}

struct fairshare_world_class *
fairshare_world_add(struct fairshare_world *world,
                    const struct fairshare_world_class *line)
{
    int at = world->n_lines++;
    assert_true(at < FAIRSHARE_WORLD_CLASSES);
    world->lines[at] = *line;
    for (int i = 0; i < world->n_queues; i++) {
        world->queue_of[at] =
            strcmp(world->queues[i].name, line->queue) == 0 ? i : world->queue_of[at];
    }
    int scope = world->shares.scope_of[world->queue_of[at]];
    world->accounts[at] =
        scope >= 0 ? fairshare_tree_join(world->trees[scope], line->user, "") : 0;
    for (int i = 0; i < TURNS; i++) {
        world->turns[at][i].key = (uint64_t)at * TURNS + (uint64_t)i + 1;
        world->queued[at][i] = &world->turns[at][i];
    }
    return &world->lines[at];
}

/* ---------------------------------------------------------------- time */

static void pass_pool(struct fairshare_world *world, const struct slot_pool *pool,
                      int64_t elapsed_ms)
{
    struct slot_member members[FAIRSHARE_WORLD_CLASSES];
    for (int i = 0; i < pool->n_queues; i++) {
        int queue = pool->queues[i];
        members[i] = world->members[queue];
        members[i].share = world->pools.shares[queue];
        members[i].n_slots = world->queue_used[queue];
    }
    slot_pool_advance(members, pool->n_queues, elapsed_ms, pool->hist_hours);
    for (int i = 0; i < pool->n_queues; i++) {
        int queue = pool->queues[i];
        world->members[queue] = members[i];
        world->queue_use[queue] = slot_pool_weight(&members[i]);
    }
}

/* Accounts the slot time until then. */
static void pass_time(struct fairshare_world *world, int64_t until_ms)
{
    int64_t elapsed_ms = until_ms - world->now_ms;
    for (int i = 0; i < world->n_lines; i++) {
        world->lines[i].slot_ms += elapsed_ms * world->lines[i].n_used;
    }
    for (int i = 0; i < world->pools.n_pools; i++) {
        pass_pool(world, &world->pools.pools[i], elapsed_ms);
    }
    world->now_ms = until_ms;
}

static struct fairshare_tree *tree_of(const struct fairshare_world *world, int line)
{
    int scope = world->shares.scope_of[world->queue_of[line]];
    return scope >= 0 ? world->trees[scope] : NULL;
}

static void take_slots(struct fairshare_world *world, int line, int n_slots)
{
    world->lines[line].n_used += n_slots;
    world->queue_used[world->queue_of[line]] += n_slots;
    world->n_used += n_slots;
}

static void end_job(struct fairshare_world *world, int at)
{
    struct running ended = world->jobs[at];
    struct fairshare_tree *tree = tree_of(world, ended.line);
    world->jobs[at] = world->jobs[--world->n_jobs];
    take_slots(world, ended.line, -ended.job.n_slots);
    if (tree != NULL) {
        const struct fairshare_factors *factors = &fairshare_tree_scope(tree)->factors;
        int account = world->accounts[ended.line];
        double run_ms =
            fairshare_usage_job_weight_ms(factors, &ended.job, world->now_ms);
        fairshare_tree_count_job(tree, account, &ended.job, -1, world->now_ms);
        fairshare_tree_add_finished(
            tree, account,
            fairshare_usage_job_cpu_ms(
                factors, &ended.job, world->now_ms - ended.job.start_ms, world->now_ms),
            run_ms, world->now_ms);
    }
}

static void start_job(struct fairshare_world *world, int line)
{
    struct fairshare_world_class *of = &world->lines[line];
    struct running *started = &world->jobs[world->n_jobs++];
    struct fairshare_tree *tree = tree_of(world, line);
    int64_t run_ms =
        of->run_ms[0] + rng_below(world->rng, of->run_ms[1] - of->run_ms[0] + 1);
    *started = (struct running){
        .line = line,
        .job = {.n_slots = of->n_slots,
                .start_ms = world->now_ms,
                .busy_milli = 1000}, /* reported at once */
        .end_ms = world->now_ms + run_ms,
    };
    of->n_waiting -= of->n_waiting != INT_MAX;
    of->waits_ms = 0;
    take_slots(world, line, of->n_slots);
    if (tree != NULL) {
        fairshare_tree_count_job(tree, world->accounts[line], &started->job, 1,
                                 world->now_ms);
    }
}

/* ---------------------------------------------------------------- a pass */

static void show_lines(struct fairshare_world *world, struct place_class *lines,
                       struct place_snapshot *snapshot)
{
    for (int i = 0; i < world->n_lines; i++) {
        const struct fairshare_world_class *line = &world->lines[i];
        if (line->n_waiting > 0) {
            lines[snapshot->n_classes++] = (struct place_class){
                .queue = world->queue_of[i],
                .account = world->accounts[i],
                .n_slots = line->n_slots,
                .entries = world->queued[i],
                .n_entries = line->n_waiting < TURNS ? line->n_waiting : TURNS,
                .max_starts = INT_MAX,
                .waiting_since_ms = first_ms,
            };
        }
    }
}

static void plan_pass(struct fairshare_world *world)
{
    struct place_host host = {.name = "h1",
                              .site = "",
                              .lease = "",
                              .max = world->n_slots,
                              .used = world->n_used,
                              .is_open = true};
    struct place_class lines[FAIRSHARE_WORLD_CLASSES];
    struct place_snapshot snapshot = {
        .hosts = &host,
        .n_hosts = 1,
        .queues = world->queues,
        .n_queues = world->n_queues,
        .classes = lines,
        .fairshare = &world->shares,
        .fairshare_trees = (const struct fairshare_tree *const *)world->trees,
        .slot_pools = &world->pools,
        .queue_used = world->queue_used,
        .queue_usage = world->queue_use,
        .now_ms = world->now_ms,
        /* One more than the free slots: never reached, and small, since each pass
           clears the plan. */
        .max_starts = world->n_slots - world->n_used + 1,
    };
    struct place_plan plan;
    arena_clear(&world->scratch);
    show_lines(world, lines, &snapshot);
    place_plan(&world->scratch, &snapshot, &plan);
    for (int i = 0; i < world->n_queues; i++) {
        world->members[i].is_waiting = plan.queue_waits[i];
    }
    for (int i = 0; i < plan.n_starts; i++) {
        start_job(world, (int)((plan.starts[i].job - 1) / TURNS));
    }
    for (int i = 0; i < world->n_lines; i++) {
        struct fairshare_world_class *line = &world->lines[i];
        int64_t since_ms = line->waits_ms;
        line->waits_ms = line->n_waiting == 0 ? 0
                         : since_ms == 0      ? world->now_ms
                                              : since_ms;
        int64_t waited_ms = line->waits_ms != 0 ? world->now_ms - line->waits_ms : 0;
        line->waited_ms = waited_ms > line->waited_ms ? waited_ms : line->waited_ms;
    }
}

static int64_t next_end_ms(const struct fairshare_world *world)
{
    int64_t next_ms = INT64_MAX;
    for (int i = 0; i < world->n_jobs; i++) {
        next_ms = world->jobs[i].end_ms < next_ms ? world->jobs[i].end_ms : next_ms;
    }
    return next_ms;
}

void fairshare_world_run(struct fairshare_world *world, int64_t for_ms,
                         fairshare_world_fn look, void *arg)
{
    int64_t until_ms = world->now_ms + for_ms;
    for (;;) {
        plan_pass(world);
        if (look != NULL) {
            look(arg, world);
        }
        int64_t next_ms = next_end_ms(world);
        pass_time(world, next_ms < until_ms ? next_ms : until_ms);
        if (next_ms >= until_ms) {
            return;
        }
        for (int i = world->n_jobs - 1; i >= 0; i--) {
            if (world->jobs[i].end_ms <= world->now_ms) {
                end_job(world, i);
            }
        }
    }
}

void fairshare_world_count_from(struct fairshare_world *world)
{
    for (int i = 0; i < world->n_lines; i++) {
        world->lines[i].slot_ms = world->lines[i].waited_ms = 0;
    }
}

/* ---------------------------------------------------------------- looking */

int fairshare_world_count(const struct fairshare_world *world)
{
    return world->n_lines;
}

const struct fairshare_world_class *
fairshare_world_at(const struct fairshare_world *world, int line)
{
    return &world->lines[line];
}

const struct fairshare *fairshare_world_shares(const struct fairshare_world *world)
{
    return &world->shares;
}

const struct slot_pools *fairshare_world_pools(const struct fairshare_world *world)
{
    return &world->pools;
}

int fairshare_world_free_slots(const struct fairshare_world *world)
{
    return world->n_slots - world->n_used;
}
