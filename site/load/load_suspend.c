/* SPDX-License-Identifier: Apache-2.0 */
/* load_suspend.c: looks at all jobs that have begun, now and then, and orders what
 * their hosts' load demands.
 *
 *     queue low (priority 10), high (50); host n1: r1m = 1.0/2.0, at 2.6
 *     low 7 since 10:00, low 8 since 10:05, high 9    8 is suspended, then 7, each in
 *                                                     its SBD_SLEEP_TIME, while r1m
 *                                                     stays above 2.0; 9 not, where it
 *                                                     is the only one left
 *     r1m falls to 0.8                                7 goes on, then 8 */
#include "site/load/site_load.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "site/lifecycle/lifecycle.h"
#include "site/load/load_judge.h"

struct interval {
    char *host;
    int64_t at_ms;
    uint64_t waiting_job; /* the job that still waits for slots; 0: none */
};

struct load_suspend {
    struct load_suspend_parts parts;
    struct load_judge *judge;
    struct interval *intervals;
    int n_intervals, capacity;
    bool is_used; /* there are thresholds, or a job is suspended for load */
    bool is_marked, is_told;
    bool has_looked; /* at least once since it was made */
    int64_t looked_ms;
    int64_t again_ms; /* when the next interval ends that a job waits for */
    uint64_t n_suspended;
};

static struct load_judge *new_judge(const struct load_suspend_parts *parts)
{
    return load_judge_new(
        &(struct load_judge_parts){.config = parts->config,
                                   .host_resources = parts->host_resources,
                                   .hosts = parts->hosts});
}

struct load_suspend *load_suspend_new(const struct load_suspend_parts *parts)
{
    struct load_suspend *load = mem_alloc(1, sizeof(*load));
    load->parts = *parts;
    load->judge = new_judge(parts);
    load->is_used = load->is_marked = load->is_told = true;
    load->again_ms = INT64_MAX;
    return load;
}

void load_suspend_free(struct load_suspend *load)
{
    if (load == NULL) {
        return;
    }
    for (int i = 0; i < load->n_intervals; i++) {
        free(load->intervals[i].host);
    }
    free(load->intervals);
    load_judge_free(load->judge);
    free(load);
}

void load_suspend_reload(struct load_suspend *load, const struct site_config *config,
                         const struct host_resources *host_resources)
{
    load->parts.config = config;
    load->parts.host_resources = host_resources;
    load_judge_free(load->judge);
    load->judge = new_judge(&load->parts);
    load->is_used = load->is_marked = load->is_told = true;
    load->has_looked = false;
}

void load_suspend_mark(struct load_suspend *load, bool is_told)
{
    load->is_marked = load->is_used;
    load->is_told = load->is_told || is_told;
}

void load_suspend_enable(struct load_suspend *load)
{
    load->is_used = true;
}

uint64_t load_suspend_count(const struct load_suspend *load)
{
    return load->n_suspended;
}

/* ---------------------------------------------------------------- intervals */

static struct interval *find_interval(const struct load_suspend *load, const char *host)
{
    for (int i = 0; i < load->n_intervals; i++) {
        if (strcmp(load->intervals[i].host, host) == 0) {
            return &load->intervals[i];
        }
    }
    return NULL;
}

static void expire_intervals(struct load_suspend *load, int64_t before_ms)
{
    int n_left = 0;
    for (int i = 0; i < load->n_intervals; i++) {
        if (load->intervals[i].at_ms > before_ms) {
            load->intervals[n_left++] = load->intervals[i];
        } else {
            free(load->intervals[i].host);
        }
    }
    load->n_intervals = n_left;
}

static struct interval *add_interval(struct load_suspend *load, const char *host)
{
    struct interval *interval = find_interval(load, host);
    if (interval != NULL) {
        return interval; /* of a parallel job, for the load of another host */
    }
    if (load->n_intervals == load->capacity) {
        load->capacity = load->capacity == 0 ? 8 : load->capacity * 2;
        load->intervals =
            mem_grow(load->intervals, (size_t)load->capacity, sizeof(*load->intervals));
    }
    load->intervals[load->n_intervals] = (struct interval){.host = dup_text(host)};
    return &load->intervals[load->n_intervals++];
}

static void start_interval(struct load_suspend *load, const struct job *job,
                           bool is_waiting, int64_t now_ms)
{
    for (int i = 0; i < job->n_hosts; i++) {
        struct interval *interval = add_interval(load, job->hosts[i].host);
        interval->at_ms = now_ms;
        interval->waiting_job = is_waiting ? job_key(job) : 0;
    }
}

void load_suspend_note_resumed(struct load_suspend *load, const struct job *job,
                               int64_t now_ms)
{
    for (int i = 0; i < load->n_intervals; i++) {
        if (load->intervals[i].waiting_job == job_key(job)) {
            load->intervals[i].at_ms = now_ms;
            load->intervals[i].waiting_job = 0;
        }
    }
}

static int64_t interval_started_ms(const struct load_suspend *load, const char *host,
                                   bool is_stop)
{
    const struct interval *interval = find_interval(load, host);
    bool is_free = interval == NULL || (is_stop && interval->waiting_job != 0);
    return is_free ? -1 : interval->at_ms;
}

/* True if the interval of the host still lasts; the next look is at its end. */
static bool must_wait(struct load_suspend *load, const char *host, bool is_stop)
{
    int64_t started_ms = interval_started_ms(load, host, is_stop);
    if (started_ms < 0) {
        return false;
    }
    int64_t next_ms = started_ms + load->parts.config->load_interval_ms;
    load->again_ms = next_ms < load->again_ms ? next_ms : load->again_ms;
    return true;
}

/* ---------------------------------------------------------------- judging */

static bool is_own(const struct job *job)
{
    return job->lease[0] == '\0';
}

static bool is_open(const struct job *job)
{
    return job->is_decided && !job->is_killed && !job_is_ended(job) &&
           !job_is_requeued(job);
}

static bool runs(const struct job *job)
{
    return job->state == JOB_RUN && job->suspension.causes == 0 && is_open(job);
}

/* The slots of running executions by own host, of consumers too. */
static int *count_used_slots(const struct load_suspend *load, struct arena *arena)
{
    const struct run_table *table = runs_table(load->parts.runs);
    int n_hosts = host_table_count(load->parts.hosts);
    int *slots = arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*slots));
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        if (run == NULL || run->record == RUN_RECORD_ENDED ||
            run->phase == RUN_SUSPENDED) {
            continue;
        }
        for (int k = 0; k < run->n_hosts; k++) {
            int host = host_table_find(load->parts.hosts, run->hosts[k].host);
            slots[host >= 0 ? host : n_hosts] += run->hosts[k].n_slots;
        }
    }
    return slots;
}

/* True if other jobs run on the host; on a borrowed host only own jobs are known. */
static bool has_others(const struct load_suspend *load, const struct job *job,
                       int piece, const int *used)
{
    const char *host = job->hosts[piece].host;
    if (is_own(job)) {
        return used[host_table_find(load->parts.hosts, host)] >
               job->hosts[piece].n_slots;
    }
    for (int i = 0; i < job_table_count_open(load->parts.jobs); i++) {
        const struct job *other = job_table_open_at(load->parts.jobs, i);
        for (int k = 0; other != job && other->state == JOB_RUN && k < other->n_hosts;
             k++) {
            if (strcmp(other->hosts[k].host, host) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* True if the job is the only one on the host and nobody uses it interactively. */
static bool is_left_alone(const struct load_suspend *load, const struct job *job,
                          int piece, const struct load_judged_host *host_load,
                          const int *used)
{
    const struct resource_table *table =
        host_resources_values(load->parts.host_resources);
    bool is_used = resource_table_has(table, host_load->row, RESOURCE_IT) &&
                   resource_table_number(table, host_load->row, RESOURCE_IT) <= 0;
    return !is_used && !has_others(load, job, piece, used);
}

/* Why the job must be suspended now, by the first of its hosts that may act; NULL: not,
 * or not yet. */
static const char *stop_reason(struct load_suspend *load, struct arena *arena,
                               const struct job *job, const int *used)
{
    for (int i = 0; i < job->n_hosts; i++) {
        struct load_judged_host host_load;
        load_judge_find_host(load->judge, job->hosts[i].host, is_own(job), &host_load);
        const char *why =
            load_judge_stop_reason(load->judge, arena, job->queue, &host_load);
        if (why != NULL && !is_left_alone(load, job, i, &host_load, used) &&
            !must_wait(load, host_load.host, true)) {
            return why;
        }
    }
    return NULL;
}

/* The threshold that it exceeded was one of pg. */
static bool is_by_paging(const struct job *job)
{
    return job->overload != NULL && strncmp(job->overload, "pg ", 3) == 0;
}

const char *load_suspend_hold_reason(struct load_suspend *load, struct arena *arena,
                                     const struct job *job)
{
    for (int i = 0; i < job->n_hosts; i++) {
        struct load_judged_host host_load;
        load_judge_find_host(load->judge, job->hosts[i].host, is_own(job), &host_load);
        const char *why =
            load_judge_hold_reason(load->judge, arena, job->queue, &host_load);
        if (why == NULL && is_by_paging(job)) {
            why = load_judge_idle_reason(load->judge, arena, &host_load);
        }
        if (why != NULL) {
            return why;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- order */

struct candidate {
    struct job *job;
    int priority;
    int64_t at_ms; /* start, or since when it is suspended */
};

static int priority_of(const struct load_suspend *load, const struct job *job)
{
    return job->queue < 0 ? 0 : load->parts.config->queues[job->queue].priority;
}

/* Lowest priority first, then the latest start. */
static int compare_running(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    uint64_t a_key = job_key(a->job), b_key = job_key(b->job);
    if (a->priority != b->priority) {
        return a->priority < b->priority ? -1 : 1;
    }
    if (a->at_ms != b->at_ms) {
        return a->at_ms > b->at_ms ? -1 : 1;
    }
    return a_key > b_key ? -1 : a_key < b_key;
}

/* Highest priority first, then the longest suspended. */
static int compare_suspended(const void *left, const void *right)
{
    return compare_running(right, left);
}

/* ---------------------------------------------------------------- acting */

static void suspend(struct load_suspend *load, struct job *job, const char *why,
                    int64_t now_ms, struct effects *effects)
{
    job_set_overload(job, why);
    load->n_suspended++;
    start_interval(load, job, false, now_ms);
    suspend_or_terminate(load->parts.life, job, SUSPEND_LOAD, 0, now_ms, effects);
}

static void suspend_some(struct load_suspend *load, struct arena *arena, int64_t now_ms,
                         struct effects *effects)
{
    int n_open = job_table_count_open(load->parts.jobs), n_candidates = 0;
    struct candidate *candidates =
        arena_alloc(arena, (size_t)n_open + 1, sizeof(*candidates));
    for (int i = 0; i < n_open; i++) {
        struct job *job = job_table_open_at(load->parts.jobs, i);
        if (runs(job)) {
            candidates[n_candidates++] =
                (struct candidate){job, priority_of(load, job), job->start_ms};
        }
    }
    qsort(candidates, (size_t)n_candidates, sizeof(*candidates), compare_running);
    const int *used = count_used_slots(load, arena);
    for (int i = 0; i < n_candidates; i++) {
        const char *why = stop_reason(load, arena, candidates[i].job, used);
        if (why != NULL) {
            suspend(load, candidates[i].job, why, now_ms, effects);
        }
    }
}

/* A job that is suspended for another cause gets the cause of load if load would keep
 * it suspended. */
static void add_load_cause(struct load_suspend *load, struct arena *arena,
                           struct job *job, int64_t now_ms, struct effects *effects)
{
    const char *why = NULL;
    for (int i = 0; i < job->n_hosts && why == NULL; i++) {
        struct load_judged_host host_load;
        load_judge_find_host(load->judge, job->hosts[i].host, is_own(job), &host_load);
        why = host_load.is_told
                  ? load_judge_hold_reason(load->judge, arena, job->queue, &host_load)
                  : NULL;
    }
    if (why != NULL) {
        job_set_overload(job, why);
        suspend_add_cause(load->parts.life, job, SUSPEND_LOAD, 0, now_ms, effects);
    }
}

static void resume(struct load_suspend *load, struct arena *arena, struct job *job,
                   int64_t now_ms, struct effects *effects)
{
    bool is_free = true;
    if (load_suspend_hold_reason(load, arena, job) != NULL) {
        return;
    }
    for (int i = 0; i < job->n_hosts; i++) {
        is_free = !must_wait(load, job->hosts[i].host, false) && is_free;
    }
    bool goes_on = (job->suspension.causes & ~SUSPEND_LOAD) == 0;
    if (!is_free && goes_on) {
        return;
    }
    job_set_overload(
        job, arena_printf(arena, "load is within its thresholds again, after %s",
                          job->overload != NULL ? job->overload : "too much of it"));
    suspend_clear_cause(load->parts.life, job, SUSPEND_LOAD, now_ms, effects);
    if (goes_on) {
        start_interval(load, job, job->suspension.causes != 0, now_ms);
    }
}

static void resume_some(struct load_suspend *load, struct arena *arena, int64_t now_ms,
                        struct effects *effects)
{
    int n_open = job_table_count_open(load->parts.jobs), n_candidates = 0;
    struct candidate *candidates =
        arena_alloc(arena, (size_t)n_open + 1, sizeof(*candidates));
    for (int i = 0; i < n_open; i++) {
        struct job *job = job_table_open_at(load->parts.jobs, i);
        bool is_suspended = job->state == JOB_SSUSP || job->state == JOB_USUSP;
        if (is_open(job) && (job->suspension.causes & SUSPEND_LOAD) != 0) {
            candidates[n_candidates++] = (struct candidate){job, priority_of(load, job),
                                                            job->suspension.since_ms};
        } else if (is_open(job) && is_suspended && job->suspension.causes != 0) {
            add_load_cause(load, arena, job, now_ms, effects);
        }
    }
    qsort(candidates, (size_t)n_candidates, sizeof(*candidates), compare_suspended);
    for (int i = 0; i < n_candidates; i++) {
        resume(load, arena, candidates[i].job, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- time */

static bool has_thresholds(const struct load_suspend *load)
{
    return load->parts.config->has_thresholds ||
           borrowed_resources_has_thresholds(
               host_resources_borrowed(load->parts.host_resources));
}

/* True if there are no thresholds and no job is suspended for load. */
static bool is_idle(const struct load_suspend *load)
{
    if (has_thresholds(load)) {
        return false;
    }
    for (int i = 0; i < job_table_count_open(load->parts.jobs); i++) {
        if ((job_table_open_at(load->parts.jobs, i)->suspension.causes &
             SUSPEND_LOAD) != 0) {
            return false;
        }
    }
    return true;
}

static int64_t next_ms(const struct load_suspend *load)
{
    int64_t look_ms =
        load->has_looked ? load->looked_ms + LOAD_SUSPEND_LOOK_MS : INT64_MIN;
    return load->is_marked && look_ms < load->again_ms ? look_ms : load->again_ms;
}

int64_t load_suspend_wake_ms(const struct load_suspend *load, int64_t now_ms)
{
    int64_t wake_ms = next_ms(load);
    return wake_ms < now_ms ? now_ms : wake_ms;
}

void load_suspend_tick(struct load_suspend *load, int64_t now_ms,
                       struct effects *effects)
{
    struct arena arena;
    if (now_ms < next_ms(load)) {
        return;
    }
    bool is_told = load->is_told;
    load->is_marked = load->is_told = false;
    load->has_looked = true;
    load->looked_ms = now_ms;
    load->again_ms = INT64_MAX;
    load->is_used = !is_idle(load);
    if (!load->is_used) {
        return;
    }
    arena_init(&arena);
    load_judge_clear(load->judge, load->parts.config->n_queues);
    expire_intervals(load, now_ms - load->parts.config->load_interval_ms);
    suspend_some(load, &arena, now_ms, effects);
    resume_some(load, &arena, now_ms, effects);
    arena_release(&arena);
    if (is_told) {
        pass_request_set(load->parts.pass_request);
    }
}

/* ---------------------------------------------------------------- starts */

bool load_suspend_is_host_busy(const struct load_suspend *load, const char *host,
                               bool is_own, struct load_excess *excess)
{
    struct load_judged_host host_load;
    if (!has_thresholds(load)) {
        return false;
    }
    load_judge_find_host(load->judge, host, is_own, &host_load);
    return load_judge_bars_start(load->judge, -1, &host_load, excess);
}

unsigned load_suspend_exceeded(const struct load_suspend *load, int host)
{
    const struct load_thresholds *thresholds =
        &load->parts.config->hosts[host].thresholds;
    struct load_excess excess;
    unsigned kinds = 0;
    for (int i = 0; i < LOAD_THRESHOLD_KINDS && thresholds->n_items > 0; i++) {
        bool is_beyond = load_thresholds_find(
            thresholds, host_resources_values(load->parts.host_resources), host,
            (enum load_threshold_kind)i, &excess);
        kinds |= is_beyond ? 1U << i : 0;
    }
    return kinds;
}

/* By host; NULL: no host exceeds a threshold. */
static const struct load_excess *show_queue(const struct load_suspend *load,
                                            struct arena *arena, int queue,
                                            const struct load_judged_host *host_loads,
                                            int n_hosts)
{
    struct load_excess *found = arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*found));
    bool has_any = false;
    for (int i = 0; i < n_hosts; i++) {
        has_any =
            load_judge_bars_start(load->judge, queue, &host_loads[i], &found[i]) ||
            has_any;
    }
    return has_any ? found : NULL;
}

const struct load_excess *const *load_suspend_snapshot(const struct load_suspend *load,
                                                       struct arena *arena,
                                                       const struct place_host *hosts,
                                                       int n_hosts)
{
    const struct site_config *config = load->parts.config;
    if (!has_thresholds(load)) {
        return NULL;
    }
    const struct load_excess **by_queue =
        arena_alloc(arena, (size_t)config->n_queues + 1, sizeof(*by_queue));
    struct load_judged_host *host_loads =
        arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*host_loads));
    for (int i = 0; i < n_hosts; i++) {
        load_judge_find_host(load->judge, hosts[i].name, hosts[i].lease[0] == '\0',
                             &host_loads[i]);
    }
    const struct load_excess *of_hosts =
        show_queue(load, arena, -1, host_loads, n_hosts);
    for (int i = 0; i < config->n_queues; i++) {
        by_queue[i] = config->queues[i].thresholds.n_items > 0
                          ? show_queue(load, arena, i, host_loads, n_hosts)
                          : of_hosts;
    }
    return by_queue;
}
