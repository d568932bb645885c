/* SPDX-License-Identifier: Apache-2.0 */
/* recalls.c: see recalls.h. */
#include "site/recalls.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole_hosts.h"
#include "site/endings.h"
#include "site/lending.h"
#include "site/parts.h"
#include "site/turns.h"
#include "site/victims.h"

static int priority_of(const struct site *site, const struct job *job)
{
    return job->queue >= 0 ? site->config->queues[job->queue].priority : 0;
}

static struct victim victim_of(const struct site *site, struct job *job)
{
    return (struct victim){
        .job = job,
        .priority = priority_of(site, job),
        .start_ms = job->start_ms != 0 ? job->start_ms : INT64_MAX,
        .number = job->attempt,
        .hosts = job->hosts,
        .n_hosts = job->n_hosts,
        .n_slots = msg_sum_slots(job->hosts, job->n_hosts),
    };
}

/* ---------------------------------------------------------------- what is lent */

static struct victims list_runs(const struct site *site, const char *lease,
                                struct arena *arena)
{
    const struct run_table *table = runs_table(site->runs);
    struct victims victims = {
        arena_alloc(arena, (size_t)run_table_count(table), sizeof(struct victim)), 0,
        0};
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (run == NULL || run->record == RUN_RECORD_ENDED ||
            strcmp(run->lease, lease) != 0) {
            continue;
        }
        victims.items[victims.count++] = (struct victim){
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
    victims_sort(&victims);
    return victims;
}

/* True where the job uses slots that this site has as a leaf. */
static bool is_on_own_part(const struct site *site, const struct job *job,
                           const char *lease)
{
    for (int i = 0; i < job->n_hosts; i++) {
        if (provider_own_used(site->provider, lease, job->hosts[i].host) > 0) {
            return true;
        }
    }
    return false;
}

static struct victims list_own(const struct site *site, const char *lease,
                               struct arena *arena)
{
    int n_open = jobs_count_open(site->jobs);
    struct victims victims = {arena_alloc(arena, (size_t)n_open, sizeof(struct victim)),
                              0, 0};
    for (int i = 0; i < n_open; i++) {
        struct job *job = jobs_open_at(site->jobs, i);
        if (job->lease[0] == '\0' && is_on_own_part(site, job, lease)) {
            struct victim *victim = &victims.items[victims.count++];
            *victim = victim_of(site, job);
            victim->is_chosen = jobs_is_requeued(job) || job->is_killed;
        }
    }
    victims_sort(&victims);
    return victims;
}

static void end_overdue(struct site *site, const struct provider_overdue *overdue,
                        int64_t now_ms, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct victims victims = overdue->is_own ? list_own(site, overdue->lease, arena)
                                             : list_runs(site, overdue->lease, arena);
    for (int i = 0; i < overdue->n_hosts; i++) {
        victims_take_of_host(&victims, overdue->hosts[i].host);
    }
    if (overdue->n_hosts == 0) {
        victims_take(&victims, overdue->n_slots, arena);
    }
    for (int i = 0; i < victims.count; i++) {
        const struct victim *victim = &victims.items[i];
        if (victim->round == 0 || victim->is_chosen) {
            continue;
        }
        if (victim->run != NULL) {
            runs_recall(site->runs, victim->run, now_ms, effects);
            lending_count(site, victim->run);
        } else {
            turns_recall(site, victim->job, now_ms, effects);
        }
    }
}

/* ---------------------------------------------------------------- what is borrowed */

static struct victims list_jobs(const struct site *site, const char *lease,
                                struct arena *arena)
{
    int n_open = jobs_count_open(site->jobs);
    struct victims victims = {arena_alloc(arena, (size_t)n_open, sizeof(struct victim)),
                              0, 0};
    for (int i = 0; i < n_open; i++) {
        struct job *job = jobs_open_at(site->jobs, i);
        if (strcmp(job->lease, lease) == 0) {
            struct victim *victim = &victims.items[victims.count++];
            *victim = victim_of(site, job);
            victim->is_chosen = job->recall_ms != 0;
        }
    }
    victims_sort(&victims);
    return victims;
}

/* A job that has not begun yet is not warned: its provider refuses it, or ends it. */
static void warn(struct site *site, struct job *job, int64_t deadline_ms,
                 int64_t now_ms, struct effects *effects)
{
    bool is_new = job->recall_ms == 0;
    job->recall_ms = deadline_ms;
    if (is_new && deadline_ms > now_ms && job->start_ms != 0) {
        turns_control(site, job, CONTROL_SIGNAL, SIGURG, "recall", now_ms, effects);
    }
}

/* The deadline of each round in which some of them are taken. */
static void take_slots(const struct consumer_recall *recall, struct victims *victims,
                       int64_t *deadlines, struct arena *arena)
{
    int n_used = recall->n_used;
    for (int i = 0; i < recall->n_recalls; i++) {
        int excess = n_used - recall->recalls[i].n_held;
        n_used -= excess > 0 ? victims_take(victims, excess, arena) : 0;
        deadlines[victims->n_rounds] = recall->recalls[i].deadline_ms;
    }
}

static bool has_chosen(const struct victims *victims, const char *host)
{
    for (int i = 0; i < victims->count; i++) {
        const struct victim *victim = &victims->items[i];
        for (int k = 0; k < victim->n_hosts && victim->is_chosen; k++) {
            if (strcmp(victim->hosts[k].host, host) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* By the rule of the provider; hosts of who was warned before are taken first. */
static void take_hosts(const struct consumer_recall *recall, struct victims *victims,
                       int64_t *deadlines, struct arena *arena)
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
                victims_take_of_host(victims, recall->hosts[k].host);
                deadlines[victims->n_rounds] = recall->recalls[i].deadline_ms;
            }
        }
    }
}

static void choose(struct site *site, const struct consumer_recall *recall,
                   int64_t now_ms, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct victims victims = list_jobs(site, recall->lease, arena);
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
        warn(site, job, deadline_ms, now_ms, effects);
        if (deadline_ms <= now_ms && endings_is_waiting(job)) {
            endings_force(site, job, now_ms, effects);
        } else if (deadline_ms <= now_ms && !jobs_is_requeued(job) && !job->is_killed) {
            turns_recall(site, job, now_ms, effects);
        } else if (deadline_ms > now_ms && deadline_ms < site->recall_ms) {
            site->recall_ms = deadline_ms;
        }
    }
}

void recalls_forget(struct site *site, const char *lease)
{
    for (int i = 0; i < jobs_count_open(site->jobs); i++) {
        struct job *job = jobs_open_at(site->jobs, i);
        job->recall_ms = strcmp(job->lease, lease) == 0 ? 0 : job->recall_ms;
    }
}

void recalls_tick(struct site *site, int64_t now_ms, struct effects *effects)
{
    site->recall_ms = INT64_MAX;
    for (int i = 0; i < provider_count_books(site->provider); i++) {
        struct provider_overdue overdue;
        if (provider_overdue_at(site->provider, i, &effects->arena, &overdue)) {
            end_overdue(site, &overdue, now_ms, effects);
        }
    }
    for (int i = 0; i < consumer_count_contracts(site->consumer); i++) {
        struct consumer_recall recall;
        if (consumer_recall_at(site->consumer, i, &recall)) {
            choose(site, &recall, now_ms, effects);
        }
    }
}

/* ---------------------------------------------------------------- environment */

const struct job_spec *recalls_spec(const struct site *site, const struct job *job,
                                    const struct job_spec *from,
                                    struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct msg_contract contract;
    if (!consumer_find_contract(site->consumer, job->lease, &contract) ||
        contract.type != LEASE_POOL || from->n_env >= ENV_MAX) {
        return from;
    }
    struct job_spec *spec = arena_copy(arena, from, sizeof(*spec));
    const char **env = arena_alloc(arena, (size_t)spec->n_env + 1, sizeof(*env));
    for (int i = 0; i < spec->n_env; i++) {
        env[i] = spec->env[i];
    }
    env[spec->n_env++] = arena_printf(arena, "SUBLET_RECALL_GRACE=%lld",
                                      (long long)(contract.grace_ms / 1000));
    spec->env = env;
    return spec;
}
