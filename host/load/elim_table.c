/* SPDX-License-Identifier: Apache-2.0 */
/* elim_table.c: see elim_line.h. */
#include "host/load/elim_line.h"

#include <stdio.h>
#include <string.h>

static int find(const struct elim_table *table, const char *name)
{
    for (int i = 0; i < table->count; i++) {
        if (strcmp(table->values[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* The last takes its place. */
static void remove_at(struct elim_table *table, int index)
{
    table->values[index] = table->values[--table->count];
}

static bool take(struct elim_table *table, const struct elim_pair *pair, int64_t now_ms)
{
    int index = find(table, pair->name);
    if (pair->value == NULL) {
        if (index >= 0) {
            remove_at(table, index);
        }
        return index >= 0;
    }
    if (index < 0 && table->count == ELIM_PAIRS_MAX) {
        return false;
    }
    bool is_new = index < 0;
    struct elim_value *value = &table->values[is_new ? table->count++ : index];
    bool is_changed = is_new || strcmp(value->value, pair->value) != 0;
    snprintf(value->name, sizeof(value->name), "%s", pair->name);
    snprintf(value->value, sizeof(value->value), "%s", pair->value);
    value->received_ms = now_ms;
    return is_changed;
}

bool elim_table_take(struct elim_table *table, const struct elim_pair *pairs,
                     int n_pairs, int64_t now_ms)
{
    bool is_changed = false;
    for (int i = 0; i < n_pairs; i++) {
        is_changed = take(table, &pairs[i], now_ms) || is_changed;
    }
    return is_changed;
}

bool elim_table_expire(struct elim_table *table, int64_t before_ms)
{
    int before = table->count;
    for (int i = table->count; i-- > 0;) {
        if (table->values[i].received_ms < before_ms) {
            remove_at(table, i);
        }
    }
    return table->count != before;
}

int elim_table_list(const struct elim_table *table, struct load_value *values, int max)
{
    int count = table->count < max ? table->count : max;
    for (int i = 0; i < count; i++) {
        values[i] = (struct load_value){.name = table->values[i].name,
                                        .value = table->values[i].value};
    }
    return count;
}
