/* SPDX-License-Identifier: Apache-2.0 */
/* exported_resources.h: compares, copies and shows what a lease exports in addition to
 * slots: memory and swap space of its hosts, and shared resources.
 *
 * Ownership: a copy owns its texts, in one piece of memory or in the arena.
 * Layer: model. */
#ifndef SUBLET_MODEL_EXPORTED_RESOURCES_H
#define SUBLET_MODEL_EXPORTED_RESOURCES_H

#include "base/arena.h"
#include "base/bounds.h"
#include "base/value.h"
#include "model/msg.h"

bool exported_resources_is_same_memory(const struct space a[SPACES],
                                       const struct space b[SPACES]);

/* True if that host of the lease can use the resource. */
bool exported_resources_is_seen_from(const struct lease_resource *resource,
                                     const char *host);

/* Adds mem and swp in MB, or null. */
void exported_resources_show_memory(struct arena *arena, struct value *row,
                                    const struct space spaces[SPACES]);
/* Adds resources: [{name, instances, hosts, n_hosts}]. hosts is null if all hosts of
 * the lease can use the resource. In all, names of hosts take at most
 * EXPORTED_RESOURCES_BYTES as JSON: n_hosts says how many a resource has. */
enum { EXPORTED_RESOURCES_BYTES = FRAME_MAX / 16 * 3 };
void exported_resources_show(struct arena *arena, struct value *row,
                             const struct lease_resource *resources, int n_resources);

#endif
