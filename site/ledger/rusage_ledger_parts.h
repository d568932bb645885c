/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_ledger_parts.h: the inside of what jobs reserve, for the files that make it:
 * rusage_ledger.c (the ledger: which open job ledger what), supply_map.c (which pool
 * of a resource a host draws from, and what there is), rusage_pass.c (what is left as
 * a pass sees it, and what its jobs ask for), limit_supply.c (what limits leave).
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
    int row; /* of its first host when it was last looked up, if that is an own host */
};

/* A supply of instances that a provider exports. */
struct exported_supply {
    const char *site;
    int number, supply;
};

/* A resource in a pass. */
struct rusage_pass_resource {
    struct rusage_resource shown;
    struct exported_supply *exported;
    int n_exported;
    int *supply_of_row; /* by row of the table; -1 */
    bool is_shared;     /* it has places that are no host's own (ResourceMap) */
};

/* What limits leave to jobs that reserve a resource: limit_supply.c. */
struct limit_supply;
struct limit_requests;

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
    int *rows;     /* by host: of the table, or -1; NULL: not looked up yet */
    int *index_of; /* by id: 1 and the index of the resource; 0: not looked at yet */
    int64_t now_ms, wake_ms;
    struct rusage_pass_resource *resources;
    struct rusage_resource *shown;
    int n_resources, resources_capacity;
    int64_t *left, *total; /* by pool */
    int n_supplies, supplies_capacity;
    struct rusage_supply reserve;
    struct limit_supply **limit_supplies; /* a hash table; NULL: no limit has amounts */
    struct limit_requests **limit_requests; /* a hash table */
    int unlimited; /* the supply of hosts to which a limit does not apply; -1: not made
                    */
};

/* True if an open job reserves some of it. */
bool rusage_ledger_has(const struct rusage_ledger *ledger, int id);
/* True if a yielded job gives it back. */
bool rusage_ledger_is_released(const struct rusage_ledger *ledger, int id);
/* Finds the supplies of a resource and what each has if no job reserves anything. */
void supply_map_find(struct rusage_pass *pass, struct rusage_pass_resource *resource);
/* A supply with that amount. Returns its index. */
int supply_map_add(struct rusage_pass *pass, int64_t milli);
/* A host's maximum of the resource in thousandths; -1: not known. */
int64_t supply_map_maximum(const struct rusage_pass *pass, int row, int id);
/* Room for one more resource. */
struct rusage_pass_resource *supply_map_add_resource(struct rusage_pass *pass);
/* The row of a host that a job uses; -1: it is gone. */
int supply_map_row(const struct rusage_pass *pass, const char *lease, const char *host);
/* True if the job has given back its slots, and what is released with them. */
bool supply_map_is_yielded(const struct rusage_pass *pass, const struct job *job);
/* True if it has given back that resource. */
bool supply_map_is_released(const struct rusage_pass *pass, const struct job *job,
                            int id);

/* The supplies of limits that apply to running jobs, less what these jobs reserve. */
void limit_supply_begin(struct rusage_pass *pass);
/* Lists what the item of a job of that owner takes of limits on these hosts. Only
 * supplies that exist in this pass count. Returns the number; `parts` has room for
 * limit_supply_most on each host. */
int limit_supply_parts(struct rusage_pass *pass, const struct limit_owner *owner,
                       const struct resreq_rusage_item *item, const char *lease,
                       const struct host_slots *hosts, int n_hosts,
                       struct rusage_amount *parts);
/* How many parts an item may have on each host, at most. */
int limit_supply_most(const struct limit_owner *owner);

#endif
