/* SPDX-License-Identifier: Apache-2.0 */
/* time_windows.h: what the time windows of queues and hosts do to jobs.
 *
 * While the RUN_WINDOW of its queue or the RUNWINDOW of one of its hosts is closed a
 * job stands still (HALT_WINDOW); where its queue says TERMINATE_WHEN=WINDOW it is
 * ended. A host takes nothing new while its RUNWINDOW or DISPATCH_WINDOW is closed, of
 * consumers neither; their jobs that run there run on, as their own site's windows say.
 *
 * Windows are in the site's local time, and the clock on the wall decides: an hour that
 * comes twice is in a window twice, and a window of an hour that is left out is open
 * from the leap on for as long as it has left.
 *
 * Units: milliseconds. Order: jobs as they began. Source: LSF's lsb.queues, lsb.hosts,
 * lsf.cluster. Layer: site. */
#ifndef SUBLET_SITE_LOAD_TIME_WINDOWS_H
#define SUBLET_SITE_LOAD_TIME_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "site/job/lifecycle.h"
#include "site/job/queue_table.h"
#include "site/pass/pass_request.h"
#include "site/run/host_table.h"
#include "site/site.h"

struct time_windows_parts {
    const struct site_config *config;
    const struct queue_table *queues;
    const struct host_table *hosts;
    const struct job_table *jobs;
    struct lifecycle *life;
    struct pass_request *pass_request;
};

struct time_windows {
    struct time_windows_parts parts;
    int64_t next_ms;       /* one opens or closes; INT64_MAX: none does */
    int64_t utc_offset_ms; /* that this was counted with */
    bool is_known;         /* the configuration was looked at */
};

/* Others are configured. */
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
