/* SPDX-License-Identifier: Apache-2.0 */
/* load_judge.h: whether the load of a host exceeds its thresholds, or the thresholds
 * and conditions of a queue. A condition is not met if the host does not report all of
 * its resources.
 *
 * Ownership: the parts are borrowed; texts live in the arena. Source: resource.h,
 * site_load.h. Layer: site. */
#ifndef SUBLET_SITE_LOAD_LOAD_JUDGE_H
#define SUBLET_SITE_LOAD_LOAD_JUDGE_H

#include "sched/resource/resource.h"
#include "site/config/site_config.h"
#include "site/resource/host_resources.h"
#include "site/run/host_table.h"

struct load_judge;
struct load_judge_parts {
    const struct site_config *config;
    const struct host_resources *host_resources;
    const struct host_table *hosts;
};
struct load_judge *load_judge_new(const struct load_judge_parts *parts);
void load_judge_free(struct load_judge *judge);
/* Values may have changed. */
void load_judge_clear(struct load_judge *judge, int n_queues);

/* One of a job's hosts, own or borrowed. */
struct load_judged_host {
    const char *host;
    int row;      /* of the table of resources */
    bool is_told; /* it reports its load */
    bool
        is_new; /* a borrowed host of which neither load nor thresholds are known yet */
    struct load_thresholds
        thresholds; /* its own, as its site has configured them ... */
    const struct resource_table *told; /* ... and what they are compared with */
    int told_row;
};
void load_judge_find_host(const struct load_judge *judge, const char *host, bool is_own,
                          struct load_judged_host *host_load);

/* True if the host exceeds loadSched for the queue (-1: any); `excess` says which
 * index. */
bool load_judge_bars_start(const struct load_judge *judge, int queue,
                           const struct load_judged_host *host_load,
                           struct load_excess *excess);
/* Why a job there must be suspended, "r1m 2.6 > 2 on n1", or NULL. */
const char *load_judge_stop_reason(struct load_judge *judge, struct arena *arena,
                                   int queue, const struct load_judged_host *host_load);
/* Why a suspended job there may not resume, or NULL. */
const char *load_judge_hold_reason(struct load_judge *judge, struct arena *arena,
                                   int queue, const struct load_judged_host *host_load);

/* PG_SUSP_IT: why a job that paging has suspended there may not resume yet, "it 0 min,
 * below 180 s on n1 (PG_SUSP_IT)", or NULL. */
const char *load_judge_idle_reason(const struct load_judge *judge, struct arena *arena,
                                   const struct load_judged_host *host_load);

#endif
