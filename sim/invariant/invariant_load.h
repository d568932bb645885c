/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_load.h: suspension because of load (invariant 10).
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_LOAD_H
#define SUBLET_SIM_INVARIANT_INVARIANT_LOAD_H

#include "sim/invariant/invariant_state.h"

bool invariant_load_check(struct invariants *invariants,
                          const struct invariants_site *site, bool is_restarted,
                          struct invariants_text *text);
/* Records the causes of suspension in the row of a job. */
bool invariant_load_causes_changed(struct invariants *invariants, const char *site,
                                   const struct row_job_state *row,
                                   struct seen_job *job, struct invariants_text *text);
void invariant_load_release(struct invariants *invariants);

#endif
