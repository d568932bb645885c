/* SPDX-License-Identifier: Apache-2.0 */
/* resource_table.h: the values that hosts have of the resources: a column a resource, a
 * row a host. Requirement strings are evaluated over it (resreq.h).
 *
 * A value that was never set, or was unset, is absent: it reads as 0, false or "", and
 * `has` tells. Columns come into being with their first value, so a resource that no
 * host has costs nothing. Texts are kept once and never dropped: values are few. Past
 * RESOURCE_TEXTS_MAX different ones (a script that prints ever new ones) a text is not
 * taken, and the value is absent.
 *
 * Units: resource.h. Ownership: the catalogue is borrowed and outlives the table, and
 * may grow meanwhile; texts are copied. Errors: none; a row, id or type out of range is
 * our bug. NaN and infinities are not taken: the value is absent.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESOURCE_RESOURCE_TABLE_H
#define SUBLET_SCHED_RESOURCE_RESOURCE_TABLE_H

#include "sched/resource/resource.h"

enum {
    RESOURCE_TEXTS_MAX = 1000000, /* different texts of one table: ten a host of the
                                     largest federation */
    RESOURCE_TEXT_NONE = 0,       /* the text of an absent value: "" */
    RESOURCE_BLOCK = 128,         /* rows that a column's arrays come in: whoever reads
                                     by blocks of it may read the last one whole */
};

struct resource_table;

struct resource_table *resource_table_new(const struct resources *resources);
void resource_table_free(struct resource_table *table);
const struct resources *resource_table_resources(const struct resource_table *table);

/* Rows 0 .. n_rows - 1. New rows have no value; those that stay keep theirs. */
void resource_table_resize(struct resource_table *table, int n_rows);
int resource_table_rows(const struct resource_table *table);
/* All values of a row become absent, and none of its resources is exclusive. */
void resource_table_clear_row(struct resource_table *table, int row);
/* The row becomes what row `from_row` of another table of the same catalogue is. */
void resource_table_copy_row(struct resource_table *table, int row,
                             const struct resource_table *from, int from_row);

void resource_table_set_number(struct resource_table *table, int row, int id,
                               double number);
void resource_table_set_flag(struct resource_table *table, int row, int id, bool flag);
void resource_table_set_text(struct resource_table *table, int row, int id,
                             const char *text);
void resource_table_unset(struct resource_table *table, int row, int id);
/* `!bigmem`: the host has it, and runs only jobs whose select names it. Boolean
 * resources only. */
void resource_table_set_exclusive(struct resource_table *table, int row, int id,
                                  bool is_exclusive);

bool resource_table_has(const struct resource_table *table, int row, int id);
double resource_table_number(const struct resource_table *table, int row, int id);
bool resource_table_flag(const struct resource_table *table, int row, int id);
const char *resource_table_text(const struct resource_table *table, int row, int id);
bool resource_table_is_exclusive(const struct resource_table *table, int row, int id);

/* The evaluator's view: one array by row, valid until the table changes; NULL: no host
 * has a value. Absent values are 0, false, RESOURCE_TEXT_NONE. */
struct resource_column {
    const double *numbers; /* RESOURCE_NUMERIC */
    const uint8_t *flags;  /* RESOURCE_BOOLEAN: 0, 1 */
    const int32_t *texts;  /* RESOURCE_STRING: see resource_table_text_at */
    const uint8_t *has;
    const uint8_t *exclusive; /* NULL: exclusive nowhere */
};
struct resource_column resource_table_column(const struct resource_table *table,
                                             int id);

/* Numbers that are read in place of a column's: by row, in whole blocks. */
struct resource_override {
    int id;
    const double *numbers;
};
struct resource_overrides {
    const struct resource_override *items;
    int n_items;
};
/* NULL: the column's are read. `lefts` may be NULL. */
const double *resource_table_find_override(const struct resource_overrides *lefts,
                                           int id);

/* A text of the table by number; the number of one, or -1 where no host has it. */
const char *resource_table_text_at(const struct resource_table *table, int32_t text);
int32_t resource_table_find_text(const struct resource_table *table, const char *text,
                                 size_t length);

#endif
