/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_state.h: the recorded state of the invariants, and the checks of the other
 * files of this folder.
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
#include "usage/usage.h"

enum {
    INVARIANTS_KEY_SIZE = 3 * NAME_SIZE + HOST_NAME_SIZE + LEASE_ID_SIZE,
};

/* What all recorded things begin with: a table finds them by their key. */
struct seen {
    const char *key;
    UT_hash_handle hh;
};

struct seen_lease {
    struct seen base; /* key: id */
    uint64_t epoch;   /* the provider's latest, by its present journal */
    uint64_t content; /* its digest */
    uint64_t highest; /* that the provider ever had, by any journal */
    uint64_t sent;    /* the highest that the broker sent to a consumer */
    /* The epoch of the broker's contract while it is active, and its digest. */
    uint64_t held, held_content;
    struct seen_use **uses; /* of its hosts, in the order of the provider's ledger */
    int n_uses;
    /* The splits of `epoch` that were checked last, and n_use_changes at that time. */
    struct host_split *checked;
    int n_checked;
    uint64_t n_use_changes;
};

/* A submission: a job, or a whole array. */
struct seen_submission {
    struct seen base; /* key: site, id */
    bool is_rerunnable;
    bool is_restored;     /* the copy does not know what has begun since */
    int64_t run_limit_ms; /* 0: none */
    char queue[NAME_SIZE], name[NAME_SIZE];
    enum resreq_span_kind span; /* of its own string */
    int n_span;
    int n_elements, n_ended, n_dropped;
};

/* A job or an element with a state in the journal. */
struct seen_job {
    struct seen base; /* key: site, id such as "12[3]" */
    struct seen_submission *submission;
    int begun, may_begin; /* times */
    int causes;           /* of its suspension */
    bool is_let_go;       /* load no longer suspends it, but it waits for slots */
    uint64_t attempt;     /* the latest in the journal */
    bool is_ended;
    enum job_state end_state;
};

/* The processes of an attempt that have ended. A restored journal does not forget them.
 */
struct seen_exits {
    struct seen base;       /* key: site, attempt */
    uint8_t codes[256 / 8]; /* a bit for each exit code */
};

/* Slots in use on a host (lease ""), or of a lease on a host. */
struct seen_use {
    struct seen base; /* key: site, host, lease */
    int used;
    int n_lost;      /* of these, not on record: the provider's journal was restored */
    int size, limit; /* of a host: its slots, and the number that may be in use */
    int n_runs, n_exclusive; /* of a host */
};

/* The sum over leases of a shared resource, or of a host's memory. */
struct seen_lease_resource {
    struct seen base; /* key: site, resource or host, pool or kind of memory */
    int64_t sum;
    uint64_t check; /* number of the site's check at the time of the sum */
};

/* The amount of one supply that the unfinished jobs of a site reserve, in thousandths.
 */
struct seen_supply {
    struct seen base; /* key: site, resource, owner, number */
    int64_t total, reserved;
    int64_t limit; /* upper bound: the supply, or the amount reserved when the supply
                      shrank */
    int n_configs; /* number of configurations at that time */
    bool is_summed, is_other; /* in this check: already summed; with a changed total */
    bool is_begun; /* reserved by jobs of the present contract; own jobs always */
};

/* A host, and the last changes because of load there. */
struct seen_load {
    struct seen base; /* key: site, host */
    int64_t
        acted_ms; /* last change of one of its jobs; -1: none since the site's start */
    int64_t begun_ms; /* last resumption of a job that waited for slots; -1: as above */
    int64_t since_ms; /* a job there should be suspended since then; -1: none */
};

struct seen_site {
    struct seen base;         /* key: name */
    int n_jobs;               /* jobs and elements in the journal */
    uint64_t n_checks;        /* checks of lease resources ... */
    uint64_t restored_checks; /* ... as many when its journal was restored: the first
                                 one after that takes what the copy has ... */
    uint64_t n_changes;       /* ... and changes of the ledger that they have seen */
    int n_configs;            /* configurations before the present one */
    int64_t steps_to_check;   /* until its machine's jobs are checked again */
    bool is_restoring;        /* rows of a copy are being reported */
    bool is_restored;         /* ever */
    bool has_begun;           /* a run has begun there since its journal was restored */
};

/* Accounts of a lease: slots by each record (invariant_ledger.c). */
enum invariant_account {
    INVARIANT_PROVIDER_HELD, /* by the provider's ledger ... */
    INVARIANT_LENT_HELD,
    INVARIANT_BROKER_PROVIDER, /* ... and by the broker's contract */
    INVARIANT_BROKER_CONSUMER,
    INVARIANT_CONSUMER_HELD, /* ... and by the consumer's */
    INVARIANT_LENT_USED,     /* by the provider's runs ... */
    INVARIANT_CONSUMER_USED, /* ... and by the consumer's jobs */
    INVARIANT_ACCOUNTS
};

/* The split of an epoch by its provider's record. */
struct seen_split {
    uint64_t epoch;
    int64_t at_ms;
    int n_provider, n_consumer;
    bool is_brokers, is_consumers; /* they were told it */
};

struct seen_account {
    struct seen base; /* key: lease */
    int n_slots[INVARIANT_ACCOUNTS];
    int64_t at_ms, sum_ms[INVARIANT_ACCOUNTS]; /* slot-milliseconds until at_ms */
    int64_t booked_ms[INVARIANT_ACCOUNTS];     /* the same by usage/ */
    bool is_open; /* for the broker: else it may have refused what its provider says */
    /* The provider's splits, and the epochs that the broker and the consumer know. */
    struct seen_split *splits;
    int n_splits;
    uint64_t broker_epoch, consumer_epoch;
    int64_t consumer_ms;         /* when that split began */
    bool is_disputed;            /* the broker has ended it, and its provider has not */
    bool has_quota;              /* in this month, and since before ... */
    int64_t month_ms, before_ms; /* ... so much of LENT_USED */
};

/* What a run at its provider, or a job at its consumer, uses of a lease. */
struct seen_use_of_lease {
    struct seen base; /* key: r or j, the consumer, attempt or job */
    char lease[LEASE_ID_SIZE];
    int n_slots;
    int64_t used_ms, at_ms; /* as stored last */
    uint64_t attempt;       /* that is followed; 0: none */
    bool is_known;          /* a run: it was ever on record */
};

struct invariants {
    struct seen *accounts, *uses_of_leases;
    struct usage *usage;
    struct usage_jobs *usage_jobs;
    bool has_restored;        /* a journal, or the broker's store */
    bool has_restored_broker; /* its store */
    struct seen *hours;       /* nodes, leases and runs (invariant_hours.c) */
    struct seen *leases, *submissions, *jobs, *exits, *uses, *lease_resources, *sites,
        *supplies, *loads;
    int64_t now_ms;
    int n_unended;          /* jobs and elements */
    uint64_t n_use_changes; /* of what leases use on hosts */
    int64_t patience_ms;
    int next_lease;   /* index of the broker's next lease to check */
    int64_t pools_ms; /* pool cycles up to this time are checked */
};

/* A key of up to three names with a blank between them. */
void invariant_state_key(char *key, const char *first, const char *second,
                         const char *third);
/* The thing with that key in a table, or NULL. */
void *invariant_state_find(struct seen *table, const char *key);
/* The same, but adds one of `size` bytes, all 0, if the table has none. */
void *invariant_state_see(struct seen **table, const char *key, size_t size);

/* Returns false. Only the first reason is recorded. */
bool invariant_state_fail(struct invariants_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The state of the site, which the first call adds. */
struct seen_site *invariant_state_site(struct invariants *invariants, const char *name);

/* ---- 1: what runs on each host, counted at the executors */

/* The slots that runs of that lease use on that host; lease "": all runs. The address
 * never changes. */
struct seen_use *invariant_host_see_use(struct invariants *invariants, const char *site,
                                        const char *host, const char *lease);
/* True if it is the use of that host of the site. */
bool invariant_host_is_use_of(const struct seen_use *use, const char *site,
                              const char *host);
/* Records that all use on the hosts of the site may be lost. */
void invariant_host_restored(struct invariants *invariants, const char *site);
/* Runs that use slots of that host. */
int invariant_host_count_runs(const struct invariants *invariants, const char *site,
                              const char *host);

/* ---- 5, 12: the life of each job in the journal of its site */

bool invariant_job_check(struct invariants *invariants,
                         const struct invariants_site *site,
                         struct invariants_text *text);
/* The first job that has not ended, or NULL. */
const char *invariant_job_find_unended(const struct invariants *invariants);

/* ---- 8: shared resources and memory of leases */

bool invariant_lease_resource_check(struct invariants *invariants,
                                    const struct invariants_site *site,
                                    struct invariants_text *text);

/* ---- 9: resources that the unfinished jobs of a site reserve */

bool invariant_rusage_check(struct invariants *invariants,
                            const struct invariants_site *site,
                            struct invariants_text *text);

/* ---- 10: suspension because of load */

bool invariant_load_check(struct invariants *invariants,
                          const struct invariants_site *site, bool is_restarted,
                          struct invariants_text *text);
/* Records the causes of suspension in the row of a job. */
bool invariant_load_causes_changed(struct invariants *invariants, const char *site,
                                   const struct row_job_state *row,
                                   struct seen_job *job, struct invariants_text *text);

/* ---- 16: hours that are used up */

/* The broker's store was restored. */
void invariant_hours_restored(struct invariants *invariants);

/* ---- 11: the cycles of a pool */

bool invariant_pool_check(const char *pool, const struct pool_cycle *cycle,
                          struct invariants_text *text);

/* ---- 15: the books of leases */

/* A contract that the consumer has. */
bool invariant_ledger_contract(struct invariants *invariants,
                               const struct msg_contract *contract,
                               struct invariants_text *text);
/* At the end, when nothing is on its way. */
bool invariant_ledger_check(struct invariants *invariants,
                            struct invariants_text *text);

/* ---- 13: the slots of a job are distributed as its span demands */

/* Reads the span of the job's requirement strings. */
void invariant_span_read(const struct job_spec *spec, struct seen_submission *seen);
/* True if the slots of the row satisfy that span. */
bool invariant_span_check(const struct seen_submission *of, const char *key,
                          const struct row_job_state *row,
                          struct invariants_text *text);

#endif
