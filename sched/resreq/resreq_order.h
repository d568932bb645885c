/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_order.h: the order section: `[!][-]resource[:[-]resource]...`.
 *
 * Order: hosts whose status is not ok come last. Others are sorted by the first
 * resource, best host first: the smaller value of a load index, the larger value of an
 * amount that is left. Equal hosts are sorted by the next resource, and finally by row.
 * `-` reverses one resource. r15s, r1m and r15m are normalized: divided by cpuf if the
 * host has it.
 *
 * Errors: ERR_PARSE for unknown names and resources without an order. `!`, which asks
 * LSF to sort again after its plugins, is accepted and changes nothing: there is only
 * one sort, and it is the last step. Source: docs/design/resreq.md "Order". Layer:
 * sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_ORDER_H
#define SUBLET_SCHED_RESREQ_RESREQ_ORDER_H

#include "base/err.h"
#include "sched/resource/resource.h"
#include "sched/resreq/resreq_lex.h"

enum { RESREQ_ORDER_MAX = 32 }; /* resources: more are not useful to order by */

struct resreq_order {
    struct {
        int id;
        bool is_reversed;
    } keys[RESREQ_ORDER_MAX];
    int n_keys; /* 0: no order was given */
};

/* Appends to `order`. An open catalogue (`is_open`) accepts any name. */
int resreq_order_parse(const struct resources *resources, bool is_open,
                       struct resreq_lex lex, struct resreq_place keyword,
                       struct resreq_order *order,
                       struct resreq_error *error) MUST_CHECK;

/* LSF's default: r15s:pg. */
void resreq_order_default(struct resreq_order *order);

/* Sorts rows of the table, best first. `overrides` may be NULL. */
void resreq_order_sort(const struct resreq_order *order,
                       const struct resource_table *table,
                       const struct resource_overrides *overrides, int *rows,
                       int n_rows);
/* By place in `rows`: how many of the rows are better, whatever their status. */
void resreq_order_rank(const struct resreq_order *order,
                       const struct resource_table *table,
                       const struct resource_overrides *overrides, const int *rows,
                       int n_rows, int *ranks);

#endif
