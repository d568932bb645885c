/* SPDX-License-Identifier: Apache-2.0 */
/* pg_table.c: see pg.h. Rows, the members of lists, and the ends of lists are a batch
 * each (pg_batch.h): a record is written before its lists.
 *
 * Statements that are in flight are not waited for, so that none may depend on what
 * another one found. */
#include "sys/pg/pg_batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/field.h"
#include "model/record.h"

enum { COLUMNS_MAX = 64 };

/* The columns of a table in their order, the keys first. `names` and `types` are of
 * all; of a list, `columns` are those behind the record's key and `place`. */
struct columns {
    struct record_column columns[COLUMNS_MAX];
    const char *names[COLUMNS_MAX], *types[COLUMNS_MAX];
    int n_columns, n_keys, n_names;
    struct pg_batch *put;
    const char *all_sql;
};

struct list {
    const struct field *field;
    size_t offset; /* of the field */
    struct columns columns;
    struct pg_batch *cut; /* the record's key, and the number of members */
};

struct pg_table {
    struct pg *pg;
    struct db_table_def def;
    struct arena arena, params; /* of the table; of one statement */
    struct columns columns;
    struct pg_statement *delete;
    struct list lists[DB_TABLE_LISTS];
    int n_lists;
};

/* ---------------------------------------------------------------- columns */

static bool is_stored(const struct field *field)
{
    return field->kind == FIELD_INT || field->kind == FIELD_INT64 ||
           field->kind == FIELD_UINT64 || field->kind == FIELD_BOOL ||
           field->kind == FIELD_TEXT;
}

/* A column of a later version (pg_migrate.c) has no field, and a value of its own. */
static int add_column(struct pg_table *table, const char *name, const PGresult *rows,
                      int row, int skipped, const struct schema *schema,
                      struct columns *columns, struct err *err)
{
    const char *column_name = PQgetvalue(rows, row, 0);
    struct record_column column = {.is_nullable = pg_number(rows, row, 2) == 0};
    if (row >= skipped) {
        bool has_field = record_find_column(schema, 0, column_name, &column) &&
                         is_stored(column.field);
        bool has_value = column.is_nullable || pg_number(rows, row, 4) != 0;
        if (!has_field) {
            return has_value
                       ? 0
                       : err_set(err, ERR_STATE,
                                 "table %s: column %s has no field and no default",
                                 name, column_name);
        }
        columns->columns[columns->n_columns++] = column;
        columns->n_keys += (int)pg_number(rows, row, 3);
    }
    columns->names[columns->n_names] =
        arena_printf(&table->arena, "\"%s\"", column_name);
    columns->types[columns->n_names++] =
        arena_str(&table->arena, PQgetvalue(rows, row, 1));
    return 0;
}

/* Reads the table's columns: name, type, whether NULL is not allowed, whether it is of
 * the key, whether it has a default. */
static int read_columns(struct pg_table *table, const char *name, int skipped,
                        const struct schema *schema, struct columns *columns,
                        struct err *err)
{
    const char *sql = arena_printf(
        &table->arena,
        "SELECT attname, format_type(atttypid, NULL), attnotnull::int,"
        " coalesce(attnum = ANY (indkey), false)::int, atthasdef::int FROM pg_attribute"
        " LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary"
        " WHERE attrelid = to_regclass('%s') AND attnum > 0 AND NOT attisdropped"
        " ORDER BY attnum",
        name);
    PGresult *rows;
    int rc = pg_query(table->pg, sql, &rows, err);
    if (rc < 0) {
        return rc;
    }
    int n_rows = PQntuples(rows);
    if (n_rows == 0 || n_rows > COLUMNS_MAX) {
        rc = err_set(err, ERR_STATE, "there is no table %s", name);
    }
    for (int row = 0; row < n_rows && rc == 0; row++) {
        rc = add_column(table, name, rows, row, skipped, schema, columns, err);
    }
    PQclear(rows);
    return rc;
}

/* Names from `first` to `end`, each in a format with one or two %s. */
static const char *join(struct arena *arena, const struct columns *columns, int first,
                        int end, const char *before, const char *behind,
                        const char *between)
{
    const char *text = "";
    for (int i = first; i < end; i++) {
        text = arena_printf(arena, "%s%s%s%s%s", text, i > first ? between : "", before,
                            columns->names[i], behind);
    }
    return text;
}

/* "unnest($1::text[], $2::bigint[])" */
static const char *join_arrays(struct arena *arena, const struct columns *columns,
                               int end)
{
    const char *text = "unnest(";
    for (int i = 0; i < end; i++) {
        text = arena_printf(arena, "%s%s$%d::%s[]", text, i > 0 ? ", " : "", i + 1,
                            columns->types[i]);
    }
    return arena_printf(arena, "%s)", text);
}

/* "a = $1 AND b = $2" */
static const char *join_key(struct arena *arena, const struct columns *columns)
{
    const char *text = "";
    for (int i = 0; i < columns->n_keys; i++) {
        text = arena_printf(arena, "%s%s%s = $%d", text, i == 0 ? "" : " AND ",
                            columns->names[i], i + 1);
    }
    return text;
}

/* "ON CONFLICT (key) DO UPDATE SET a = excluded.a, ...", of rows that differ. */
static const char *join_conflict(struct arena *arena, const char *name,
                                 const struct columns *columns, int n_keys)
{
    int end = columns->n_names;
    const char *set = "";
    for (int i = n_keys; i < end; i++) {
        set = arena_printf(arena, "%s%s%s = excluded.%s", set, i > n_keys ? ", " : "",
                           columns->names[i], columns->names[i]);
    }
    const char *keys = join(arena, columns, 0, n_keys, "", "", ", ");
    if (set[0] == '\0') {
        return arena_printf(arena, " ON CONFLICT (%s) DO NOTHING", keys);
    }
    return arena_printf(
        arena, " ON CONFLICT (%s) DO UPDATE SET %s WHERE (%s) IS DISTINCT FROM (%s)",
        keys, set,
        join(arena, columns, n_keys, end, arena_printf(arena, "%s.", name), "", ", "),
        join(arena, columns, n_keys, end, "excluded.", "", ", "));
}

/* "INSERT INTO t (a, b) SELECT a, b FROM unnest($1::text[], $2::bigint[]) AS given (a,
 * b)" */
static const char *join_insert(struct arena *arena, const char *name,
                               const struct columns *columns)
{
    const char *all = join(arena, columns, 0, columns->n_names, "", "", ", ");
    return arena_printf(arena, "INSERT INTO %s (%s) SELECT %s FROM %s AS given (%s)",
                        name, all, all, join_arrays(arena, columns, columns->n_names),
                        all);
}

/* A number behind the last one for a key of 0. */
static const char *join_history(struct arena *arena, const char *name,
                                const struct columns *columns)
{
    const char *key = columns->names[0];
    const char *rest = join(arena, columns, 1, columns->n_names, "", "", ", ");
    return arena_printf(
        arena,
        "INSERT INTO %s (%s, %s) SELECT coalesce(nullif(%s, 0), last + ordinality), %s"
        " FROM %s WITH ORDINALITY AS given (%s, %s, ordinality),"
        " (SELECT greatest((SELECT max(%s) FROM %s), (SELECT max(number) FROM"
        " unnest($1::bigint[]) AS number)) AS last) AS lasts",
        name, key, rest, key, rest, join_arrays(arena, columns, columns->n_names), key,
        rest, key, name);
}

static int prepare_row(struct pg_table *table, struct err *err)
{
    struct arena *arena = &table->arena;
    struct columns *columns = &table->columns;
    const char *name = table->def.schema->name;
    bool is_history = table->def.is_history;
    const char *put =
        is_history ? join_history(arena, name, columns)
                   : arena_printf(arena, "%s%s", join_insert(arena, name, columns),
                                  join_conflict(arena, name, columns, columns->n_keys));
    const char *cut =
        arena_printf(arena, "DELETE FROM %s WHERE %s", name, join_key(arena, columns));
    columns->all_sql =
        arena_printf(arena, "SELECT %s FROM %s ORDER BY %s",
                     join(arena, columns, 0, columns->n_names, "", "", ", "), name,
                     join(arena, columns, 0, columns->n_keys, "", "", ", "));
    int rc = pg_batch_open(table->pg, put, columns->n_names,
                           is_history ? 0 : columns->n_keys, &columns->put, err);
    return rc == 0 ? pg_prepare(table->pg, cut, columns->n_keys, &table->delete, err)
                   : rc;
}

/* Rows of the list that differ are written, then what is behind the end is deleted. */
static int prepare_list(struct pg_table *table, const char *name, struct list *list,
                        struct err *err)
{
    struct arena *arena = &table->arena;
    struct columns *columns = &list->columns;
    int first = table->columns.n_keys + 1, end = columns->n_names;
    const char *put = arena_printf(arena, "%s%s", join_insert(arena, name, columns),
                                   join_conflict(arena, name, columns, first));
    const char *keys = join(arena, columns, 0, first, "", "", ", ");
    const char *same = "";
    for (int i = 0; i < first - 1; i++) {
        same = arena_printf(arena, "%s%s.%s = given.%s AND ", same, name,
                            columns->names[i], columns->names[i]);
    }
    const char *cut = arena_printf(
        arena, "DELETE FROM %s USING %s AS given (%s) WHERE %s%s.place >= given.place",
        name, join_arrays(arena, columns, first), keys, same, name);
    columns->all_sql =
        arena_printf(arena, "SELECT %s FROM %s ORDER BY %s",
                     join(arena, columns, 0, end, "", "", ", "), name, keys);
    int rc = pg_batch_open(table->pg, put, end, first, &columns->put, err);
    return rc == 0 ? pg_batch_open(table->pg, cut, first, first - 1, &list->cut, err)
                   : rc;
}

static int open_list(struct pg_table *table, const char *field_name, const char *name,
                     struct err *err)
{
    struct list *list = &table->lists[table->n_lists++];
    struct record_column column = {0};
    if (!record_find_column(table->def.schema, 0, field_name, &column) ||
        column.field->kind != FIELD_PARTS) {
        return err_set(err, ERR_STATE, "there is no list %s", field_name);
    }
    list->field = column.field;
    list->offset = column.offset;
    int rc = read_columns(table, name, table->columns.n_keys + 1, list->field->part,
                          &list->columns, err);
    return rc == 0 ? prepare_list(table, name, list, err) : rc;
}

int pg_table_open(struct pg *pg, const struct db_table_def *def,
                  struct pg_table **table, struct err *err)
{
    struct pg_table *opened = mem_alloc(1, sizeof(*opened));
    opened->pg = pg;
    opened->def = *def;
    arena_init(&opened->arena);
    arena_init(&opened->params);
    int rc =
        read_columns(opened, def->schema->name, 0, def->schema, &opened->columns, err);
    rc = rc == 0 ? prepare_row(opened, err) : rc;
    for (int i = 0; i < DB_TABLE_LISTS && def->lists[i].field != NULL && rc == 0; i++) {
        rc = open_list(opened, def->lists[i].field, def->lists[i].table, err);
    }
    if (rc < 0) {
        pg_table_close(opened);
        return rc;
    }
    *table = opened;
    return 0;
}

void pg_table_close(struct pg_table *table)
{
    if (table != NULL) {
        pg_batch_free(table->columns.put);
        for (int i = 0; i < table->n_lists; i++) {
            pg_batch_free(table->lists[i].columns.put);
            pg_batch_free(table->lists[i].cut);
        }
        arena_release(&table->arena);
        arena_release(&table->params);
        free(table); /* the connection frees its statements */
    }
}

/* ---------------------------------------------------------------- writing */

/* A column's value as text; NULL for NULL. `record` is the table's or the list's. */
static const char *show(struct arena *arena, const struct record_column *column,
                        const char *record)
{
    const struct field *field = column->field;
    const char *in = record + column->offset;
    if (!field_is_given(field, in) ||
        (column->whole != NULL && field_number(column->whole, in) == 0)) {
        return NULL;
    }
    bool is_sparse = column->is_nullable && field->given_offset == 0;
    if (field->kind == FIELD_TEXT) {
        const char *text = field_pointer(field, in);
        text = text != NULL ? text : "";
        return is_sparse && text[0] == '\0' ? NULL : text;
    }
    int64_t number = field_number(field, in);
    if (field->is_flag) {
        return number == field->flag ? "1" : "0";
    }
    if (is_sparse && number == 0) {
        return NULL;
    }
    return field->words != NULL ? field->words[number]
                                : arena_printf(arena, "%" PRId64, number);
}

/* The texts of the record's key. */
static void show_key(struct pg_table *table, const char *record, const char **texts)
{
    for (int i = 0; i < table->columns.n_keys; i++) {
        texts[i] = show(&table->params, &table->columns.columns[i], record);
    }
}

static void put_list(struct pg_table *table, const struct list *list,
                     const char *record)
{
    const char *texts[PG_PARAMS_MAX];
    const struct columns *columns = &list->columns;
    const char *parts = field_pointer(list->field, record + list->offset);
    int count = field_count(list->field, record + list->offset);
    int n_keys = table->columns.n_keys;
    show_key(table, record, texts);
    for (int place = 0; place < count; place++) {
        const char *part = parts + (size_t)place * list->field->part->size;
        texts[n_keys] = arena_printf(&table->params, "%d", place);
        for (int i = 0; i < columns->n_columns; i++) {
            texts[n_keys + 1 + i] = show(&table->params, &columns->columns[i], part);
        }
        pg_batch_add(columns->put, texts);
    }
    texts[n_keys] = arena_printf(&table->params, "%d", count);
    pg_batch_add(list->cut, texts);
}

void pg_table_put(struct pg_table *table, const void *record)
{
    const char *texts[PG_PARAMS_MAX];
    arena_clear(&table->params);
    for (int i = 0; i < table->columns.n_columns; i++) {
        texts[i] = show(&table->params, &table->columns.columns[i], record);
    }
    pg_batch_add(table->columns.put, texts);
    bool keeps_lists = db_table_keeps_lists(&table->def, record);
    for (int i = 0; i < table->n_lists && !keeps_lists; i++) {
        put_list(table, &table->lists[i], record);
    }
}

void pg_table_delete(struct pg_table *table, const void *record)
{
    const char *texts[PG_PARAMS_MAX];
    arena_clear(&table->params);
    show_key(table, record, texts);
    pg_send_rows(table->pg);
    pg_send(table->pg, table->delete, texts);
}

/* ---------------------------------------------------------------- reading */

static int read_word(const struct field *field, const char *text, int64_t *number,
                     struct err *err)
{
    for (int i = 0; i < field->n_words; i++) {
        if (strcmp(field->words[i], text) == 0) {
            *number = i;
            return 0;
        }
    }
    return err_set(err, ERR_IO, "%s: \"%.64s\" is unknown", field->name, text);
}

static int read_column(const struct record_column *column, const PGresult *rows,
                       int row, int at, char *record, struct arena *arena,
                       struct err *err)
{
    const struct field *field = column->field;
    char *in = record + column->offset;
    bool is_null = PQgetisnull(rows, row, at) != 0;
    const char *text = PQgetvalue(rows, row, at);
    if (field->kind == FIELD_TEXT) {
        field_set_pointer(field, in, text[0] != '\0' ? arena_str(arena, text) : "");
        return 0;
    }
    int64_t number = 0;
    if (!is_null && field->words != NULL) {
        if (read_word(field, text, &number, err) < 0) {
            return err->code;
        }
    } else if (!is_null) {
        number = strtoll(text, NULL, 10);
    }
    if (field->is_flag && number == 0) {
        return 0; /* another column has the value */
    }
    field_set_given(field, in, !is_null);
    field_set_number(field, in, field->is_flag ? field->flag : number);
    return 0;
}

/* `first` is the column of the result that the first of `columns` is in. */
static int read_record(const struct columns *columns, const struct schema *schema,
                       const PGresult *rows, int row, int first, char *record,
                       struct arena *arena, struct err *err)
{
    int rc = 0;
    memset(record, 0, schema->size);
    record_init_texts(schema, record);
    for (int i = 0; i < columns->n_columns && rc == 0; i++) {
        rc =
            read_column(&columns->columns[i], rows, row, first + i, record, arena, err);
    }
    return rc;
}

int pg_table_read(const struct pg_table *table, const PGresult *rows, int row,
                  void *record, struct arena *arena, struct err *err)
{
    return read_record(&table->columns, table->def.schema, rows, row, 0, record, arena,
                       err);
}

/* All rows of a table and of its lists, and how far the lists are read. */
struct loading {
    PGresult *rows, *lists[DB_TABLE_LISTS];
    int at[DB_TABLE_LISTS];
};

static bool is_same_key(const struct pg_table *table, const struct loading *loading,
                        int row, const PGresult *list, int at)
{
    for (int i = 0; i < table->columns.n_keys; i++) {
        if (strcmp(PQgetvalue(loading->rows, row, i), PQgetvalue(list, at, i)) != 0) {
            return false;
        }
    }
    return true;
}

/* Lists and records are in the order of the same key. */
static int load_list(const struct pg_table *table, struct loading *loading, int which,
                     int row, char *record, struct arena *arena, struct err *err)
{
    const struct list *list = &table->lists[which];
    const struct schema *part = list->field->part;
    const PGresult *rows = loading->lists[which];
    int first = loading->at[which], end = first, rc = 0;
    while (end < PQntuples(rows) && is_same_key(table, loading, row, rows, end)) {
        end++;
    }
    char *parts =
        end > first ? arena_alloc(arena, (size_t)(end - first), part->size) : NULL;
    for (int at = first; at < end && rc == 0; at++) {
        rc = read_record(&list->columns, part, rows, at, table->columns.n_keys + 1,
                         parts + (size_t)(at - first) * part->size, arena, err);
    }
    loading->at[which] = end;
    field_set_pointer(list->field, record + list->offset, parts);
    field_set_count(list->field, record + list->offset, end - first);
    return rc;
}

static int load_rows(const struct pg_table *table, struct loading *loading,
                     db_table_fn *fn, void *arg, struct err *err)
{
    char *record = mem_alloc(1, table->def.schema->size);
    struct arena arena;
    int rc = 0;
    arena_init(&arena);
    for (int row = 0; row < PQntuples(loading->rows) && rc == 0; row++) {
        arena_clear(&arena);
        rc = pg_table_read(table, loading->rows, row, record, &arena, err);
        for (int i = 0; i < table->n_lists && rc == 0; i++) {
            rc = load_list(table, loading, i, row, record, &arena, err);
        }
        if (rc == 0) {
            fn(arg, record);
        }
    }
    arena_release(&arena);
    free(record);
    return rc;
}

int pg_table_load(struct pg_table *table, db_table_fn *fn, void *arg, struct err *err)
{
    struct loading loading = {0};
    int rc = pg_query(table->pg, table->columns.all_sql, &loading.rows, err);
    for (int i = 0; i < table->n_lists && rc == 0; i++) {
        rc = pg_query(table->pg, table->lists[i].columns.all_sql, &loading.lists[i],
                      err);
    }
    if (rc == 0) {
        rc = load_rows(table, &loading, fn, arg, err);
    }
    PQclear(loading.rows);
    for (int i = 0; i < table->n_lists; i++) {
        PQclear(loading.lists[i]);
    }
    return rc < 0 ? err_prefix(err, "table %s", table->def.schema->name) : 0;
}
