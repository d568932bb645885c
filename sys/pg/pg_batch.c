/* SPDX-License-Identifier: Apache-2.0 */
/* pg_batch.c: see pg_batch.h. */
#include "sys/pg/pg_batch.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

struct pending {
    const char **texts;
    UT_hash_handle hh;
    char key[]; /* the texts of the key with their NULs */
};

struct pg_batch {
    struct pg_writer writer;
    struct pg *pg;
    struct pg_statement *statement;
    int n_columns, n_keys;
    struct pending *by_key;
    const char **rows[PG_BATCH_ROWS];
    int n_rows;
    struct arena arena; /* of the rows */
};

static void drop_rows(struct pg_writer *writer)
{
    struct pg_batch *batch = (struct pg_batch *)writer;
    HASH_CLEAR(hh, batch->by_key); /* its members are in the arena */
    arena_clear(&batch->arena);
    batch->n_rows = 0;
}

void pg_batch_free(struct pg_batch *batch)
{
    if (batch != NULL) {
        pg_remove_writer(batch->pg, &batch->writer);
        drop_rows(&batch->writer);
        arena_release(&batch->arena);
        free(batch);
    }
}

/* ---------------------------------------------------------------- rows */

/* The row with that key, or a new one. */
static const char **see_row(struct pg_batch *batch, const char *const *texts)
{
    size_t size = 0, at = 0;
    struct pending *pending, *found;
    for (int i = 0; i < batch->n_keys; i++) {
        size += strlen(texts[i]) + 1;
    }
    pending = arena_alloc(&batch->arena, 1, sizeof(*pending) + size);
    for (int i = 0; i < batch->n_keys; i++) {
        size_t length = strlen(texts[i]) + 1;
        memcpy(pending->key + at, texts[i], length);
        at += length;
    }
    HASH_FIND(hh, batch->by_key, pending->key, size, found);
    if (found != NULL && batch->n_keys > 0) {
        return found->texts;
    }
    pending->texts =
        arena_alloc(&batch->arena, (size_t)batch->n_columns, sizeof(*pending->texts));
    batch->rows[batch->n_rows++] = pending->texts;
    if (batch->n_keys > 0) {
        HASH_ADD(hh, batch->by_key, key, size, pending);
    }
    return pending->texts;
}

void pg_batch_add(struct pg_batch *batch, const char *const *texts)
{
    if (batch->n_rows == PG_BATCH_ROWS) {
        pg_send_rows(batch->pg);
    }
    const char **row = see_row(batch, texts);
    for (int i = 0; i < batch->n_columns; i++) {
        row[i] = texts[i] != NULL ? arena_str(&batch->arena, texts[i]) : NULL;
    }
}

/* ---------------------------------------------------------------- arrays */

/* A member of an array: NULL, or in quotes. */
static size_t write_member(char *to, const char *text)
{
    char *at = to;
    if (text == NULL) {
        memcpy(to, "NULL", 4);
        return 4;
    }
    *at++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            *at++ = '\\';
        }
        *at++ = *text;
    }
    *at++ = '"';
    return (size_t)(at - to);
}

/* A column of all rows: {"1","2"}. */
static const char *show_column(struct pg_batch *batch, int column)
{
    size_t size = sizeof("{}");
    for (int i = 0; i < batch->n_rows; i++) {
        const char *text = batch->rows[i][column];
        size += (text != NULL ? 2 * strlen(text) : 0) + sizeof("\"\",NULL");
    }
    char *array = arena_alloc(&batch->arena, size, 1), *at = array;
    *at++ = '{';
    for (int i = 0; i < batch->n_rows; i++) {
        if (i > 0) {
            *at++ = ',';
        }
        at += write_member(at, batch->rows[i][column]);
    }
    *at++ = '}';
    *at = '\0';
    return array;
}

static void send_rows(struct pg_writer *writer)
{
    struct pg_batch *batch = (struct pg_batch *)writer;
    const char *arrays[PG_PARAMS_MAX];
    if (batch->n_rows == 0) {
        return;
    }
    for (int i = 0; i < batch->n_columns; i++) {
        arrays[i] = show_column(batch, i);
    }
    pg_send(batch->pg, batch->statement, arrays);
    drop_rows(writer);
}

int pg_batch_open(struct pg *pg, const char *sql, int n_columns, int n_keys,
                  struct pg_batch **batch, struct err *err)
{
    struct pg_batch *opened = mem_alloc(1, sizeof(*opened));
    *opened = (struct pg_batch){.writer = {.send = send_rows, .drop = drop_rows},
                                .pg = pg,
                                .n_columns = n_columns,
                                .n_keys = n_keys};
    arena_init(&opened->arena);
    pg_add_writer(pg, &opened->writer);
    *batch = opened;
    return pg_prepare(pg, sql, n_columns, &opened->statement, err);
}
