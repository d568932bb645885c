/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_state.h: what the invariants have seen so far, for the files of this
 * folder.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_STATE_H
#define SUBLET_SIM_INVARIANT_INVARIANT_STATE_H

#include <stdlib.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "broker/pool/pool.h"
#include "sched/resreq/resreq.h"
#include "sim/invariant/invariant.h"

enum {
    INVARIANTS_JOB_KEY_SIZE = NAME_SIZE + 40,
    INVARIANTS_USE_KEY_SIZE = NAME_SIZE + HOST_NAME_SIZE + LEASE_ID_SIZE,
    INVARIANTS_POOL_KEY_SIZE = 2 * NAME_SIZE + HOST_NAME_SIZE + NAME_SIZE + 16,
};

struct seen_lease {
    char id[LEASE_ID_SIZE];
    uint64_t epoch;   /* the provider's latest */
    uint64_t content; /* its digest */
    uint64_t told;    /* the highest that the broker told a consumer */
    UT_hash_handle hh;
};

/* A submission: a job, or a whole array. */
struct seen_submission {
    char key[INVARIANTS_JOB_KEY_SIZE]; /* site, id */
    bool is_rerunnable;
    int64_t run_limit_ms; /* 0: none */
    char queue[NAME_SIZE];
    enum resreq_span_kind span; /* of its own string */
    int n_span;
    int n_elements, n_ended, n_dropped;
    UT_hash_handle hh;
};

/* A job or an element that has a state on record. */
struct seen_job {
    char key[INVARIANTS_JOB_KEY_SIZE];  /* site, id as people write it */
    struct seen_submission *submission; /* NULL: forgotten, after its end */
    int begun, may_begin;               /* times */
    int causes;                         /* for which it stands still */
    bool is_let_go;   /* for load it no longer would; it waits for slots */
    uint64_t attempt; /* the latest on record */
    bool is_ended;
    enum job_state end_state;
    UT_hash_handle hh;
};

/* Slots in use on a host (lease ""), or of a lease on a host. */
struct seen_use {
    char key[INVARIANTS_USE_KEY_SIZE];
    int used;
    int size, limit; /* of a host: its slots, and what may be in use there now */
    int n_runs, n_exclusive; /* of a host */
    UT_hash_handle hh;
};

/* What leases have of a shared resource, or of a host's memory. */
struct seen_lease_resource {
    char key[INVARIANTS_USE_KEY_SIZE];
    int64_t sum;
    uint64_t check; /* of the site's, when it was added up */
    UT_hash_handle hh;
};

/* What the open jobs of a site reserve of one pool, in thousandths. */
struct seen_supply {
    char key[INVARIANTS_POOL_KEY_SIZE]; /* site, resource, whose, its number there */
    int64_t total, reserved;
    int64_t limit; /* what may be reserved: all there is, or what was when it shrank */
    int n_configs; /* then: another may have other places */
    bool is_summed, is_other; /* in this look: seen yet; with another total */
    bool is_begun; /* and by who began under what is in force; own jobs always */
    UT_hash_handle hh;
};

/* A host, and what load did there last. */
struct seen_load {
    char key[INVARIANTS_USE_KEY_SIZE];
    int64_t acted_ms; /* on a job of it; -1: never, or its site was down since */
    int64_t begun_ms; /* one that load had let go found slots; -1: as above */
    int64_t since_ms; /* somebody there is to stand still; -1: nobody */
    UT_hash_handle hh;
};

struct seen_site {
    char name[NAME_SIZE];
    int n_jobs;             /* jobs and elements on record */
    uint64_t n_checks;      /* of what leases have besides slots ... */
    uint64_t n_changes;     /* ... which the provider has counted so far */
    int n_configs;          /* that it had before this one */
    int64_t steps_to_check; /* until its machine's jobs are looked at again */
    UT_hash_handle hh;
};

struct invariants {
    struct seen_lease *leases;
    struct seen_submission *submissions;
    struct seen_job *jobs;
    struct seen_use *uses;
    struct seen_lease_resource *grants;
    struct seen_site *sites;
    struct seen_supply *pools;
    struct seen_load *loads;
    int64_t now_ms;
    int n_unended; /* jobs and elements */
    int64_t patience_ms;
    int next_lease;   /* of the broker's, to look at */
    int64_t pools_ms; /* its pools' cycles up to then were looked at */
};

/* Returns false, so that one line reports and fails; the first reason is kept. */
bool invariant_state_fail(struct invariants_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What is known of the site; added at its first mention. */
struct seen_site *invariant_state_site(struct invariants *invariants, const char *name);

#endif
