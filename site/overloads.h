/* SPDX-License-Identifier: Apache-2.0 */
/* overloads.h: what the load of hosts does to jobs, by load thresholds
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
#ifndef SUBLET_SITE_OVERLOADS_H
#define SUBLET_SITE_OVERLOADS_H

#include "model/effect.h"
#include "sched/place/place.h"
#include "site/facts.h"
#include "site/job/job.h"
#include "site/job/lifecycle.h"
#include "site/pass_request.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"
#include "site/site.h"

enum {
    OVERLOADS_LOOK_MS = 5000
}; /* looks are this far apart: hosts tell at any time */

struct overloads;
struct overloads_parts {
    const struct site_config *config;
    struct facts *facts;
    const struct host_table *hosts;
    const struct job_table *jobs;
    const struct runs *runs;
    struct lifecycle *life;
    struct pass_request *pass_request;
};

struct overloads *overloads_new(const struct overloads_parts *parts);
void overloads_free(struct overloads *overloads);
/* Another configuration, another catalogue. */
void overloads_reload(struct overloads *overloads, const struct site_config *config,
                      struct facts *facts);

/* Load, or who runs where, is another: it is looked at again. `is_told`: a host has
 * told its load, so that jobs that wait for it are looked at too. */
void overloads_mark(struct overloads *overloads, bool is_told);
/* A borrowed host has thresholds: load counts here, whatever is configured. */
void overloads_use(struct overloads *overloads);
void overloads_tick(struct overloads *overloads, int64_t now_ms,
                    struct effects *effects);
int64_t overloads_wake_ms(const struct overloads *overloads, int64_t now_ms);
/* The job has found slots, and goes on. */
void overloads_begin(struct overloads *overloads, const struct job *job,
                     int64_t now_ms);
/* How many jobs load has suspended or ended since the start. */
uint64_t overloads_count(const struct overloads *overloads);

/* What a job that stands still waits for of its hosts' load, or NULL. */
const char *overloads_hold(struct overloads *overloads, struct arena *arena,
                           const struct job *job);

/* Of a pass: by queue and host what stands against a start there. NULL: nothing. */
const struct load_excess *const *overloads_show(const struct overloads *overloads,
                                                struct arena *arena,
                                                const struct place_host *hosts,
                                                int n_hosts);
/* The host, own or borrowed, is beyond loadSched of its own. */
bool overloads_is_busy(const struct overloads *overloads, const char *host, bool is_own,
                       struct load_excess *excess);
/* Of an own host: which sides of its thresholds it is beyond, as bits. */
unsigned overloads_sides(const struct overloads *overloads, int host);

#endif
