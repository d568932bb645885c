/* SPDX-License-Identifier: Apache-2.0 */
/* whole_hosts.h: selects the hosts to return if a leaf of a pool returns exclusive
 * hosts, which is possible only in whole hosts.
 *
 * The selection has as many slots as whole hosts allow, but at most the number
 * requested. Among such selections it has the fewest slots in use, and then the last
 * hosts.
 *
 * Example: 8 slots of n1 (4, 1 in use), n2 (8, 3 in use), n3 (4, idle): n1 and n3, with
 * 1 slot in use. 6 slots: n3, since 4 is the most that fits, and it is idle.
 *
 * Units: slots. Broker, provider and consumer each compute the same selection.
 * Source: docs/design/plans.md "Exclusive hosts", "Windows", "Decided". Layer:
 * base. */
#ifndef SUBLET_BASE_WHOLE_HOSTS_H
#define SUBLET_BASE_WHOLE_HOSTS_H

#include <stdbool.h>

#include "base/arena.h"

struct whole_host {
    int n_slots; /* 0: not available */
    int n_used;
    bool is_picked; /* out */
};

/* Sets is_picked; returns the sum of the slots. */
int whole_hosts_pick(struct whole_host *hosts, int n_hosts, int n_slots,
                     struct arena *arena);

#endif
