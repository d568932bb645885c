/* SPDX-License-Identifier: Apache-2.0 */
/* load_threshold.h: load thresholds of hosts and queues: the load at which no job is
 * started on a host any more (loadSched), and at which its jobs are suspended
 * (loadStop).
 *
 *     r1m = 0.7/2.0    no job starts above 0.7, running jobs are suspended above 2.0
 *     mem = 500/100    an index that decreases with load: below 500, below 100
 *     it  = /10        loadStop alone; tmp = 200 or tmp = 200/: loadSched alone
 *
 * A value equal to the threshold does not exceed it. A start also requires that
 * loadStop is not exceeded, because the job would be suspended, or ended and started
 * again, at once. The run queues (r15s, r1m, r15m) are compared per core (or per CPU of
 * ncpus, if there are more), like LSF's effective run queue length. A host that reports
 * neither counts as one core. A value that a host does not report exceeds loadSched,
 * but not loadStop.
 *
 * Units: resource.h. Order: if several indices exceed their thresholds, the one with
 * the lowest id is named, as in LSF. Ownership: the arena's. Errors: ERR_PARSE,
 * ERR_BOUNDS. Source: LSF's lsb.queues and lsb.hosts (load_index); docs/adr/0016.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESOURCE_LOAD_THRESHOLD_H
#define SUBLET_SCHED_RESOURCE_LOAD_THRESHOLD_H

#include "base/arena.h"
#include "sched/resource/resource.h"

enum load_threshold_kind { LOAD_SCHED, LOAD_STOP };
enum { LOAD_THRESHOLD_KINDS = LOAD_STOP + 1 };

/* The thresholds of one load index. */
struct load_threshold {
    int id; /* id of the resource */
    bool has[LOAD_THRESHOLD_KINDS];
    double bounds[LOAD_THRESHOLD_KINDS];
};

struct load_thresholds {
    const struct load_threshold *items; /* ordered by id, each at most once */
    int n_items;
};

/* A load index that exceeds its threshold. */
struct load_excess {
    const char *index; /* owned by the catalogue; NULL: none */
    bool is_increasing;
    bool is_unknown; /* the host does not report it */
    double value, bound;
};

/* True if the resource may have thresholds: it is dynamic and numeric. */
bool load_threshold_is_index(const struct resource *resource, int id);

/* Parses "0.7/2.0" for that resource. */
int load_threshold_parse(const struct resources *resources, int id, const char *text,
                         struct load_threshold *threshold, struct err *err) MUST_CHECK;
/* Writes thresholds as load_threshold_parse reads them. */
const char *load_threshold_format(struct arena *arena,
                                  const struct load_threshold *threshold);
/* True if loadStop is stricter than loadSched: a job could be started and then
 * suspended at once. */
bool load_threshold_is_inverted(const struct resources *resources,
                                const struct load_threshold *threshold);

/* True if a load index of that row exceeds its threshold; `excess` says which. */
bool load_thresholds_find(const struct load_thresholds *thresholds,
                          const struct resource_table *table, int row,
                          enum load_threshold_kind side, struct load_excess *excess);

/* "r1m 2.6 > 2", "mem 80 < 100", "licload is not reported". */
const char *load_threshold_text(struct arena *arena, const struct load_excess *excess);

#endif
