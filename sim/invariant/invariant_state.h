/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_state.h: the recorded state of the invariants, for the files of this
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
    uint64_t sent;    /* the highest that the broker sent to a consumer */
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

/* A job or an element with a state in the journal. */
struct seen_job {
    char key[INVARIANTS_JOB_KEY_SIZE];  /* site, id such as "12[3]" */
    struct seen_submission *submission; /* NULL: deleted after its end */
    int begun, may_begin;               /* times */
    int causes;                         /* of its suspension */
    bool is_let_go;   /* load no longer suspends it, but it waits for slots */
    uint64_t attempt; /* the latest in the journal */
    bool is_ended;
    enum job_state end_state;
    UT_hash_handle hh;
};

/* Slots in use on a host (lease ""), or of a lease on a host. */
struct seen_use {
    char key[INVARIANTS_USE_KEY_SIZE];
    int used;
    int size, limit; /* of a host: its slots, and the number that may be in use */
    int n_runs, n_exclusive; /* of a host */
    UT_hash_handle hh;
};

/* The sum over leases of a shared resource, or of a host's memory. */
struct seen_lease_resource {
    char key[INVARIANTS_USE_KEY_SIZE];
    int64_t sum;
    uint64_t check; /* number of the site's check at the time of the sum */
    UT_hash_handle hh;
};

/* The amount of one supply that the unfinished jobs of a site reserve, in thousandths.
 */
struct seen_supply {
    char key[INVARIANTS_POOL_KEY_SIZE]; /* site, resource, owner, number */
    int64_t total, reserved;
    int64_t limit; /* upper bound: the supply, or the amount reserved when the supply
                      shrank */
    int n_configs; /* number of configurations at that time */
    bool is_summed, is_other; /* in this check: already summed; with a changed total */
    bool is_begun; /* reserved by jobs of the present contract; own jobs always */
    UT_hash_handle hh;
};

/* A host, and the last changes because of load there. */
struct seen_load {
    char key[INVARIANTS_USE_KEY_SIZE];
    int64_t
        acted_ms; /* last change of one of its jobs; -1: none since the site's start */
    int64_t begun_ms; /* last resumption of a job that waited for slots; -1: as above */
    int64_t since_ms; /* a job there should be suspended since then; -1: none */
    UT_hash_handle hh;
};

struct seen_site {
    char name[NAME_SIZE];
    int n_jobs;             /* jobs and elements in the journal */
    uint64_t n_checks;      /* checks of lease resources ... */
    uint64_t n_changes;     /* ... and changes of the ledger that they have seen */
    int n_configs;          /* configurations before the present one */
    int64_t steps_to_check; /* until its machine's jobs are checked again */
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
    int next_lease;   /* index of the broker's next lease to check */
    int64_t pools_ms; /* pool cycles up to this time are checked */
};

/* Returns false. Only the first reason is recorded. */
bool invariant_state_fail(struct invariants_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The state of the site, which the first call adds. */
struct seen_site *invariant_state_site(struct invariants *invariants, const char *name);

#endif
