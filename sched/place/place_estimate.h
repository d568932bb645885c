/* SPDX-License-Identifier: Apache-2.0 */
/* place_estimate.h: where a pending job will fit first, as far as run limits tell.
 *
 * Running jobs are taken to end in the order of their run limits, those without one
 * last, oldest first. Jobs that have reservations and come earlier in the pass take
 * first of what becomes free, and end last of all. The job goes to the hosts where it
 * fits after the fewest ends. All rules of a start hold except JOB_ACCEPT_INTERVAL, and
 * the job does not go to a lease that is still to be made. A select requirement counts
 * as met where only reserved resources prevent it.
 *
 *     n1: 1000 MB, 2 jobs of 400 MB end at 10:00 and 11:00; n2: the same, 12:00, 13:00
 *     a job of 500 MB fits on n1 at 10:00, one of 900 MB at 11:00
 *
 * Ownership: what a start points to lives in the pass's arena. Layer: sched, within
 * place. */
#ifndef SUBLET_SCHED_PLACE_PLACE_ESTIMATE_H
#define SUBLET_SCHED_PLACE_PLACE_ESTIMATE_H

#include "sched/place/place_pass.h"

/* For the next job of the class, while the reservations that it may use are open.
 * `places` become the indexes of the start's hosts. False: it fits nowhere, whichever
 * jobs end. */
bool place_estimate_fit(struct place_pass *pass, int index, struct place_start *start,
                        const int **places);

#endif
