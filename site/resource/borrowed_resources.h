/* SPDX-License-Identifier: Apache-2.0 */
/* host_resources_borrowed.h: what is known of borrowed hosts ("n1@north"): rows of the
 * facts' table, behind those of own hosts.
 *
 * A row has what the host's provider tells of it, and over that what its contracts
 * grant: memory, swap space and shared resources that are this site's alone. They are
 * seen whatever the provider tells, and before it tells anything. With what it tells
 * come the load thresholds that the host has there.
 *
 * Ownership: the table is borrowed and outlives this. Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_BORROWED_RESOURCES_H
#define SUBLET_SITE_RESOURCE_BORROWED_RESOURCES_H

#include "model/msg.h"
#include "sched/resource/load_threshold.h"
#include "sched/resource/resource.h"

struct borrowed_resources;

/* Rows from `n_own` on are these hosts'. */
struct borrowed_resources *borrowed_resources_new(struct resource_table *table,
                                                  int n_own);
void borrowed_resources_free(struct borrowed_resources *borrowed);

/* As its provider tells of it: what our catalogue has, of the right type, counts. At
 * most as many as leases have hosts; the caller sees that it is one of ours. */
void borrowed_resources_report(struct borrowed_resources *borrowed, const char *name,
                               const struct load_value *values, int n_values);
/* Its load thresholds, of the indices that our catalogue has; replaces what there was.
 */
void borrowed_resources_set_thresholds(struct borrowed_resources *borrowed,
                                       const char *name, const struct load_value *texts,
                                       int n_texts);
/* Until it is told of again. */
struct load_thresholds
borrowed_resources_thresholds(const struct borrowed_resources *borrowed,
                              const char *name);
/* The row of what its provider tells, without what contracts grant: thresholds are
 * about the host, not about our part of it. NULL: nothing is known of it. */
const struct resource_table *
borrowed_resources_reported(const struct borrowed_resources *borrowed, const char *name,
                            int *row);
bool borrowed_resources_has_thresholds(const struct borrowed_resources *borrowed);
bool borrowed_resources_is_reported(const struct borrowed_resources *borrowed,
                                    const char *name);

/* A resource that contracts grant there: a number. */
struct contract_resource {
    int id;
    double number;
    bool is_on_top; /* one of the contracts competes for what the provider has: that
                       much more */
    bool is_absent; /* whatever the provider tells, it is not to be had */
};
/* All of them; replaces what there was. */
void borrowed_resources_set_granted(struct borrowed_resources *borrowed,
                                    const char *name,
                                    const struct contract_resource *grants,
                                    int n_grants);

/* Its row, or -1: nothing is known of it. */
int borrowed_resources_find(const struct borrowed_resources *borrowed,
                            const char *name);
/* Forgets those that `keeps` does not want any more. */
typedef bool (*borrowed_resources_is_needed_fn)(void *arg, const char *name);
void borrowed_resources_prune(struct borrowed_resources *borrowed,
                              borrowed_resources_is_needed_fn keeps, void *arg);

#endif
