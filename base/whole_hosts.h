/* SPDX-License-Identifier: Apache-2.0 */
/* whole_hosts.h: which hosts go, where slots go by whole hosts only: of exclusive hosts
 * of a pool that a leaf gives back.
 *
 * As many slots as whole hosts make up, never more than asked for; of all ways to do so
 * the one that ends least: fewest slots in use; then the last hosts.
 *
 * Example: 8 slots of n1 (4, 1 in use), n2 (8, 3 in use), n3 (4, idle): n1 and n3, as
 * that ends 1. 6 slots: n3, as 4 is all that fits, and it is idle.
 *
 * Units: slots. Broker, provider and borrower choose by it alike, each for itself.
 * Source: hybrid.md 1.6, 3.9; docs/adr/0029. Layer: base. */
#ifndef SUBLET_BASE_WHOLE_HOSTS_H
#define SUBLET_BASE_WHOLE_HOSTS_H

#include <stdbool.h>

#include "base/arena.h"

struct whole_host {
    int n_slots; /* 0: none of it is there */
    int n_used;
    bool is_picked; /* out */
};

/* Picks; returns their slots. */
int whole_hosts_pick(struct whole_host *hosts, int n_hosts, int n_slots,
                     struct arena *arena);

#endif
