/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_row.c: see slurm_row.h. */
#include "slurm/slurm_row.h"

#include <string.h>

const char *slurm_row_format(struct arena *arena, const struct slurm_column *columns,
                             int n_columns)
{
    const char *format = "";
    for (int i = 0; i < n_columns; i++) {
        format = arena_printf(arena, "%s%s%s:%d|", format, i > 0 ? "," : "",
                              columns[i].field, columns[i].width);
    }
    return format;
}

static const char *read_cell(struct arena *arena, const char *at, size_t width)
{
    while (width > 0 && at[width - 1] == ' ') {
        width--;
    }
    const char *cell = arena_strn(arena, at, width);
    return strcmp(cell, "(null)") == 0 || strcmp(cell, "N/A") == 0 ? "" : cell;
}

/* The length of the value at `at`; -1: it has no bar behind it. */
static int cell_length(const char *at, const struct slurm_column *column)
{
    size_t length =
        column->width > 0 ? strnlen(at, (size_t)column->width) : strcspn(at, "|\n");
    bool is_whole = column->width == 0 || length == (size_t)column->width;
    return is_whole && at[length] == '|' ? (int)length : -1;
}

int slurm_row_read(struct arena *arena, const char **text,
                   const struct slurm_column *columns, int n_columns,
                   const char **cells, struct err *err)
{
    const char *at = *text;
    for (int i = 0; i < n_columns; i++) {
        int width = columns[i].width;
        int length = cell_length(at, &columns[i]);
        if (length < 0) {
            return err_set(err, ERR_PARSE,
                           width > 0 ? "column %s is not %d characters wide, expected "
                                       "the output of sinfo or squeue of Slurm 22.05 "
                                       "or later"
                                     : "column %s has no bar behind it, expected the "
                                       "output of sinfo or squeue of Slurm 22.05 or "
                                       "later",
                           columns[i].field, width);
        }
        if (width > 0 && at[width - 1] != ' ' && !columns[i].may_be_cut) {
            return err_set(err, ERR_PARSE,
                           "column %s is full, so that its value may be cut: \"%.40s\"",
                           columns[i].field, at);
        }
        cells[i] = read_cell(arena, at, (size_t)length);
        at += length + 1;
    }
    if (*at != '\n' && *at != '\0') {
        return err_set(err, ERR_PARSE, "there is \"%.40s\" behind the last column", at);
    }
    *text = *at == '\n' ? at + 1 : at;
    return 0;
}

int slurm_row_count(const char *text, int most, struct err *err)
{
    int n_lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        if (++n_lines > most) {
            return err_set(err, ERR_BOUNDS, "more than %d lines", most);
        }
    }
    return n_lines;
}
