/* SPDX-License-Identifier: Apache-2.0 */
/* table.c: tables and blocks.
 *
 * A table of a large plan has more than a million cells. Most are plain ASCII, which is
 * measured and printed without a look at the locale. */
#include "cli/listing/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#define GREEN "\033[32m"
#define YELLOW "\033[1;33m"
#define RED "\033[31m"
static const char colour_end[] = "\033[0m";

/* Colours of states. */
static const struct {
    const char *word, *colour;
} colours[] = {
    {"RUN", GREEN},       {"ok", GREEN},        {"active", GREEN}, {"PEND", YELLOW},
    {"inactive", YELLOW}, {"draining", YELLOW}, {"EXIT", RED},     {"disc", RED},
    {"UNKWN", RED},       {"unavail", RED},
};

static bool may_colour(void)
{
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0');
}

static const char *colour_of(const char *text)
{
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        if (strcmp(colours[i].word, text) == 0) {
            return colours[i].colour;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- cells */

struct cell {
    const char *text;
    int width; /* columns of a terminal */
};

/* What is no printable character of the locale becomes \xNN, byte by byte. */
static struct cell escape(struct arena *arena, const char *text)
{
    char *out = arena_alloc(arena, 4 * strlen(text) + 1, 1);
    struct cell cell = {out, 0};
    for (size_t at = 0, length; text[at] != '\0'; at += length) {
        wchar_t character;
        length = mbrtowc(&character, text + at, MB_CUR_MAX, &(mbstate_t){0});
        bool is_valid = length != (size_t)-1 && length != (size_t)-2;
        length = is_valid ? length : 1;
        if (is_valid && iswprint((wint_t)character)) {
            memcpy(out, text + at, length);
            out += length;
            cell.width += wcwidth(character);
            continue;
        }
        for (size_t i = 0; i < length; i++) {
            out += snprintf(out, 5, "\\x%02x", (unsigned char)text[at + i]);
            cell.width += 4;
        }
    }
    return cell;
}

static struct cell make_cell(struct arena *arena, const char *text)
{
    size_t length = 0;
    while (text[length] >= ' ' && text[length] <= '~') {
        length++;
    }
    return text[length] == '\0' ? (struct cell){text, (int)length}
                                : escape(arena, text);
}

/* ---------------------------------------------------------------- tables */

struct table {
    struct arena *arena;
    const struct column *columns;
    size_t n_columns;
    int *widths;
    struct cell *cells; /* row after row */
    size_t n_cells;
    bool has_colours;
    char *line; /* being written */
    size_t length, capacity;
};

static void add_cell(struct table *table, const char *text)
{
    int *width = &table->widths[table->n_cells % table->n_columns];
    struct cell cell = make_cell(table->arena, text);
    *width = cell.width > *width ? cell.width : *width;
    table->cells[table->n_cells++] = cell;
}

static void add_bytes(struct table *table, const char *bytes, size_t length)
{
    if (table->length + length > table->capacity) {
        table->capacity = 2 * (table->length + length);
        table->line = mem_grow(table->line, table->capacity, 1);
    }
    memcpy(table->line + table->length, bytes, length);
    table->length += length;
}

static void add_blanks(struct table *table, int count)
{
    for (int i = 0; i < count; i++) {
        add_bytes(table, " ", 1);
    }
}

static void add_text(struct table *table, const char *text)
{
    const char *colour = table->has_colours ? colour_of(text) : NULL;
    if (colour != NULL) {
        add_bytes(table, colour, strlen(colour));
    }
    add_bytes(table, text, strlen(text));
    if (colour != NULL) {
        add_bytes(table, colour_end, strlen(colour_end));
    }
}

static void print_row(struct table *table, const struct cell *cells)
{
    table->length = 0;
    for (size_t i = 0; i < table->n_columns; i++) {
        int n_blanks = table->widths[i] - cells[i].width;
        bool is_right = table->columns[i].is_right;
        add_blanks(table, (i > 0) + (is_right ? n_blanks : 0));
        add_text(table, cells[i].text);
        add_blanks(table, is_right || i + 1 == table->n_columns ? 0 : n_blanks);
    }
    add_bytes(table, "\n", 1);
    fwrite(table->line, 1, table->length, stdout);
}

static json_t *value_at(const struct column *columns, const size_t *places,
                        const json_t *row, size_t i)
{
    return places == NULL ? columns_find(row, columns[i].path)
                          : json_array_get(row, places[i]);
}

/* One line per row, even on a narrow terminal. */
void table_print_places(struct arena *arena, const struct column *columns,
                        const size_t *places, const json_t *rows, bool has_heading)
{
    struct table table = {.arena = arena, .columns = columns};
    const json_t *row;
    bool has_colours = may_colour();
    size_t i;
    while (columns[table.n_columns].heading != NULL) {
        table.n_columns++;
    }
    table.widths = arena_alloc(arena, table.n_columns, sizeof(*table.widths));
    table.cells =
        mem_alloc((json_array_size(rows) + 1) * table.n_columns, sizeof(*table.cells));
    for (i = 0; i < table.n_columns; i++) {
        add_cell(&table, columns[i].heading);
    }
    json_array_foreach(rows, i, row)
    {
        for (size_t j = 0; j < table.n_columns; j++) {
            add_cell(&table,
                     columns[j].format(arena, value_at(columns, places, row, j)));
        }
    }
    for (i = has_heading ? 0 : table.n_columns; i < table.n_cells;
         i += table.n_columns) {
        table.has_colours = has_colours && i > 0;
        print_row(&table, &table.cells[i]);
    }
    free(table.cells);
    free(table.line);
}

void table_print(struct arena *arena, const struct column *columns, const json_t *rows,
                 bool has_heading)
{
    table_print_places(arena, columns, NULL, rows, has_heading);
}

const char *table_pad(struct arena *arena, const char *text, int width)
{
    int columns = 0;
    for (size_t at = 0, length; text[at] != '\0'; at += length) {
        wchar_t character;
        length = mbrtowc(&character, text + at, MB_CUR_MAX, &(mbstate_t){0});
        bool is_valid = length != (size_t)-1 && length != (size_t)-2;
        int one = is_valid ? wcwidth(character) : 1;
        length = is_valid ? length : 1;
        columns += one > 0 ? one : 0;
    }
    return arena_printf(arena, "%s%*s", text, columns < width ? width - columns : 0,
                        "");
}

/* Replaces control characters, for example in a job's command. */
static void print_text(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        bool is_c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
        if (*at < 0x20 || *at == 0x7f || is_c1) {
            printf("\\x%02x", is_c1 ? *++at : *at);
        } else {
            putchar(*at);
        }
    }
    putchar('\n');
}

static void print_block(struct arena *arena, const struct column *columns,
                        const json_t *row, int width)
{
    for (; columns->heading != NULL; columns++) {
        json_t *value = columns_find(row, columns->path);
        bool is_given = value != NULL && !json_is_null(value);
        const char *text = is_given ? columns->format(arena, value) : "";
        if (text[0] != '\0') {
            printf("%*s: ", width, columns->heading);
            print_text(text);
        }
    }
}

void table_print_blocks(struct arena *arena, const struct column *columns,
                        const json_t *rows)
{
    const json_t *row;
    int width = 0;
    size_t i;
    for (i = 0; columns[i].heading != NULL; i++) {
        if ((int)strlen(columns[i].heading) > width) {
            width = (int)strlen(columns[i].heading);
        }
    }
    json_array_foreach(rows, i, row)
    {
        if (i > 0) {
            putchar('\n');
        }
        print_block(arena, columns, row, width);
    }
}
