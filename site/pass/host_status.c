/* SPDX-License-Identifier: Apache-2.0 */
/* host_status.c: see host_status.h. */
#include "site/pass/host_status.h"

#include <string.h>

struct host_state {
    const char *name;
    bool is_own, is_closed, is_window_closed, is_used_exclusively;
    bool is_open; /* it is connected, and its lease can be used */
    int used, max;
};

static bool is_busy(const struct host_status_parts *parts,
                    const struct host_state *host)
{
    struct load_excess excess;
    return load_suspend_is_host_busy(parts->load_suspend, host->name, host->is_own,
                                     &excess);
}

/* Its load is looked at last, as that takes the longest. */
static const char *status_of(const struct host_status_parts *parts,
                             const struct host_state *host)
{
    /* A borrowed host that an exclusive job uses is not open to others. */
    if (!host->is_open && !host->is_used_exclusively) {
        return "unavail";
    }
    return host->is_closed             ? "closed_Adm"
           : host->is_window_closed    ? "closed_Wind"
           : host->is_used_exclusively ? "closed_Excl"
           : host->used >= host->max   ? "closed_Full"
           : is_busy(parts, host)      ? "closed_Busy"
                                       : "ok";
}

static const char *status_of_own(const struct host_status_parts *parts, int index,
                                 int64_t local_ms)
{
    const char *name = host_table_name(parts->hosts, index);
    const struct run_table_use *use = run_table_use(runs_table(parts->runs), index);
    struct host_state state = {
        .name = name,
        .is_own = true,
        .is_closed = parts->config->hosts[index].is_leaving ||
                     host_table_is_out(parts->hosts, index) ||
                     host_admin_is_closed(parts->host_admin, name),
        .is_window_closed = host_table_is_window_closed(parts->hosts, index, local_ms),
        .is_used_exclusively = capacity_is_used_exclusively(parts->capacity, index),
        .is_open = host_table_is_ready(parts->hosts, index),
        .used = use->own + use->consumers + host_table_foreign(parts->hosts, index),
        .max = host_table_max(parts->hosts, index),
    };
    return status_of(parts, &state);
}

static int find_borrowed(const struct host_status_parts *parts, const char *lease,
                         const char *name)
{
    struct consumer_host host;
    for (int i = 0; i < consumer_count_hosts(parts->consumer); i++) {
        consumer_host_at(parts->consumer, i, &host);
        if (strcmp(host.lease, lease) == 0 && strcmp(host.name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* By borrowed host: an exclusive job of this site uses it. */
static const bool *list_exclusive(const struct host_status_parts *parts,
                                  struct arena *arena)
{
    int n_borrowed = consumer_count_hosts(parts->consumer);
    bool *is_used = arena_alloc(arena, (size_t)n_borrowed + 1, sizeof(*is_used));
    for (int i = 0; n_borrowed > 0 && i < job_table_count_open(parts->jobs); i++) {
        const struct job *job = job_table_open_at_const(parts->jobs, i);
        bool is_there = job->spec->is_exclusive && job->lease[0] != '\0';
        for (int k = 0; is_there && k < job->n_hosts; k++) {
            int index = find_borrowed(parts, job->lease, job->hosts[k].host);
            if (index >= 0) {
                is_used[index] = true;
            }
        }
    }
    return is_used;
}

static const char *status_of_borrowed(const struct host_status_parts *parts, int index,
                                      bool is_used_exclusively)
{
    struct consumer_host host;
    consumer_host_at(parts->consumer, index, &host);
    struct host_state state = {
        .name = host.name,
        .is_closed = host_admin_is_closed(parts->host_admin, host.name),
        .is_used_exclusively = is_used_exclusively,
        .is_open = host.is_open,
        .used = host.n_used,
        .max = host.n_held,
    };
    return status_of(parts, &state);
}

const char *const *host_status_list(const struct host_status_parts *parts,
                                    struct arena *arena, int64_t local_ms)
{
    int n_own = host_table_count(parts->hosts);
    int n_hosts = n_own + consumer_count_hosts(parts->consumer);
    const char **statuses = arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*statuses));
    const bool *is_exclusive = list_exclusive(parts, arena);
    for (int i = 0; i < n_hosts; i++) {
        statuses[i] =
            i < n_own ? status_of_own(parts, i, local_ms)
                      : status_of_borrowed(parts, i - n_own, is_exclusive[i - n_own]);
    }
    return statuses;
}

const bool *host_status_preemptable(const struct host_status_parts *parts,
                                    struct arena *arena, const struct place_host *hosts,
                                    int n_hosts, int queue)
{
    bool *has_any = arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*has_any));
    for (int i = 0; i < job_table_count_open(parts->jobs); i++) {
        const struct job *job = job_table_open_at_const(parts->jobs, i);
        int level;
        if (job->state != JOB_RUN || job->queue < 0 ||
            !preempt_policy_may(&parts->config->preempt, parts->config->queues, queue,
                                job->queue, &level)) {
            continue;
        }
        for (int k = 0; k < job->n_hosts; k++) {
            int index = capacity_find_host(parts->hosts, hosts, n_hosts, job->lease,
                                           job->hosts[k].host);
            if (index >= 0) {
                has_any[index] = true;
            }
        }
    }
    return has_any;
}
