/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_shape.h: the sections that nothing acts on yet, read for their shape alone.
 *
 *     rusage    mem=20[:duration=N[s|m|h]][:decay=0|1][, ...][|| ...]
 *               mem=(50 20):duration=(10 5):decay=(1 0)  phases; /job /host /task /slot
 *     span      hosts=1, hosts=-1, ptile=N, ptile='!'[,NAME:N]..., block=N, stripe
 *     same      RESOURCE[:RESOURCE]...
 *     cu        type=T:pref=config|maxavail|minavail:maxcus=N:usablecuslots=N:balance
 *               :excl
 *     affinity  LEVEL(...)... with its parentheses paired
 *
 * A resource of rusage that is not consumable is an error; lenient, a note.
 *
 * Errors: ERR_PARSE. Source: lsf.md 5.4 to 5.6. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_SHAPE_H
#define SUBLET_SCHED_RESREQ_SHAPE_H

#include "base/err.h"
#include "sched/resreq_section.h"
#include "sched/resreq_select.h"

int resreq_shape_check(const struct resreq_language *language,
                       const struct resreq_part *part, struct resreq_notes *notes,
                       struct resreq_fault *fault) MUST_CHECK;

#endif
