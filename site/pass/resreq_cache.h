/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_cache.h: the compiled resource requirements of pending jobs and of the RES_REQ
 * of their queues. Jobs with equal strings share one match_class, which is compiled
 * when it is first seen. What they matched is carried over from pass to pass
 * (match_store.h).
 *
 * Ownership: config and resources are borrowed; a class belongs to the cache. Layer:
 * site. */
#ifndef SUBLET_SITE_PASS_RESREQ_CACHE_H
#define SUBLET_SITE_PASS_RESREQ_CACHE_H

#include "sched/resreq/resreq.h"
#include "site/config/site_config.h"
#include "site/pass/host_status.h"
#include "site/pass/match_store.h"
#include "site/pass/value_watch.h"
#include "site/resource/host_resources.h"

/* The fields are for resreq_match.h, which reads them. */
struct resreq_cache {
    const struct site_config *config;
    struct host_resources *host_resources;
    const struct resources *resources;      /* their catalogue */
    const struct host_status_parts *status; /* NULL: not connected yet */
    struct arena arena;                     /* of the classes */
    struct resreq_entry *by_key;
    struct value_watch *watch; /* of values that classes read */
    struct match_store *store; /* by class: the hosts that matched last */
};

struct match_class {
    struct resreq resreq;
    bool is_bad; /* the strings are not valid any more: no host matches */
    int index;   /* among the classes of the cache */
    int queue;   /* that may preempt, if the requirement names `status`; else -1 */
};

struct resreq_cache *resreq_cache_new(const struct site_config *config,
                                      struct host_resources *host_resources);
void resreq_cache_free(struct resreq_cache *cache);

/* Checks the strings of a job at submission, also against the RESRSV_LIMIT of its
 * queue, which does not apply to jobs that are already there, and its slots (up to
 * max_slots; 0: the spec's) against a compound requirement. A job with affinity has no
 * more than AFFINITY_TASKS_MAX slots, and is exclusive to other jobs (alljobs) only in
 * a queue with EXCLUSIVE, as cu[excl] is in one with EXCLUSIVE = CU. Notes and fault
 * point into them. */
int resreq_cache_check(const struct resreq_cache *cache, int queue,
                       const struct job_spec *spec, int max_slots,
                       struct resreq_notes *notes,
                       struct resreq_error *fault) MUST_CHECK;
/* True if the requirement or its rusage has alternatives (||), affinity or cu[excl].
 * The strings have been checked. */
bool resreq_cache_forbids_resize(const struct resreq_cache *cache, struct arena *arena,
                                 int queue, const struct job_spec *spec);

/* What a running job would reserve with the strings of `spec`, which have been checked.
 * ERR_PARSE if it has alternatives, cu or affinity: these are chosen at dispatch. */
int resreq_cache_rusage(const struct resreq_cache *cache, struct arena *arena,
                        int queue, const struct job_spec *spec,
                        struct resreq_rusages *rusages, struct err *err) MUST_CHECK;

/* What the job requires together with its queue and its application
 * (resreq_combined); NULL: its strings are not valid any more. */
const char *resreq_cache_combined(const struct resreq_cache *cache, struct arena *arena,
                                  int queue, const struct job_spec *spec);

/* The type of the compute units that such a job has exclusively; -1: none. Most jobs
 * are told by a glance at their strings; the others are compiled in the arena. */
int resreq_cache_exclusive_units(const struct resreq_cache *cache, struct arena *arena,
                                 int queue, const struct job_spec *spec);

/* The class of jobs of that queue with such strings; valid until the classes are
 * dropped. */
const struct match_class *resreq_cache_find(struct resreq_cache *cache,
                                            struct arena *scratch, int queue,
                                            const struct job_spec *spec);
/* Drops the classes if there are too many; true if it did. */
bool resreq_cache_trim(struct resreq_cache *cache);

#endif
