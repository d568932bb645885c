/* SPDX-License-Identifier: Apache-2.0 */
/* overload_judge.h: whether the load of a host is beyond what its thresholds, or those
 * and the conditions of a queue, allow: for a start, for a job that runs there, and for
 * one that stands still.
 *
 * A condition whose resources the host does not all tell is not met.
 *
 * Ownership: the parts are borrowed; texts live in the arena.
 * Source: load_threshold.h, overloads.h. Layer: site. */
#ifndef SUBLET_SITE_OVERLOAD_JUDGE_H
#define SUBLET_SITE_OVERLOAD_JUDGE_H

#include "sched/resource/load_threshold.h"
#include "site/facts.h"
#include "site/job/job.h"
#include "site/run/host_table.h"
#include "site/site.h"

struct overload_judge;
struct overload_judge_parts {
    const struct site_config *config;
    struct facts *facts;
    const struct host_table *hosts;
};
struct overload_judge *overload_judge_new(const struct overload_judge_parts *parts);
void overload_judge_free(struct overload_judge *judge);
/* Values may be others than before. */
void overload_judge_forget(struct overload_judge *judge, int n_queues);

/* One of a job's hosts, own or borrowed. */
struct overload_spot {
    const char *host;
    int row;      /* of the facts */
    bool is_told; /* it tells its load */
    bool is_new;  /* a borrowed one of which nothing is known yet, thresholds neither */
    struct load_thresholds
        thresholds; /* its own, as its site has configured them ... */
    const struct resource_table *told; /* ... and what they are compared with */
    int told_row;
};
void overload_judge_find(const struct overload_judge *judge, const char *host,
                         bool is_own, struct overload_spot *spot);

/* Nothing starts there from that queue (-1: of any): which index is beyond loadSched.
 */
bool overload_judge_bars(const struct overload_judge *judge, int queue,
                         const struct overload_spot *spot, struct load_excess *excess);
/* What runs there is to stand still: why, "r1m 2.6 > 2 on n1", or NULL. */
const char *overload_judge_stop(struct overload_judge *judge, struct arena *arena,
                                int queue, const struct overload_spot *spot);
/* What stands still there may not go on: why, or NULL. */
const char *overload_judge_hold(struct overload_judge *judge, struct arena *arena,
                                int queue, const struct overload_spot *spot);

#endif
