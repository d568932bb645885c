/* SPDX-License-Identifier: Apache-2.0 */
/* usage_log.h: the slot time of each lease in a simulation that either side held, used
 * and left idle, by day, user, queue and project.
 *
 * What a side holds is its part of the split in the provider's journal. What the
 * consumer uses are the slots of its jobs that run on the lease, by its own journal; of
 * the provider, the slots of the lease that its own jobs use. Levels are integrated
 * exactly, in slot-milliseconds; they are rounded to slot-seconds when they are shown.
 * Slots are idle as far as more are held than used. More are used than held while a
 * consumer does not know yet that a job has ended.
 *
 * Units: milliseconds of the sites' clocks, as their rows have them. Ownership: input
 * is copied. Order: rows by lease, side, day, user, queue and project. Source:
 * docs/simulate.md "The ledger". Layer: sim (model, base). */
#ifndef SUBLET_SIM_PLAY_USAGE_LOG_H
#define SUBLET_SIM_PLAY_USAGE_LOG_H

#include "base/value.h"
#include "model/row.h"

struct usage_log;
struct usage_log *usage_log_new(void);
void usage_log_free(struct usage_log *log);

/* A row of a site's journal (the site's index): of jobs, and of leases that it lends.
 */
void usage_log_stored(struct usage_log *log, int site, const struct row *row,
                      int64_t now_ms);
/* What the site's own jobs use of a lease that it lends, and its price. */
void usage_log_own(struct usage_log *log, const struct msg_state *state,
                   int64_t now_ms);

/* Ends the levels; then the object with `usage`, in the arena. The first day begins at
 * `epoch_ms`, which is a full hour. */
struct value *usage_log_show(struct usage_log *log, struct arena *arena,
                             int64_t epoch_ms, int64_t until_ms);

#endif
