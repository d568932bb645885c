/* SPDX-License-Identifier: Apache-2.0 */
/* top_rows.h: the rows of `sublet top`: leases filtered and sorted, bars, sums.
 *
 * Units: slots; ages and remaining times in milliseconds, relative to the clock given.
 * Ownership: texts are borrowed from the JSON; arrays are the arena's. Order: as
 * requested; ties by id. Layer: cli, without any input or output. */
#ifndef SUBLET_CLI_TERMINAL_TOP_ROWS_H
#define SUBLET_CLI_TERMINAL_TOP_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Parts of a bar, in order. */
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
    const char *id, *state, *reason; /* state: "disc" if a site is not connected */
    int slots[TOP_PARTS];
    int64_t age_ms;  /* since the last change; -1: none */
    int64_t next_ms; /* until the next rebalance; -1: none is due */
};

struct top_rows {
    struct top_lease *items;
    int count;
    int n_all, n_inactive, n_away; /* of all leases, ignoring the filter */
};

/* `filter`: words that must all occur in the id, the state or the reason. */
void top_rows_read(const json_t *leases, const char *filter, enum top_sort sort,
                   bool is_reversed, int64_t now_ms, struct arena *arena,
                   struct top_rows *rows);

/* Draws a bar of `width` letters. If possible, every part with slots has at least one
 * letter. `bar` has width + 1 bytes. */
void top_rows_bar(const int slots[TOP_PARTS], int width, char *bar);

#endif
