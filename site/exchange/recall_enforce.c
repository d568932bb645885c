/* SPDX-License-Identifier: Apache-2.0 */
/* recall_enforce.c: see exchange.h. */
#include "site/exchange/exchange.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole_hosts.h"
#include "site/exchange/recall_victims.h"
#include "site/lifecycle/lifecycle.h"

struct recall_enforce {
    struct recall_enforce_parts parts;
    int64_t wake_ms; /* the next deadline */
};

struct recall_enforce *recall_enforce_new(const struct recall_enforce_parts *parts)
{
    struct recall_enforce *recalls = mem_alloc(1, sizeof(*recalls));
    recalls->parts = *parts;
    recalls->wake_ms = INT64_MAX;
    return recalls;
}

void recall_enforce_free(struct recall_enforce *recalls)
{
    free(recalls);
}

int64_t recall_enforce_wake_ms(const struct recall_enforce *recalls)
{
    return recalls->wake_ms;
}

void recall_enforce_reload(struct recall_enforce *recalls,
                           const struct site_config *config)
{
    recalls->parts.config = config;
}

static int priority_of(const struct recall_enforce *recalls, const struct job *job)
{
    return job->queue >= 0 ? recalls->parts.config->queues[job->queue].priority : 0;
}

static struct recall_victim victim_of(const struct recall_enforce *recalls,
                                      struct job *job)
{
    return (struct recall_victim){
        .job = job,
        .priority = priority_of(recalls, job),
        .start_ms = job->start_ms != 0 ? job->start_ms : INT64_MAX,
        .number = job->attempt,
        .hosts = job->hosts,
        .n_hosts = job->n_hosts,
        .n_slots = msg_sum_slots(job->hosts, job->n_hosts),
    };
}

/* ---------------------------------------------------------------- what is lent */

static struct recall_victims list_runs(const struct recall_enforce *recalls,
                                       const char *lease, struct arena *arena)
{
    const struct run_table *table = runs_table(recalls->parts.runs);
    struct recall_victims victims = {arena_alloc(arena, (size_t)run_table_count(table),
                                                 sizeof(struct recall_victim)),
                                     0, 0};
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (run == NULL || run->record == RUN_RECORD_ENDED ||
            strcmp(run->lease, lease) != 0) {
            continue;
        }
        victims.items[victims.count++] = (struct recall_victim){
            .run = run,
            .priority = run->priority,
            .start_ms = run->start_ms != 0 ? run->start_ms : INT64_MAX,
            .number = run->id.attempt,
            .hosts = run->hosts,
            .n_hosts = run->n_hosts,
            .n_slots = msg_sum_slots(run->hosts, run->n_hosts),
            .is_chosen = run->exit.is_recalled,
        };
    }
    recall_victims_sort(&victims);
    return victims;
}

/* True if the job uses slots that this site has as a leaf. */
static bool is_on_own_part(const struct recall_enforce *recalls, const struct job *job,
                           const char *lease)
{
    for (int i = 0; i < job->n_hosts; i++) {
        if (provider_own_used(recalls->parts.provider, lease, job->hosts[i].host) > 0) {
            return true;
        }
    }
    return false;
}

static struct recall_victims list_own(const struct recall_enforce *recalls,
                                      const char *lease, struct arena *arena)
{
    int n_open = job_table_count_open(recalls->parts.jobs);
    struct recall_victims victims = {
        arena_alloc(arena, (size_t)n_open, sizeof(struct recall_victim)), 0, 0};
    for (int i = 0; i < n_open; i++) {
        struct job *job = job_table_open_at(recalls->parts.jobs, i);
        if (job->lease[0] == '\0' && is_on_own_part(recalls, job, lease)) {
            struct recall_victim *victim = &victims.items[victims.count++];
            *victim = victim_of(recalls, job);
            victim->is_chosen = job_is_requeued(job) || job->is_killed;
        }
    }
    recall_victims_sort(&victims);
    return victims;
}

static void end_overdue(struct recall_enforce *recalls,
                        const struct provider_overdue *overdue, int64_t now_ms,
                        struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct recall_victims victims = overdue->is_own
                                        ? list_own(recalls, overdue->lease, arena)
                                        : list_runs(recalls, overdue->lease, arena);
    for (int i = 0; i < overdue->n_hosts; i++) {
        recall_victims_take_on_host(&victims, overdue->hosts[i].host);
    }
    if (overdue->n_hosts == 0) {
        recall_victims_take(&victims, overdue->n_slots, arena);
    }
    for (int i = 0; i < victims.count; i++) {
        const struct recall_victim *victim = &victims.items[i];
        if (victim->round == 0 || victim->is_chosen) {
            continue;
        }
        if (victim->run != NULL) {
            runs_recall(recalls->parts.runs, victim->run, now_ms, effects);
            lending_count_use(recalls->parts.lending, victim->run, now_ms, effects);
        } else {
            control_job_recall(recalls->parts.life, victim->job, now_ms, effects);
        }
    }
}

/* ---------------------------------------------------------------- what is borrowed */

static struct recall_victims list_jobs(const struct recall_enforce *recalls,
                                       const char *lease, struct arena *arena)
{
    int n_open = job_table_count_open(recalls->parts.jobs);
    struct recall_victims victims = {
        arena_alloc(arena, (size_t)n_open, sizeof(struct recall_victim)), 0, 0};
    for (int i = 0; i < n_open; i++) {
        struct job *job = job_table_open_at(recalls->parts.jobs, i);
        if (strcmp(job->lease, lease) == 0) {
            struct recall_victim *victim = &victims.items[victims.count++];
            *victim = victim_of(recalls, job);
            victim->is_chosen = job->recall_ms != 0;
        }
    }
    recall_victims_sort(&victims);
    return victims;
}

/* A job that has not begun yet is not warned: its provider refuses it, or ends it. */
static void warn(struct recall_enforce *recalls, struct job *job, int64_t deadline_ms,
                 int64_t now_ms, struct effects *effects)
{
    bool is_new = job->recall_ms == 0;
    job->recall_ms = deadline_ms;
    if (is_new && deadline_ms > now_ms && job->start_ms != 0) {
        control_job_apply(recalls->parts.life, job, CONTROL_SIGNAL, SIGURG, "recall",
                          now_ms, effects);
    }
}

/* Recalls that have a deadline: a job whose slot is only wanted when it ends is no
 * victim. */
static int count_urgent(const struct consumer_recall *recall, int64_t now_ms)
{
    int n = recall->n_recalls;
    while (n > 0 && recall_waits(recall->recalls[n - 1].deadline_ms - now_ms)) {
        n--;
    }
    return n;
}

/* The deadline of each round in which some of them are taken. */
static void take_slots(const struct consumer_recall *recall,
                       struct recall_victims *victims, int64_t *deadlines,
                       struct arena *arena)
{
    int n_used = recall->n_used;
    for (int i = 0; i < recall->n_recalls; i++) {
        int excess = n_used - recall->recalls[i].n_held;
        n_used -= excess > 0 ? recall_victims_take(victims, excess, arena) : 0;
        deadlines[victims->n_rounds] = recall->recalls[i].deadline_ms;
    }
}

static bool has_chosen(const struct recall_victims *victims, const char *host)
{
    for (int i = 0; i < victims->count; i++) {
        const struct recall_victim *victim = &victims->items[i];
        for (int k = 0; k < victim->n_hosts && victim->is_chosen; k++) {
            if (strcmp(victim->hosts[k].host, host) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The provider chooses by the same rule. Hosts of jobs that were warned before are
 * taken first. */
static void take_hosts(const struct consumer_recall *recall,
                       struct recall_victims *victims, int64_t *deadlines,
                       struct arena *arena)
{
    size_t n_hosts = (size_t)recall->n_hosts;
    struct whole_host *hosts = arena_alloc(arena, n_hosts, sizeof(*hosts));
    int n_held = 0;
    for (int i = 0; i < recall->n_hosts; i++) {
        hosts[i].n_slots = recall->hosts[i].consumer;
        int n_used = recall->used[i];
        bool is_going = n_used > 0 && has_chosen(victims, recall->hosts[i].host);
        hosts[i].n_used = n_used == 0 ? 0 : is_going ? 1 : n_used + 1;
        n_held += hosts[i].n_slots;
    }
    for (int i = 0; i < recall->n_recalls; i++) {
        n_held -= whole_hosts_pick(hosts, recall->n_hosts,
                                   n_held - recall->recalls[i].n_held, arena);
        for (int k = 0; k < recall->n_hosts; k++) {
            if (hosts[k].is_picked) {
                hosts[k].n_slots = 0; /* gone, for later bounds */
                recall_victims_take_on_host(victims, recall->hosts[k].host);
                deadlines[victims->n_rounds] = recall->recalls[i].deadline_ms;
            }
        }
    }
}

static void choose(struct recall_enforce *recalls, struct consumer_recall *recall,
                   int64_t now_ms, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct recall_victims victims = list_jobs(recalls, recall->lease, arena);
    recall->n_recalls = count_urgent(recall, now_ms);
    int n_rounds = recall->n_recalls + recall->n_hosts;
    int64_t *deadlines = arena_alloc(arena, (size_t)n_rounds + 1, sizeof(*deadlines));
    (recall->is_whole ? take_hosts : take_slots)(recall, &victims, deadlines, arena);
    for (int i = 0; i < victims.count; i++) {
        struct job *job = victims.items[i].job;
        int64_t deadline_ms = deadlines[victims.items[i].round];
        if (victims.items[i].round == 0) {
            job->recall_ms = 0; /* the need is gone */
            continue;
        }
        warn(recalls, job, deadline_ms, now_ms, effects);
        if (deadline_ms <= now_ms && job_is_kill_deferred(job)) {
            lifecycle_kill_now(recalls->parts.life, job, now_ms, effects);
        } else if (deadline_ms <= now_ms && !job_is_requeued(job) && !job->is_killed) {
            control_job_recall(recalls->parts.life, job, now_ms, effects);
        } else if (deadline_ms > now_ms && deadline_ms < recalls->wake_ms) {
            recalls->wake_ms = deadline_ms;
        }
    }
}

void recall_enforce_forget(struct recall_enforce *recalls, const char *lease)
{
    for (int i = 0; i < job_table_count_open(recalls->parts.jobs); i++) {
        struct job *job = job_table_open_at(recalls->parts.jobs, i);
        job->recall_ms = strcmp(job->lease, lease) == 0 ? 0 : job->recall_ms;
    }
}

void recall_enforce_tick(struct recall_enforce *recalls, int64_t now_ms,
                         struct effects *effects)
{
    recalls->wake_ms = INT64_MAX;
    for (int i = 0; i < provider_count_leases(recalls->parts.provider); i++) {
        struct provider_overdue overdue;
        if (provider_overdue_at(recalls->parts.provider, i, &effects->arena,
                                &overdue)) {
            end_overdue(recalls, &overdue, now_ms, effects);
        }
    }
    for (int i = 0; i < consumer_count_contracts(recalls->parts.consumer); i++) {
        struct consumer_recall recall;
        if (consumer_recall_at(recalls->parts.consumer, i, &recall)) {
            choose(recalls, &recall, now_ms, effects);
        }
    }
}
