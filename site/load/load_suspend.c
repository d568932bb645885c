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
#include "site/load/load_suspend.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "site/job/lifecycle.h"
#include "site/load/load_interval.h"
#include "site/load/load_judge.h"

struct load_suspend {
    struct load_suspend_parts parts;
    struct load_judge *judge;
    struct load_interval *turns;
    bool is_used; /* there are thresholds, or somebody still waits for load */
    bool is_marked, is_told;
    bool has_looked; /* at least once since it was made */
    int64_t looked_ms;
    int64_t again_ms; /* somebody waits for his turn until then; INT64_MAX: nobody */
    uint64_t n_halted;
};

static struct load_judge *new_judge(const struct load_suspend_parts *parts)
{
    return load_judge_new(&(struct load_judge_parts){
        .config = parts->config, .facts = parts->facts, .hosts = parts->hosts});
}

struct load_suspend *load_suspend_new(const struct load_suspend_parts *parts)
{
    struct load_suspend *overloads = mem_alloc(1, sizeof(*overloads));
    overloads->parts = *parts;
    overloads->judge = new_judge(parts);
    overloads->turns = load_interval_new();
    overloads->is_used = overloads->is_marked = overloads->is_told = true;
    overloads->again_ms = INT64_MAX;
    return overloads;
}

void load_suspend_free(struct load_suspend *overloads)
{
    if (overloads == NULL) {
        return;
    }
    load_interval_free(overloads->turns);
    load_judge_free(overloads->judge);
    free(overloads);
}

void load_suspend_reload(struct load_suspend *overloads,
                         const struct site_config *config, struct host_resources *facts)
{
    overloads->parts.config = config;
    overloads->parts.facts = facts;
    load_judge_free(overloads->judge);
    overloads->judge = new_judge(&overloads->parts);
    overloads->is_used = overloads->is_marked = overloads->is_told = true;
    overloads->has_looked = false;
}

void load_suspend_mark(struct load_suspend *overloads, bool is_told)
{
    overloads->is_marked = overloads->is_used;
    overloads->is_told = overloads->is_told || is_told;
}

void load_suspend_enable(struct load_suspend *overloads)
{
    overloads->is_used = true;
}

uint64_t load_suspend_count(const struct load_suspend *overloads)
{
    return overloads->n_halted;
}

/* ---------------------------------------------------------------- turns of hosts */

/* True where the host has had its turn; who waits for the next is looked at then. */
static bool must_wait(struct load_suspend *overloads, const char *host, bool is_stop)
{
    int64_t taken_ms = load_interval_started_ms(overloads->turns, host, is_stop);
    if (taken_ms < 0) {
        return false;
    }
    int64_t next_ms = taken_ms + overloads->parts.config->load_interval_ms;
    overloads->again_ms = next_ms < overloads->again_ms ? next_ms : overloads->again_ms;
    return true;
}

void load_suspend_note_resumed(struct load_suspend *overloads, const struct job *job,
                               int64_t now_ms)
{
    load_interval_restart(overloads->turns, job, now_ms);
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
    return job->state == JOB_RUN && job->halt.causes == 0 && is_open(job);
}

/* Slots in which something moves, by own host: of whomever. */
static int *count_moving(const struct load_suspend *overloads, struct arena *arena)
{
    const struct run_table *table = runs_table(overloads->parts.runs);
    int n_hosts = host_table_count(overloads->parts.hosts);
    int *slots = arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*slots));
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        if (run == NULL || run->record == RUN_RECORD_ENDED ||
            run->phase == RUN_SUSPENDED) {
            continue;
        }
        for (int k = 0; k < run->n_hosts; k++) {
            int host = host_table_find(overloads->parts.hosts, run->hosts[k].host);
            slots[host >= 0 ? host : n_hosts] += run->hosts[k].n_slots;
        }
    }
    return slots;
}

/* Other jobs run there; of a borrowed host own ones are known. */
static bool has_others(const struct load_suspend *overloads, const struct job *job,
                       int piece, const int *moving)
{
    const char *host = job->hosts[piece].host;
    if (is_own(job)) {
        return moving[host_table_find(overloads->parts.hosts, host)] >
               job->hosts[piece].n_slots;
    }
    for (int i = 0; i < job_table_count_open(overloads->parts.jobs); i++) {
        const struct job *other = job_table_open_at(overloads->parts.jobs, i);
        for (int k = 0; other != job && other->state == JOB_RUN && k < other->n_hosts;
             k++) {
            if (strcmp(other->hosts[k].host, host) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Nobody is at the host, so that its only job is in nobody's way. */
static bool is_left_alone(const struct load_suspend *overloads, const struct job *job,
                          int piece, const struct load_judged_host *spot,
                          const int *moving)
{
    const struct resource_table *table = host_resources_table(overloads->parts.facts);
    bool is_used = resource_table_has(table, spot->row, RESOURCE_IT) &&
                   resource_table_number(table, spot->row, RESOURCE_IT) <= 0;
    return !is_used && !has_others(overloads, job, piece, moving);
}

/* Why it is to stand still, of the first of its hosts that may act on it; NULL: it is
 * not, or not yet. */
static const char *stop_text(struct load_suspend *overloads, struct arena *arena,
                             const struct job *job, const int *moving)
{
    for (int i = 0; i < job->n_hosts; i++) {
        struct load_judged_host spot;
        load_judge_find_host(overloads->judge, job->hosts[i].host, is_own(job), &spot);
        const char *why =
            load_judge_stop_reason(overloads->judge, arena, job->queue, &spot);
        if (why != NULL && !is_left_alone(overloads, job, i, &spot, moving) &&
            !must_wait(overloads, spot.host, true)) {
            return why;
        }
    }
    return NULL;
}

const char *load_suspend_hold_reason(struct load_suspend *overloads,
                                     struct arena *arena, const struct job *job)
{
    for (int i = 0; i < job->n_hosts; i++) {
        struct load_judged_host spot;
        load_judge_find_host(overloads->judge, job->hosts[i].host, is_own(job), &spot);
        const char *why =
            load_judge_hold_reason(overloads->judge, arena, job->queue, &spot);
        if (why != NULL) {
            return why;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- order */

struct turn {
    struct job *job;
    int priority;
    int64_t at_ms; /* it started; it stands still since */
};

static int priority_of(const struct load_suspend *overloads, const struct job *job)
{
    return job->queue < 0 ? 0 : overloads->parts.config->queues[job->queue].priority;
}

/* Who is least important, then who began last. */
static int compare_running(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;
    uint64_t a_key = job_key(a->job), b_key = job_key(b->job);
    if (a->priority != b->priority) {
        return a->priority < b->priority ? -1 : 1;
    }
    if (a->at_ms != b->at_ms) {
        return a->at_ms > b->at_ms ? -1 : 1;
    }
    return a_key > b_key ? -1 : a_key < b_key;
}

/* Who is most important, then who stands still longest. */
static int compare_still(const void *left, const void *right)
{
    return compare_running(right, left);
}

/* ---------------------------------------------------------------- acting */

static void suspend(struct load_suspend *overloads, struct job *job, const char *why,
                    int64_t now_ms, struct effects *effects)
{
    job_set_overload(job, why);
    overloads->n_halted++;
    load_interval_start(overloads->turns, job, false, now_ms);
    suspend_or_terminate(overloads->parts.life, job, HALT_LOAD, 0, now_ms, effects);
}

static void suspend_some(struct load_suspend *overloads, struct arena *arena,
                         int64_t now_ms, struct effects *effects)
{
    int n_open = job_table_count_open(overloads->parts.jobs), n_turns = 0;
    struct turn *turns = arena_alloc(arena, (size_t)n_open + 1, sizeof(*turns));
    for (int i = 0; i < n_open; i++) {
        struct job *job = job_table_open_at(overloads->parts.jobs, i);
        if (runs(job)) {
            turns[n_turns++] =
                (struct turn){job, priority_of(overloads, job), job->start_ms};
        }
    }
    qsort(turns, (size_t)n_turns, sizeof(*turns), compare_running);
    const int *moving = count_moving(overloads, arena);
    for (int i = 0; i < n_turns; i++) {
        const char *why = stop_text(overloads, arena, turns[i].job, moving);
        if (why != NULL) {
            suspend(overloads, turns[i].job, why, now_ms, effects);
        }
    }
}

/* What stands still for another cause goes on by the same rule as who was suspended for
 * load. */
static void join(struct load_suspend *overloads, struct arena *arena, struct job *job,
                 int64_t now_ms, struct effects *effects)
{
    const char *why = NULL;
    for (int i = 0; i < job->n_hosts && why == NULL; i++) {
        struct load_judged_host spot;
        load_judge_find_host(overloads->judge, job->hosts[i].host, is_own(job), &spot);
        why = spot.is_told
                  ? load_judge_hold_reason(overloads->judge, arena, job->queue, &spot)
                  : NULL;
    }
    if (why != NULL) {
        job_set_overload(job, why);
        suspend_add_cause(overloads->parts.life, job, HALT_LOAD, 0, now_ms, effects);
    }
}

static void lift(struct load_suspend *overloads, struct arena *arena, struct job *job,
                 int64_t now_ms, struct effects *effects)
{
    bool is_free = true;
    if (load_suspend_hold_reason(overloads, arena, job) != NULL) {
        return;
    }
    for (int i = 0; i < job->n_hosts; i++) {
        is_free = !must_wait(overloads, job->hosts[i].host, false) && is_free;
    }
    bool goes_on = (job->halt.causes & ~HALT_LOAD) == 0;
    if (!is_free && goes_on) {
        return;
    }
    job_set_overload(
        job, arena_printf(arena, "load is within its thresholds again, after %s",
                          job->overload != NULL ? job->overload : "too much of it"));
    suspend_clear_cause(overloads->parts.life, job, HALT_LOAD, now_ms, effects);
    if (goes_on) {
        load_interval_start(overloads->turns, job, job->halt.causes != 0, now_ms);
    }
}

static void lift_some(struct load_suspend *overloads, struct arena *arena,
                      int64_t now_ms, struct effects *effects)
{
    int n_open = job_table_count_open(overloads->parts.jobs), n_turns = 0;
    struct turn *turns = arena_alloc(arena, (size_t)n_open + 1, sizeof(*turns));
    for (int i = 0; i < n_open; i++) {
        struct job *job = job_table_open_at(overloads->parts.jobs, i);
        bool is_still = job->state == JOB_SSUSP || job->state == JOB_USUSP;
        if (is_open(job) && (job->halt.causes & HALT_LOAD) != 0) {
            turns[n_turns++] =
                (struct turn){job, priority_of(overloads, job), job->halt.since_ms};
        } else if (is_open(job) && is_still && job->halt.causes != 0) {
            join(overloads, arena, job, now_ms, effects);
        }
    }
    qsort(turns, (size_t)n_turns, sizeof(*turns), compare_still);
    for (int i = 0; i < n_turns; i++) {
        lift(overloads, arena, turns[i].job, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- time */

static bool has_thresholds(const struct load_suspend *overloads)
{
    return overloads->parts.config->has_thresholds ||
           borrowed_resources_has_thresholds(
               host_resources_borrowed(overloads->parts.facts));
}

/* Load says nothing here, and never did to anybody who still waits. */
static bool is_idle(const struct load_suspend *overloads)
{
    if (has_thresholds(overloads)) {
        return false;
    }
    for (int i = 0; i < job_table_count_open(overloads->parts.jobs); i++) {
        if ((job_table_open_at(overloads->parts.jobs, i)->halt.causes & HALT_LOAD) !=
            0) {
            return false;
        }
    }
    return true;
}

static int64_t next_ms(const struct load_suspend *overloads)
{
    int64_t look_ms =
        overloads->has_looked ? overloads->looked_ms + LOAD_SUSPEND_LOOK_MS : INT64_MIN;
    return overloads->is_marked && look_ms < overloads->again_ms ? look_ms
                                                                 : overloads->again_ms;
}

int64_t load_suspend_wake_ms(const struct load_suspend *overloads, int64_t now_ms)
{
    int64_t wake_ms = next_ms(overloads);
    return wake_ms < now_ms ? now_ms : wake_ms;
}

void load_suspend_tick(struct load_suspend *overloads, int64_t now_ms,
                       struct effects *effects)
{
    struct arena arena;
    if (now_ms < next_ms(overloads)) {
        return;
    }
    bool is_told = overloads->is_told;
    overloads->is_marked = overloads->is_told = false;
    overloads->has_looked = true;
    overloads->looked_ms = now_ms;
    overloads->again_ms = INT64_MAX;
    overloads->is_used = !is_idle(overloads);
    if (!overloads->is_used) {
        return;
    }
    arena_init(&arena);
    load_judge_clear(overloads->judge, overloads->parts.config->n_queues);
    load_interval_expire(overloads->turns,
                         now_ms - overloads->parts.config->load_interval_ms);
    suspend_some(overloads, &arena, now_ms, effects);
    lift_some(overloads, &arena, now_ms, effects);
    arena_release(&arena);
    if (is_told) {
        pass_request_set(overloads->parts.pass_request);
    }
}

/* ---------------------------------------------------------------- starts */

bool load_suspend_is_host_busy(const struct load_suspend *overloads, const char *host,
                               bool is_own, struct load_excess *excess)
{
    struct load_judged_host spot;
    load_judge_find_host(overloads->judge, host, is_own, &spot);
    return load_judge_bars_start(overloads->judge, -1, &spot, excess);
}

unsigned load_suspend_exceeded(const struct load_suspend *overloads, int host)
{
    const struct load_thresholds *thresholds =
        &overloads->parts.config->hosts[host].thresholds;
    struct load_excess excess;
    unsigned sides = 0;
    for (int i = 0; i < LOAD_THRESHOLD_KINDS && thresholds->n_items > 0; i++) {
        bool is_beyond = load_thresholds_find(
            thresholds, host_resources_table(overloads->parts.facts), host,
            (enum load_threshold_kind)i, &excess);
        sides |= is_beyond ? 1U << i : 0;
    }
    return sides;
}

/* By host, of a queue's jobs; NULL: none is beyond. */
static const struct load_excess *show_queue(const struct load_suspend *overloads,
                                            struct arena *arena, int queue,
                                            const struct load_judged_host *spots,
                                            int n_hosts)
{
    struct load_excess *found = arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*found));
    bool has_any = false;
    for (int i = 0; i < n_hosts; i++) {
        has_any =
            load_judge_bars_start(overloads->judge, queue, &spots[i], &found[i]) ||
            has_any;
    }
    return has_any ? found : NULL;
}

const struct load_excess *const *
load_suspend_snapshot(const struct load_suspend *overloads, struct arena *arena,
                      const struct place_host *hosts, int n_hosts)
{
    const struct site_config *config = overloads->parts.config;
    if (!has_thresholds(overloads)) {
        return NULL;
    }
    const struct load_excess **by_queue =
        arena_alloc(arena, (size_t)config->n_queues + 1, sizeof(*by_queue));
    struct load_judged_host *spots =
        arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*spots));
    for (int i = 0; i < n_hosts; i++) {
        load_judge_find_host(overloads->judge, hosts[i].name, hosts[i].lease[0] == '\0',
                             &spots[i]);
    }
    const struct load_excess *of_hosts =
        show_queue(overloads, arena, -1, spots, n_hosts);
    for (int i = 0; i < config->n_queues; i++) {
        by_queue[i] = config->queues[i].thresholds.n_items > 0
                          ? show_queue(overloads, arena, i, spots, n_hosts)
                          : of_hosts;
    }
    return by_queue;
}
