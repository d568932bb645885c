/* SPDX-License-Identifier: Apache-2.0 */
/* listing.c: see listing.h. */
#include "cli/listing/listing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"

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
                              .fields = "",
                              .by = "",
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
    json_decref(listing->fields);
    *listing = (struct listing){NULL, NULL, NULL};
}

/* The place of the field in rows that are arrays; their number if there is none. */
static size_t place_of(const struct listing *listing, const char *path)
{
    size_t count = json_array_size(listing->fields), i = 0;
    while (i < count &&
           strcmp(json_string_value(json_array_get(listing->fields, i)), path) != 0) {
        i++;
    }
    return i;
}

json_t *listing_value(const struct listing *listing, const json_t *row,
                      const char *path)
{
    return listing->fields == NULL ? columns_find(row, path)
                                   : json_array_get(row, place_of(listing, path));
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

static void sort_rows(const struct listing *listing, const char *path, bool is_reversed)
{
    json_t *rows = listing->rows;
    size_t count = json_array_size(rows);
    struct sort_item *items = mem_alloc(count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        items[i].row = json_incref(json_array_get(rows, i));
        items[i].value = listing_value(listing, items[i].row, path);
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
static bool is_field_known(const struct listing *listing, const char *path)
{
    const json_t *rows = listing->rows, *row;
    size_t i;
    char first[256];
    size_t length = strcspn(path, ".");
    if (json_array_size(rows) == 0) {
        return true;
    }
    if (listing->fields != NULL) {
        return place_of(listing, path) < json_array_size(listing->fields);
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

static int complain_field(struct call *call, const struct listing *listing,
                          const char *path)
{
    const char *known = "";
    const char *key;
    json_t *value;
    size_t i;
    json_object_foreach(json_array_get(listing->rows, 0), key, value)
    {
        known = arena_printf(&call->arena, "%s%s%s", known, known[0] ? " " : "", key);
    }
    json_array_foreach(listing->fields, i, value)
    {
        known = arena_printf(&call->arena, "%s%s%s", known, known[0] ? " " : "",
                             json_string_value(value));
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
static int read_fields(struct call *call, const struct listing *listing,
                       const char *fields, struct column **columns)
{
    char *rest = arena_str(&call->arena, fields);
    size_t count = 0;
    *columns = arena_alloc(&call->arena, strlen(fields) + 2, sizeof **columns);
    for (char *word; (word = strsep(&rest, ", ")) != NULL;) {
        struct column *column = &(*columns)[count];
        if (word[0] == '\0') {
            continue;
        }
        if (!is_field_known(listing, word)) {
            return complain_field(call, listing, word);
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
    if (!is_field_known(listing, path)) {
        return complain_field(call, listing, path);
    }
    sort_rows(listing, path, is_reversed);
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

static void show_table(struct call *call, const struct listing *listing,
                       const struct column *columns)
{
    bool has_heading = !call_has(call, "--noheader");
    size_t count = 0;
    if (listing->fields == NULL) {
        table_print(&call->arena, columns, listing->rows, has_heading);
        return;
    }
    while (columns[count].heading != NULL) {
        count++;
    }
    size_t *places = arena_alloc(&call->arena, count, sizeof(*places));
    for (size_t i = 0; i < count; i++) {
        places[i] = place_of(listing, columns[i].path);
    }
    table_print_places(&call->arena, columns, places, listing->rows, has_heading);
}

/* -o, or the table's, and --sort. */
const char *listing_fields(struct call *call, const struct columns *columns)
{
    const char *fields = call_value(call, "-o"), *sort = call_value(call, "--sort");
    if (call_has(call, "--json") || (fields != NULL && strchr(fields, ' ') != NULL)) {
        return "";
    }
    if (fields == NULL) {
        fields = columns->table[0].path;
        for (const struct column *at = columns->table + 1; at->heading != NULL; at++) {
            fields = arena_printf(&call->arena, "%s,%s", fields, at->path);
        }
    }
    return sort == NULL
               ? fields
               : arena_printf(&call->arena, "%s,%s", fields, sort + (sort[0] == '-'));
}

static bool is_plain(const json_t *value)
{
    const char *at = json_is_string(value) ? json_string_value(value) : "\\";
    while (*at >= ' ' && *at <= '~' && *at != '"' && *at != '\\') {
        at++;
    }
    return *at == '\0';
}

static void print_json(const json_t *value)
{
    const int flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
    if (is_plain(value)) {
        putchar('"');
        fputs(json_string_value(value), stdout);
        putchar('"');
        return;
    }
    if (json_is_integer(value)) {
        char digits[DIGITS_SIZE];
        fwrite(digits, 1, digits_write(digits, json_integer_value(value)), stdout);
    } else {
        json_dumpf(value, stdout, flags);
    }
}

/* A row as an object, which it would take long to make of it. */
static void print_row(const struct listing *listing, const json_t *row)
{
    const json_t *value;
    size_t i;
    json_array_foreach(row, i, value)
    {
        fputs(i > 0 ? "," : "{", stdout);
        print_json(json_array_get(listing->fields, i));
        putchar(':');
        print_json(value);
    }
    putchar('}');
}

static void print_object(const struct listing *listing)
{
    const char *key;
    const json_t *value, *row;
    char before = '{';
    size_t i;
    json_object_foreach(listing->object, key, value)
    {
        printf("%c\"%s\":", before, key);
        before = ',';
        if (value != listing->rows || listing->fields == NULL) {
            print_json(value);
            continue;
        }
        putchar('[');
        json_array_foreach(value, i, row)
        {
            fputs(i > 0 ? "," : "", stdout);
            print_row(listing, row);
        }
        putchar(']');
    }
    puts("}");
}

static int show_rows(struct call *call, const struct listing *listing,
                     const struct columns *columns)
{
    const char *fields = call_value(call, "-o");
    const struct column *shown = columns->table;
    if (fields != NULL) {
        struct column *chosen;
        int status = read_fields(call, listing, fields, &chosen);
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
        show_table(call, listing, shown);
    }
    return CALL_OK;
}

int listing_show(struct call *call, struct listing *listing,
                 const struct columns *columns)
{
    int status = sort_as_asked(call, listing);
    if (status == CALL_OK && call_has(call, "--json")) {
        print_object(listing);
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
    struct listing listing = {0};
    int status = listing_gather(call, query, thing, &listing);
    if (status == CALL_OK) {
        status = listing_show(call, &listing, columns);
    }
    listing_free(&listing);
    return status;
}
