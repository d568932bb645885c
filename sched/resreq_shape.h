/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_shape.h: the sections that nothing acts on yet, read for their shape alone.
 *
 *     span      hosts=1, hosts=-1, ptile=N, ptile='!'[,NAME:N]..., block=N, stripe
 *     same      RESOURCE[:RESOURCE]...
 *     cu        type=T:pref=config|maxavail|minavail:maxcus=N:usablecuslots=N:balance
 *               :excl
 *     affinity  LEVEL(...)... with its parentheses paired
 *
 * Errors: ERR_PARSE. Source: lsf.md 5.5, 5.6. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_SHAPE_H
#define SUBLET_SCHED_RESREQ_SHAPE_H

#include "base/err.h"
#include "sched/resreq_section.h"
#include "sched/resreq_select.h"

int resreq_shape_check(const struct resreq_language *language,
                       const struct resreq_part *part, struct resreq_notes *notes,
                       struct resreq_fault *fault) MUST_CHECK;

#endif
