/* SPDX-License-Identifier: Apache-2.0 */
/* site_usage.c: see exchange.h. */
#include "site/exchange/exchange.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "site/exchange/queue_demand.h"

static void read_own(const struct site_usage_parts *parts, struct msg_usage *usage)
{
    const struct run_table *runs = runs_table(parts->runs);
    int n_hosts = host_table_count(parts->hosts);
    for (int i = 0; i < n_hosts; i++) {
        int max = host_table_max(parts->hosts, i), own = run_table_use(runs, i)->own;
        const struct provider_host_slots slots =
            provider_host_slots(capacity_ledger_host(parts->capacity, i), max, own);
        usage->n_own += max;
        usage->n_own_used += own;
        usage->n_lent += slots.lent;
        bool is_idle = slots.local_max > own && host_table_is_ready(parts->hosts, i) &&
                       !capacity_is_used_exclusively(parts->capacity, i);
        usage->n_idle += is_idle ? slots.local_max - own : 0;
    }
}

static void read_borrowed(const struct site_usage_parts *parts, struct msg_usage *usage)
{
    int n_idle;
    consumer_count_slots(parts->consumer, &usage->n_borrowed, &n_idle);
    usage->n_idle += n_idle;
}

static struct msg_job_counts read_jobs(const struct job_table *jobs)
{
    return (struct msg_job_counts){
        .pend = job_table_count_state(jobs, JOB_PEND),
        .psusp = job_table_count_state(jobs, JOB_PSUSP),
        .run = job_table_count_state(jobs, JOB_RUN),
        .ususp = job_table_count_state(jobs, JOB_USUSP),
        .ssusp = job_table_count_state(jobs, JOB_SSUSP),
        .unkwn = job_table_count_state(jobs, JOB_UNKWN),
        .done = job_table_count_state(jobs, JOB_DONE),
        .exit = job_table_count_state(jobs, JOB_EXIT),
    };
}

/* True if the queue names borrowed hosts, or if this site lends into a pool, as it may
 * be a leaf of that pool's plan itself. Other queues need nothing of a pool. */
static bool may_use_pool(const struct site_usage_parts *parts,
                         const struct queue_config *queue)
{
    for (int i = 0; i < provider_count_leases(parts->provider); i++) {
        if (strchr(provider_lease_id(parts->provider, i), ':') != NULL) {
            return true;
        }
    }
    for (int i = 0; i < queue->n_terms; i++) {
        enum queue_term_kind kind = queue->terms[i].kind;
        if (kind == QUEUE_ALL_REMOTE || kind == QUEUE_ALL_AT || kind == QUEUE_HOST_AT) {
            return true;
        }
    }
    return false;
}

static void read_queues(const struct site_usage_parts *parts, struct arena *arena,
                        struct msg_usage *usage)
{
    int n_queues = parts->config->n_queues;
    bool *has_pool = arena_alloc(arena, (size_t)n_queues, sizeof(*has_pool));
    const struct queue_demand_parts demand_parts = {
        .config = parts->config,
        .jobs = parts->jobs,
        .queues = parts->queues,
        .limits = parts->limits,
        .local_ms = parts->local_ms,
    };
    for (int i = 0; i < n_queues; i++) {
        has_pool[i] = may_use_pool(parts, &parts->config->queues[i]);
    }
    usage->n_queues = queue_demand_read(&demand_parts, has_pool, arena, &usage->queues);
}

/* The site's part of a pool that it lends into itself. */
static bool is_own_leaf(const struct site_usage_parts *parts, const char *lease)
{
    const char *consumer = strrchr(lease, ':');
    size_t length = strlen(parts->config->name);
    return consumer != NULL && (size_t)(consumer - lease) > length &&
           consumer[-(ptrdiff_t)length - 1] == '/' &&
           strncmp(consumer - length, parts->config->name, length) == 0;
}

static int compare_uses(const void *left, const void *right)
{
    const struct priority_use *a = left, *b = right;
    int order = strcmp(a->lease, b->lease);
    return order != 0 ? order
                      : (a->priority > b->priority) - (a->priority < b->priority);
}

/* Own jobs on hosts where the lease has slots that own jobs use. */
static void add_own_uses(const struct site_usage_parts *parts, const char *lease,
                         struct priority_use *uses, int *n_uses)
{
    const struct run_table *table = runs_table(parts->runs);
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        int n_slots = 0;
        if (run == NULL || run->record == RUN_RECORD_ENDED || run->lease[0] != '\0') {
            continue;
        }
        for (int k = 0; k < run->n_hosts; k++) {
            n_slots += provider_own_used(parts->provider, lease, run->hosts[k].host) > 0
                           ? run->hosts[k].n_slots
                           : 0;
        }
        if (n_slots > 0) {
            uses[(*n_uses)++] = (struct priority_use){lease, run->priority, n_slots};
        }
    }
}

/* What the broker recalls by: of a leaf with several contracts, the least important
 * queue gives first, wherever its jobs run. */
static void read_uses(const struct site_usage_parts *parts, struct arena *arena,
                      struct msg_usage *usage)
{
    int n_leases = provider_count_leases(parts->provider), n_own = 0, n_all, n_uses = 0;
    const char **own = arena_alloc(arena, (size_t)n_leases, sizeof(*own));
    for (int i = 0; i < n_leases; i++) {
        const char *lease = provider_lease_id(parts->provider, i);
        if (is_own_leaf(parts, lease)) {
            own[n_own++] = arena_str(arena, lease);
        }
    }
    struct priority_use *uses =
        consumer_uses(parts->consumer, n_own * run_table_count(runs_table(parts->runs)),
                      arena, &n_all);
    for (int i = 0; i < n_own; i++) {
        add_own_uses(parts, own[i], uses, &n_all);
    }
    qsort(uses, (size_t)n_all, sizeof(*uses), compare_uses);
    for (int i = 0; i < n_all; i++) {
        if (n_uses > 0 && compare_uses(&uses[n_uses - 1], &uses[i]) == 0) {
            uses[n_uses - 1].n_slots += uses[i].n_slots;
        } else {
            uses[n_uses++] = uses[i];
        }
    }
    usage->uses = uses;
    usage->n_uses = n_uses;
}

static bool is_named(const struct site_usage_parts *parts,
                     const struct consumer_host *host)
{
    int preference;
    for (int i = 0; i < parts->config->n_queues; i++) {
        if (queue_allows(&parts->config->queues[i], host->name, host->site,
                         &preference)) {
            return true;
        }
    }
    return false;
}

/* A lease is unnamed if no queue names a host of it, so that the lease, which is not
 * made, will never be. Contracts, their hosts and demands are in one order. */
static void read_unnamed(const struct site_usage_parts *parts,
                         struct lease_demand *demands, int n_demands)
{
    int first = 0;
    for (int k = 0; k < n_demands; k++) {
        struct msg_contract contract;
        consumer_contract_at(parts->consumer, k, &contract);
        bool is_named_here = contract.is_made;
        for (int i = 0; i < contract.n_hosts && !is_named_here; i++) {
            struct consumer_host host;
            consumer_host_at(parts->consumer, first + i, &host);
            is_named_here = is_named(parts, &host);
        }
        first += contract.n_hosts;
        demands[k].is_unnamed = contract.n_hosts > 0 && !is_named_here;
    }
}

void site_usage_read(const struct site_usage_parts *parts, struct arena *arena,
                     struct msg_usage *usage)
{
    int64_t n_waiting = job_table_pending_slots(parts->jobs);
    *usage = (struct msg_usage){
        .n_waiting = n_waiting < INT_MAX ? (int)n_waiting : INT_MAX,
        .jobs = read_jobs(parts->jobs),
    };
    read_own(parts, usage);
    read_borrowed(parts, usage);
    int n_contracts = consumer_count_contracts(parts->consumer);
    int *waiting = arena_alloc(arena, (size_t)n_contracts, sizeof(*waiting));
    for (int i = 0; i < n_contracts; i++) {
        struct msg_contract contract;
        if (consumer_contract_at(parts->consumer, i, &contract)) {
            waiting[i] = scheduler_waiting_lease(parts->scheduler, contract.lease);
        }
    }
    struct lease_demand *demands = NULL;
    consumer_demands(parts->consumer, waiting, arena, &demands, &usage->n_demands);
    read_unnamed(parts, demands, usage->n_demands);
    usage->demands = demands;
    read_queues(parts, arena, usage);
    read_uses(parts, arena, usage);
}
