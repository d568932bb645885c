/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_load.c: suspension because of load (10), checked against the reports of
 * hosts. On a host beyond loadStop a job is suspended in time, and never too many at
 * once. */
#include "sim/invariant/invariant_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "site/site_dispatch.h"

enum {
    LEAST_MS = 15000, /* minimum between two changes because of load on a host */
    LATE_MS = LOAD_SUSPEND_LOOK_MS + 5000, /* tolerance for message delays */
};

static struct seen_load *see_load(struct invariants *invariants, const char *site,
                                  const char *host)
{
    char key[INVARIANTS_KEY_SIZE];
    struct seen_load *load;

    invariant_state_key(key, site, host, NULL);
    load = invariant_state_find(invariants->loads, key);
    if (!load) {
        load = invariant_state_see(&invariants->loads, key, sizeof *load);
        load->acted_ms = load->begun_ms = load->since_ms = -1;
    }
    return load;
}

/* ---- one at a time */

/* True if load alone suspends or resumes the job. */
static bool is_change(int before, int after)
{
    return (before == 0 && after == SUSPEND_LOAD) ||
           (before == SUSPEND_LOAD && after == 0);
}

/* Records that load no longer suspends the job but slots are missing. The interval of
 * its hosts begins when it resumes. */
static void see_waiting(struct invariants *invariants, const char *site,
                        const struct row_job_state *row, struct seen_job *job)
{
    int after = row->suspension.causes;

    if (job->is_let_go && after == 0) {
        for (int i = 0; i < row->n_hosts; i++) {
            see_load(invariants, site, row->hosts[i].host)->begun_ms =
                invariants->now_ms;
        }
    }
    bool is_new = job->causes == SUSPEND_LOAD && after == SUSPEND_PREEMPT &&
                  row->suspension.by == 0;
    job->is_let_go = is_new || (job->is_let_go && after != 0);
}

bool invariant_load_causes_changed(struct invariants *invariants, const char *site,
                                   const struct row_job_state *row,
                                   struct seen_job *job, struct invariants_text *text)
{
    int before = job->causes;

    see_waiting(invariants, site, row, job);
    job->causes = row->suspension.causes;
    if (row->attempt == 0 || row->state == JOB_DONE || row->state == JOB_EXIT ||
        !is_change(before, row->suspension.causes)) {
        return true;
    }
    int n_early = 0, early = 0;
    for (int i = 0; i < row->n_hosts; i++) {
        struct seen_load *load = see_load(invariants, site, row->hosts[i].host);

        if (load->acted_ms >= 0 && invariants->now_ms - load->acted_ms < LEAST_MS) {
            n_early++;
            early = i;
        }
        load->acted_ms = invariants->now_ms;
    }
    /* One host of the job causes the suspension; all its hosts must allow the
     * resumption. */
    int n_most = before == 0 ? row->n_hosts - 1 : 0;
    return n_early <= n_most ||
           invariant_state_fail(text, "load changed two jobs on %s of %s within %d ms",
                                row->hosts[early].host, site, LEAST_MS);
}

/* ---- in time */

static bool is_beyond(const struct site_view *site,
                      const struct load_thresholds *thresholds, int host)
{
    const struct resource_table *table = host_resources_values(site->host_resources);

    for (int i = 0; i < thresholds->n_items; i++) {
        const struct load_threshold *at = &thresholds->items[i];
        double value = resource_table_number(table, host, at->id);
        double bound = at->bounds[LOAD_STOP];
        bool is_up =
            resources_at(host_resources_catalogue(site->host_resources), at->id)
                ->is_increasing;

        if (at->has[LOAD_STOP] && resource_table_has(table, host, at->id) &&
            (is_up ? value > bound : value < bound)) {
            return true;
        }
    }
    return false;
}

static bool is_on(const struct job *job, const char *host)
{
    for (int i = 0; job->lease[0] == '\0' && i < job->n_hosts; i++) {
        if (!strcmp(job->hosts[i].host, host)) {
            return true;
        }
    }
    return false;
}

/* True if a job on the host should be suspended and none is. */
static bool is_owed(const struct site_view *site, int host)
{
    const char *name = host_table_name(site->hosts, host);
    bool is_found = false;

    for (int i = 0; i < job_table_count_open(site->jobs); i++) {
        const struct job *job = job_table_open_at_const(site->jobs, i);
        bool runs = job->state == JOB_RUN && job->suspension.causes == 0 &&
                    !job->is_killed && !job_is_requeued(job);

        if (!is_on(job, name)) {
            continue;
        }
        is_found =
            is_found ||
            (runs &&
             (is_beyond(site, &site->config->hosts[host].thresholds, host) ||
              (job->queue >= 0 &&
               is_beyond(site, &site->config->queues[job->queue].thresholds, host))));
    }
    return is_found && host_resources_is_reported(site->host_resources, host);
}

/* A restarted site has lost the times of the last changes, also of borrowed hosts. */
static void forget_intervals(struct invariants *invariants, const char *site)
{
    size_t length = strlen(site);

    for (struct seen *at = invariants->loads; at; at = at->hh.next) {
        if (!strncmp(at->key, site, length) && at->key[length] == ' ') {
            struct seen_load *load = (struct seen_load *)at;

            load->acted_ms = load->begun_ms = -1;
        }
    }
}

bool invariant_load_check(struct invariants *invariants,
                          const struct invariants_site *of, bool is_restarted,
                          struct invariants_text *text)
{
    const struct site_view view = site_dispatch_view(of->site, invariants->now_ms);
    const struct site_view *site = &view;

    if (is_restarted) {
        forget_intervals(invariants, of->config->name);
    }
    for (int i = 0; site->config->has_thresholds && i < site->config->n_hosts; i++) {
        const char *host = host_table_name(site->hosts, i);
        struct seen_load *load = see_load(invariants, of->config->name, host);
        bool is_due = is_owed(site, i) &&
                      invariant_host_count_runs(invariants, of->config->name, host) > 1;

        if (!is_due || is_restarted || load->since_ms < 0) {
            load->since_ms = is_due ? site->event_ms : -1;
        }
        int64_t last_ms =
            load->begun_ms > load->acted_ms ? load->begun_ms : load->acted_ms;
        int64_t turn_ms = last_ms >= 0 ? last_ms + site->config->load_interval_ms : 0;
        int64_t from_ms = load->since_ms > turn_ms ? load->since_ms : turn_ms;
        if (is_due && site->event_ms - from_ms > LATE_MS) {
            return invariant_state_fail(text,
                                        "%s of %s is beyond loadStop since %" PRId64
                                        " ms, and no job there is suspended",
                                        host, of->config->name,
                                        site->event_ms - from_ms);
        }
    }
    return true;
}
