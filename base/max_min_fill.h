/* SPDX-License-Identifier: Apache-2.0 */
/* max_min_fill.h: divides an amount exactly by weighted max-min fill with rank
 * rounding.
 *
 * The shares are s_i = clamp(L * weight_i, lo_i, hi_i) for the one water level L at
 * which they add up to the amount (clamped to [sum lo, sum hi]); then each is rounded
 * down, and the remaining slots go, one each and in the order of the items, to items
 * whose share has a fractional part.
 *
 * Units: slots; weights and bounds up to 2^31 - 1, so nothing overflows.
 * Order: the items are given in rank order; that order breaks every tie.
 * Source: docs/design/plans.md "Fill".
 * Layer: base. */
#ifndef SUBLET_BASE_MAX_MIN_FILL_H
#define SUBLET_BASE_MAX_MIN_FILL_H

#include <stdbool.h>
#include <stdint.h>

struct max_min_fill_item {
    int64_t weight; /* > 0 */
    int64_t lo, hi; /* 0 <= lo <= hi */
    int64_t share;  /* out */
    /* Out: before rounding the share was (share - is_odd) + rest / whole. */
    int64_t rest, whole; /* 0 <= rest < whole */
    bool is_odd;         /* got one of the slots that remained after rounding */
};

/* Sets the out fields of every item and returns the sum of the shares. */
int64_t max_min_fill_shares(int64_t amount, struct max_min_fill_item *items,
                            int n_items);

#endif
