/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_config.h: whether pending jobs of a queue reserve slots (SLOT_RESERVE)
 * and resources (RESOURCE_RESERVE), and whether its jobs use reserved ones (BACKFILL).
 *
 *     SLOT_RESERVE = MAX_RESERVE_TIME[5]
 *
 * Five intervals of MBD_SLEEP_TIME (section Parameters; 60 s) at a time.
 *
 *     RESOURCE_RESERVE = MAX_RESERVE_TIME[5]
 *
 * The same, and jobs with rusage reserve these resources too.
 *
 *     INTERRUPTIBLE_BACKFILL = 600
 *
 * Its jobs also use slots that are free for ten minutes, even if their run limits are
 * longer. Such a run is ended after that time.
 *
 * Units: milliseconds. Ownership: none. Errors: diagnostics.
 * Source: docs/design/scheduling.md "Reservation and backfill", "Interruptible
 * backfill". Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_RESERVATION_CONFIG_H
#define SUBLET_SCHED_QUEUE_RESERVATION_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conf/conf.h"

struct reservation_config {
    int64_t max_ms;     /* a job reserves for so long at a time; 0: not at all ... */
    int64_t session_ms; /* ... and then not again for so long */
    bool is_collecting; /* without SLOT_RESERVE, as the queue shares a slot pool: only
                           one of its jobs reserves at a time */
    bool has_resources; /* RESOURCE_RESERVE */
    bool is_backfill;
    int64_t backfill_slice_ms; /* of a backfill queue: slots that are free for so
                         long are enough; 0: they must be free for the run limit */
};

/* A queue of a slot pool without SLOT_RESERVE: its first job that finds no room
 * collects slots, so that parallel jobs get their share of the pool beside smaller jobs
 * of other queues. */
void reservation_config_collect(struct reservation_config *config);

/* Of a row of section Queue. */
void reservation_config_read(struct conf *conf, const struct conf_place *at,
                             struct reservation_config *config);

#endif
