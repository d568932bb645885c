/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_view.c: see preempt_view.h. */
#include "sched/preempt_view.h"

#include <stdlib.h>
#include <string.h>

#include "sched/place_view.h"
#include "sched/preempt_give.h"

/* ---------------------------------------------------------------- guards */

static bool is_beyond(const struct preempt_span *span, int64_t ms, int64_t limit_ms)
{
    int64_t bound_ms = span->percent > 0 ? limit_ms * span->percent / 100 : span->ms;
    return (span->percent > 0 || span->ms > 0) && ms >= bound_ms;
}

/* Near its end: as much or less is left. */
static bool is_within(const struct preempt_span *span, int64_t left_ms,
                      int64_t limit_ms)
{
    int64_t bound_ms = span->percent > 0 ? limit_ms * span->percent / 100 : span->ms;
    return (span->percent > 0 || span->ms > 0) && left_ms <= bound_ms;
}

static const struct preempt_guards *guards_of(const struct preempt_rules *rules,
                                              const struct preempt_job *job)
{
    return job->guards != NULL ? job->guards : &rules->queues[job->queue].guards;
}

enum reason_guard preempt_guard(const struct preempt_rules *rules,
                                const struct preempt_job *job, int64_t now_ms)
{
    const struct preempt_guards *guards = guards_of(rules, job);
    if (guards->max_count > 0 && job->n_preempted > guards->max_count) {
        return REASON_GUARD_COUNT;
    }
    if (guards->max_total_ms > 0 && job->still_ms >= guards->max_total_ms) {
        return REASON_GUARD_TOTAL;
    }
    if (guards->interval_ms > 0 && now_ms - job->since_ms < guards->interval_ms) {
        return REASON_GUARD_INTERVAL;
    }
    if (job->run_limit_ms == 0) {
        return REASON_FREE; /* the others need a run limit */
    }
    if (is_beyond(&guards->ran, job->ran_ms, job->run_limit_ms)) {
        return REASON_GUARD_RUN_TIME;
    }
    return is_within(&guards->finish, job->run_limit_ms - job->ran_ms,
                     job->run_limit_ms)
               ? REASON_GUARD_FINISH_TIME
               : REASON_FREE;
}

/* ---------------------------------------------------------------- order */

/* For qsort, which hands nothing through. */
struct rank {
    int job;
    int level, priority, queue;
    int host, host_load, host_used, host_max;
    int64_t ran_ms, start_ms;
    uint64_t key;
    bool is_by_run_time;
};

static int compare_hosts(const struct rank *a, const struct rank *b)
{
    if (a->host_load != b->host_load) {
        return a->host_load < b->host_load ? -1 : 1;
    }
    int64_t a_load = (int64_t)a->host_used * b->host_max;
    int64_t b_load = (int64_t)b->host_used * a->host_max;
    if (a_load != b_load) {
        return a_load < b_load ? -1 : 1;
    }
    return a->host < b->host ? -1 : a->host > b->host;
}

static int compare_ranks(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    if (a->level != b->level) {
        return a->level > b->level ? -1 : 1;
    }
    if (a->priority != b->priority) {
        return a->priority < b->priority ? -1 : 1;
    }
    if (a->queue != b->queue) {
        return a->queue < b->queue ? -1 : 1;
    }
    if (a->is_by_run_time && a->ran_ms != b->ran_ms) {
        return a->ran_ms < b->ran_ms ? -1 : 1;
    }
    int by_host = a->is_by_run_time ? 0 : compare_hosts(a, b);
    if (by_host != 0) {
        return by_host;
    }
    if (a->start_ms != b->start_ms) {
        return a->start_ms > b->start_ms ? -1 : 1;
    }
    return a->key > b->key ? -1 : a->key < b->key;
}

static struct rank rank_of(const struct preempt_world *world,
                           const struct preempt_view *view, int index)
{
    const struct preempt_snapshot *snapshot = world->snapshot;
    const struct preempt_job *job = &world->jobs[index];
    int host = job->pieces[0].host; /* where it executes */
    return (struct rank){
        .job = index,
        .level = view->levels[job->queue],
        .priority = snapshot->place->queues[job->queue].priority,
        .queue = job->queue,
        .host = host,
        .host_load = snapshot->loads != NULL ? snapshot->loads[host] : 0,
        .host_used = snapshot->place->hosts[host].used,
        .host_max = snapshot->place->hosts[host].max,
        .ran_ms = job->ran_ms,
        .start_ms = job->start_ms,
        .key = job->key,
        .is_by_run_time = (snapshot->rules->reasons & PREEMPT_FOR_LEAST_RUN_TIME) != 0,
    };
}

/* ---------------------------------------------------------------- views */

void preempt_view_init(struct preempt_world *world, struct arena *arena,
                       const struct preempt_snapshot *snapshot)
{
    const struct place_snapshot *place = snapshot->place;
    *world =
        (struct preempt_world){.snapshot = snapshot, .arena = arena, .n_groups = 1};
    world->group_of = arena_alloc(arena, (size_t)place->n_hosts + 1, sizeof(int));
    for (int i = 0; i < place->n_hosts; i++) {
        const char *lease = place->hosts[i].lease;
        if (lease[0] != '\0') {
            world->n_groups += i == 0 || strcmp(place->hosts[i - 1].lease, lease) != 0;
            world->group_of[i] = world->n_groups - 1;
        }
    }
}

int preempt_view_gain(const struct preempt_world *world,
                      const struct preempt_view *view, const struct preempt_job *job)
{
    const struct place_host *hosts = world->snapshot->place->hosts;
    int gain = 0;
    if (job->is_exclusive && !world->snapshot->rules->has_exclusive) {
        return 0;
    }
    for (int i = 0; i < job->n_pieces; i++) {
        const struct preempt_piece *piece = &job->pieces[i];
        int n_slots = job->is_exclusive ? hosts[piece->host].max : piece->n_slots;
        gain += view->allowed[piece->host] ? n_slots : 0;
    }
    return gain;
}

static bool is_on(const struct preempt_view *view, const struct preempt_job *job)
{
    for (int i = 0; i < job->n_pieces; i++) {
        if (view->allowed[job->pieces[i].host]) {
            return true;
        }
    }
    return false;
}

/* True where it is one of those that may be taken. */
static bool judge(const struct preempt_world *world, struct preempt_view *view,
                  const struct preempt_job *job)
{
    const struct preempt_snapshot *snapshot = world->snapshot;
    if (job->n_pieces == 0 || view->levels[job->queue] < 0 ||
        (!is_on(view, job) && !preempt_give_has(job, view->wants))) {
        return false;
    }
    enum reason_guard guard = preempt_guard(snapshot->rules, job, snapshot->now_ms);
    view->why.n_jobs++;
    view->why.n_guarded[guard]++;
    if (guard == REASON_GUARD_INTERVAL) {
        int64_t until_ms = job->since_ms + guards_of(snapshot->rules, job)->interval_ms;
        view->next_ms = until_ms < view->next_ms ? until_ms : view->next_ms;
    }
    return guard == REASON_FREE;
}

static void find_levels(const struct preempt_world *world, struct preempt_view *view)
{
    const struct place_snapshot *place = world->snapshot->place;
    view->levels = arena_alloc(world->arena, (size_t)place->n_queues + 1, sizeof(int));
    for (int i = 0; i < place->n_queues; i++) {
        int level;
        bool may = preempt_rules_may(world->snapshot->rules, place->queues, view->queue,
                                     i, &level);
        view->levels[i] = may ? level : -1;
        view->why.n_queues += may;
    }
}

static void find_hosts(const struct preempt_world *world, struct preempt_view *view,
                       const struct place_line *line)
{
    const struct place_snapshot *place = world->snapshot->place;
    view->allowed = arena_alloc(world->arena, (size_t)place->n_hosts + 1, 1);
    for (int i = 0; i < place->n_hosts; i++) {
        view->allowed[i] = place->hosts[i].is_open && place_view_allows(place, line, i);
    }
}

static void find_victims(const struct preempt_world *world, struct preempt_view *view)
{
    struct rank *ranks = mem_alloc((size_t)world->n_jobs + 1, sizeof(*ranks));
    for (int i = 0; i < world->n_jobs; i++) {
        const struct preempt_job *job = &world->jobs[i];
        if (judge(world, view, job)) {
            ranks[view->n_victims++] = rank_of(world, view, i);
        }
    }
    qsort(ranks, (size_t)view->n_victims, sizeof(*ranks), compare_ranks);
    view->victims = arena_alloc(world->arena, (size_t)view->n_victims + 1, sizeof(int));
    for (int i = 0; i < view->n_victims; i++) {
        view->victims[i] = ranks[i].job;
    }
    free(ranks);
}

struct preempt_view *preempt_view_of(struct preempt_world *world,
                                     const struct place_line *line,
                                     const struct reserve_asks *asks)
{
    for (struct preempt_view *view = world->views; view != NULL; view = view->next) {
        if (view->queue == line->queue && view->asked == line->asked &&
            view->filter == line->filter && view->asks == asks) {
            return view;
        }
    }
    const struct preempt_snapshot *snapshot = world->snapshot;
    struct preempt_view *view = arena_alloc(world->arena, 1, sizeof(*view));
    view->queue = line->queue;
    view->asked = line->asked;
    view->filter = line->filter;
    view->asks = asks;
    view->next_ms = INT64_MAX;
    view->next = world->views;
    world->views = view;
    find_levels(world, view);
    if (view->why.n_queues > 0) { /* most queues preempt nobody */
        if (world->jobs == NULL) {
            world->jobs = snapshot->jobs(snapshot->arg, &world->n_jobs);
        }
        find_hosts(world, view, line);
        if (asks != NULL) {
            view->wants =
                preempt_give_wants(snapshot->place->reserve, world->arena, asks,
                                   view->allowed, snapshot->place->n_hosts);
        }
        find_victims(world, view);
    }
    return view;
}
