/* SPDX-License-Identifier: Apache-2.0 */
/* max_min_fill.c: see max_min_fill.h.
 *
 * The freeze method, in whole numbers. Let R be the remaining amount, W the weights of
 * the items still active; tentatively each gets R * w / W. If some would get more than
 * hi and others less than lo, then the side with the larger total excess is certain:
 * its items are frozen at their bounds, and the others share the remaining amount.
 * Every pass freezes at least one item, so there are at most n passes (a few, in
 * practice).
 *
 * Example: 60 slots; A weight 10 hi 12, B weight 20, C weight 30 hi 0.
 *   pass 1: W = 60: A 10, B 20, C 30; C is 30 above its hi: frozen at 0
 *   pass 2: R = 60, W = 30: A 20, B 40; A is 8 above its hi: frozen at 12
 *   pass 3: R = 48, W = 20: B 48
 *
 * Fractions stay numerators over W until the end: floor(R * w / W), then the slots
 * that remain go one each to items with a remainder, in rank order. */
#include "base/max_min_fill.h"

/* A share that is not final yet. Shares are never negative. */
enum { ACTIVE = -1 };

/* n items of 2^31 slots times a weight of 2^31 is more than 64 bits. */
__extension__ typedef __int128 wide;

struct left {
    wide amount;  /* not given to frozen items */
    wide weights; /* of the active items */
};

static struct left what_is_left(int64_t amount, const struct max_min_fill_item *items,
                                int n_items)
{
    struct left left = {amount, 0};
    for (int i = 0; i < n_items; i++) {
        if (items[i].share == ACTIVE) {
            left.weights += items[i].weight;
        } else {
            left.amount -= items[i].share;
        }
    }
    return left;
}

/* Freezes the items that would leave their bounds; returns their number. */
static int freeze_offenders(struct left left, struct max_min_fill_item *items,
                            int n_items)
{
    wide over = 0, under = 0;
    for (int i = 0; i < n_items; i++) {
        const struct max_min_fill_item *item = &items[i];
        if (item->share != ACTIVE) {
            continue;
        }
        wide share = left.amount * item->weight;
        wide hi = item->hi * left.weights;
        wide lo = item->lo * left.weights;
        if (share > hi) {
            over += share - hi;
        } else if (share < lo) {
            under += lo - share;
        }
    }
    if (over == 0 && under == 0) {
        return 0;
    }
    int n_frozen = 0;
    for (int i = 0; i < n_items; i++) {
        struct max_min_fill_item *item = &items[i];
        if (item->share != ACTIVE) {
            continue;
        }
        wide share = left.amount * item->weight;
        if (over >= under && share >= item->hi * left.weights) {
            item->share = item->hi;
            n_frozen++;
        } else if (over < under && share <= item->lo * left.weights) {
            item->share = item->lo;
            n_frozen++;
        }
    }
    return n_frozen;
}

/* Sets the shares of the active items: floors, then the remaining slots in rank order.
 */
static void round_by_rank(struct left left, struct max_min_fill_item *items,
                          int n_items)
{
    wide remaining = left.amount;
    for (int i = 0; i < n_items; i++) {
        if (items[i].share == ACTIVE) {
            remaining -= left.amount * items[i].weight / left.weights;
        }
    }
    for (int i = 0; i < n_items; i++) {
        if (items[i].share != ACTIVE) {
            continue;
        }
        wide share = left.amount * items[i].weight;
        items[i].share = (int64_t)(share / left.weights);
        items[i].rest = (int64_t)(share % left.weights);
        items[i].whole = (int64_t)left.weights;
        if (remaining > 0 && items[i].rest != 0) {
            items[i].share++;
            items[i].is_odd = true;
            remaining--;
        }
    }
}

int64_t max_min_fill_shares(int64_t amount, struct max_min_fill_item *items,
                            int n_items)
{
    int64_t sum_lo = 0, sum_hi = 0;
    for (int i = 0; i < n_items; i++) {
        sum_lo += items[i].lo;
        sum_hi += items[i].hi;
        items[i].share = ACTIVE;
        items[i].rest = 0;
        items[i].whole = 1;
        items[i].is_odd = false;
    }
    if (amount >= sum_hi || amount <= sum_lo) {
        for (int i = 0; i < n_items; i++) {
            items[i].share = amount >= sum_hi ? items[i].hi : items[i].lo;
        }
        return amount >= sum_hi ? sum_hi : sum_lo;
    }
    struct left left;
    do {
        left = what_is_left(amount, items, n_items);
    } while (freeze_offenders(left, items, n_items) > 0);
    round_by_rank(left, items, n_items);
    return amount;
}
