/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_match.h: matches the resource requirements of pending jobs and of the RES_REQ
 * of their queues with the hosts of a pass, and orders the hosts.
 *
 * A class of requirements is matched once in a pass, over the known values of all hosts
 * less what running jobs reserve as the pass begins (site_ledger.h). `local` is the
 * type and model of the first host on this machine (HOSTS_HERE), else of the first
 * host; a host of unknown type counts as local. A job without any string requires
 * type==local and no exclusive hosts.
 *
 * `status` is that of host_status.h, with one exception: to a job of a queue that may
 * preempt, a host that is closed_Full is ok if it runs a job that the queue may
 * preempt.
 *
 * Ownership: all of it lives in the arena of the pass. Layer: site. */
#ifndef SUBLET_SITE_PASS_RESREQ_MATCH_H
#define SUBLET_SITE_PASS_RESREQ_MATCH_H

#include "sched/place/place.h"
#include "site/ledger/site_ledger.h"
#include "site/pass/resreq_cache.h"

struct resreq_match;
/* Of these hosts: own hosts as configured, then borrowed ones. `affinity` is by host;
 * NULL: none takes jobs with affinity. `local_ms` is the time
 * of the windows of hosts. In the arena. */
struct resreq_match *resreq_match_new(struct resreq_cache *cache, struct arena *arena,
                                      const struct place_host *hosts, int n_hosts,
                                      struct rusage_pass *rusage_pass,
                                      const struct affinity_host *affinity,
                                      int64_t local_ms);
const struct match_class *resreq_match_find(const struct resreq_match *match, int queue,
                                            const struct job_spec *spec);
/* The hosts of the pass that match; NULL: all. */
const struct place_filter *resreq_match_filter(struct resreq_match *match,
                                               const struct match_class *class);
/* The alternatives of what the class reserves; NULL: nothing. Alternatives of the whole
 * requirement have a filter each. */
const struct rusage_request *resreq_match_rusages(struct resreq_match *match,
                                                  const struct match_class *class,
                                                  int *n_rusages);

/* How the string of a listing is read. Sections that neither select nor order are only
 * checked. */
enum resreq_match_listing {
    RESREQ_MATCH_HOSTS, /* as a job's requirement */
    RESREQ_MATCH_LOAD, /* as lsload: reported values, ignoring reservations; of any type
                          unless the string names one, ordered by r15s:pg */
};

/* Strings are matched for jobs of that class from now on. */
void resreq_match_set_class(struct resreq_match *match,
                            const struct match_class *class);
/* The hosts of the pass that the string selects; filter NULL: all, in any order.
 * ERR_PARSE with a sentence of LSF and one of Sublet. */
int resreq_match_select(struct resreq_match *match, enum resreq_match_listing listing,
                        const char *string, const struct place_filter **filter,
                        struct err *err) MUST_CHECK;
/* By host, which is least loaded by order[r15s:pg], whatever requirements hosts meet: a
 * smaller number is less load. Hosts that report no load are equal, after the others.
 */
const int *resreq_match_loads(struct resreq_match *match);

#endif
