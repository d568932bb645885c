/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_config.h: what a queue's waiting jobs keep of what is free (SLOT_RESERVE,
 * RESOURCE_RESERVE), and whether its jobs use what others keep (BACKFILL).
 *
 *     SLOT_RESERVE = MAX_RESERVE_TIME[5]
 *
 * Five intervals of MBD_SLEEP_TIME (section Parameters; 60 s) at a time.
 *
 *     RESOURCE_RESERVE = MAX_RESERVE_TIME[5]
 *
 * The same in place of it; and jobs that reserve resources keep these too.
 *
 *     INTERRUPTIBLE_BACKFILL = 600
 *
 * Its jobs take a gap of ten minutes, too, where their run limits are longer; such a
 * run ends with the gap.
 *
 * Units: milliseconds. Ownership: none. Errors: diagnostics.
 * Source: docs/design/scheduling.md "Reservation and backfill", "Interruptible
 * backfill". Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESERVATION_RESERVATION_CONFIG_H
#define SUBLET_SCHED_RESERVATION_RESERVATION_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conf.h"

struct reservation_config {
    int64_t max_ms;     /* a job reserves for so long at a time; 0: not at all ... */
    int64_t session_ms; /* ... and then not again for so long */
    bool has_resources; /* RESOURCE_RESERVE */
    bool is_backfill;
    int64_t backfill_slice_ms; /* of a backfill queue: so long a gap is enough; 0: it
                         has to be as long as the job's run limit */
};

/* Of a row of section Queue. */
void reservation_config_read(struct conf *conf, const struct conf_place *at,
                             struct reservation_config *config);

#endif
