/* SPDX-License-Identifier: Apache-2.0 */
/* place_unit.h: lays out a job on the compute units of its hosts, as place_span.h
 * says. Layer: sched, within place. */
#ifndef SUBLET_SCHED_PLACE_PLACE_UNIT_H
#define SUBLET_SCHED_PLACE_PLACE_UNIT_H

#include "sched/place/place_layout.h"

/* Fills an empty layout. Less than `min` slots: it does not fit, and so many, or fewer
 * than `min`, would. */
void place_unit_fill(struct place_layout *layout);

#endif
