/* SPDX-License-Identifier: Apache-2.0 */
/* slot_count.h: slots per host, by what the jobs on them do, for listings.
 *
 * Ownership: in an arena; names are borrowed. Order: by host, then lease, once sorted.
 * Layer: site. */
#ifndef SUBLET_SITE_VIEW_SLOT_COUNT_H
#define SUBLET_SITE_VIEW_SLOT_COUNT_H

#include <stdbool.h>

#include "base/arena.h"

enum slot_count_kind {
    SLOT_COUNT_RUN,
    SLOT_COUNT_SSUSP,
    SLOT_COUNT_USUSP,
    SLOT_COUNT_RSV,
    SLOT_COUNT_KINDS
};

struct slot_count {
    const char *host, *lease;
    int slots[SLOT_COUNT_KINDS];
    bool is_taken; /* one of the jobs is an exclusive one */
};

struct slot_counts {
    struct slot_count *rows;
    int count, capacity;
};

/* All rows are added, then sorted, then counted and looked up. */
void slot_counts_init(struct slot_counts *tally, struct arena *arena, int capacity);
void slot_counts_add_host(struct slot_counts *tally, const char *host,
                          const char *lease);
void slot_counts_sort(struct slot_counts *tally);
/* Where there is such a row. */
void slot_counts_add(struct slot_counts *tally, const char *host, const char *lease,
                     enum slot_count_kind kind, int n_slots, bool is_exclusive);
const struct slot_count *slot_counts_find(const struct slot_counts *tally,
                                          const char *host, const char *lease);

#endif
