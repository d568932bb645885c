/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_rusage.h: resources that the unfinished jobs of a site reserve (invariant
 * 9).
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_RUSAGE_H
#define SUBLET_SIM_INVARIANT_INVARIANT_RUSAGE_H

#include "sim/invariant/invariant_state.h"

bool invariant_rusage_check(struct invariants *invariants,
                            const struct invariants_site *site,
                            struct invariants_text *text);
void invariant_rusage_release(struct invariants *invariants);

#endif
