/* SPDX-License-Identifier: Apache-2.0 */
/* time_windows.c: see site_load.h. */
#include "site/load/site_load.h"

#include "site/lifecycle/lifecycle.h"

void time_windows_reload(struct time_windows *windows, const struct site_config *config)
{
    windows->parts.config = config;
    windows->is_known = false;
}

int64_t time_windows_wake_ms(const struct time_windows *windows, int64_t now_ms)
{
    return windows->is_known ? windows->next_ms : now_ms;
}

static int64_t local_of(const struct time_windows *windows, int64_t now_ms)
{
    return now_ms + windows->utc_offset_ms;
}

/* ---------------------------------------------------------------- jobs */

static bool is_on_closed_host(const struct time_windows *windows, const struct job *job,
                              int64_t local_ms)
{
    for (int i = 0; job->lease[0] == '\0' && i < job->n_hosts; i++) {
        int host = host_table_find(windows->parts.hosts, job->hosts[i].host);
        if (host >= 0 &&
            !window_is_open(&windows->parts.config->hosts[host].run_windows,
                            local_ms)) {
            return true;
        }
    }
    return false;
}

static void apply_to_job(struct time_windows *windows, struct job *job, int64_t now_ms,
                         struct effects *effects)
{
    int64_t local_ms = local_of(windows, now_ms);
    bool is_closed = (job->queue >= 0 && !queue_table_may_run(windows->parts.queues,
                                                              job->queue, local_ms)) ||
                     is_on_closed_host(windows, job, local_ms);
    if (is_closed) {
        suspend_or_terminate(windows->parts.life, job, SUSPEND_WINDOW, 0, now_ms,
                             effects);
    } else {
        suspend_clear_cause(windows->parts.life, job, SUSPEND_WINDOW, now_ms, effects);
    }
}

/* From the last: a job that never began may end here, and those behind it move up. */
static void apply_to_all(struct time_windows *windows, int64_t now_ms,
                         struct effects *effects)
{
    for (int i = job_table_count_open(windows->parts.jobs) - 1; i >= 0; i--) {
        struct job *job = job_table_open_at(windows->parts.jobs, i);
        if (!job_is_ended(job) && !job->is_killed && !job_is_requeued(job)) {
            apply_to_job(windows, job, now_ms, effects);
        }
    }
}

/* ---------------------------------------------------------------- time */

static void take_sooner(int64_t *next_ms, const struct window_list *list,
                        int64_t local_ms)
{
    int64_t at_ms = window_next_ms(list, local_ms);
    *next_ms = at_ms < *next_ms ? at_ms : *next_ms;
}

static int64_t next_of(const struct time_windows *windows, int64_t now_ms)
{
    int64_t local_ms = local_of(windows, now_ms);
    int64_t next_ms = queue_table_next_ms(windows->parts.queues, local_ms);
    for (int i = 0; i < windows->parts.config->n_hosts; i++) {
        take_sooner(&next_ms, &windows->parts.config->hosts[i].run_windows, local_ms);
        take_sooner(&next_ms, &windows->parts.config->hosts[i].dispatch_windows,
                    local_ms);
    }
    return next_ms == INT64_MAX ? INT64_MAX : next_ms - windows->utc_offset_ms;
}

bool time_windows_have_changed(struct time_windows *windows, int64_t now_ms,
                               int64_t utc_offset_ms)
{
    if (windows->is_known && now_ms < windows->next_ms &&
        windows->utc_offset_ms == utc_offset_ms) {
        return false;
    }
    windows->utc_offset_ms = utc_offset_ms;
    windows->next_ms = next_of(windows, now_ms);
    windows->is_known = true;
    return true;
}

void time_windows_apply(struct time_windows *windows, int64_t now_ms,
                        struct effects *effects)
{
    apply_to_all(windows, now_ms, effects);
    pass_request_set(windows->parts.pass_request);
}
