/* SPDX-License-Identifier: Apache-2.0 */
/* facts_shared.h: resources that own hosts have together: the places of section
 * ResourceMap, and the value of each.
 *
 * A place has the value that the configuration gives it, or, where that is measured,
 * what the first of its hosts tells that tells it at all. Instances that leases have of
 * it are taken off. Each host of the place has the value in its row of the facts'
 * table.
 *
 * Ownership: the config and the table are borrowed and outlive this. Layer: site. */
#ifndef SUBLET_SITE_FACTS_SHARED_H
#define SUBLET_SITE_FACTS_SHARED_H

#include "model/msg.h"
#include "sched/resource/resource.h"
#include "site/site.h"

struct facts_shared;

struct facts_shared *facts_shared_new(const struct site_config *config,
                                      struct resource_table *table);
void facts_shared_free(struct facts_shared *shared);

/* ResourceMap says where that resource is. */
bool facts_shared_is_mapped(const struct facts_shared *shared, int id);
/* The configuration gives each of its places a value. */
bool facts_shared_is_fixed(const struct facts_shared *shared, int id);
/* The place whose value own host `host` has; -1: the resource is its own. */
int facts_shared_place_of(const struct facts_shared *shared, int host, int id);

/* The host tells the value of a place that it is in. False: it is no value. */
bool facts_shared_take(struct facts_shared *shared, int host, int place,
                       const char *text);
/* What the host told for others and does not tell any more (NULL: anything at all) is
 * free for the next one that tells it. */
void facts_shared_drop_untold(struct facts_shared *shared, int host,
                              const struct msg_host_load *msg);
/* Instances that leases have of a place. */
void facts_shared_set_exported(struct facts_shared *shared, int place,
                               int64_t n_instances);

#endif
