/* SPDX-License-Identifier: Apache-2.0 */
/* resource_table.c: see resource.h. Columns grow with the rows; string columns index a
 * table of texts. */
#include "sched/resource/resource.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "base/arena.h"

/* One of the arrays is used, depending on the type of the resource. */
struct column {
    double *numbers;
    uint8_t *flags;
    int32_t *texts;
    uint8_t *has; /* NULL: no row has a value yet */
    uint8_t *exclusive;
};

struct text {
    int32_t number;
    UT_hash_handle hh;
    char text[];
};

struct resource_table {
    const struct resources *resources;
    struct column *columns; /* by id; resources beyond have no value */
    int n_columns;
    int n_rows, capacity;
    int32_t *undefined;  /* by row: number of a text; NULL: none has such resources */
    struct text **texts; /* by number; number 0 is "" */
    int32_t n_texts, texts_capacity;
    struct text *by_text; /* hash table of texts */
};

/* ---------------------------------------------------------------- texts */

static int32_t find_text(const struct resource_table *table, const char *text,
                         size_t length)
{
    struct text *found;
    HASH_FIND(hh, table->by_text, text, length, found);
    return found != NULL ? found->number : -1;
}

static int32_t add_text(struct resource_table *table, const char *text)
{
    size_t length = strlen(text);
    int32_t number = find_text(table, text, length);
    if (number >= 0) {
        return number;
    }
    if (table->n_texts == RESOURCE_TEXTS_MAX) {
        return -1;
    }
    if (table->n_texts == table->texts_capacity) {
        table->texts_capacity = table->texts_capacity * 2 + 16;
        table->texts = mem_grow(table->texts, (size_t)table->texts_capacity,
                                sizeof(*table->texts));
    }
    struct text *added = mem_alloc(1, sizeof(*added) + length + 1);
    memcpy(added->text, text, length + 1);
    added->number = table->n_texts++;
    table->texts[added->number] = added;
    HASH_ADD_KEYPTR(hh, table->by_text, added->text, length, added);
    return added->number;
}

/* ---------------------------------------------------------------- life */

struct resource_table *resource_table_new(const struct resources *resources)
{
    struct resource_table *table = mem_alloc(1, sizeof(*table));
    table->resources = resources;
    add_text(table, "");
    return table;
}

void resource_table_free(struct resource_table *table)
{
    if (table == NULL) {
        return;
    }
    for (int id = 0; id < table->n_columns; id++) {
        struct column *column = &table->columns[id];
        free(column->numbers);
        free(column->flags);
        free(column->texts);
        free(column->has);
        free(column->exclusive);
    }
    HASH_CLEAR(hh, table->by_text);
    for (int32_t i = 0; i < table->n_texts; i++) {
        free(table->texts[i]);
    }
    free(table->texts);
    free(table->undefined);
    free(table->columns);
    free(table);
}

const struct resources *resource_table_resources(const struct resource_table *table)
{
    return table->resources;
}

/* ---------------------------------------------------------------- rows */

static void *widen(void *array, size_t item, int from, int to)
{
    if (array == NULL) {
        return NULL;
    }
    char *grown = mem_grow(array, (size_t)to, item);
    memset(grown + (size_t)from * item, 0, (size_t)(to - from) * item);
    return grown;
}

static void reserve(struct resource_table *table, int n_rows)
{
    int to = table->capacity * 2 > n_rows ? table->capacity * 2 : n_rows;
    to = (to + RESOURCE_BLOCK - 1) / RESOURCE_BLOCK * RESOURCE_BLOCK;
    for (int id = 0; id < table->n_columns; id++) {
        struct column *column = &table->columns[id];
        column->numbers =
            widen(column->numbers, sizeof(*column->numbers), table->capacity, to);
        column->flags =
            widen(column->flags, sizeof(*column->flags), table->capacity, to);
        column->texts =
            widen(column->texts, sizeof(*column->texts), table->capacity, to);
        column->has = widen(column->has, sizeof(*column->has), table->capacity, to);
        column->exclusive =
            widen(column->exclusive, sizeof(*column->exclusive), table->capacity, to);
    }
    table->undefined =
        widen(table->undefined, sizeof(*table->undefined), table->capacity, to);
    table->capacity = to;
}

void resource_table_resize(struct resource_table *table, int n_rows)
{
    assert(n_rows >= 0);
    for (int row = n_rows; row < table->n_rows; row++) {
        resource_table_clear_row(table, row);
    }
    if (n_rows > table->capacity) {
        reserve(table, n_rows);
    }
    table->n_rows = n_rows;
}

int resource_table_rows(const struct resource_table *table)
{
    return table->n_rows;
}

void resource_table_clear_row(struct resource_table *table, int row)
{
    for (int id = 0; id < resources_count(table->resources); id++) {
        resource_table_unset(table, row, id);
        if (id < table->n_columns && table->columns[id].exclusive != NULL) {
            table->columns[id].exclusive[row] = 0;
        }
    }
    resource_table_clear_undefined(table, row);
}

void resource_table_copy_row(struct resource_table *table, int row,
                             const struct resource_table *from, int from_row)
{
    assert(table->resources == from->resources);
    resource_table_clear_row(table, row);
    if (resource_table_undefined(from, from_row)[0] != '\0') {
        resource_table_add_undefined(table, row,
                                     resource_table_undefined(from, from_row));
    }
    for (int id = 0; id < resources_count(table->resources); id++) {
        if (resource_table_is_exclusive(from, from_row, id)) {
            resource_table_set_exclusive(table, row, id, true);
        }
        if (!resource_table_has(from, from_row, id)) {
            continue;
        }
        switch (resources_at(table->resources, id)->type) {
        case RESOURCE_NUMERIC:
            resource_table_set_number(table, row, id,
                                      resource_table_number(from, from_row, id));
            break;
        case RESOURCE_BOOLEAN:
            resource_table_set_flag(table, row, id,
                                    resource_table_flag(from, from_row, id));
            break;
        case RESOURCE_STRING:
            resource_table_set_text(table, row, id,
                                    resource_table_text(from, from_row, id));
            break;
        }
    }
}

/* ---------------------------------------------------------------- values */

static void check(const struct resource_table *table, int row, int id,
                  enum resource_type type)
{
    assert(row >= 0 && row < table->n_rows);
    assert(id >= 0 && id < resources_count(table->resources));
    assert(resources_at(table->resources, id)->type == type);
}

/* For reading. */
static const struct column *read_column(const struct resource_table *table, int id)
{
    static const struct column none = {.has = NULL};
    return id < table->n_columns ? &table->columns[id] : &none;
}

static const struct column *read_cell(const struct resource_table *table, int row,
                                      int id, enum resource_type type)
{
    check(table, row, id, type);
    return read_column(table, id);
}

/* For writing: creates columns for all resources that the catalogue has by now. */
static struct column *column_at(struct resource_table *table, int id)
{
    if (id >= table->n_columns) {
        int n_columns = resources_count(table->resources);
        table->columns =
            mem_grow(table->columns, (size_t)n_columns, sizeof(*table->columns));
        memset(&table->columns[table->n_columns], 0,
               (size_t)(n_columns - table->n_columns) * sizeof(*table->columns));
        table->n_columns = n_columns;
    }
    return &table->columns[id];
}

/* The column to write into; its arrays are created with the first value. */
static struct column *write_cell(struct resource_table *table, int row, int id,
                                 enum resource_type type)
{
    check(table, row, id, type);
    struct column *column = column_at(table, id);
    if (column->has == NULL) {
        size_t n_rows = (size_t)table->capacity;
        column->has = mem_alloc(n_rows, sizeof(*column->has));
        switch (type) {
        case RESOURCE_NUMERIC:
            column->numbers = mem_alloc(n_rows, sizeof(*column->numbers));
            break;
        case RESOURCE_BOOLEAN:
            column->flags = mem_alloc(n_rows, sizeof(*column->flags));
            break;
        case RESOURCE_STRING:
            column->texts = mem_alloc(n_rows, sizeof(*column->texts));
            break;
        }
    }
    return column;
}

void resource_table_set_number(struct resource_table *table, int row, int id,
                               double number)
{
    struct column *column = write_cell(table, row, id, RESOURCE_NUMERIC);
    column->has[row] = isfinite(number) != 0;
    column->numbers[row] = isfinite(number) ? number : 0;
}

void resource_table_set_flag(struct resource_table *table, int row, int id, bool flag)
{
    struct column *column = write_cell(table, row, id, RESOURCE_BOOLEAN);
    column->has[row] = 1;
    column->flags[row] = flag;
}

void resource_table_set_text(struct resource_table *table, int row, int id,
                             const char *text)
{
    struct column *column = write_cell(table, row, id, RESOURCE_STRING);
    if (column->has[row] && strcmp(table->texts[column->texts[row]]->text, text) == 0) {
        return; /* a pass sets the status of all hosts */
    }
    int32_t number = add_text(table, text);
    column->has[row] = number >= 0;
    column->texts[row] = number >= 0 ? number : RESOURCE_TEXT_NONE;
}

void resource_table_unset(struct resource_table *table, int row, int id)
{
    assert(row >= 0 && row < table->n_rows);
    if (!resource_table_has(table, row, id)) {
        return;
    }
    struct column *column = &table->columns[id];
    column->has[row] = 0;
    if (column->numbers != NULL) {
        column->numbers[row] = 0;
    } else if (column->flags != NULL) {
        column->flags[row] = 0;
    } else {
        column->texts[row] = RESOURCE_TEXT_NONE;
    }
}

void resource_table_set_exclusive(struct resource_table *table, int row, int id,
                                  bool is_exclusive)
{
    check(table, row, id, RESOURCE_BOOLEAN);
    struct column *column = column_at(table, id);
    if (column->exclusive == NULL && is_exclusive) {
        column->exclusive =
            mem_alloc((size_t)table->capacity, sizeof(*column->exclusive));
    }
    if (column->exclusive != NULL) {
        column->exclusive[row] = is_exclusive;
    }
    if (is_exclusive) {
        resource_table_set_flag(table, row, id, true);
    }
}

void resource_table_add_undefined(struct resource_table *table, int row,
                                  const char *name)
{
    assert(row >= 0 && row < table->n_rows);
    if (table->undefined == NULL) {
        table->undefined =
            mem_alloc((size_t)table->capacity, sizeof(*table->undefined));
    }
    const char *before = resource_table_undefined(table, row);
    size_t size = strlen(before) + strlen(name) + 2;
    char *names = mem_alloc(size, 1);
    snprintf(names, size, "%s%s%s", before, before[0] != '\0' ? " " : "", name);
    int32_t number = add_text(table, names);
    /* Any text keeps jobs off; beyond RESOURCE_TEXTS_MAX it is one that is there. */
    table->undefined[row] = number > RESOURCE_TEXT_NONE ? number : table->n_texts - 1;
    free(names);
}

void resource_table_clear_undefined(struct resource_table *table, int row)
{
    assert(row >= 0 && row < table->n_rows);
    if (table->undefined != NULL) {
        table->undefined[row] = RESOURCE_TEXT_NONE;
    }
}

const char *resource_table_undefined(const struct resource_table *table, int row)
{
    assert(row >= 0 && row < table->n_rows);
    return table
        ->texts[table->undefined != NULL ? table->undefined[row] : RESOURCE_TEXT_NONE]
        ->text;
}

const int32_t *resource_table_undefined_column(const struct resource_table *table)
{
    return table->undefined;
}

bool resource_table_has(const struct resource_table *table, int row, int id)
{
    const struct column *column = read_column(table, id);
    return column->has != NULL && column->has[row];
}

double resource_table_number(const struct resource_table *table, int row, int id)
{
    const struct column *column = read_cell(table, row, id, RESOURCE_NUMERIC);
    return column->numbers != NULL ? column->numbers[row] : 0;
}

bool resource_table_flag(const struct resource_table *table, int row, int id)
{
    const struct column *column = read_cell(table, row, id, RESOURCE_BOOLEAN);
    return column->flags != NULL && column->flags[row];
}

const char *resource_table_text(const struct resource_table *table, int row, int id)
{
    const struct column *column = read_cell(table, row, id, RESOURCE_STRING);
    int32_t number = column->texts != NULL ? column->texts[row] : RESOURCE_TEXT_NONE;
    return table->texts[number]->text;
}

bool resource_table_is_exclusive(const struct resource_table *table, int row, int id)
{
    const struct column *column = read_column(table, id);
    return column->exclusive != NULL && column->exclusive[row];
}

/* ---------------------------------------------------------------- columns */

struct resource_column resource_table_column(const struct resource_table *table, int id)
{
    const struct column *column = read_column(table, id);
    return (struct resource_column){
        .numbers = column->numbers,
        .flags = column->flags,
        .texts = column->texts,
        .has = column->has,
        .exclusive = column->exclusive,
    };
}

const char *resource_table_text_at(const struct resource_table *table, int32_t text)
{
    assert(text >= 0 && text < table->n_texts);
    return table->texts[text]->text;
}

int32_t resource_table_find_text(const struct resource_table *table, const char *text,
                                 size_t length)
{
    return find_text(table, text, length);
}

const double *resource_table_find_override(const struct resource_overrides *overrides,
                                           int id)
{
    for (int i = 0; overrides != NULL && i < overrides->n_items; i++) {
        if (overrides->items[i].id == id) {
            return overrides->items[i].numbers;
        }
    }
    return NULL;
}
