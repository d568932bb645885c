/* SPDX-License-Identifier: Apache-2.0 */
/* shared_resources.h: resources that several own hosts share: the locations of section
 * ResourceMap and their values.
 *
 * A location has the value that the configuration gives it. If it is measured, the
 * value comes from the first of its hosts that reports it. Instances that leases have
 * are subtracted. Each host of the location has the value in its row of the table.
 *
 * Ownership: the config and the table are borrowed and outlive this. Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_SHARED_RESOURCES_H
#define SUBLET_SITE_RESOURCE_SHARED_RESOURCES_H

#include "model/msg.h"
#include "sched/resource/resource.h"
#include "site/config/site_config.h"

struct shared_resources;

struct shared_resources *shared_resources_new(const struct site_config *config,
                                              struct resource_table *table);
void shared_resources_free(struct shared_resources *shared);

/* ResourceMap has this resource. */
bool shared_resources_is_mapped(const struct shared_resources *shared, int id);
/* The configuration gives each of its locations a value. */
bool shared_resources_is_configured(const struct shared_resources *shared, int id);
/* The location whose value own host `host` has; -1: its own value. */
int shared_resources_find_location(const struct shared_resources *shared, int host,
                                   int id);

/* The host reports the value of one of its locations. False: not a value. */
bool shared_resources_report(struct shared_resources *shared, int host, int place,
                             const char *text);
/* Another host may report what this host reported for all and does not have in `msg`
 * (NULL: no value at all). */
void shared_resources_drop_unreported(struct shared_resources *shared, int host,
                                      const struct msg_host_load *msg);
void shared_resources_set_exported(struct shared_resources *shared, int place,
                                   int64_t n_instances);

#endif
