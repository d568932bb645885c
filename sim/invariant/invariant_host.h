/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_host.h: what runs on each host, counted at the executors (invariant 1).
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_HOST_H
#define SUBLET_SIM_INVARIANT_INVARIANT_HOST_H

#include "sim/invariant/invariant_state.h"

/* Slots that runs of that lease use on that host; lease "": all runs. */
int invariant_host_count_used(const struct invariants *invariants, const char *site,
                              const char *host, const char *lease);
/* Runs that use slots of that host. */
int invariant_host_count_runs(const struct invariants *invariants, const char *site,
                              const char *host);
void invariant_host_release(struct invariants *invariants);

#endif
