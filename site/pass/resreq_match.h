/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_match.h: which hosts meet what waiting jobs require, and in which order they
 * like them: the requirement strings of jobs and their queues' RES_REQ.
 *
 * Jobs of one queue with equal strings are one need: compiled when it is first seen,
 * judged once a pass over the values that are known of all hosts, less what running
 * jobs reserve (rusage_ledger.h): as the pass begins, so that jobs that it starts do
 * not count yet. `local` is the type and model of the first host on this machine
 * (HOSTS_HERE), else of the first host; a host of unknown type is taken for local.
 *
 * Without any string there still is a need: type==local, and no exclusive hosts.
 *
 * Ownership: config and resources are borrowed for the life of the needs; filters live
 * in the pass's arena. Layer: site. */
#ifndef SUBLET_SITE_PASS_RESREQ_MATCH_H
#define SUBLET_SITE_PASS_RESREQ_MATCH_H

#include "sched/place/place.h"
#include "sched/resreq/resreq.h"
#include "site/ledger/rusage_ledger.h"
#include "site/resource/host_resources.h"
#include "site/site.h"

struct resreq_match;

struct resreq_match *resreq_match_new(const struct site_config *config,
                                      struct host_resources *facts);
void resreq_match_free(struct resreq_match *needs);

/* Judges strings before a job with them is taken, also by its queue's RESRSV_LIMIT,
 * which does not hold for jobs that are here; notes and fault point into them. */
int resreq_match_check(struct resreq_match *needs, int queue,
                       const struct job_spec *spec, struct resreq_notes *notes,
                       struct resreq_error *fault) MUST_CHECK;

/* It has alternatives, of what it reserves or of all that it requires (||). Of strings
 * that were judged good. */
bool resreq_match_has_alternatives(struct resreq_match *needs, struct arena *arena,
                                   int queue, const struct job_spec *spec);

/* A pass over these hosts begins: own ones as configured, then borrowed ones; that over
 * what jobs reserve has (reserves_begin). */
void resreq_match_begin_pass(struct resreq_match *needs, struct arena *arena,
                             const struct place_host *hosts, int n_hosts,
                             struct rusage_pass *reserves);
/* What jobs of that queue with such strings need. Whoever keeps it asks for it again
 * when resreq_match_generation is another than it was. */
struct match_class;
struct match_class *resreq_match_find(struct resreq_match *needs, int queue,
                                      const struct job_spec *spec);
uint64_t resreq_match_generation(const struct resreq_match *needs);
/* The hosts of the pass that are meant; NULL: any will do. */
const struct place_filter *resreq_match_filter(struct resreq_match *needs,
                                               struct match_class *need);
/* What it reserves, as alternatives; NULL: nothing. Where requirements have
 * alternatives each has hosts of its own. */
const struct rusage_request *
resreq_match_rusages(struct resreq_match *needs, struct match_class *need, int *n_asks);

/* How a string of a listing is read. Sections that neither select nor order are only
 * looked at: what is good for `sub` is good here. */
enum resreq_match_listing {
    RESREQ_MATCH_HOSTS, /* as a job's */
    RESREQ_MATCH_LOAD,  /* as lsload: what hosts tell, whoever reserves it; of any type
                    where it  names none, best first (r15s:pg) */
};

/* What the string selects of the pass's hosts; filter NULL: all, in any order.
 * ERR_PARSE with LSF's sentence and ours. */
int resreq_match_select(struct resreq_match *needs, enum resreq_match_listing listing,
                        const char *string, const struct place_filter **filter,
                        struct err *err) MUST_CHECK;

#endif
