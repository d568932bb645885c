/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_order.h: the order section: `[!][-]resource[:[-]resource]...`.
 *
 * Order: hosts whose status is not ok go last; then by the leftmost resource, best
 * first (the smaller where it is a load, the larger where it is something that is
 * left); where those are equal by the next one, and so on; then by row. `-` turns one
 * around. r15s, r1m and r15m are normalized: divided by cpuf where the host has one.
 *
 * Errors: ERR_PARSE: unknown names, resources that have no order. `!` (sort again when
 * everybody else has had a say) is read and changes nothing: there is one sort, and it
 * is the last. Source: lsf.md 5.3. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_ORDER_H
#define SUBLET_SCHED_RESREQ_RESREQ_ORDER_H

#include "base/err.h"
#include "sched/resource/resource_table.h"
#include "sched/resreq/resreq_lex.h"

enum { RESREQ_ORDER_MAX = 32 }; /* resources: there are not many more to order by */

struct resreq_order {
    struct {
        int id;
        bool is_reversed;
    } keys[RESREQ_ORDER_MAX];
    int n_keys; /* 0: no order was asked for */
};

/* Adds behind what stands in `order`. An open catalogue (`is_open`) takes any name. */
int resreq_order_parse(const struct resources *resources, bool is_open,
                       struct resreq_lex lex, struct resreq_place keyword,
                       struct resreq_order *order,
                       struct resreq_error *fault) MUST_CHECK;

/* LSF's default: r15s:pg. */
void resreq_order_default(struct resreq_order *order);

/* Sorts rows of the table, best first; `lefts` (NULL: none) stand for its columns. */
void resreq_order_sort(const struct resreq_order *order,
                       const struct resource_table *table,
                       const struct resource_overrides *lefts, int *rows, int n_rows);

#endif
