/* SPDX-License-Identifier: Apache-2.0 */
/* time_windows.h: suspends and resumes jobs by the time windows of queues and hosts.
 *
 * A job is suspended (SUSPEND_WINDOW), or terminated (TERMINATE_WHEN=WINDOW), while the
 * RUN_WINDOW of its queue or the RUNWINDOW of one of its hosts is closed. A host
 * accepts no new jobs while its RUNWINDOW or DISPATCH_WINDOW is closed, not from
 * consumers either; consumers' running jobs follow the windows of their own site.
 *
 * Windows are in the local time of the site. An hour that occurs twice is in a window
 * twice; a window in an hour that is skipped opens at the change.
 *
 * Units: milliseconds. Order: jobs by start. Source: LSF's lsb.queues, lsb.hosts,
 * lsf.cluster. Layer: site. */
#ifndef SUBLET_SITE_LOAD_TIME_WINDOWS_H
#define SUBLET_SITE_LOAD_TIME_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "site/config/site_config.h"
#include "site/job/queue_table.h"
#include "site/pass/pass_request.h"
#include "site/run/host_table.h"

struct time_windows_parts {
    const struct site_config *config;
    const struct queue_table *queues;
    const struct host_table *hosts;
    struct job_table *jobs;
    struct lifecycle *life;
    struct pass_request *pass_request;
};

struct time_windows {
    struct time_windows_parts parts;
    int64_t next_ms;       /* when the next window opens or closes; INT64_MAX: never */
    int64_t utc_offset_ms; /* the offset of next_ms */
    bool is_known;         /* the configuration was looked at */
};

/* After a reload. */
void time_windows_reload(struct time_windows *windows,
                         const struct site_config *config);
/* True if a window has opened or closed since the last call, or at the first call; then
 * the provider has to hear which hosts are closed, and time_windows_apply follows: jobs
 * are suspended, ended or resumed, and a pass is asked for. */
bool time_windows_have_changed(struct time_windows *windows, int64_t now_ms,
                               int64_t utc_offset_ms);
void time_windows_apply(struct time_windows *windows, int64_t now_ms,
                        struct effects *effects);
int64_t time_windows_wake_ms(const struct time_windows *windows, int64_t now_ms);

#endif
