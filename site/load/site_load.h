/* SPDX-License-Identifier: Apache-2.0 */
/* site_load.h: what suspends jobs and closes hosts without an order of a user: load
 * thresholds and time windows.
 *
 * Layer: site. */
#ifndef SUBLET_SITE_LOAD_SITE_LOAD_H
#define SUBLET_SITE_LOAD_SITE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "sched/place/place.h"
#include "site/config/site_config.h"
#include "site/job/job.h"
#include "site/job/queue_table.h"
#include "site/pass/pass_request.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"

/* ---------------------------------------------------------- load_suspend.c */

/* Suspends and resumes jobs by the load of their hosts, by load
 * thresholds (resource.h) and by STOP_COND and RESUME_COND of queues.
 *
 * No job starts on a host that exceeds loadSched of the host or of the queue. A running
 * job is suspended (SUSPEND_LOAD), or terminated (TERMINATE_WHEN), if a host exceeds
 * loadStop or the job meets STOP_COND, unless it is the only job there and nobody uses
 * the host interactively (it > 0). It resumes once each host is within loadStop and
 * loadSched, or meets RESUME_COND instead of loadSched. Jobs that are suspended for
 * another cause resume by the same rule.
 *
 * Per host, at most one job is suspended or resumed in each SBD_SLEEP_TIME, so that the
 * load can show the effect. A parallel job counts for each of its hosts and resumes
 * once all of them allow it. A job that load allows to resume but that waits for slots
 * blocks other resumes on its hosts until it runs, but no suspensions. Suspension
 * starts with the queue of lowest priority and, within it, the job that started last.
 * Resumption starts with the highest priority and, within it, the job suspended
 * longest.
 *
 *     0 s     load releases 7, which waits for slots   8 resumes no earlier than 30 s
 *     12 s    7 gets its slots and resumes             8 resumes no earlier than 42 s
 *
 * A host that reports no load (away, or in a simulation) neither blocks starts nor
 * suspends or resumes a job. Only jobs of this site are suspended: a consumer gets the
 * thresholds of the host with its load. Of jobs on a borrowed host only own ones are
 * known.
 *
 * Units: milliseconds. Ownership: the parts are borrowed. Intervals are in memory only.
 * Source: LSF's load thresholds; docs/adr/0016. */

enum { LOAD_SUSPEND_LOOK_MS = 5000 }; /* least time between two looks */

struct load_suspend;
struct load_suspend_parts {
    const struct site_config *config;
    const struct host_resources *host_resources;
    const struct host_table *hosts;
    struct job_table *jobs;
    const struct runs *runs;
    struct lifecycle *life;
    struct pass_request *pass_request;
};

struct load_suspend *load_suspend_new(const struct load_suspend_parts *parts);
void load_suspend_free(struct load_suspend *load);
/* After a reload. */
void load_suspend_reload(struct load_suspend *load, const struct site_config *config,
                         const struct host_resources *host_resources);

/* Load, or the running jobs, have changed. `is_told`: a host has reported its load, so
 * that jobs that pend for it are looked at too. */
void load_suspend_mark(struct load_suspend *load, bool is_told);
/* A borrowed host has thresholds, whatever is configured here. */
void load_suspend_enable(struct load_suspend *load);
void load_suspend_tick(struct load_suspend *load, int64_t now_ms,
                       struct effects *effects);
int64_t load_suspend_wake_ms(const struct load_suspend *load, int64_t now_ms);
/* The job has slots and resumes. */
void load_suspend_note_resumed(struct load_suspend *load, const struct job *job,
                               int64_t now_ms);
/* The number of jobs suspended or terminated for load since the start. */
uint64_t load_suspend_count(const struct load_suspend *load);

/* What a suspended job waits for of the load of its hosts, or NULL. */
const char *load_suspend_hold_reason(struct load_suspend *load, struct arena *arena,
                                     const struct job *job);

/* By queue and host the load that prevents a start; NULL: none. */
const struct load_excess *const *load_suspend_snapshot(const struct load_suspend *load,
                                                       struct arena *arena,
                                                       const struct place_host *hosts,
                                                       int n_hosts);
/* True if the host, own or borrowed, exceeds its own loadSched. */
bool load_suspend_is_host_busy(const struct load_suspend *load, const char *host,
                               bool is_own, struct load_excess *excess);
/* The thresholds that an own host exceeds, as bits. */
unsigned load_suspend_exceeded(const struct load_suspend *load, int host);

/* ---------------------------------------------------------- time_windows.c */

/* Suspends and resumes jobs by the time windows of queues and hosts.
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
 * lsf.cluster. */

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
