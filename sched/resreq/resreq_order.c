/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_order.c: see resreq_order.h. The values of every host are converted so that
 * less is better, then sorted once. */
#include "sched/resreq/resreq_order.h"

#include <stdlib.h>
#include <string.h>

#define FAIL(error, place, reason, ...)                                                \
    resreq_error_set(error, RESREQ_ORDER, place, reason, __VA_ARGS__)

/* ---------------------------------------------------------------- reading */

static int add_key(const struct resources *resources, bool is_open,
                   struct resreq_place name, bool is_reversed,
                   struct resreq_order *order, struct resreq_error *error)
{
    int id = resources_find(resources, name.source + name.at, (size_t)name.length);
    if (id < 0 && !is_open) {
        return FAIL(error, name, RESREQ_BAD_NAME, "there is no resource of this name");
    }
    if (id >= 0 && !resources_at(resources, id)->is_orderable) {
        return FAIL(error, name, RESREQ_BAD_TYPE,
                    "hosts are ordered by load indices and other numeric resources");
    }
    if (order->n_keys == RESREQ_ORDER_MAX) {
        return FAIL(error, name, RESREQ_BAD_VALUE, "at most %d resources in an order",
                    RESREQ_ORDER_MAX);
    }
    order->keys[order->n_keys].id = id < 0 ? RESOURCE_R15S : id;
    order->keys[order->n_keys].is_reversed = is_reversed;
    order->n_keys++;
    return 0;
}

int resreq_order_parse(const struct resources *resources, bool is_open,
                       struct resreq_lex lex, struct resreq_place keyword,
                       struct resreq_order *order, struct resreq_error *error)
{
    struct lex_token token = resreq_lex_next(&lex);
    if (token.kind == LEX_NOT) {
        token = resreq_lex_next(&lex);
    }
    for (;;) {
        bool is_reversed = token.kind == LEX_MINUS;
        if (is_reversed) {
            token = resreq_lex_next(&lex);
        }
        if (token.kind != LEX_NAME) {
            return FAIL(error, token.kind == LEX_END ? keyword : token.place,
                        RESREQ_NO_VALUE, "expected [!][-]RESOURCE[:[-]RESOURCE]...");
        }
        int code = add_key(resources, is_open, token.place, is_reversed, order, error);
        if (code != 0) {
            return code;
        }
        token = resreq_lex_next(&lex);
        if (token.kind == LEX_END) {
            return 0;
        }
        if (token.kind != LEX_COLON) {
            return FAIL(error, token.place, RESREQ_BAD_SYNTAX,
                        "resources of an order are separated by colons");
        }
        token = resreq_lex_next(&lex);
    }
}

void resreq_order_default(struct resreq_order *order)
{
    *order = (struct resreq_order){.n_keys = 2};
    order->keys[0].id = RESOURCE_R15S;
    order->keys[1].id = RESOURCE_PG;
}

/* ---------------------------------------------------------------- sorting */

struct item {
    int row, place; /* in the list that is sorted */
    bool is_last;   /* its status is not ok */
    int n_keys;
    const double *keys; /* less is better */
};

static int compare_keys(const struct item *a, const struct item *b)
{
    if (a->is_last != b->is_last) {
        return a->is_last ? 1 : -1;
    }
    for (int i = 0; i < a->n_keys; i++) {
        if (a->keys[i] < b->keys[i] || a->keys[i] > b->keys[i]) {
            return a->keys[i] < b->keys[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int by_keys = compare_keys(a, b);
    return by_keys != 0 ? by_keys : a->row < b->row ? -1 : a->row > b->row;
}

static double normalized(const struct resource_table *table,
                         const struct resource_overrides *overrides, int row, int id)
{
    const double *left = resource_table_find_override(overrides, id);
    double value = left != NULL ? left[row] : resource_table_number(table, row, id);
    double factor = resource_table_number(table, row, RESOURCE_CPUF);
    bool is_queue = id == RESOURCE_R15S || id == RESOURCE_R1M || id == RESOURCE_R15M;
    return is_queue && factor > 0 ? value / factor : value;
}

static bool is_ok(const struct resource_table *table, int row)
{
    return !resource_table_has(table, row, RESOURCE_STATUS) ||
           strcmp(resource_table_text(table, row, RESOURCE_STATUS), "ok") == 0;
}

/* Rows with their keys. */
struct items {
    struct item *items;
    double *keys;
};

static struct items make_items(const struct resreq_order *order,
                               const struct resource_table *table,
                               const struct resource_overrides *overrides,
                               const int *rows, int n_rows)
{
    const struct resources *resources = resource_table_resources(table);
    size_t n_keys = (size_t)order->n_keys;
    struct items made = {mem_alloc((size_t)n_rows, sizeof(struct item)),
                         mem_alloc((size_t)n_rows * n_keys, sizeof(double))};
    for (int i = 0; i < n_rows; i++) {
        double *own = made.keys + (size_t)i * n_keys;
        made.items[i] = (struct item){rows[i], i, false, order->n_keys, own};
        for (int k = 0; k < order->n_keys; k++) {
            int id = order->keys[k].id;
            double value = normalized(table, overrides, rows[i], id);
            bool is_less_better = resources_at(resources, id)->is_increasing !=
                                  order->keys[k].is_reversed;
            own[k] = is_less_better ? value : -value;
        }
    }
    return made;
}

static void free_items(struct items *items)
{
    free(items->keys);
    free(items->items);
}

void resreq_order_sort(const struct resreq_order *order,
                       const struct resource_table *table,
                       const struct resource_overrides *overrides, int *rows,
                       int n_rows)
{
    if (n_rows < 2 || order->n_keys == 0) {
        return;
    }
    struct items items = make_items(order, table, overrides, rows, n_rows);
    for (int i = 0; i < n_rows; i++) {
        items.items[i].is_last = !is_ok(table, rows[i]);
    }
    qsort(items.items, (size_t)n_rows, sizeof(struct item), compare_items);
    for (int i = 0; i < n_rows; i++) {
        rows[i] = items.items[i].row;
    }
    free_items(&items);
}

void resreq_order_rank(const struct resreq_order *order,
                       const struct resource_table *table,
                       const struct resource_overrides *overrides, const int *rows,
                       int n_rows, int *ranks)
{
    struct items items = make_items(order, table, overrides, rows, n_rows);
    qsort(items.items, (size_t)n_rows, sizeof(struct item), compare_items);
    for (int i = 0; i < n_rows; i++) {
        bool is_equal =
            i > 0 && compare_keys(&items.items[i - 1], &items.items[i]) == 0;
        ranks[items.items[i].place] = is_equal ? ranks[items.items[i - 1].place] : i;
    }
    free_items(&items);
}
