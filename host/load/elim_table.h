/* SPDX-License-Identifier: Apache-2.0 */
/* elim_table.h: the values of an elim, by name, with their times. Units: milliseconds.
 * Layer: host. */
#ifndef SUBLET_HOST_LOAD_ELIM_TABLE_H
#define SUBLET_HOST_LOAD_ELIM_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bounds.h"
#include "host/load/elim_line.h"
#include "model/msg.h"

struct elim_value {
    char name[NAME_SIZE];
    char value[LOAD_VALUE_SIZE];
    int64_t said_ms;
};

struct elim_table {
    struct elim_value values[ELIM_PAIRS_MAX];
    int count;
};

/* Stores the pairs. Returns true if any value changed. If the table is full, new names
 * are left out. */
bool elim_table_take(struct elim_table *table, const struct elim_pair *pairs,
                     int n_pairs, int64_t now_ms);
/* Removes values older than that; true if there were any. */
bool elim_table_expire(struct elim_table *table, int64_t before_ms);
int elim_table_list(const struct elim_table *table, struct load_value *values, int max);

#endif
