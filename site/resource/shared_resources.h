/* SPDX-License-Identifier: Apache-2.0 */
/* shared_resources.h: resources that own hosts have together: the places of section
 * ResourceMap, and the value of each.
 *
 * A place has the value that the configuration gives it, or, where that is measured,
 * what the first of its hosts tells that tells it at all. Instances that leases have of
 * it are taken off. Each host of the place has the value in its row of the facts'
 * table.
 *
 * Ownership: the config and the table are borrowed and outlive this. Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_SHARED_RESOURCES_H
#define SUBLET_SITE_RESOURCE_SHARED_RESOURCES_H

#include "model/msg.h"
#include "sched/resource/resource.h"
#include "site/site.h"

struct shared_resources;

struct shared_resources *shared_resources_new(const struct site_config *config,
                                              struct resource_table *table);
void shared_resources_free(struct shared_resources *shared);

/* ResourceMap says where that resource is. */
bool shared_resources_is_mapped(const struct shared_resources *shared, int id);
/* The configuration gives each of its places a value. */
bool shared_resources_is_configured(const struct shared_resources *shared, int id);
/* The place whose value own host `host` has; -1: the resource is its own. */
int shared_resources_find_location(const struct shared_resources *shared, int host,
                                   int id);

/* The host tells the value of a place that it is in. False: it is no value. */
bool shared_resources_report(struct shared_resources *shared, int host, int place,
                             const char *text);
/* What the host told for others and does not tell any more (NULL: anything at all) is
 * free for the next one that tells it. */
void shared_resources_drop_unreported(struct shared_resources *shared, int host,
                                      const struct msg_host_load *msg);
/* Instances that leases have of a place. */
void shared_resources_set_exported(struct shared_resources *shared, int place,
                                   int64_t n_instances);

#endif
