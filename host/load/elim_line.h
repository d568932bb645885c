/* SPDX-License-Identifier: Apache-2.0 */
/* elim_line.h: parses a line of an elim, in LSF's format, and stores the values.
 *
 *     3 licences 17 scratch 2048.5 os_version 4.2
 *
 * The number of pairs, then a name and a value each, separated by blanks. A line is
 * accepted as a whole or not at all: the count must be right, every name a resource
 * name that occurs once, and every value printable. A value of `-` is not known at
 * present.
 *
 * Ownership: the pairs point into the line, which is modified.
 * Errors: ERR_PARSE, ERR_BOUNDS; no pair is valid then.
 * Source: LSF's elim (docs/resources.md). Layer: host. */
#ifndef SUBLET_HOST_LOAD_ELIM_LINE_H
#define SUBLET_HOST_LOAD_ELIM_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"
#include "base/err.h"
#include "model/msg.h"

enum {
    ELIM_PAIRS_MAX = 256,  /* as LSF's external indices */
    ELIM_LINE_MAX = 50000, /* as many pairs, each as long as it may be */
};

struct elim_pair {
    const char *name;
    const char *value; /* NULL: not known now */
};

/* `line` is `length` bytes without the newline, and a NUL behind them. `pairs` has room
 * for ELIM_PAIRS_MAX. */
int elim_line_parse(char *line, size_t length, struct elim_pair *pairs, int *n_pairs,
                    struct err *err) MUST_CHECK;

/* ---- the values of an elim, by name, with their times (milliseconds) */

struct elim_value {
    char name[NAME_SIZE];
    char value[LOAD_VALUE_SIZE];
    int64_t received_ms;
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
