/* SPDX-License-Identifier: Apache-2.0 */
/* slot_count.h: slots in use per host, by the state of the jobs that use them.
 *
 * Ownership: in an arena; names are borrowed. Order: by host, then lease, once sorted.
 * Layer: site. */
#ifndef SUBLET_SITE_VIEW_SLOT_COUNT_H
#define SUBLET_SITE_VIEW_SLOT_COUNT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/value.h"
#include "site/view/site_view.h"

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
    bool is_used_exclusively; /* by one exclusive job */
};

struct slot_counts {
    struct slot_count *rows;
    int count, capacity;
};

/* First all hosts are added, then the rows are sorted; only then slots are counted and
 * rows looked up. */
void slot_counts_init(struct slot_counts *counts, struct arena *arena, int capacity);
void slot_counts_add_host(struct slot_counts *counts, const char *host,
                          const char *lease);
void slot_counts_sort(struct slot_counts *counts);
/* Does nothing if the host was not added. */
void slot_counts_add(struct slot_counts *counts, const char *host, const char *lease,
                     enum slot_count_kind kind, int n_slots, bool is_exclusive);
const struct slot_count *slot_counts_find(const struct slot_counts *counts,
                                          const char *host, const char *lease);

/* Adds the slots of all runs on own hosts: under lease "", or those of consumers with
 * the consumer's name instead of a lease. */
void slot_counts_add_runs(struct slot_counts *counts, struct site_view *view,
                          bool by_consumer);
/* "max", "njobs", "run", "ssusp", "ususp", "rsv" of a host's row. */
void slot_count_add_to_row(struct arena *arena, struct value *row, int max,
                           const struct slot_count *counts);

#endif
