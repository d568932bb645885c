/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_supply.h: amounts of consumable resources that jobs may still reserve
 * (rusage).
 *
 * A supply is an amount of one resource that one or more hosts share: the memory of a
 * host, or the licences of all hosts of a site. What is left of a supply is the amount
 * that the site knows of (reported by hosts, configured, or granted by a lease) minus
 * what running jobs have reserved. This is LSF's rule, and also holds for measured
 * values: memory in use is already missing from what the host reports, and reserved
 * memory is subtracted from that. Jobs that grow into their memory should therefore
 * give a duration or decay.
 *
 * A job reserves from the supply of each of its hosts: amounts per host and per slot
 * there, amounts per job from the supply of its first host. A host can be used only if
 * its supplies have what the job would take there alone, with at least one slot.
 *
 * Load indices (r1m) have no supply: reserving one only adds to the load.
 *
 * Units: thousandths (resreq.h). Ownership: everything is borrowed from the arena of
 * the pass. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESOURCE_RUSAGE_SUPPLY_H
#define SUBLET_SCHED_RESOURCE_RUSAGE_SUPPLY_H

#include "sched/resreq/resreq.h"

/* A resource that jobs of the pass reserve, or what a limit allows of one. */
struct rusage_resource {
    const char *name;
    int id;               /* -1: what a limit allows of a resource */
    const int *supply_of; /* by host: index of the supply; -1: the host has none */
    bool is_preemptable; /* in PREEMPTABLE_RESOURCES: jobs that hold it may be preempted
                          */
    const char *limit;   /* the limit's name, owned by the configuration; NULL: none */
};

struct rusage_supply {
    const struct rusage_resource *resources;
    int n_resources;
    const int64_t *left; /* by supply; negative if more is reserved than there is */
    int n_supplies;
};

/* One resource that a job reserves. */
struct rusage_item {
    int resource;            /* index of the resource */
    enum resreq_scope scope; /* never DEFAULT */
    int64_t milli;
    int64_t threshold_milli; /* so much is left before the job takes any; 0: none */
};

struct place_filter;

/* What a class of jobs reserves, with one alternative of its requirements. */
struct rusage_request {
    const struct rusage_item *items;
    int n_items;
    const struct place_filter
        *filter;      /* the hosts of this alternative; NULL: those of the class */
    int64_t delay_ms; /* a job may have it so long after its submission; later ones
                         have no shorter delays */
    bool is_part;     /* it and all others are parts of a compound requirement ... */
    int n_slots;      /* ... and this one has so many slots; 0: the rest */
    const struct resreq_rusage
        *rusage; /* the rusage that it was made of, with scopes filled in */
    const struct affinity_request *affinity; /* its processors; NULL: any */
    const uint8_t *has; /* by host: 1 if the job already has a per-host reservation
                           there; NULL: nowhere */
};

/* Slots of a job on one host. */
struct rusage_piece {
    int host; /* index */
    int n_slots;
};

/* An amount from one supply. */
struct rusage_amount {
    int supply;
    int64_t milli;
};

/* How many times an item's amount is taken for that many slots on one host. */
int64_t rusage_supply_times(enum resreq_scope scope, int n_slots, bool is_first);

/* The same for a running job's host by its index, with its slots there: an item of a
 * part of a compound requirement counts for the slots of that part alone. */
int64_t rusage_supply_times_on(const struct resreq_rusage_item *item, int host,
                               int n_slots);

/* Slots that a job may have on the host, in addition to its pieces on others; INT_MAX:
 * no bound. `left` is by supply. `lacking` becomes the index of the item with the least
 * room. */
int rusage_supply_max_slots(const struct rusage_supply *supply, const int64_t *left,
                            const struct rusage_request *request, int host,
                            const struct rusage_piece *pieces, int n_pieces,
                            int *lacking);
/* The same for a job without pieces on other hosts. */
int rusage_supply_max_slots_alone(const struct rusage_supply *supply,
                                  const int64_t *left,
                                  const struct rusage_request *request, int host,
                                  int *lacking);

/* The first item of which the host has too little for a job with one slot there and no
 * others, so that rusage_supply_max_slots_alone is 0; -1: it has enough of all. */
int rusage_supply_find_lack(const struct rusage_supply *supply, const int64_t *left,
                            const struct rusage_request *request, int host);
/* The same for several hosts; `lacking` is by index of `hosts`. */
void rusage_supply_find_lacks(const struct rusage_supply *supply, const int64_t *left,
                              const struct rusage_request *request, const int *hosts,
                              int n_hosts, int *lacking);

/* Amounts that a job with these pieces takes; the first piece is on its first host.
 * `amounts` has room for n_items times n_pieces. Returns how many there are. */
int rusage_supply_amounts(const struct rusage_supply *supply,
                          const struct rusage_request *request,
                          const struct rusage_piece *pieces, int n_pieces,
                          struct rusage_amount *amounts);
/* Takes the amounts from `left` (sign 1), or gives them back (-1). */
void rusage_supply_take(int64_t *left, const struct rusage_amount *amounts,
                        int n_amounts, int sign);
/* Takes up to so much of what is left of one supply. Returns how much it took. */
int64_t rusage_supply_take_some(int64_t *left, int64_t milli);
/* True if `left` has all of the amounts. */
bool rusage_supply_has(const int64_t *left, const struct rusage_amount *amounts,
                       int n_amounts);

#endif
