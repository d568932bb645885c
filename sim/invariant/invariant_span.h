/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_span.h: the slots of a job are distributed as its span demands (invariant
 * 13).
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_SPAN_H
#define SUBLET_SIM_INVARIANT_INVARIANT_SPAN_H

#include "sim/invariant/invariant_state.h"

/* Reads the span of the job's requirement strings. */
void invariant_span_read(const struct job_spec *spec, struct seen_submission *seen);
/* True if the slots of the row satisfy that span. */
bool invariant_span_check(const struct seen_submission *of, const char *key,
                          const struct row_job_state *row,
                          struct invariants_text *text);

#endif
