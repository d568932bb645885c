/* SPDX-License-Identifier: Apache-2.0 */
/* site_tally.h: slots per host, by what the jobs on them do, for listings.
 *
 * Ownership: in an arena; names are borrowed. Order: by host, then lease, once sorted.
 * Layer: site. */
#ifndef SUBLET_SITE_SITE_TALLY_H
#define SUBLET_SITE_SITE_TALLY_H

#include <stdbool.h>

#include "base/arena.h"

enum site_tally_kind { TALLY_RUN, TALLY_SSUSP, TALLY_USUSP, TALLY_RSV, TALLY_KINDS };

struct site_tally_row {
    const char *host, *lease;
    int slots[TALLY_KINDS];
    bool is_taken; /* one of the jobs is an exclusive one */
};

struct site_tally {
    struct site_tally_row *rows;
    int count, capacity;
};

/* All rows are added, then sorted, then counted and looked up. */
void site_tally_init(struct site_tally *tally, struct arena *arena, int capacity);
void site_tally_add(struct site_tally *tally, const char *host, const char *lease);
void site_tally_sort(struct site_tally *tally);
/* Where there is such a row. */
void site_tally_count(struct site_tally *tally, const char *host, const char *lease,
                      enum site_tally_kind kind, int n_slots, bool is_exclusive);
const struct site_tally_row *site_tally_find(const struct site_tally *tally,
                                             const char *host, const char *lease);

#endif
