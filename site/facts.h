/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h: what the site knows of its hosts' resources: what the configuration says,
 * and what each host told last (HOST_LOAD).
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
#ifndef SUBLET_SITE_FACTS_H
#define SUBLET_SITE_FACTS_H

#include "model/msg.h"
#include "sched/resource/resource.h"
#include "site/facts_borrowed.h"
#include "site/site.h"

struct facts;

struct facts *facts_new(const struct site_config *config);
void facts_free(struct facts *facts);

const struct resources *facts_resources(const struct facts *facts);
struct resource_table *facts_table(struct facts *facts);
/* The same table, to read. */
const struct resource_table *facts_values(const struct facts *facts);

/* Own host `host` tells of itself. What is no resource here, or no value of its type,
 * is left out; the return is the name of the first such, borrowed from `msg`, or NULL.
 */
const char *facts_take(struct facts *facts, int host, const struct msg_host_load *msg);
/* It is away. */
void facts_lose(struct facts *facts, int host);
/* Memory or swap space (MB) that leases have of an own host: it is not seen there. */
void facts_set_exported(struct facts *facts, int host, enum space_kind kind,
                        int64_t mib);
/* Instances that leases have of a place (of the configuration's). */
void facts_set_pool_exported(struct facts *facts, int place, int64_t n_instances);
/* All that the host has of it, exported or not; -1: it has not told. */
int64_t facts_space(const struct facts *facts, int host, enum space_kind kind);
/* The place of ResourceMap (of the configuration's) whose value own host `host` has of
 * that resource; -1: it is its own. */
int facts_place_of(const struct facts *facts, int host, int id);
/* It has told of itself, and is not away. */
bool facts_is_told(const struct facts *facts, int host);

/* Borrowed hosts: their rows stand behind the own ones. */
struct facts_borrowed *facts_borrowed(const struct facts *facts);
/* The row of one ("n1@north"), or -1: nothing is known of it. */
int facts_row(const struct facts *facts, const char *name);

/* The configuration says it of all own hosts: what they tell will not change it. Type
 * and model are where each host has one; a defined resource is where the configuration
 * gives it to any host; loads and counts never are. */
bool facts_is_configured(const struct facts *facts, int id);

/* How the host describes its processor, for section HostModel; "": it does not. */
const char *facts_architecture(const struct facts *facts, int host);

#endif
