/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_shape.h: the sections that nothing acts on yet, read for their shape alone.
 *
 *     rusage    mem=20[:duration=N[s|m|h]][:decay=0|1][, ...][|| ...]; several phases
 * as mem=(50 20):duration=(10 5):decay=(1 0); /job /host /task /slot span      hosts=1,
 * hosts=-1, ptile=N, ptile='!'[,NAME:N]..., block=N, stripe same RESOURCE[:RESOURCE]...
 *     cu type=T:pref=config|maxavail|minavail:maxcus=N:usablecuslots=N:balance:excl
 *     affinity  LEVEL(...)... with its parentheses paired
 *
 * Errors: ERR_PARSE. Source: lsf.md 5.4 to 5.6. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_SHAPE_H
#define SUBLET_SCHED_RESREQ_SHAPE_H

#include "base/err.h"
#include "sched/resource.h"
#include "sched/resreq_section.h"

int resreq_shape_check(const struct resources *resources, bool is_open,
                       const struct resreq_part *part,
                       struct resreq_fault *fault) MUST_CHECK;

#endif
