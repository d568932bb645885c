/* SPDX-License-Identifier: Apache-2.0 */
/* host_resources.h: the resources of a site's hosts, from the configuration and from
 * each host's last HOST_LOAD, in one resource_table: own hosts in file order, then
 * borrowed hosts. The scheduler sets `status`, `slots` and `maxslots`.
 *
 * The configuration decides what it states (type, model, RESOURCES, values in
 * ResourceMap), the host decides the rest. If hosts share a measured resource, the
 * first host that reports it reports it for all. A disconnected host has no load, its
 * static values stay. Nothing of this is in the journal, because hosts report all
 * again.
 *
 * Ownership: the config is borrowed; texts belong to the table. Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_HOST_RESOURCES_H
#define SUBLET_SITE_RESOURCE_HOST_RESOURCES_H

#include "model/msg.h"
#include "model/row.h"
#include "sched/resource/resource.h"
#include "site/config/site_config.h"
#include "site/resource/borrowed_resources.h"

struct host_resources;

struct host_resources *host_resources_new(const struct site_config *config);
void host_resources_free(struct host_resources *hosts);

const struct resources *host_resources_catalogue(const struct host_resources *hosts);
struct resource_table *host_resources_table(struct host_resources *hosts);
const struct resource_table *host_resources_values(const struct host_resources *hosts);

/* Own host `host` reports. Unknown resources and values of a wrong type are left out;
 * returns the name of the first of them, borrowed from `msg`, or NULL. */
const char *host_resources_report(struct host_resources *hosts, int host,
                                  const struct msg_host_load *msg);
/* The CPUs that own host `host` has reported, but not its name; false: it reports none.
 */
bool host_resources_cpus(const struct host_resources *hosts, int host,
                         struct row_cpus *cpus);
/* The site sets the value itself, whatever hosts report: "status", "ncpus". */
bool host_resources_sets(const char *name);
void host_resources_disconnect(struct host_resources *hosts, int host);
/* Memory or swap space (MB) of an own host that leases have: jobs here do not see it.
 */
void host_resources_set_exported(struct host_resources *hosts, int host,
                                 enum space_kind kind, int64_t mib);
/* Instances that leases have of a location of the configuration. */
void host_resources_set_location_exported(struct host_resources *hosts, int place,
                                          int64_t n_instances);
/* All that the host has, exported or not; -1: not reported. */
int64_t host_resources_space(const struct host_resources *hosts, int host,
                             enum space_kind kind);
/* The location of ResourceMap whose value own host `host` has; -1: its own value. */
int host_resources_find_location(const struct host_resources *hosts, int host, int id);
/* The host has reported and is connected. */
bool host_resources_is_reported(const struct host_resources *hosts, int host);

struct borrowed_resources *host_resources_borrowed(const struct host_resources *hosts);
/* The row of borrowed host "n1@north", or -1: nothing is known of it. */
int host_resources_find_borrowed(const struct host_resources *hosts, const char *name);
/* The CPU factor of an own or a borrowed host; 1: it is not known. Searches all own
 * hosts. */
double host_resources_cpu_factor(const struct host_resources *hosts, const char *name);

/* The configuration states this resource for all own hosts, so reports do not change
 * it: type and model if each host has one, a defined resource if any host is given it,
 * never loads and counts. */
bool host_resources_is_configured(const struct host_resources *hosts, int id);

/* The processor as the host describes it, for section HostModel; "": not reported. */
const char *host_resources_architecture(const struct host_resources *hosts, int host);

#endif
