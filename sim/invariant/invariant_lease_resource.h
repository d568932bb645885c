/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_lease_resource.h: shared resources and memory of leases (invariant 8).
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_LEASE_RESOURCE_H
#define SUBLET_SIM_INVARIANT_INVARIANT_LEASE_RESOURCE_H

#include "sim/invariant/invariant_state.h"

bool invariant_lease_resource_check(struct invariants *invariants,
                                    const struct invariants_site *site,
                                    struct invariants_text *text);
void invariant_lease_resource_release(struct invariants *invariants);

#endif
