/* SPDX-License-Identifier: Apache-2.0 */
/* controls.h: JOB_CONTROL: kill, stop, resume and signals, as the command line gives
 * them; a sentence per job as LSF words it.
 *
 * A waiting job: KILL, and the signals that end programs, end it (state EXIT, no exit
 * code, "killed by ... before it began"; LSF's TERM_OWNER); SUSPEND holds it (PSUSP).
 * STOP, TSTP and CONT as signals are SUSPEND and RESUME, KILL is KILL.
 *
 * The answer is an error where any of the jobs cannot take the order; the others have
 * taken it all the same. Layer: site. */
#ifndef SUBLET_SITE_CONTROLS_H
#define SUBLET_SITE_CONTROLS_H

#include "model/effect.h"

struct site;

void controls_request(struct site *site, const struct peer *from,
                      const struct msg_job_control *order, int64_t now_ms,
                      struct effects *effects);

#endif
