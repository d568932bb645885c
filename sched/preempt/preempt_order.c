/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_order.c: see preempt_order.h. */
#include "sched/preempt/preempt_order.h"

#include <string.h>

/* ---------------------------------------------------------------- rules */

/* The time in milliseconds; `unset_ms` if the parameter is not set. */
static int64_t time_of(const struct preempt_duration *time, int64_t limit_ms,
                       int64_t unset_ms)
{
    return time->percent > 0 ? limit_ms * time->percent / 100
           : time->ms > 0    ? time->ms
                             : unset_ms;
}

static const struct preempt_protection *
protection_rules_of(const struct preempt_policy *policy, const struct preempt_job *job)
{
    return job->protection != NULL ? job->protection
                                   : &policy->queues[job->queue].protection;
}

/* What protects the job from being preempted. */
static enum preempt_protection_kind protection_of(const struct preempt_policy *policy,
                                                  const struct preempt_job *job,
                                                  int64_t now_ms)
{
    const struct preempt_protection *rules = protection_rules_of(policy, job);
    if (rules->max_count > 0 && job->n_preempted > rules->max_count) {
        return REASON_PROTECTED_COUNT;
    }
    if (rules->max_total_ms > 0 && job->suspended_ms >= rules->max_total_ms) {
        return REASON_PROTECTED_TOTAL;
    }
    if (rules->interval_ms > 0 && now_ms - job->running_since_ms < rules->interval_ms) {
        return REASON_PROTECTED_INTERVAL;
    }
    if (job->run_limit_ms == 0) {
        return REASON_UNPROTECTED; /* the others need a run limit */
    }
    if (job->ran_ms >= time_of(&rules->ran, job->run_limit_ms, INT64_MAX)) {
        return REASON_PROTECTED_RUN_TIME;
    }
    int64_t left_ms = job->run_limit_ms - job->ran_ms;
    return left_ms <= time_of(&rules->finish, job->run_limit_ms, INT64_MIN)
               ? REASON_PROTECTED_FINISH_TIME
               : REASON_UNPROTECTED;
}

/* ---------------------------------------------------------------- ranks */

/* What candidates are compared by first; the rest stands with the job. */
struct preempt_order_rank {
    int job, queue;
    int host, load, used, max; /* 0: the run time is what counts */
    int64_t ran_ms;            /* 0: the host is */
};

static int compare_loads(const struct preempt_order_rank *a,
                         const struct preempt_order_rank *b)
{
    if (a->load != b->load) {
        return a->load < b->load ? -1 : 1;
    }
    int64_t of_a = (int64_t)a->used * b->max, of_b = (int64_t)b->used * a->max;
    return of_a < of_b ? -1 : of_a > of_b;
}

static struct preempt_order_rank rank_of(const struct preempt_running *running, int job)
{
    const struct preempt_snapshot *snapshot = running->snapshot;
    const struct preempt_job *of = &snapshot->jobs[job];
    struct preempt_order_rank rank = {.job = job, .queue = of->queue};
    if ((snapshot->policy->preempt_for & PREEMPT_FOR_LEAST_RUN_TIME) != 0) {
        rank.ran_ms = of->ran_ms;
        return rank;
    }
    for (int i = 0; i < of->n_pieces; i++) {
        int host = of->pieces[i].host;
        struct preempt_order_rank there = rank;
        there.host = host;
        there.load = snapshot->loads != NULL ? snapshot->loads[host] : 0;
        there.used = running->place->hosts[host].used;
        there.max = running->place->hosts[host].max;
        if (i == 0 || compare_loads(&there, &rank) > 0) {
            rank = there; /* its most loaded host counts */
        }
    }
    return rank;
}

/* Below 0 where jobs of the one queue come before those of the other; 0: the queues are
 * equal. */
static int compare_queues(const struct preempt_running *running,
                          const struct preempt_order *order, int a, int b)
{
    const struct queue_config *queues = running->place->queues;
    if (order->preferences[a] != order->preferences[b]) {
        return order->preferences[a] > order->preferences[b] ? -1 : 1;
    }
    return queues[a].priority < queues[b].priority   ? -1
           : queues[a].priority > queues[b].priority ? 1
                                                     : 0;
}

static bool is_before(const struct preempt_running *running,
                      const struct preempt_order *order,
                      const struct preempt_order_rank *a,
                      const struct preempt_order_rank *b)
{
    int by_queue = compare_queues(running, order, a->queue, b->queue);
    if (by_queue != 0) {
        return by_queue < 0;
    }
    if (a->ran_ms != b->ran_ms) {
        return a->ran_ms < b->ran_ms;
    }
    int by_load = compare_loads(a, b);
    if (by_load != 0 || a->host != b->host) {
        return by_load != 0 ? by_load < 0 : a->host < b->host;
    }
    const struct preempt_job *of_a = &running->snapshot->jobs[a->job],
                             *of_b = &running->snapshot->jobs[b->job];
    return of_a->start_ms != of_b->start_ms ? of_a->start_ms > of_b->start_ms
                                            : of_a->key > of_b->key;
}

static void sift(const struct preempt_running *running, struct preempt_order *order,
                 int at)
{
    struct preempt_order_rank *heap = order->heap, moved = heap[at];
    for (int child; (child = 2 * at + 1) < order->n_heap; at = child) {
        if (child + 1 < order->n_heap &&
            is_before(running, order, &heap[child + 1], &heap[child])) {
            child++;
        }
        if (!is_before(running, order, &heap[child], &moved)) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

int preempt_order_at(const struct preempt_running *running, struct preempt_order *order,
                     int place)
{
    while (order->n_sorted <= place && order->n_heap > 0) {
        order->sorted[order->n_sorted++] = order->heap[0].job;
        order->heap[0] = order->heap[--order->n_heap];
        if (order->n_heap > 0) {
            sift(running, order, 0);
        }
    }
    return place < order->n_sorted ? order->sorted[place] : -1;
}

/* ---------------------------------------------------------------- candidates */

static struct preempt_order_job candidate_of(const struct preempt_running *running,
                                             int index)
{
    const struct preempt_snapshot *snapshot = running->snapshot;
    const struct preempt_job *job = &running->snapshot->jobs[index];
    enum preempt_protection_kind guard =
        protection_of(snapshot->policy, job, running->place->now_ms);
    return (struct preempt_order_job){
        .job = index,
        .host = job->pieces[0].host,
        .is_on_many_hosts = job->n_pieces > 1,
        .protection = guard,
        .until_ms = guard == REASON_PROTECTED_INTERVAL
                        ? job->running_since_ms +
                              protection_rules_of(snapshot->policy, job)->interval_ms
                        : INT64_MAX,
    };
}

static void sort_free(const struct preempt_running *running,
                      struct preempt_order *order, int n_free)
{
    order->heap = arena_alloc(running->arena, (size_t)n_free, sizeof(*order->heap));
    order->sorted = arena_alloc(running->arena, (size_t)n_free, sizeof(int));
    for (int i = 0; i < order->n_jobs; i++) {
        if (order->jobs[i].protection == REASON_UNPROTECTED) {
            order->heap[order->n_heap++] = rank_of(running, order->jobs[i].job);
        }
    }
    for (int at = order->n_heap / 2 - 1; at >= 0; at--) {
        sift(running, order, at);
    }
}

void preempt_order_fill(struct preempt_running *running, struct preempt_order *order)
{
    int n_free = 0;
    if (order->jobs != NULL) {
        return;
    }
    order->jobs = arena_alloc(running->arena, (size_t)running->snapshot->n_jobs + 1,
                              sizeof(*order->jobs));
    for (int i = 0; i < running->snapshot->n_jobs; i++) {
        const struct preempt_job *job = &running->snapshot->jobs[i];
        if (order->preferences[job->queue] >= 0 && job->n_pieces > 0) {
            order->jobs[order->n_jobs] = candidate_of(running, i);
            n_free += order->jobs[order->n_jobs++].protection == REASON_UNPROTECTED;
        }
    }
    sort_free(running, order, n_free);
}

/* ---------------------------------------------------------------- orders */

static struct preempt_order *find_same(const struct preempt_running *running,
                                       const struct preempt_order *wanted)
{
    size_t size = (size_t)running->place->n_queues * sizeof(int);
    for (struct preempt_order *order = running->orders; order != NULL;
         order = order->next) {
        if (order->n_queues == wanted->n_queues &&
            memcmp(order->preferences, wanted->preferences, size) == 0) {
            return order;
        }
    }
    return NULL;
}

struct preempt_order *preempt_order_of(struct preempt_running *running, int queue)
{
    const struct place_snapshot *place = running->place;
    if (running->order_of[queue] != NULL) {
        return running->order_of[queue];
    }
    struct preempt_order *order = arena_alloc(running->arena, 1, sizeof(*order));
    order->preferences =
        arena_alloc(running->arena, (size_t)place->n_queues, sizeof(int));
    for (int i = 0; i < place->n_queues; i++) {
        int level;
        bool may = preempt_policy_may(running->snapshot->policy, place->queues, queue,
                                      i, &level);
        order->preferences[i] = may ? level : -1;
        order->n_queues += may;
    }
    struct preempt_order *same = find_same(running, order);
    if (same == NULL) {
        order->next = running->orders;
        running->orders = same = order;
    }
    return running->order_of[queue] = same;
}
