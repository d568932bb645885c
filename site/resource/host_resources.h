/* SPDX-License-Identifier: Apache-2.0 */
/* host_resources.h: what the site knows of its hosts' resources: what the configuration
 * says, and what each host told last (HOST_LOAD).
 *
 * All of it stands in one resource_table: own hosts in file order, behind them borrowed
 * ones as their providers tell of them. `status`, `slots` and `maxslots` are the
 * scheduler's to set.
 *
 * Who is believed: the configuration for what is static there (type, model, RESOURCES,
 * values in ResourceMap); the host for the rest. Where hosts share a measured resource
 * (ResourceMap), the first of them that tells it tells it for all. A host that went
 * away has no load; what it is stays known. Nothing of this is in the journal: a host
 * tells all again.
 *
 * Ownership: the config is borrowed for the life of the facts; texts are the table's.
 * Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_HOST_RESOURCES_H
#define SUBLET_SITE_RESOURCE_HOST_RESOURCES_H

#include "model/msg.h"
#include "sched/resource/resource.h"
#include "site/resource/borrowed_resources.h"
#include "site/site.h"

struct host_resources;

struct host_resources *host_resources_new(const struct site_config *config);
void host_resources_free(struct host_resources *facts);

const struct resources *host_resources_catalogue(const struct host_resources *facts);
struct resource_table *host_resources_table(struct host_resources *facts);
/* The same table, to read. */
const struct resource_table *host_resources_values(const struct host_resources *facts);

/* Own host `host` tells of itself. What is no resource here, or no value of its type,
 * is left out; the return is the name of the first such, borrowed from `msg`, or NULL.
 */
const char *host_resources_report(struct host_resources *facts, int host,
                                  const struct msg_host_load *msg);
/* It is away. */
void host_resources_disconnect(struct host_resources *facts, int host);
/* Memory or swap space (MB) that leases have of an own host: it is not seen there. */
void host_resources_set_exported(struct host_resources *facts, int host,
                                 enum space_kind kind, int64_t mib);
/* Instances that leases have of a place (of the configuration's). */
void host_resources_set_location_exported(struct host_resources *facts, int place,
                                          int64_t n_instances);
/* All that the host has of it, exported or not; -1: it has not told. */
int64_t host_resources_space(const struct host_resources *facts, int host,
                             enum space_kind kind);
/* The place of ResourceMap (of the configuration's) whose value own host `host` has of
 * that resource; -1: it is its own. */
int host_resources_find_location(const struct host_resources *facts, int host, int id);
/* It has told of itself, and is not away. */
bool host_resources_is_reported(const struct host_resources *facts, int host);

/* Borrowed hosts: their rows stand behind the own ones. */
struct borrowed_resources *host_resources_borrowed(const struct host_resources *facts);
/* The row of one ("n1@north"), or -1: nothing is known of it. */
int host_resources_find_borrowed(const struct host_resources *facts, const char *name);

/* The configuration says it of all own hosts: what they tell will not change it. Type
 * and model are where each host has one; a defined resource is where the configuration
 * gives it to any host; loads and counts never are. */
bool host_resources_is_configured(const struct host_resources *facts, int id);

/* How the host describes its processor, for section HostModel; "": it does not. */
const char *host_resources_architecture(const struct host_resources *facts, int host);

#endif
