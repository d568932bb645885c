/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_match.h: matches the resource requirements of pending jobs and of the RES_REQ
 * of their queues with the hosts of a pass, and orders the hosts.
 *
 * Jobs with equal strings share one match_class. It is compiled when it is first seen
 * and matched once in a pass, over the known values of all hosts less what running jobs
 * reserve as the pass begins (rusage_ledger.h). `local` is the type and model of the
 * first host on this machine (HOSTS_HERE), else of the first host; a host of unknown
 * type counts as local. A job without any string requires type==local and no exclusive
 * hosts.
 *
 * Ownership: config and resources are borrowed; filters live in the arena of the pass.
 * Layer: site. */
#ifndef SUBLET_SITE_PASS_RESREQ_MATCH_H
#define SUBLET_SITE_PASS_RESREQ_MATCH_H

#include "sched/place/place.h"
#include "sched/resreq/resreq.h"
#include "site/ledger/rusage_ledger.h"
#include "site/resource/host_resources.h"
#include "site/site.h"

struct resreq_match;

struct resreq_match *resreq_match_new(const struct site_config *config,
                                      struct host_resources *host_resources);
void resreq_match_free(struct resreq_match *match);

/* Checks the strings of a job at submission, also against the RESRSV_LIMIT of its
 * queue, which does not apply to jobs that are already there. Notes and fault point
 * into them. */
int resreq_match_check(struct resreq_match *match, int queue,
                       const struct job_spec *spec, struct resreq_notes *notes,
                       struct resreq_error *fault) MUST_CHECK;

/* True if the requirement or its rusage has alternatives (||). The strings have been
 * checked. */
bool resreq_match_has_alternatives(struct resreq_match *match, struct arena *arena,
                                   int queue, const struct job_spec *spec);

/* Begins a pass over these hosts: own hosts as configured, then borrowed ones. */
void resreq_match_begin_pass(struct resreq_match *match, struct arena *arena,
                             const struct place_host *hosts, int n_hosts,
                             struct rusage_pass *rusage_pass);
/* The class of jobs of that queue with such strings. It is valid while
 * resreq_match_generation stays the same. */
struct match_class;
struct match_class *resreq_match_find(struct resreq_match *match, int queue,
                                      const struct job_spec *spec);
uint64_t resreq_match_generation(const struct resreq_match *match);
/* The hosts of the pass that match; NULL: all. */
const struct place_filter *resreq_match_filter(struct resreq_match *match,
                                               struct match_class *class);
/* The alternatives of what the class reserves; NULL: nothing. Alternatives of the whole
 * requirement have a filter each. */
const struct rusage_request *resreq_match_rusages(struct resreq_match *match,
                                                  struct match_class *class,
                                                  int *n_rusages);

/* How the string of a listing is read. Sections that neither select nor order are only
 * checked. */
enum resreq_match_listing {
    RESREQ_MATCH_HOSTS, /* as a job's requirement */
    RESREQ_MATCH_LOAD, /* as lsload: reported values, ignoring reservations; of any type
                          unless the string names one, ordered by r15s:pg */
};

/* The hosts of the pass that the string selects; filter NULL: all, in any order.
 * ERR_PARSE with a sentence of LSF and one of Sublet. */
int resreq_match_select(struct resreq_match *match, enum resreq_match_listing listing,
                        const char *string, const struct place_filter **filter,
                        struct err *err) MUST_CHECK;

#endif
