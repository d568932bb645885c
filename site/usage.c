/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c: see usage.h. */
#include "site/usage.h"

#include <limits.h>

#include "site/parts.h"

static void read_own(const struct site *site, struct msg_usage *usage)
{
    for (int i = 0; i < site_hosts_count(site->hosts); i++) {
        const char *name = site_hosts_name(site->hosts, i);
        int max = site_hosts_max(site->hosts, i);
        int own, consumers;
        run_table_used(runs_table(site->runs), i, &own, &consumers);
        int may = provider_local_max(site->provider, name, max, own);
        usage->n_own += max;
        usage->n_own_used += own;
        usage->n_lent += provider_lent(site->provider, name);
        bool is_open = site_hosts_is_ready(site->hosts, i) &&
                       !run_table_is_taken(runs_table(site->runs), i);
        usage->n_idle += is_open && may > own ? may - own : 0;
    }
}

static void read_borrowed(const struct site *site, struct msg_usage *usage)
{
    for (int i = 0; i < consumer_count_hosts(site->consumer); i++) {
        struct consumer_host host;
        consumer_host_at(site->consumer, i, &host);
        usage->n_borrowed += host.n_held;
        usage->n_idle +=
            host.is_open && host.n_held > host.n_used ? host.n_held - host.n_used : 0;
    }
}

static struct msg_job_counts read_jobs(const struct jobs *jobs)
{
    return (struct msg_job_counts){
        .pend = jobs_count_state(jobs, JOB_PEND),
        .psusp = jobs_count_state(jobs, JOB_PSUSP),
        .run = jobs_count_state(jobs, JOB_RUN),
        .ususp = jobs_count_state(jobs, JOB_USUSP),
        .ssusp = jobs_count_state(jobs, JOB_SSUSP),
        .unkwn = jobs_count_state(jobs, JOB_UNKWN),
        .done = jobs_count_state(jobs, JOB_DONE),
        .exit = jobs_count_state(jobs, JOB_EXIT),
    };
}

void usage_read(const struct site *site, struct arena *arena, struct msg_usage *usage)
{
    int64_t n_waiting = jobs_waiting_slots(site->jobs);
    *usage =
        (struct msg_usage){.n_waiting = n_waiting < INT_MAX ? (int)n_waiting : INT_MAX,
                           .jobs = read_jobs(site->jobs),
                           .n_passes = site->n_passes,
                           .passes_us = site->passes_us,
                           .pass_times = site->pass_times};
    read_own(site, usage);
    read_borrowed(site, usage);
    int n_contracts = consumer_count_contracts(site->consumer);
    int *waiting = arena_alloc(arena, (size_t)n_contracts, sizeof(*waiting));
    for (int i = 0; i < n_contracts; i++) {
        struct msg_contract contract;
        if (consumer_contract_at(site->consumer, i, &contract)) {
            waiting[i] = schedule_waiting_lease(site->schedule, contract.lease);
        }
    }
    struct lease_demand *demands = NULL;
    consumer_demands(site->consumer, waiting, arena, &demands, &usage->n_demands);
    usage->demands = demands;
}
