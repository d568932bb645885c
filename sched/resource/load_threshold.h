/* SPDX-License-Identifier: Apache-2.0 */
/* load_threshold.h: load thresholds of hosts and queues: which load stands against
 * starting a job on a host, and which suspends one that runs there.
 *
 *     r1m = 0.7/2.0    nothing starts above 0.7, what runs is suspended above 2.0
 *     mem = 500/100    an index that falls with load: below 500, below 100
 *     it  = /10        loadStop alone; tmp = 200 or tmp = 200/: loadSched alone
 *
 * A value that is the threshold is within it. Nothing starts beyond loadStop either, or
 * it would be suspended, or ended and started again, at once. The run queues (r15s,
 * r1m, r15m) are compared for each core (or ncpus, where those are more), as LSF does
 * with its effective run queue length; a host that does not tell them has one. What a
 * host does not tell is beyond loadSched, and not beyond loadStop.
 *
 * Units: resource.h. Order: of several indices that are beyond the first by id, which
 * is LSF's order. Ownership: the arena's. Errors: ERR_PARSE, ERR_BOUNDS.
 * Source: LSF's lsb.queues and lsb.hosts (load_index); ADR 0030.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESOURCE_LOAD_THRESHOLD_H
#define SUBLET_SCHED_RESOURCE_LOAD_THRESHOLD_H

#include "base/arena.h"
#include "sched/resource/resource_table.h"

enum load_threshold_kind { LOAD_SCHED, LOAD_STOP };
enum { LOAD_THRESHOLD_KINDS = LOAD_STOP + 1 };

/* Of one index. */
struct load_threshold {
    int id; /* of the resource */
    bool has[LOAD_THRESHOLD_KINDS];
    double bounds[LOAD_THRESHOLD_KINDS];
};

struct load_thresholds {
    const struct load_threshold *items; /* by id, each once */
    int n_items;
};

/* An index that is beyond its threshold. */
struct load_excess {
    const char *index; /* the catalogue's; NULL: none is */
    bool is_increasing;
    bool is_unknown; /* the host does not tell it */
    double value, bound;
};

/* True where the resource may have thresholds: a number that changes. */
bool load_threshold_is_index(const struct resource *resource, int id);

/* "0.7/2.0", of that resource. */
int load_threshold_parse(const struct resources *resources, int id, const char *text,
                         struct load_threshold *threshold, struct err *err) MUST_CHECK;
/* The same back: what load_threshold_parse takes. */
const char *load_threshold_format(struct arena *arena,
                                  const struct load_threshold *threshold);
/* loadStop comes before loadSched: a job could start and be suspended at once. */
bool load_threshold_is_inverted(const struct resources *resources,
                                const struct load_threshold *threshold);

/* True where an index of that row is beyond; then which. */
bool load_thresholds_find(const struct load_thresholds *thresholds,
                          const struct resource_table *table, int row,
                          enum load_threshold_kind side, struct load_excess *excess);

/* "r1m 2.6 > 2", "mem 80 < 100", "licload is not told". */
const char *load_threshold_text(struct arena *arena, const struct load_excess *excess);

#endif
