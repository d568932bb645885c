/* SPDX-License-Identifier: Apache-2.0 */
/* pending_reason_lease.c: why a pending job does not run on borrowed hosts, lease by
 * lease. */
#include "site/view/view_rows.h"

#include <string.h>

#include "site/view/site_view.h"

/* How many hosts of one lease the job could use. */
struct lease_hosts {
    int n_named;    /* in HOSTS of its queue */
    int n_asked;    /* of those, allowed by its -m */
    int n_avoided;  /* of those, excluded as the job has exited there (EXCLUDE) */
    int n_open;     /* of the others, available and not closed */
    int n_closed;   /* closed by an administrator of this site */
    int held, used; /* slots of the open ones */
    bool is_batch;  /* its provider takes no interactive jobs */
};

static void count_hosts(const struct site_view *view, const struct job *job,
                        const struct msg_contract *contract, struct lease_hosts *hosts)
{
    const struct queue_config *queue = &view->config->queues[job->queue];
    const struct host_list *asked = host_list_cache_get(view->host_lists, job);
    for (int i = 0; i < consumer_count_hosts(view->consumer); i++) {
        struct consumer_host host;
        int preference;
        consumer_host_at(view->consumer, i, &host);
        if (strcmp(host.lease, contract->lease) != 0 ||
            !queue_allows(queue, host.name, host.site, &preference)) {
            continue;
        }
        hosts->n_named++;
        hosts->is_batch = !host.takes_interactive;
        if (asked != NULL &&
            !host_list_allows(asked, host.name, host.site, &preference)) {
            continue;
        }
        hosts->n_asked++;
        if (host_list_avoids(asked, host.name)) {
            hosts->n_avoided++;
            continue;
        }
        if (host_admin_is_closed(view->host_admin, host.name)) {
            hosts->n_closed++;
        } else if (!host.is_down) {
            hosts->n_open++;
            hosts->held += host.n_held;
            hosts->used += host.n_used;
        }
    }
}

/* Reasons that hold for every job. */
static const char *reason_of_contract(const struct site_view *view,
                                      const struct msg_contract *contract)
{
    if (!site_uplink_is_up(view->uplink)) {
        return "the broker cannot be reached";
    }
    if (!contract->is_provider_here) {
        return "its provider is not connected";
    }
    if (contract->state == LEASE_INACTIVE) {
        return "its slots are being moved";
    }
    if (contract->state == LEASE_DRAINING) {
        return "it is draining";
    }
    return contract->n_recalls > 0 ? "the pool is recalling slots of it" : NULL;
}

/* Reasons that hold for this job whatever the state of the lease. */
static const char *reason_of_job(struct arena *arena, const struct job *job,
                                 const struct lease_hosts *hosts)
{
    if (hosts->n_named == 0) {
        return arena_printf(arena, "HOSTS of queue <%s> has none of its hosts",
                            job_queue_name(job));
    }
    if (job_reads_file(job->spec)) {
        return "its input file (-i) is read on own hosts alone";
    }
    if (hosts->is_batch && job->spec->interaction != INTERACTION_NONE) {
        return "its provider accepts no interactive jobs";
    }
    if (hosts->n_asked == 0) {
        return "none of its hosts is in the job's host list (-m)";
    }
    if (hosts->n_asked == hosts->n_avoided) {
        return "it has exited on each of its hosts with a code of EXCLUDE";
    }
    return NULL;
}

static const char *reason_of_hosts(struct arena *arena, const struct job *job,
                                   const struct msg_contract *contract,
                                   const struct lease_hosts *hosts)
{
    if (hosts->n_open == 0) {
        return hosts->n_closed > 0 ? "its hosts are closed here, or down"
                                   : "its hosts are down, or closed by their provider";
    }
    int n_idle = hosts->held > hosts->used ? hosts->held - hosts->used : 0;
    if (n_idle < job->spec->n_slots) {
        return arena_printf(arena, "needs slots: %d, idle: %d of %d held%s",
                            job->spec->n_slots, n_idle, hosts->held,
                            contract->is_made ? "" : "; the lease is not made yet");
    }
    const char *limit = job_class_verdict(job->pending_class)->limit;
    return limit != NULL ? arena_printf(arena, "it has room, but for limit %s", limit)
                         : "it may start with the next pass";
}

static const char *reason_of(const struct site_view *view, struct arena *arena,
                             const struct job *job, const struct msg_contract *contract)
{
    struct lease_hosts hosts = {0};
    if (job->queue < 0) {
        return arena_printf(arena, "queue <%s> is not configured", job_queue_name(job));
    }
    count_hosts(view, job, contract, &hosts);
    /* Lasting reasons come before those that pass by themselves. */
    const char *reason = reason_of_job(arena, job, &hosts);
    if (reason == NULL) {
        reason = reason_of_contract(view, contract);
    }
    return reason != NULL ? reason : reason_of_hosts(arena, job, contract, &hosts);
}

struct value *pending_reason_lease_list(const struct site_view *view,
                                        struct arena *arena, const struct job *job)
{
    if (job->state != JOB_PEND || job->attempt != 0 || job->pending_class == NULL ||
        job_class_verdict(job->pending_class)->reason == REASON_UNMET ||
        queue_table_veto(view->queues, job->queue,
                         view->event_ms + view->utc_offset_ms) != REASON_NEW) {
        return NULL;
    }
    struct value *list = value_array(arena);
    for (int i = 0; i < consumer_count_contracts(view->consumer); i++) {
        struct msg_contract contract;
        if (!consumer_contract_at(view->consumer, i, &contract) ||
            contract.state == LEASE_ENDED) {
            continue;
        }
        struct value *item = value_add(arena, list, NULL, value_object(arena));
        value_add_text(arena, item, "lease", arena_str(arena, contract.lease));
        value_add_text(arena, item, "reason", reason_of(view, arena, job, &contract));
    }
    return list;
}
