/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_ledger_parts.h: the inside of what jobs reserve, for the files that make it:
 * rusage_ledger.c (the ledger: which open job ledger what), supply_map.c (which pool
 * of a resource a host draws from, and what there is), rusage_pass.c (what is left as
 * a pass sees it, and what its jobs ask for).
 *
 * The ledger lasts; all of a pass is in its arena, and forgotten when the next begins.
 * Layer: site. */
#ifndef SUBLET_SITE_LEDGER_RUSAGE_LEDGER_PARTS_H
#define SUBLET_SITE_LEDGER_RUSAGE_LEDGER_PARTS_H

#include "consumer/consumer.h"
#include "site/job/job.h"
#include "site/ledger/site_ledger.h"
#include "site/resource/host_resources.h"
#include "site/run/host_table.h"

/* The parsed text that several jobs share. */
struct rusage_reading;

/* A job's entry. */
struct rusage_entry {
    struct job *job;
    const struct resreq_rusage *usage; /* what it reserves, by the catalogue */
    struct rusage_reading *reading;
    int index; /* in the list */
};

/* A resource in a pass. */
/* A supply of instances that a provider exports. */
struct exported_supply {
    const char *site;
    int number, supply;
};

struct rusage_pass_resource {
    struct rusage_resource shown;
    struct exported_supply *exported;
    int n_exported;
    int *supply_of_row; /* by row of the table; -1 */
    bool is_shared;     /* it has places that are no host's own (ResourceMap) */
};

struct rusage_ledger {
    struct rusage_entry **items;
    int count, capacity;
    struct rusage_reading *readings;
    const struct resources *resources; /* texts are read by it */
};

struct rusage_pass {
    struct rusage_sources from;
    struct arena *arena;
    const struct place_host *hosts;
    int n_hosts, n_rows;
    int *rows; /* by host: of the table, or -1; NULL: not looked up yet */
    int64_t now_ms, wake_ms;
    struct rusage_pass_resource *resources;
    struct rusage_resource *shown;
    int n_resources, resources_capacity;
    int64_t *left, *total; /* by pool */
    int n_supplies, supplies_capacity;
    struct rusage_supply reserve;
};

/* True if an open job reserves some of it. */
bool rusage_ledger_has(const struct rusage_ledger *ledger, int id);
/* True if a yielded job gives it back. */
bool rusage_ledger_is_released(const struct rusage_ledger *ledger, int id);
/* Finds the supplies of a resource and what each has if no job reserves anything. */
void supply_map_find(struct rusage_pass *pass, struct rusage_pass_resource *resource);

#endif
