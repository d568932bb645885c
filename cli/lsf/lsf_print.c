/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_print.c: rows in LSF's columns, by -o, or as its JSON. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lsf/lsf.h"

enum { PARAGRAPH_WIDTH = 80, PARAGRAPH_INDENT = 21 };

/* One column: a field, and how it is shown. */
struct shown {
    const struct lsf_field *field;
    int width; /* 0: as wide as its values */
    bool is_right, is_whole;
    char unit; /* of a size: K, M, G, T, P, E; 0: the one that suits it */
};

struct sheet {
    struct arena *arena;
    struct shown *columns;
    int n_columns;
    const char *delimiter; /* NULL: columns of fixed width */
    bool cuts;
};

/* ---- the words of a layout */

static const struct lsf_field *find_field(const struct lsf_field *fields,
                                          const char *name, size_t length)
{
    for (; fields->name != NULL; fields++) {
        if ((strlen(fields->name) == length &&
             strncasecmp(fields->name, name, length) == 0) ||
            (fields->alias != NULL && strlen(fields->alias) == length &&
             strncasecmp(fields->alias, name, length) == 0)) {
            return fields;
        }
    }
    return NULL;
}

static bool is_size(const struct lsf_field *field)
{
    return field->format == lsf_format_mem || field->format == lsf_format_limit_size;
}

/* "G" or "GB" behind the second colon; S stands for the unit that suits the value. */
static bool read_unit(const char *text, struct shown *shown)
{
    const char letter = (char)toupper((unsigned char)text[0]);
    bool is_known = letter != '\0' && strchr("KMGTPES", letter) != NULL &&
                    (text[1] == '\0' || strcasecmp(text + 1, "B") == 0);
    shown->unit = is_known && letter != 'S' ? letter : '\0';
    return is_known && is_size(shown->field);
}

/* "name", "name:", "name:12", "name:-12", "name:=12", "name:12:G". Without a width the
 * column has the recommended one; with -o (`is_asked`) a name alone is never cut. */
static int read_word(const struct lsf_listing *listing, const char *word, bool is_asked,
                     struct shown *shown)
{
    size_t length = strcspn(word, ":");
    const char *at = word + length;
    *shown = (struct shown){.field = find_field(listing->fields, word, length)};
    if (shown->field == NULL) {
        call_fail("%s: Unknown field name <%.*s>", listing->command, (int)length, word);
        return LSF_FAILED;
    }
    shown->width = shown->field->width;
    if (*at == '\0') {
        shown->is_whole = is_asked;
        return CALL_OK;
    }
    at++;
    shown->is_right = *at == '-';
    shown->is_whole = *at == '=';
    at += shown->is_right || shown->is_whole;
    if (isdigit((unsigned char)*at)) {
        shown->width = (int)strtol(at, (char **)(uintptr_t)&at, 10);
    }
    bool is_valid = *at == '\0' || (*at == ':' && read_unit(at + 1, shown));
    if (!is_valid || shown->width > 4096) {
        call_fail("%s: %s: expected NAME[:[-]WIDTH][:UNIT]", listing->command, word);
        return LSF_FAILED;
    }
    return CALL_OK;
}

/* delimiter='X' with or without the quotes. */
static const char *read_delimiter(struct arena *arena, const char *word)
{
    const char *from = word + strlen("delimiter=");
    size_t length = strlen(from);
    if (length >= 2 && (*from == '\'' || *from == '"') && from[length - 1] == *from) {
        return arena_strn(arena, from + 1, length - 2);
    }
    return from;
}

/* The end of a word: a blank outside of quotes. */
static const char *end_of_word(const char *at)
{
    char quote = '\0';
    for (; *at != '\0' && (quote != '\0' || strchr(" \t\n", *at) == NULL); at++) {
        if (quote == '\0' && (*at == '\'' || *at == '"')) {
            quote = *at;
        } else if (*at == quote) {
            quote = '\0';
        }
    }
    return at;
}

/* "all" and "all:12": each field but columns of other layouts, whose names have an
 * underscore at the second place. */
static int read_all(const struct lsf_listing *listing, const char *word,
                    struct sheet *sheet)
{
    int status = CALL_OK;
    for (const struct lsf_field *at = listing->fields; at->name != NULL; at++) {
        if (at->name[1] != '_' && status == CALL_OK) {
            status = read_word(listing,
                               arena_printf(sheet->arena, "%s%s", at->name, word + 3),
                               true, &sheet->columns[sheet->n_columns++]);
        }
    }
    return status;
}

static int count_fields(const struct lsf_listing *listing)
{
    int count = 0;
    while (listing->fields[count].name != NULL) {
        count++;
    }
    return count;
}

static int read_layout(const struct lsf_listing *listing, const char *layout,
                       bool is_asked, struct sheet *sheet)
{
    sheet->columns =
        arena_alloc(sheet->arena, (strlen(layout) + 1) * (size_t)count_fields(listing),
                    sizeof(*sheet->columns));
    while (*(layout += strspn(layout, " \t\n")) != '\0') {
        const char *end = end_of_word(layout);
        const char *word = arena_strn(sheet->arena, layout, (size_t)(end - layout));
        layout = end;
        if (strncasecmp(word, "delimiter=", strlen("delimiter=")) == 0) {
            sheet->delimiter = read_delimiter(sheet->arena, word);
        } else if (strncasecmp(word, "all", 3) == 0 &&
                   (word[3] == '\0' || word[3] == ':')) {
            if (read_all(listing, word, sheet) != CALL_OK) {
                return LSF_FAILED;
            }
        } else if (read_word(listing, word, is_asked,
                             &sheet->columns[sheet->n_columns]) != CALL_OK) {
            return LSF_FAILED;
        } else {
            sheet->n_columns++;
        }
    }
    if (sheet->n_columns == 0) {
        call_fail("%s: -o: expected names of fields", listing->command);
        return LSF_FAILED;
    }
    return CALL_OK;
}

/* ---- cells */

/* "1.5 G". */
static const char *in_unit(const struct sheet *sheet, const struct shown *shown,
                           const json_t *row)
{
    static const char units[] = "KMGTPE";
    json_t *value = columns_find(row, shown->field->path);
    double size = json_number_value(value);
    for (const char *at = units; *at != shown->unit; at++) {
        size /= 1024;
    }
    return json_is_number(value)
               ? arena_printf(sheet->arena, "%.*f %c", shown->unit == 'K' ? 0 : 1, size,
                              shown->unit)
               : "";
}

static const char *value_of(const struct sheet *sheet, int column, const json_t *row)
{
    const struct shown *shown = &sheet->columns[column];
    const struct lsf_field *field = shown->field;
    const char *text = shown->unit != '\0'
                           ? in_unit(sheet, shown, row)
                           : field->format(sheet->arena, row, field->path);
    return text != NULL ? text : "";
}

/* Control characters, as in the name of a job, would break the columns. */
static const char *clean(struct arena *arena, const char *text)
{
    char *copy = arena_str(arena, text);
    for (char *at = copy; *at != '\0'; at++) {
        *at = iscntrl((unsigned char)*at) ? ' ' : *at;
    }
    return copy;
}

static const char *text_of(const struct sheet *sheet, int column, const json_t *row)
{
    const char *text = value_of(sheet, column, row);
    return text[0] != '\0' ? clean(sheet->arena, text) : "-";
}

/* A job's name keeps its end, after a star, so that elements of arrays differ. */
static const char *cut(const struct sheet *sheet, int column, const char *text)
{
    const struct shown *shown = &sheet->columns[column];
    size_t length = strlen(text), width = (size_t)shown->width;
    if (!sheet->cuts || shown->is_whole || width == 0 || length <= width) {
        return text;
    }
    if (strcmp(shown->field->name, "job_name") == 0) {
        return arena_printf(sheet->arena, "*%s", text + length - width + 1);
    }
    return arena_strn(sheet->arena, text, width);
}

static void print_cell(const struct sheet *sheet, int column, const char *text)
{
    const struct shown *shown = &sheet->columns[column];
    bool is_last = column + 1 == sheet->n_columns;
    if (sheet->delimiter != NULL) {
        printf("%s%s", column > 0 ? sheet->delimiter : "", text);
    } else if (shown->is_right) {
        printf("%s%*s", column > 0 ? " " : "", shown->width, text);
    } else {
        printf("%s%-*s", column > 0 ? " " : "", is_last ? 0 : shown->width, text);
    }
}

/* Without -w each host of a parallel job has a line. */
static void print_line(const struct sheet *sheet, const json_t *row)
{
    const char *rest = NULL;
    int folded = -1;
    for (int i = 0; i < sheet->n_columns; i++) {
        const char *text = text_of(sheet, i, row);
        bool folds = sheet->cuts && sheet->delimiter == NULL &&
                     strcmp(sheet->columns[i].field->name, "exec_host") == 0;
        const char *colon = folds ? strchr(text, ':') : NULL;
        if (colon != NULL) {
            folded = i;
            rest = colon + 1;
            text = arena_strn(sheet->arena, text, (size_t)(colon - text));
        }
        print_cell(sheet, i, cut(sheet, i, text));
    }
    putchar('\n');
    while (rest != NULL) {
        size_t length = strcspn(rest, ":");
        for (int i = 0; i < folded; i++) {
            print_cell(sheet, i, "");
        }
        printf(" %s\n", cut(sheet, folded, arena_strn(sheet->arena, rest, length)));
        rest = rest[length] == ':' ? rest + length + 1 : NULL;
    }
}

/* Columns without a width are as wide as what they hold. */
static void fit(struct sheet *sheet, const json_t *rows, bool has_heading)
{
    for (int i = 0; i < sheet->n_columns; i++) {
        struct shown *shown = &sheet->columns[i];
        const json_t *row;
        size_t at;
        if (shown->width != 0) {
            continue;
        }
        shown->width = has_heading ? (int)strlen(shown->field->heading) : 1;
        json_array_foreach(rows, at, row)
        {
            int length = (int)strlen(text_of(sheet, i, row));
            shown->width = length > shown->width ? length : shown->width;
        }
    }
}

static void print_table(struct sheet *sheet, const json_t *rows, bool has_heading)
{
    const json_t *row;
    size_t at;
    fit(sheet, rows, has_heading);
    for (int i = 0; has_heading && i < sheet->n_columns; i++) {
        print_cell(sheet, i, sheet->columns[i].field->heading);
    }
    if (has_heading) {
        putchar('\n');
    }
    json_array_foreach(rows, at, row)
    {
        print_line(sheet, row);
    }
}

static void print_json(const struct sheet *sheet, const struct lsf_listing *listing,
                       const json_t *rows)
{
    json_t *all = json_object(), *records = json_array();
    const json_t *row;
    size_t at;
    json_array_foreach(rows, at, row)
    {
        json_t *record = json_object();
        for (int i = 0; i < sheet->n_columns; i++) {
            json_object_set_new(record, sheet->columns[i].field->heading,
                                json_string(value_of(sheet, i, row)));
        }
        json_array_append_new(records, record);
    }
    json_object_set_new(all, "COMMAND", json_string(listing->command));
    json_object_set_new(all, listing->things,
                        json_integer((json_int_t)json_array_size(rows)));
    json_object_set_new(all, "RECORDS", records);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

void lsf_print_default(struct call *call, const char *variable, const char *layouts)
{
    const char *format = getenv(variable);
    if (format == NULL || format[0] == '\0' || call_has(call, "-o")) {
        return;
    }
    for (const char *at = layouts; *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (call_has(call, arena_strn(&call->arena, at, length))) {
            return;
        }
        at += length;
    }
    lsf_line_add(call, "-o", format);
}

int lsf_print_layout(struct call *call, const struct lsf_listing *listing,
                     const char *layout, const json_t *rows)
{
    const char *asked = call_value(call, "-o");
    bool has_any = json_array_size(rows) > 0;
    struct sheet sheet = {.arena = &call->arena,
                          .cuts = !call_has(call, "-w") && !call_has(call, "-W")};
    if (call_has(call, "-json") && asked == NULL) {
        call_fail("%s: -json needs -o", listing->command);
        return LSF_FAILED;
    }
    if (read_layout(listing, asked != NULL ? asked : layout, asked != NULL, &sheet) !=
        CALL_OK) {
        return LSF_FAILED;
    }
    if (call_has(call, "-json")) {
        print_json(&sheet, listing, rows);
    } else if (has_any) {
        print_table(&sheet, rows, !call_has(call, "--noheader"));
    } else {
        call_say("%s", listing->nothing);
    }
    return call_finish_output() == CALL_OK && has_any ? CALL_OK : LSF_FAILED;
}

int lsf_print_rows(struct call *call, const struct lsf_listing *listing,
                   const json_t *rows)
{
    return lsf_print_layout(call, listing, listing->layout, rows);
}

void lsf_print_separator(void)
{
    printf(
        "-----------------------------------------------------------------------------"
        "-\n");
}

void lsf_print_paragraph(struct call *call, const char *paragraph)
{
    char *copy = arena_str(&call->arena, paragraph);
    const char *text = copy;
    bool is_whole = call_has(call, "-UF");
    for (char *at = copy; *at != '\0'; at++) {
        *at = *at == '\n' ? ';' : iscntrl((unsigned char)*at) ? ' ' : *at;
    }
    size_t length = strlen(text), width = PARAGRAPH_WIDTH;
    int indent = 0;
    while (!is_whole && length > width) {
        printf("%*s%.*s\n", indent, "", (int)width, text);
        text += width;
        length -= width;
        indent = PARAGRAPH_INDENT;
        width = PARAGRAPH_WIDTH - PARAGRAPH_INDENT;
    }
    printf("%*s%s\n", indent, "", text);
}
