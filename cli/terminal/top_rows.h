/* SPDX-License-Identifier: Apache-2.0 */
/* top_rows.h: what `sublet top` shows: leases filtered, sorted and as bars, sums.
 *
 * Units: slots; ages and times to come in milliseconds, against the clock given.
 * Ownership: texts are borrowed from the JSON; arrays are the arena's.
 * Order: as asked; ties by id.
 * Layer: cli, without any input or output. */
#ifndef SUBLET_CLI_TERMINAL_TOP_ROWS_H
#define SUBLET_CLI_TERMINAL_TOP_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Parts of a bar, in order; each is drawn by its letter. */
enum top_part {
    TOP_PROVIDER_USED,
    TOP_PROVIDER_IDLE,
    TOP_TRANSIT,
    TOP_CONSUMER_IDLE,
    TOP_CONSUMER_USED,
    TOP_PARTS
};
extern const char top_rows_letters[TOP_PARTS + 1];

enum top_sort {
    TOP_BY_ID,
    TOP_BY_SLOTS,
    TOP_BY_STATE,
    TOP_BY_CHANGE,
    TOP_BY_NEXT,
    TOP_SORTS
};
const char *top_rows_sort_name(enum top_sort sort);

struct top_lease {
    const char *id, *state, *reason; /* state: "disc" where a site is away */
    int slots[TOP_PARTS];
    int64_t age_ms;  /* of the last change; -1: none */
    int64_t next_ms; /* until the next rebalance; -1: none is due */
};

struct top_rows {
    struct top_lease *items;
    int count;
    int n_all, n_inactive, n_away; /* of all leases, whatever the filter */
};

/* `filter`: words, all of which are in the id, the state or the reason. */
void top_rows_read(const json_t *leases, const char *filter, enum top_sort sort,
                   bool is_reversed, int64_t now_ms, struct arena *arena,
                   struct top_rows *rows);

/* The whole bar in `width` letters, every part that has slots in one at least where
 * there is room; `bar` takes width + 1. */
void top_rows_bar(const int slots[TOP_PARTS], int width, char *bar);

#endif
