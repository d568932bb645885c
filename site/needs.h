/* SPDX-License-Identifier: Apache-2.0 */
/* needs.h: which hosts meet what waiting jobs require, and in which order they like
 * them: the requirement strings of jobs and their queues' RES_REQ.
 *
 * Jobs of one queue with equal strings are one need: compiled when it is first seen,
 * judged once a pass over the values that are known of all hosts, less what running
 * jobs reserve (reserves.h): as the pass begins, so that jobs that it starts do not
 * count yet. `local` is the type and model of the first host on this machine
 * (HOSTS_HERE), else of the first host; a host of unknown type is taken for local.
 *
 * Without any string there still is a need: type==local, and no exclusive hosts.
 *
 * Ownership: config and resources are borrowed for the life of the needs; filters live
 * in the pass's arena. Layer: site. */
#ifndef SUBLET_SITE_NEEDS_H
#define SUBLET_SITE_NEEDS_H

#include "sched/place/place.h"
#include "sched/resreq/resreq.h"
#include "site/facts.h"
#include "site/reserves.h"
#include "site/site.h"

struct needs;

struct needs *needs_new(const struct site_config *config, struct facts *facts);
void needs_free(struct needs *needs);

/* Judges strings before a job with them is taken, also by its queue's RESRSV_LIMIT,
 * which does not hold for jobs that are here; notes and fault point into them. */
int needs_check(struct needs *needs, int queue, const struct job_spec *spec,
                struct resreq_notes *notes, struct resreq_error *fault) MUST_CHECK;

/* It has alternatives, of what it reserves or of all that it requires (||). Of strings
 * that were judged good. */
bool needs_has_alternatives(struct needs *needs, struct arena *arena, int queue,
                            const struct job_spec *spec);

/* A pass over these hosts begins: own ones as configured, then borrowed ones; that over
 * what jobs reserve has (reserves_begin). */
void needs_begin(struct needs *needs, struct arena *arena,
                 const struct place_host *hosts, int n_hosts,
                 struct reserves_pass *reserves);
/* What jobs of that queue with such strings need. Whoever keeps it asks for it again
 * when needs_age is another than it was. */
struct need;
struct need *needs_find(struct needs *needs, int queue, const struct job_spec *spec);
uint64_t needs_age(const struct needs *needs);
/* The hosts of the pass that are meant; NULL: any will do. */
const struct place_filter *needs_filter(struct needs *needs, struct need *need);
/* What it reserves, as alternatives; NULL: nothing. Where requirements have
 * alternatives each has hosts of its own. */
const struct rusage_request *needs_asks(struct needs *needs, struct need *need,
                                        int *n_asks);

/* How a string of a listing is read. Sections that neither select nor order are only
 * looked at: what is good for `sub` is good here. */
enum needs_listing {
    NEEDS_HOSTS, /* as a job's */
    NEEDS_LOAD, /* as lsload: what hosts tell, whoever reserves it; of any type where it
                   names none, best first (r15s:pg) */
};

/* What the string selects of the pass's hosts; filter NULL: all, in any order.
 * ERR_PARSE with LSF's sentence and ours. */
int needs_select(struct needs *needs, enum needs_listing listing, const char *string,
                 const struct place_filter **filter, struct err *err) MUST_CHECK;

#endif
