/* SPDX-License-Identifier: Apache-2.0 */
/* lease_split.h: the hosts of a lease, added up and compared: how many slots each side
 * holds, and how many it uses.
 *
 * On a host that is down, what a side uses is all that is available to it, so that
 * nothing is idle there, and a side never uses more than is available to it.
 *
 * Units: slots. Order: hosts are in their provider's order; two splits are compared
 * host by host. Source: docs/design/leases.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_LEASE_LEASE_SPLIT_H
#define SUBLET_BROKER_LEASE_LEASE_SPLIT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/value.h"
#include "model/msg.h"

struct lease_split_side {
    int available; /* held on hosts that are up, or used on others */
    int used;
    int idle; /* available - used */
};

struct lease_split {
    struct lease_split_side provider, consumer;
};

struct lease_split lease_split_sum(const struct host_split *hosts, int n_hosts);

/* Checks what a peer says: each slot of a host is held by one side, and neither side
 * uses more than it holds. ERR_BOUNDS names the host. */
int lease_split_check(const struct host_split *hosts, int n_hosts,
                      struct err *err) MUST_CHECK;

/* The same hosts. */
bool lease_split_has_same_hosts(const struct host_split *a, int n_a,
                                const struct host_split *b, int n_b);
/* The same hosts with the same slots, held by the same sides, and the same memory and
 * swap space. This is what an epoch fixes. */
bool lease_split_is_same(const struct host_split *a, int n_a,
                         const struct host_split *b, int n_b);
/* The same hosts are down; both lists name the same hosts. */
bool lease_split_is_same_down(const struct host_split *a, const struct host_split *b,
                              int n_hosts);

/* A side as object `key` of a row; `site`: its name, NULL: the name is left out. */
void lease_split_show_side(struct arena *arena, struct value *row, const char *key,
                           const char *site, const struct lease_split_side *side);

/* A copy in one block of memory, names included; free it with free(). NULL for none. */
struct host_split *lease_split_dup(const struct host_split *hosts, int n_hosts);

#endif
