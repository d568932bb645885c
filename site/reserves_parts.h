/* SPDX-License-Identifier: Apache-2.0 */
/* reserves_parts.h: the inside of what jobs reserve, for the files that make it:
 * reserves.c (the ledger: which open job reserves what), reserves_pools.c (which pool
 * of a resource a host draws from, and what there is), reserves_pass.c (what is left as
 * a pass sees it, and what its jobs ask for).
 *
 * The ledger lasts; all of a pass is in its arena, and forgotten when the next begins.
 * Layer: site. */
#ifndef SUBLET_SITE_RESERVES_PARTS_H
#define SUBLET_SITE_RESERVES_PARTS_H

#include "consumer/consumer.h"
#include "site/facts.h"
#include "site/job/job.h"
#include "site/reserves.h"
#include "site/run/host_table.h"
#include "site/site.h"

/* What some jobs reserve alike: they share one reading of it. */
struct reserves_reading;

/* A job's entry. */
struct reserves_entry {
    struct job *job;
    struct reserves_reading *reading;
    int place; /* in the list */
};

/* A resource in a pass. */
struct reserves_kind {
    struct rusage_resource shown;
    int *pool_of_row; /* by row of the facts; -1 */
    bool is_shared;   /* it has places that are no host's own (ResourceMap) */
};

struct reserves {
    struct reserves_entry **items;
    int count, capacity;
    struct reserves_reading *readings;
    const struct resources *resources; /* texts are read by it */
};

struct reserves_pass {
    struct reserves_sources from;
    struct arena *arena;
    const struct place_host *hosts;
    int n_hosts, n_rows;
    int *rows; /* by host: of the facts, or -1; NULL: not looked up yet */
    int64_t now_ms, wake_ms;
    struct reserves_kind *kinds;
    struct rusage_resource *shown;
    int n_kinds, kinds_capacity;
    int64_t *left, *total; /* by pool */
    int n_pools, pools_capacity;
    struct rusage_supply reserve;
};

/* What the job reserves, read by the site's catalogue. */
const struct resreq_rusage *reserves_usage_of(const struct reserves *reserves,
                                              const struct reserves_entry *hold);
/* An open job reserves some of it. */
bool reserves_has_of(const struct reserves *reserves, int id);
/* Who stands still gives it back. */
bool reserves_is_released(const struct reserves *reserves, int id);
/* The pools of a resource, and what each has, as if nobody reserved anything. */
void reserves_find_pools(struct reserves_pass *pass, struct reserves_kind *kind);

#endif
