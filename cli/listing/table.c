/* SPDX-License-Identifier: Apache-2.0 */
/* table.c: tables by libsmartcols, blocks by hand. */
#include "cli/listing/listing.h"

#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* Colours of states. */
static const struct {
    const char *word, *colour;
} colours[] = {
    {"RUN", "green"},   {"ok", "green"},        {"active", "green"},
    {"PEND", "yellow"}, {"inactive", "yellow"}, {"draining", "yellow"},
    {"EXIT", "red"},    {"disc", "red"},        {"UNKWN", "red"},
    {"unavail", "red"},
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

static void add_row(struct libscols_table *table, struct arena *arena,
                    const struct column *columns, const json_t *row, bool has_colours)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line == NULL) {
        abort();
    }
    for (size_t i = 0; columns[i].heading != NULL; i++) {
        const char *text = columns[i].format(arena, columns_find(row, columns[i].path));
        const char *colour = has_colours ? colour_of(text) : NULL;
        if (scols_line_set_data(line, i, text) != 0) {
            abort();
        }
        if (colour != NULL) {
            scols_cell_set_color(scols_line_get_cell(line, i), colour);
        }
    }
}

void table_print(struct arena *arena, const struct column *columns, const json_t *rows,
                 bool has_heading)
{
    struct libscols_table *table = scols_new_table();
    bool has_colours = may_colour();
    const json_t *row;
    size_t i;
    if (table == NULL) {
        abort();
    }
    scols_table_enable_noheadings(table, !has_heading);
    scols_table_enable_colors(table, has_colours);
    /* One line per row, even on a narrow terminal. */
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (i = 0; columns[i].heading != NULL; i++) {
        if (scols_table_new_column(table, columns[i].heading, 0,
                                   columns[i].is_right ? SCOLS_FL_RIGHT : 0) == NULL) {
            abort();
        }
    }
    json_array_foreach(rows, i, row)
    {
        add_row(table, arena, columns, row, has_colours);
    }
    scols_print_table(table);
    scols_unref_table(table);
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
