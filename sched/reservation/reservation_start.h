/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_start.h: when jobs with reservations can start, and what running jobs
 * free until then (backfill.h). Layer: sched, within reservation. */
#ifndef SUBLET_SCHED_RESERVATION_RESERVATION_START_H
#define SUBLET_SCHED_RESERVATION_RESERVATION_START_H

#include "sched/reservation/reservation_item.h"

/* Sets the start time of every reservation: each job takes what is free now, and then
 * what the runs free, in the order of the reservations. */
void reservation_start_estimate(struct reservation_pass *pass,
                                const struct backfill_run *runs, int n_runs);
/* The pass has reached the job of the item: it takes what it lacks from what running
 * jobs will free, before all jobs that the pass reaches later. */
void reservation_start_take(struct reservation_pass *pass,
                            const struct reservation_item *item);

#endif
