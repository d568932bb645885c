/* SPDX-License-Identifier: Apache-2.0 */
/* load_suspend.h: what the load of hosts does to jobs, by load thresholds
 * (load_threshold.h) and by STOP_COND and RESUME_COND of queues.
 *
 * Nothing starts on a host that is beyond loadSched of its own or of the job's queue.
 * A job that runs on one beyond loadStop of either, or that meets STOP_COND, stands
 * still (HALT_LOAD), or is ended (TERMINATE_WHEN); but for the only one that runs there
 * where nobody is at the host (it > 0). It goes on once each of its hosts is within
 * loadStop and loadSched, or meets RESUME_COND instead of loadSched; so does one that
 * stands still for another cause.
 *
 * Of a host one job is suspended or goes on in SBD_SLEEP_TIME: the load has to show
 * what that did. A parallel job is suspended once it is the turn of the host whose load
 * it is, and goes on once it is that of all; either counts for each. One that load lets
 * go and that waits for slots then has done nothing to it yet: nobody else is let go
 * meanwhile, but others may be suspended, until it goes on. Suspended first is who goes
 * on last: queues by priority, of one queue the youngest start first, longest suspended
 * on first.
 *
 * A host that tells nothing (away, or in a simulation) is within all, and neither
 * suspends a job nor lets it go on. Own jobs alone: whether a consumer's job stands
 * still is its own site's word, which is told the host's thresholds along with its
 * load. Of jobs on a borrowed host only own ones are known.
 *
 * Units: milliseconds. Ownership: the parts are borrowed. What was done last to
 * a host is in memory only. Source: LSF's load thresholds; ADR 0030, 0039.
 * Layer: site. */
#ifndef SUBLET_SITE_LOAD_LOAD_SUSPEND_H
#define SUBLET_SITE_LOAD_LOAD_SUSPEND_H

#include "model/effect.h"
#include "sched/place/place.h"
#include "site/job/job.h"
#include "site/job/lifecycle.h"
#include "site/pass/pass_request.h"
#include "site/resource/host_resources.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"
#include "site/site.h"

enum {
    LOAD_SUSPEND_LOOK_MS = 5000
}; /* looks are this far apart: hosts tell at any time */

struct load_suspend;
struct load_suspend_parts {
    const struct site_config *config;
    struct host_resources *facts;
    const struct host_table *hosts;
    const struct job_table *jobs;
    const struct runs *runs;
    struct lifecycle *life;
    struct pass_request *pass_request;
};

struct load_suspend *load_suspend_new(const struct load_suspend_parts *parts);
void load_suspend_free(struct load_suspend *overloads);
/* Another configuration, another catalogue. */
void load_suspend_reload(struct load_suspend *overloads,
                         const struct site_config *config,
                         struct host_resources *facts);

/* Load, or who runs where, is another: it is looked at again. `is_told`: a host has
 * told its load, so that jobs that wait for it are looked at too. */
void load_suspend_mark(struct load_suspend *overloads, bool is_told);
/* A borrowed host has thresholds: load counts here, whatever is configured. */
void load_suspend_enable(struct load_suspend *overloads);
void load_suspend_tick(struct load_suspend *overloads, int64_t now_ms,
                       struct effects *effects);
int64_t load_suspend_wake_ms(const struct load_suspend *overloads, int64_t now_ms);
/* The job has found slots, and goes on. */
void load_suspend_note_resumed(struct load_suspend *overloads, const struct job *job,
                               int64_t now_ms);
/* How many jobs load has suspended or ended since the start. */
uint64_t load_suspend_count(const struct load_suspend *overloads);

/* What a job that stands still waits for of its hosts' load, or NULL. */
const char *load_suspend_hold_reason(struct load_suspend *overloads,
                                     struct arena *arena, const struct job *job);

/* Of a pass: by queue and host what stands against a start there. NULL: nothing. */
const struct load_excess *const *
load_suspend_snapshot(const struct load_suspend *overloads, struct arena *arena,
                      const struct place_host *hosts, int n_hosts);
/* The host, own or borrowed, is beyond loadSched of its own. */
bool load_suspend_is_host_busy(const struct load_suspend *overloads, const char *host,
                               bool is_own, struct load_excess *excess);
/* Of an own host: which sides of its thresholds it is beyond, as bits. */
unsigned load_suspend_exceeded(const struct load_suspend *overloads, int host);

#endif
