/* SPDX-License-Identifier: Apache-2.0 */
/* borrowed_resources.h: rows of borrowed hosts ("n1@north") in the table of resources,
 * behind those of own hosts.
 *
 * A row has the values that the host's provider reports. Amounts that contracts grant
 * (memory, swap space, shared resources) replace them, also before the first report.
 * The provider reports the host's load thresholds, too.
 *
 * Ownership: the table is borrowed and outlives this. Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_BORROWED_RESOURCES_H
#define SUBLET_SITE_RESOURCE_BORROWED_RESOURCES_H

#include "model/msg.h"
#include "sched/resource/resource.h"

struct borrowed_resources;

/* Rows from `n_own` on are these hosts'. */
struct borrowed_resources *borrowed_resources_new(struct resource_table *table,
                                                  int n_own);
void borrowed_resources_free(struct borrowed_resources *borrowed);

/* The provider reports values. Those that the catalogue does not have, or that are of
 * another type, are ignored; an exclusive resource among them keeps the jobs of this
 * site off the host. The caller checks that a contract names the host. */
void borrowed_resources_report(struct borrowed_resources *borrowed, const char *name,
                               const struct load_value *values, int n_values);
/* Replaces the load thresholds; unknown indices are ignored. */
void borrowed_resources_set_thresholds(struct borrowed_resources *borrowed,
                                       const char *name, const struct load_value *texts,
                                       int n_texts);
/* Valid until they are set again. */
struct load_thresholds
borrowed_resources_thresholds(const struct borrowed_resources *borrowed,
                              const char *name);
/* The reported values alone: thresholds apply to the whole host, not to the part that
 * contracts grant. NULL: nothing is known of the host. */
const struct resource_table *
borrowed_resources_reported(const struct borrowed_resources *borrowed, const char *name,
                            int *row);
bool borrowed_resources_has_thresholds(const struct borrowed_resources *borrowed);
bool borrowed_resources_is_reported(const struct borrowed_resources *borrowed,
                                    const char *name);

/* An amount that contracts grant on a host. */
struct contract_resource {
    int id;
    double number;
    bool is_on_top; /* one of the contracts grants none: what the provider has free is
                       added */
    bool is_absent; /* unavailable, whatever the provider reports */
};
/* Replaces all amounts granted on the host. */
void borrowed_resources_set_granted(struct borrowed_resources *borrowed,
                                    const char *name,
                                    const struct contract_resource *grants,
                                    int n_grants);

/* The row, or -1: nothing is known of the host. */
int borrowed_resources_find(const struct borrowed_resources *borrowed,
                            const char *name);
/* Removes the hosts for whose row in the table `is_needed` is false. */
void borrowed_resources_prune(struct borrowed_resources *borrowed,
                              const bool *is_needed);

#endif
