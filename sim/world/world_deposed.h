/* SPDX-License-Identifier: Apache-2.0 */
/* world_deposed.h: two brokers that lead at once. One is deposed: the other one began
 * from a copy of its store, and it goes on all the same, on a store of its own. Each
 * site is connected to one of them, and at a time of its own changes to the new one.
 * Then the deposed broker ends, and what it stored is lost.
 *
 * The broker's real store refuses commits of a deposed leader (broker/io/store). Here
 * nothing does: what keeps slots from being used twice must be the epochs of the sites.
 *
 * The deposed broker is daemon BROKER like the new one. The world has one of them in
 * its place at a time (world_deposed_swap). Layer: sim. */
#ifndef SUBLET_SIM_WORLD_WORLD_DEPOSED_H
#define SUBLET_SIM_WORLD_WORLD_DEPOSED_H

#include "sim/world/world_state.h"

/* Puts the other broker in the place of BROKER. Call it in pairs. */
void world_deposed_swap(struct world *world);
/* world_fault_split_brain */
void world_deposed_begin(struct world *world, int64_t for_ms);
/* The site ends its connection to the deposed broker and connects to the new one. */
void world_deposed_leave(struct world *world, int site);
/* The deposed broker ends; if there is none, nothing happens. */
void world_deposed_end(struct world *world);

/* The time of its next step; INT64_MAX: it has none, or there is no deposed broker. */
int64_t world_deposed_wake_ms(const struct world *world);
/* Ends its open batch, or makes its tick if that is due. True if there was any. */
bool world_deposed_end_batch(struct world *world);

#endif
