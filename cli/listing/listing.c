/* SPDX-License-Identifier: Apache-2.0 */
/* listing.c: see listing.h. */
#include "cli/listing/listing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct call_option listing_options[] = {
    {"--json", NULL, "the whole as JSON", false},
    {"--noheader", NULL, "no heading", false},
    {"-o", "FIELDS", "these JSON fields, separated by commas", false},
    {"--sort", "FIELD", "by this JSON field; -FIELD reverses the order", false},
    {NULL, NULL, NULL, false},
};

struct msg_query listing_query(enum query_kind kind)
{
    return (struct msg_query){.kind = kind,
                              .name = "",
                              .user = "",
                              .queue = "",
                              .host = "",
                              .project = "",
                              .res_req = "",
                              .after = "",
                              .provider = "",
                              .consumer = ""};
}

int listing_get(struct call *call, const struct msg_query *query,
                struct listing *listing)
{
    struct connect *connect;
    struct err err;
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    int rc = listing_fetch(listing, connect, query, &err);
    connect_free(connect);
    return rc != 0 ? call_fail_err(&err) : CALL_OK;
}

void listing_free(struct listing *listing)
{
    json_decref(listing->object);
    listing->object = listing->rows = NULL;
}

void listing_filter(struct listing *listing, listing_keep_fn keep, const void *arg)
{
    for (size_t i = json_array_size(listing->rows); i-- > 0;) {
        if (!keep(json_array_get(listing->rows, i), arg)) {
            json_array_remove(listing->rows, i);
        }
    }
}

/* ---- order */

struct sort_item {
    json_t *row;
    const json_t *value;
    size_t place;
    bool is_reversed;
};

/* Order of kinds: null, numbers, texts, others. Numbers within texts count as such: job
 * 9 before 10 and 12[2] before 12[10], host n2 before n10. */
static int rank_of(const json_t *value)
{
    if (value == NULL || json_is_null(value)) {
        return 0;
    }
    return json_is_number(value) ? 1 : json_is_string(value) ? 2 : 3;
}

static int compare_values(const json_t *a, const json_t *b)
{
    int rank = rank_of(a);
    if (rank != rank_of(b)) {
        return rank < rank_of(b) ? -1 : 1;
    }
    if (rank == 1) {
        double x = json_number_value(a), y = json_number_value(b);
        return (x > y) - (x < y);
    }
    return rank == 2 ? strverscmp(json_string_value(a), json_string_value(b)) : 0;
}

static int compare_items(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;
    int order = compare_values(a->value, b->value);
    if (order != 0) {
        return a->is_reversed ? -order : order;
    }
    return (a->place > b->place) - (a->place < b->place);
}

static void sort_rows(json_t *rows, const char *path, bool is_reversed)
{
    size_t count = json_array_size(rows);
    struct sort_item *items = mem_alloc(count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        items[i].row = json_incref(json_array_get(rows, i));
        items[i].value = columns_find(items[i].row, path);
        items[i].place = i;
        items[i].is_reversed = is_reversed;
    }
    qsort(items, count, sizeof *items, compare_items);
    json_array_clear(rows);
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(rows, items[i].row);
    }
    free(items);
}

/* ---- fields */

/* A field is known if any row has its first key, or if there are no rows. */
static bool is_field_known(const json_t *rows, const char *path)
{
    const json_t *row;
    size_t i;
    char first[256];
    size_t length = strcspn(path, ".");
    if (json_array_size(rows) == 0) {
        return true;
    }
    if (length >= sizeof first) {
        return false;
    }
    memcpy(first, path, length);
    first[length] = '\0';
    json_array_foreach(rows, i, row)
    {
        if (json_object_get(row, first) != NULL) {
            return true;
        }
    }
    return false;
}

static int complain_field(struct call *call, const json_t *rows, const char *path)
{
    const char *known = "";
    const char *key;
    json_t *value;
    json_object_foreach(json_array_get(rows, 0), key, value)
    {
        known = arena_printf(&call->arena, "%s%s%s", known, known[0] ? " " : "", key);
    }
    return call_misuse(call, "unknown field '%s', expected of: %s", path, known);
}

static const char *heading_of(struct arena *arena, const char *path)
{
    char *heading = arena_str(arena, path);
    for (char *at = heading; *at != '\0'; at++) {
        *at = (char)toupper((unsigned char)*at);
    }
    return heading;
}

/* The columns that -o names. */
static int read_fields(struct call *call, const json_t *rows, const char *fields,
                       struct column **columns)
{
    char *rest = arena_str(&call->arena, fields);
    size_t count = 0;
    *columns = arena_alloc(&call->arena, strlen(fields) + 2, sizeof **columns);
    for (char *word; (word = strsep(&rest, ", ")) != NULL;) {
        struct column *column = &(*columns)[count];
        if (word[0] == '\0') {
            continue;
        }
        if (!is_field_known(rows, word)) {
            return complain_field(call, rows, word);
        }
        column->heading = heading_of(&call->arena, word);
        column->path = word;
        column->format = format_plain;
        count++;
    }
    return count > 0 ? CALL_OK : call_misuse(call, "-o needs at least one field");
}

/* ---- show */

static int sort_as_asked(struct call *call, struct listing *listing)
{
    const char *path = call_value(call, "--sort");
    bool is_reversed;
    if (path == NULL) {
        return CALL_OK;
    }
    is_reversed = path[0] == '-';
    path += is_reversed;
    if (!is_field_known(listing->rows, path)) {
        return complain_field(call, listing->rows, path);
    }
    sort_rows(listing->rows, path, is_reversed);
    return CALL_OK;
}

/* Prints a table of the rows inside a row. */
static void show_below(struct call *call, const json_t *row, const char *name,
                       const struct columns_below *below)
{
    const json_t *rows = json_object_get(row, below->path);
    if (json_array_size(rows) > 0) {
        printf("\n%s: %s/\n", below->heading, name);
        table_print(&call->arena, below->columns, rows, true);
    }
}

/* Each row as a block, with its tables below it. */
static void show_blocks(struct call *call, const json_t *rows,
                        const struct columns *columns)
{
    const json_t *row;
    size_t i;
    if (columns->below == NULL) {
        table_print_blocks(&call->arena, columns->block, rows);
        return;
    }
    json_array_foreach(rows, i, row)
    {
        json_t *one = json_pack("[O]", row);
        const char *name =
            format_plain(&call->arena, columns_find(row, columns->block->path));
        if (i > 0) {
            putchar('\n');
        }
        table_print_blocks(&call->arena, columns->block, one);
        for (const struct columns_below *below = columns->below; below->columns != NULL;
             below++) {
            show_below(call, row, name, below);
        }
        json_decref(one);
    }
}

static int show_rows(struct call *call, const struct listing *listing,
                     const struct columns *columns)
{
    const char *fields = call_value(call, "-o");
    const struct column *shown = columns->table;
    if (fields != NULL) {
        struct column *chosen;
        int status = read_fields(call, listing->rows, fields, &chosen);
        if (status != CALL_OK) {
            return status;
        }
        shown = chosen;
    }
    if (json_array_size(listing->rows) == 0) {
        call_say("%s", columns->nothing);
    } else if (fields == NULL && columns->block != NULL && call_has(call, "-l")) {
        show_blocks(call, listing->rows, columns);
    } else {
        table_print(&call->arena, shown, listing->rows, !call_has(call, "--noheader"));
    }
    return CALL_OK;
}

int listing_show(struct call *call, struct listing *listing,
                 const struct columns *columns)
{
    int status = sort_as_asked(call, listing);
    if (status == CALL_OK && call_has(call, "--json")) {
        json_dumpf(listing->object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
        putchar('\n');
    } else if (status == CALL_OK) {
        status = show_rows(call, listing, columns);
    }
    return status != CALL_OK ? status : call_finish_output();
}

int listing_gather(struct call *call, const struct msg_query *query, const char *thing,
                   struct listing *listing)
{
    struct connect *connect;
    struct msg_query one = *query;
    struct err err;
    int n_queries = call->n_operands > 0 ? call->n_operands : 1;
    int status = CALL_OK;
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    for (int i = 0; status == CALL_OK && i < n_queries; i++) {
        size_t before = json_array_size(listing->rows);
        if (call->n_operands > 0) {
            one.name = call->operands[i];
        }
        if (listing_fetch(listing, connect, &one, &err) != 0) {
            bool is_bad_string = one.res_req[0] != '\0' &&
                                 (err.code == ERR_PARSE || err.code == ERR_UNBUILT);
            status = call_fail_err(&err);
            status = is_bad_string ? CALL_BAD_RESREQ : status;
        } else if (call->n_operands > 0 && json_array_size(listing->rows) == before) {
            status = call_fail("%s <%s> is not found%s", thing, one.name,
                               one.kind == QUERY_JOBS ? "; see 'sublet jobs -a -u all'"
                                                      : "");
        }
    }
    connect_free(connect);
    return status;
}

int listing_run(struct call *call, const struct msg_query *query, const char *thing,
                const struct columns *columns)
{
    struct listing listing = {NULL, NULL};
    int status = listing_gather(call, query, thing, &listing);
    if (status == CALL_OK) {
        status = listing_show(call, &listing, columns);
    }
    listing_free(&listing);
    return status;
}
