/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_job.h: the life of each job in the journal of its site (invariants 5, 12).
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_JOB_H
#define SUBLET_SIM_INVARIANT_INVARIANT_JOB_H

#include "sim/invariant/invariant_state.h"

bool invariant_job_check(struct invariants *invariants,
                         const struct invariants_site *site,
                         struct invariants_text *text);
/* The first job that has not ended, or NULL. */
const char *invariant_job_find_unended(const struct invariants *invariants);
void invariant_job_release(struct invariants *invariants);

#endif
