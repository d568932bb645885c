/* SPDX-License-Identifier: Apache-2.0 */
/* db_table.c: see db.h. A column list is flat: each column knows the offset of
 * its field in the record, also if the field is in a part. */
#include "sys/db/db.h"

#include <stdlib.h>
#include <string.h>

#include "model/field.h"
#include "model/job_id.h"
#include "model/record.h"

enum { COLUMNS_MAX = 64 };

/* A table's columns in the order of its parameters, keys first, and its statements. */
struct columns {
    struct record_column columns[COLUMNS_MAX];
    int n_columns, n_keys; /* of a list: without the key of the record and `place` */
    const char *put_sql, *add_sql, *tail_sql, *delete_sql, *all_sql;
    sqlite3_stmt *put, *add, *tail, *delete, *all;
};

struct list {
    const struct field *field;
    size_t offset; /* of the field */
    struct columns columns;
};

struct db_table {
    struct db *db;
    struct db_table_def def;
    struct arena arena;
    struct columns columns;
    struct list lists[DB_TABLE_LISTS];
    int n_lists;
};

/* ---------------------------------------------------------------- columns */

/* Reads the table's columns but for the first `skipped`, whose names go to `names`. */
static int read_columns(struct db_table *table, const char *name, int skipped,
                        const struct schema *schema, struct columns *columns,
                        const char **names, struct err *err)
{
    sqlite3_stmt *info = NULL;
    int at = 0, rc = 0;
    db_statement(table->db, &info,
                 arena_printf(&table->arena, "PRAGMA table_info(\"%s\")", name));
    while (rc == 0 && sqlite3_step(info) == SQLITE_ROW) {
        names[at] = arena_str(&table->arena, db_column_text(info, 1));
        if (at++ < skipped) {
            continue;
        }
        struct record_column *column = &columns->columns[columns->n_columns++];
        bool is_key = sqlite3_column_int(info, 5) > 0;
        column->is_nullable =
            sqlite3_column_int(info, 3) == 0 && (!is_key || table->def.is_history);
        columns->n_keys += is_key;
        if (at == COLUMNS_MAX ||
            !record_find_column(schema, 0, names[at - 1], column)) {
            rc = err_set(err, ERR_STATE, "table %s: column %s has no field", name,
                         names[at - 1]);
        }
    }
    sqlite3_finalize(info);
    if (rc == 0 && at == 0) {
        rc = err_set(err, ERR_STATE, "there is no table %s", name);
    }
    return rc;
}

/* "a, b", or "?1, ?2", or "a = ?1 AND b = ?2". */
static const char *join(struct arena *arena, const char *const *names, int first,
                        int end, const char *format, const char *between)
{
    const char *text = "";
    for (int i = first; i < end; i++) {
        const char *item = format[0] == 'n' ? names[i]
                           : format[0] == '?'
                               ? arena_printf(arena, "?%d", i + 1)
                               : arena_printf(arena, "%s = ?%d", names[i], i + 1);
        text = arena_printf(arena, "%s%s%s", text, i > first ? between : "", item);
    }
    return text;
}

static void write_statements(struct db_table *table, const char *name,
                             const char *const *names, int n_names, int n_keys,
                             struct columns *columns, bool is_list)
{
    struct arena *arena = &table->arena;
    const char *all = join(arena, names, 0, n_names, "n", ", ");
    const char *values = join(arena, names, 0, n_names, "?", ", ");
    const char *keys = join(arena, names, 0, n_keys, "n", ", ");
    const char *is_key = join(arena, names, 0, n_keys, "=", " AND ");
    const char *rest = join(arena, names, n_keys, n_names, "n", ", ");
    const char *new = join(arena, names, n_keys, n_names, "?", ", ");
    const char *insert =
        arena_printf(arena, "INSERT INTO \"%s\" (%s) VALUES (%s)", name, all, values);
    const char *update = arena_printf(arena, "UPDATE \"%s\" SET (%s) = (%s) WHERE %s",
                                      name, rest, new, is_key);
    columns->delete_sql =
        arena_printf(arena, "DELETE FROM \"%s\" WHERE %s", name, is_key);
    columns->all_sql =
        arena_printf(arena, "SELECT %s FROM \"%s\" ORDER BY %s", all, name, keys);
    if (is_list) { /* the last of its keys is `place` */
        const char *of = join(arena, names, 0, n_keys - 1, "=", " AND ");
        const char *behind = arena_printf(arena, "%s AND place >= ?%d", of, n_keys);
        columns->put_sql =
            arena_printf(arena, "%s AND (%s) IS NOT (%s)", update, rest, new);
        columns->add_sql = arena_printf(arena, "%s ON CONFLICT DO NOTHING", insert);
        columns->tail_sql =
            arena_printf(arena, "SELECT 1 FROM \"%s\" WHERE %s LIMIT 1", name, behind);
        columns->delete_sql =
            arena_printf(arena, "DELETE FROM \"%s\" WHERE %s", name, behind);
        columns->all_sql = arena_printf(
            arena, "SELECT %s FROM \"%s\" WHERE %s ORDER BY place", rest, name, of);
    } else if (table->def.is_history) {
        columns->put_sql = insert;
    } else if (table->def.is_mostly_changed) {
        columns->put_sql = update;
        columns->add_sql = insert;
    } else if (n_keys == n_names) {
        columns->put_sql = arena_printf(arena, "%s ON CONFLICT DO NOTHING", insert);
    } else {
        columns->put_sql =
            arena_printf(arena, "%s ON CONFLICT (%s) DO UPDATE SET (%s) = (%s)", insert,
                         keys, rest, new);
    }
}

/* Of an option: one row, whose key is that of the record. */
static void write_option(struct db_table *table, const char *name,
                         const char *const *names, int n_names, int n_keys,
                         struct columns *columns)
{
    struct arena *arena = &table->arena;
    write_statements(table, name, names, n_names, n_keys, columns, false);
    columns->all_sql = arena_printf(arena, "SELECT %s FROM \"%s\" WHERE %s",
                                    join(arena, names, n_keys, n_names, "n", ", "),
                                    name, join(arena, names, 0, n_keys, "=", " AND "));
}

static int open_list(struct db_table *table, const char *field_name, const char *name,
                     struct err *err)
{
    const char *names[COLUMNS_MAX];
    struct list *list = &table->lists[table->n_lists++];
    struct record_column column = {0};
    if (!record_find_column(table->def.schema, 0, field_name, &column)) {
        return err_set(err, ERR_STATE, "there is no field %s", field_name);
    }
    list->field = column.field;
    list->offset = column.offset;
    bool is_option = list->field->kind == FIELD_OPTION;
    int skipped = table->columns.n_keys + !is_option;
    int rc = read_columns(table, name, skipped, list->field->part, &list->columns,
                          names, err);
    if (rc == 0 && is_option) {
        write_option(table, name, names, skipped + list->columns.n_columns, skipped,
                     &list->columns);
    } else if (rc == 0) {
        write_statements(table, name, names, skipped + list->columns.n_columns, skipped,
                         &list->columns, true);
    }
    return rc;
}

int db_table_open(struct db *db, const struct db_table_def *def,
                  struct db_table **table, struct err *err)
{
    const char *names[COLUMNS_MAX];
    struct db_table *opened = mem_alloc(1, sizeof(*opened));
    opened->db = db;
    opened->def = *def;
    arena_init(&opened->arena);
    int rc = read_columns(opened, def->schema->name, 0, def->schema, &opened->columns,
                          names, err);
    if (rc == 0) {
        write_statements(opened, def->schema->name, names, opened->columns.n_columns,
                         opened->columns.n_keys, &opened->columns, false);
    }
    for (int i = 0; i < DB_TABLE_LISTS && def->lists[i].field != NULL && rc == 0; i++) {
        rc = open_list(opened, def->lists[i].field, def->lists[i].table, err);
    }
    if (rc < 0) {
        db_table_close(opened);
        return rc;
    }
    *table = opened;
    return 0;
}

void db_table_close(struct db_table *table)
{
    if (table != NULL) {
        arena_release(&table->arena);
        free(table); /* the connection finalizes its statements */
    }
}

/* ---------------------------------------------------------------- writing */

static void bind_number(sqlite3_stmt *statement, int at, const struct field *field,
                        const char *record, bool is_sparse)
{
    int64_t number = field_number(field, record);
    if (field->given_offset > 0) {
        if (field_is_given(field, record)) {
            db_column_bind_int(statement, at, number);
        }
    } else if (field->is_flag) {
        db_column_bind_int(statement, at, number == field->flag);
    } else if (is_sparse && number == 0) {
        return;
    } else if (field->words != NULL) {
        db_column_bind_text(statement, at, field->words[number]);
    } else {
        db_column_bind_int(statement, at, number);
    }
}

static void bind_list(sqlite3_stmt *statement, int at, const struct field *field,
                      const char *record, bool is_sparse)
{
    int count = field_count(field, record);
    if (is_sparse && count == 0) {
        return;
    }
    if (field->kind == FIELD_TEXTS) {
        db_column_bind_texts(statement, at, field_pointer(field, record), count);
    } else {
        db_column_bind_hosts(statement, at, field_pointer(field, record), count);
    }
}

/* A parameter that is not bound is NULL. `record` is the struct that the field is in.
 */
static void bind_field(sqlite3_stmt *statement, int at, const struct field *field,
                       const char *record, bool is_sparse)
{
    const char *text;
    switch (field->kind) {
    case FIELD_INT:
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_BOOL:
        bind_number(statement, at, field, record, is_sparse);
        break;
    case FIELD_REAL:
        sqlite3_bind_double(statement, at, field_real(field, record));
        break;
    case FIELD_TEXT:
        text = field_pointer(field, record);
        if (!is_sparse || (text != NULL && text[0] != '\0')) {
            db_column_bind_text(statement, at, text);
        }
        break;
    case FIELD_JOB_KEY:
        db_column_bind_int(statement, at,
                           (int64_t)job_id_key((uint64_t)field_number(field, record),
                                               field_count(field, record)));
        break;
    case FIELD_TEXTS:
    case FIELD_PARTS:
        bind_list(statement, at, field, record, is_sparse);
        break;
    case FIELD_BYTES:
    case FIELD_PART:
    case FIELD_OPTION:
        break; /* in no column */
    }
}

/* Binds `n` columns from parameter `at` on. */
static void bind_columns(sqlite3_stmt *statement, int at, const struct columns *columns,
                         int n, const char *record)
{
    for (int i = 0; i < n; i++) {
        const struct record_column *column = &columns->columns[i];
        const struct field *whole = column->whole;
        const char *in = record + column->offset;
        bool is_there = whole != NULL && field_number(whole, in) != 0;
        if (whole == NULL || is_there) {
            bind_field(statement, at + i, column->field, in,
                       column->is_nullable && !is_there);
        }
    }
}

static bool has_changed(struct db *db)
{
    return sqlite3_changes(db_handle(db)) > 0;
}

/* Usually nothing is left behind the end, and a SELECT costs a tenth of a DELETE of
 * nothing. */
static int cut_tail(struct db_table *table, struct list *list, const char *record,
                    int count, struct err *err)
{
    struct columns *columns = &list->columns;
    int n_keys = table->columns.n_keys;
    sqlite3_stmt *tail = db_statement(table->db, &columns->tail, columns->tail_sql);
    bind_columns(tail, 1, &table->columns, n_keys, record);
    db_column_bind_int(tail, n_keys + 1, count);
    int step = sqlite3_step(tail);
    sqlite3_reset(tail);
    if (step == SQLITE_DONE) {
        return 0;
    }
    sqlite3_stmt *cut = db_statement(table->db, &columns->delete, columns->delete_sql);
    bind_columns(cut, 1, &table->columns, n_keys, record);
    db_column_bind_int(cut, n_keys + 1, count);
    return db_run(table->db, cut, err);
}

static int run_place(struct db_table *table, struct list *list, sqlite3_stmt *statement,
                     const char *record, int place, struct err *err)
{
    int n_keys = table->columns.n_keys;
    const char *parts = field_pointer(list->field, record + list->offset);
    bind_columns(statement, 1, &table->columns, n_keys, record);
    db_column_bind_int(statement, n_keys + 1, place);
    bind_columns(statement, n_keys + 2, &list->columns, list->columns.n_columns,
                 parts + (size_t)place * list->field->part->size);
    return db_run(table->db, statement, err);
}

static int put_list(struct db_table *table, struct list *list, const char *record,
                    struct err *err)
{
    struct columns *columns = &list->columns;
    int count = field_count(list->field, record + list->offset), rc = 0;
    for (int i = 0; i < count && rc == 0; i++) {
        sqlite3_stmt *put = db_statement(table->db, &columns->put, columns->put_sql);
        rc = run_place(table, list, put, record, i, err);
        if (rc == 0 && !has_changed(table->db)) { /* missing, or up to date */
            sqlite3_stmt *add =
                db_statement(table->db, &columns->add, columns->add_sql);
            rc = run_place(table, list, add, record, i, err);
        }
    }
    return rc == 0 ? cut_tail(table, list, record, count, err) : rc;
}

static int put_option(struct db_table *table, struct list *list, const char *record,
                      struct err *err)
{
    const char *part = field_pointer(list->field, record + list->offset);
    int n_keys = table->columns.n_keys;
    if (part == NULL) {
        return 0;
    }
    sqlite3_stmt *put =
        db_statement(table->db, &list->columns.put, list->columns.put_sql);
    bind_columns(put, 1, &table->columns, n_keys, record);
    bind_columns(put, n_keys + 1, &list->columns, list->columns.n_columns, part);
    return db_run(table->db, put, err);
}

int db_table_put(struct db_table *table, const void *record, struct err *err)
{
    struct columns *columns = &table->columns;
    sqlite3_stmt *put = db_statement(table->db, &columns->put, columns->put_sql);
    bind_columns(put, 1, columns, columns->n_columns, record);
    int rc = db_run(table->db, put, err);
    if (rc == 0 && columns->add_sql != NULL && !has_changed(table->db)) {
        sqlite3_stmt *add = db_statement(table->db, &columns->add, columns->add_sql);
        bind_columns(add, 1, columns, columns->n_columns, record);
        rc = db_run(table->db, add, err);
    }
    bool keeps_lists = db_table_keeps_lists(&table->def, record);
    for (int i = 0; i < table->n_lists && rc == 0 && !keeps_lists; i++) {
        struct list *list = &table->lists[i];
        rc = list->field->kind == FIELD_OPTION ? put_option(table, list, record, err)
                                               : put_list(table, list, record, err);
    }
    return rc;
}

int db_table_delete(struct db_table *table, const void *record, struct err *err)
{
    struct columns *columns = &table->columns;
    sqlite3_stmt *cut = db_statement(table->db, &columns->delete, columns->delete_sql);
    bind_columns(cut, 1, columns, columns->n_keys, record);
    return db_run(table->db, cut, err);
}

/* ---------------------------------------------------------------- reading */

static int read_number(sqlite3_stmt *all, int at, const struct field *field,
                       char *record, struct err *err)
{
    int64_t number = sqlite3_column_int64(all, at);
    int word;
    if (field->words != NULL) {
        if (db_column_read_word(all, at, field->words, field->n_words, &word, err) <
            0) {
            return err->code;
        }
        number = word;
    }
    if (field->is_flag && number == 0) {
        return 0; /* another column has the value */
    }
    field_set_given(field, record, sqlite3_column_type(all, at) != SQLITE_NULL);
    field_set_number(field, record, field->is_flag ? field->flag : number);
    return 0;
}

static int read_list(sqlite3_stmt *all, int at, const struct field *field, char *record,
                     struct arena *arena, struct err *err)
{
    const struct host_slots *hosts;
    const void *list;
    int count, rc = 0;
    if (field->kind == FIELD_TEXTS) {
        list = db_column_read_texts(all, at, arena, &count);
    } else {
        rc = db_column_read_hosts(all, at, arena, &hosts, &count, err);
        list = hosts;
    }
    if (rc == 0) {
        field_set_pointer(field, record, list);
        field_set_count(field, record, count);
    }
    return rc;
}

static int read_field(sqlite3_stmt *all, int at, const struct field *field,
                      char *record, struct arena *arena, struct err *err)
{
    uint64_t key;
    const char *text;
    switch (field->kind) {
    case FIELD_INT:
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_BOOL:
        return read_number(all, at, field, record, err);
    case FIELD_REAL:
        field_set_real(field, record, sqlite3_column_double(all, at));
        break;
    case FIELD_TEXT:
        text = db_column_text(all, at);
        field_set_pointer(field, record, text[0] != '\0' ? arena_str(arena, text) : "");
        break;
    case FIELD_JOB_KEY:
        key = (uint64_t)sqlite3_column_int64(all, at);
        field_set_number(field, record, (int64_t)job_id_key_number(key));
        field_set_count(field, record, job_id_key_index(key));
        break;
    case FIELD_TEXTS:
    case FIELD_PARTS:
        return read_list(all, at, field, record, arena, err);
    case FIELD_BYTES:
    case FIELD_PART:
    case FIELD_OPTION:
        break; /* in no column */
    }
    return 0;
}

static int read_columns_of(sqlite3_stmt *all, const struct columns *columns,
                           char *record, struct arena *arena, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < columns->n_columns && rc == 0; i++) {
        const struct record_column *column = &columns->columns[i];
        rc = read_field(all, i, column->field, record + column->offset, arena, err);
    }
    return rc;
}

/* An option is a list of at most one. */
static int load_list(struct db_table *table, struct list *list, char *record,
                     struct arena *arena, struct err *err)
{
    const struct schema *part = list->field->part;
    sqlite3_stmt *all =
        db_statement(table->db, &list->columns.all, list->columns.all_sql);
    char *parts = NULL;
    int count = 0, capacity = 0, step, rc = 0;
    bind_columns(all, 1, &table->columns, table->columns.n_keys, record);
    while (rc == 0 && (step = sqlite3_step(all)) != SQLITE_DONE) {
        if (count == capacity) {
            capacity = capacity == 0 ? 16 : capacity * 2;
            parts = mem_grow(parts, (size_t)capacity, part->size);
        }
        char *at = parts + (size_t)count++ * part->size;
        memset(at, 0, part->size);
        record_init_texts(part, at);
        rc = step == SQLITE_ROW ? read_columns_of(all, &list->columns, at, arena, err)
                                : db_column_fail(all, list->field->name, err);
    }
    sqlite3_reset(all);
    const void *copy =
        count > 0 ? arena_copy(arena, parts, (size_t)count * part->size) : NULL;
    free(parts);
    field_set_pointer(list->field, record + list->offset, copy);
    if (list->field->kind != FIELD_OPTION) {
        field_set_count(list->field, record + list->offset, count);
    }
    return rc;
}

int db_table_read(struct db_table *table, sqlite3_stmt *row, void *record,
                  struct arena *arena, struct err *err)
{
    memset(record, 0, table->def.schema->size);
    record_init_texts(table->def.schema, record);
    int rc = read_columns_of(row, &table->columns, record, arena, err);
    for (int i = 0; i < table->n_lists && rc == 0; i++) {
        rc = load_list(table, &table->lists[i], record, arena, err);
    }
    return rc;
}

int db_table_load(struct db_table *table, db_table_fn *fn, void *arg, struct err *err)
{
    const char *name = table->def.schema->name;
    sqlite3_stmt *all =
        db_statement(table->db, &table->columns.all, table->columns.all_sql);
    char *record = mem_alloc(1, table->def.schema->size);
    struct arena arena;
    arena_init(&arena);
    int step, rc = 0;
    while (rc == 0 && (step = sqlite3_step(all)) != SQLITE_DONE) {
        arena_clear(&arena);
        rc = step == SQLITE_ROW ? db_table_read(table, all, record, &arena, err)
                                : db_column_fail(all, "reading", err);
        if (rc == 0) {
            fn(arg, record);
        }
    }
    sqlite3_reset(all);
    arena_release(&arena);
    free(record);
    return rc < 0 ? err_prefix(err, "table %s", name) : 0;
}
