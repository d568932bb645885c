/* SPDX-License-Identifier: Apache-2.0 */
/* resize_snapshot.h: what a pass is shown of a running job that asks for more slots: on
 * which hosts, how they may lie beside those that it has, what they would reserve.
 *
 * New slots are such that all of the job's are as its requirements say: on its first
 * host (span[hosts=1]), whole tiles on other hosts (ptile), whole blocks (block), on
 * hosts that are like those that it has (same).
 * Ownership: the arena's of the pass. Source: lsf.md 5.5, 5.6, 6.1. Layer: site. */
#ifndef SUBLET_SITE_PASS_RESIZE_SNAPSHOT_H
#define SUBLET_SITE_PASS_RESIZE_SNAPSHOT_H

#include "sched/place/place.h"
#include "site/job/job.h"
#include "site/pass/pass_terms.h"
#include "site/run/host_table.h"

/* `n_hosts`: of the pass. */
void resize_snapshot_make(const struct host_table *own, const struct pass_terms *terms,
                          struct arena *arena, struct job *job, int n_hosts,
                          struct place_class *line);

#endif
