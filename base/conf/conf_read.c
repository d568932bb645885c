/* SPDX-License-Identifier: Apache-2.0 */
/* conf_read.c: the reading half of conf.h, from lines (conf_lines.h) to sections.
 * `read_line` distinguishes Begin, End and content; content is a KEY = value, a table's
 * heading or a table's row.
 *
 * Any input is accepted: each error gives one diagnostic, and reading continues behind
 * it. The time is linear in the text; the sizes of lines and sections are bounded. */
#include "base/conf/conf.h"

#include <string.h>
#include <strings.h>

#include "base/conf/conf_keys.h"
#include "base/conf/conf_lines.h"

enum {
    CELLS_MAX = 512,     /* keys of a section, columns of a table: LSF has 300 */
    NAME_MAX_BYTES = 64, /* a key or a section's name; LSF's longest has 45 */
    STRANGE_LINES = 3,   /* the first ones, if none is of a configuration */
    STRANGE_ALL = 2,     /* if the file has no others */
};

struct reader {
    struct conf *conf;
    struct conf_lines lines;
    struct conf_section *section; /* the open one, or NULL */
    struct conf_section *outside; /* the one for lines outside sections, or NULL */
    bool skipping;                /* inside a section that has no name */
    bool has_content;             /* the open section has a line */
    const char **heading;         /* of an open table; NULL: a column that is ignored */
    int n_heading;
};

static void complain(struct reader *reader, int line, const char *key, const char *text)
{
    conf_lines_complain(&reader->lines, line, key, text);
}

/* ------------------------------------------------------------ words */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Length of a key or a section's name, such as JL/U. */
static size_t name_length(const char *at)
{
    size_t length = 0;
    while ((at[length] >= 'a' && at[length] <= 'z') ||
           (at[length] >= 'A' && at[length] <= 'Z') ||
           (at[length] >= '0' && at[length] <= '9') || at[length] == '_' ||
           at[length] == '/' || at[length] == '-' || at[length] == '.') {
        length++;
    }
    return length <= NAME_MAX_BYTES ? length : 0;
}

static const char *upper(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_strn(arena, text, length);
    for (char *at = copy; *at != '\0'; at++) {
        if (*at >= 'a' && *at <= 'z') {
            *at = (char)(*at - 'a' + 'A');
        }
    }
    return copy;
}

/* A value of `-` or `()` is unset; quotes around the whole of it are stripped. */
static const char *value_of(struct arena *arena, const char *text, size_t length)
{
    if (length == 1 && text[0] == '-') {
        return NULL;
    }
    if (length >= 2 && text[0] == '(' && text[length - 1] == ')' &&
        strspn(text + 1, " \t") == length - 2) {
        return NULL;
    }
    if (length >= 2 && text[0] == '"' &&
        memchr(text + 1, '"', length - 1) == text + length - 1) {
        return arena_strn(arena, text + 1, length - 2);
    }
    return arena_strn(arena, text, length);
}

/* The first `=` outside quotes and parentheses, or NULL. */
static const char *find_equals(const char *text)
{
    int depth = 0;
    bool quoted = false;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (quoted) {
            continue;
        } else if (*at == '(') {
            depth++;
        } else if (*at == ')') {
            depth -= depth > 0;
        } else if (*at == '=' && depth == 0) {
            return at;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------ sections */

/* A section often follows one of the same name. */
static const struct conf_key *keys_of(const struct conf_section *before,
                                      const char *name)
{
    return before != NULL && strcasecmp(before->name, name) == 0 ? before->keys
                                                                 : conf_keys_of(name);
}

static struct conf_section *add_section(struct reader *reader, const char *name)
{
    struct arena *arena = reader->conf->arena;
    struct conf_section *section = arena_alloc(arena, 1, sizeof(*section));
    section->keys = keys_of(reader->conf->last, name);
    section->name = section->keys != NULL ? section->keys->section : name;
    section->file = reader->lines.file;
    section->line = reader->lines.text_line;
    conf_append(reader->conf, section);
    return section;
}

/* The only row of a section that is not a table. */
static void make_keyed(struct reader *reader, struct conf_section *section)
{
    section->rows = arena_alloc(reader->conf->arena, 1, sizeof(*section->rows));
    section->rows[0].line = section->line;
    section->n_rows = 1;
}

/* Room for one more item in an array of `count` items in the arena, which grows to 8,
 * 16, 32, ... items. */
static void *grown(struct arena *arena, void *old, int count, size_t size)
{
    bool is_full = count == 0 || (count >= 8 && (count & (count - 1)) == 0);
    if (!is_full) {
        return old;
    }
    void *array = arena_alloc(arena, count == 0 ? 8 : (size_t)count * 2, size);
    if (count > 0) {
        memcpy(array, old, (size_t)count * size);
    }
    return array;
}

static void close_section(struct reader *reader)
{
    if (reader->section != NULL && !reader->has_content) {
        make_keyed(reader, reader->section);
    }
    reader->section = NULL;
    reader->skipping = false;
    reader->has_content = false;
    reader->heading = NULL;
    reader->n_heading = 0;
}

static void complain_unended(struct reader *reader, int line)
{
    const struct conf_section *section = reader->section;
    struct conf_section where = {.file = reader->lines.file, .line = line};
    conf_complain(reader->conf, CONF_ERROR, &where, NULL, NULL,
                  "section %s of line %d is not ended, expected End %s", section->name,
                  section->line, section->name);
}

static void begin_section(struct reader *reader, const char *at)
{
    if (reader->section != NULL) {
        complain_unended(reader, reader->lines.text_line);
    }
    close_section(reader);
    size_t length = name_length(at);
    if (length == 0 || (at[length] != '\0' && !conf_lines_is_blank(at[length]))) {
        complain(reader, reader->lines.text_line, NULL,
                 "Begin without a section's name, expected Begin NAME");
        reader->skipping = true;
        return;
    }
    if (*skip_blanks(at + length) != '\0') {
        complain(reader, reader->lines.text_line, NULL,
                 "text behind a section's name, expected Begin NAME");
    }
    const char *name = arena_strn(reader->conf->arena, at, length);
    reader->section = add_section(reader, name);
}

static void end_section(struct reader *reader, const char *at)
{
    const struct conf_section *section = reader->section;
    if (section == NULL && !reader->skipping) {
        complain(reader, reader->lines.text_line, NULL,
                 "End without Begin, expected Begin NAME");
    }
    if (section != NULL) {
        size_t length = strlen(section->name);
        if (strncasecmp(at, section->name, length) != 0 || at[length] != '\0') {
            struct conf_section where = {.file = reader->lines.file,
                                         .line = reader->lines.text_line};
            conf_complain(reader->conf, CONF_ERROR, &where, NULL, NULL,
                          "End %.*s closes section %s of line %d, expected End %s",
                          (int)name_length(at), at, section->name, section->line,
                          section->name);
        }
    }
    close_section(reader);
}

/* ------------------------------------------------------------ KEY = value */

static void read_keyed(struct reader *reader, struct conf_section *section)
{
    struct arena *arena = reader->conf->arena;
    const char *text = skip_blanks(reader->lines.text);
    const char *equals = find_equals(text);
    size_t length = name_length(text);
    if (equals == NULL || length == 0 || skip_blanks(text + length) != equals) {
        complain(reader, reader->lines.text_line, NULL,
                 "malformed line, expected KEY = value");
        return;
    }
    struct conf_row *row = &section->rows[0];
    if (row->n_cells >= CELLS_MAX) {
        complain(reader, reader->lines.text_line, NULL,
                 "too many keys, expected at most 512 in a section");
        return;
    }
    row->cells = grown(arena, row->cells, row->n_cells, sizeof(*row->cells));
    struct conf_cell *cell = &row->cells[row->n_cells++];
    cell->key = upper(arena, text, length);
    cell->file = reader->lines.file;
    cell->line = reader->lines.text_line;
    const char *value = skip_blanks(equals + 1);
    if (*value != '\0') {
        cell->value = value_of(arena, value, strlen(value));
    } else if (section->name[0] != '\0') {
        complain(reader, reader->lines.text_line, cell->key,
                 "no value, expected a value, or - or () if it is unset");
    }
}

/* All lines outside sections form one section. */
static void read_outside(struct reader *reader)
{
    if (reader->outside == NULL) {
        reader->outside = add_section(reader, "");
        make_keyed(reader, reader->outside);
    }
    read_keyed(reader, reader->outside);
}

/* ------------------------------------------------------------ tables */

/* The end of the cell at `at`: the next blank outside quotes, parentheses, brackets.
 * `*balanced` becomes false where these do not pair. */
static const char *cell_end(const char *at, bool *balanced)
{
    int depth = 0;
    bool quoted = false;
    for (; *at != '\0'; at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (quoted) {
            continue;
        } else if (*at == '(' || *at == '[') {
            depth++;
        } else if (*at == ')' || *at == ']') {
            if (depth == 0) {
                *balanced = false;
            }
            depth -= depth > 0;
        } else if (depth == 0 && conf_lines_is_blank(*at)) {
            break;
        }
    }
    if (depth > 0) {
        *balanced = false;
    }
    return at;
}

static bool has_column(const struct conf_section *section, const char *key)
{
    for (int i = 0; i < section->n_columns; i++) {
        if (strcmp(section->columns[i], key) == 0) {
            return true;
        }
    }
    return false;
}

/* The key of a heading's word, or NULL with a complaint. */
static const char *heading_key(struct reader *reader, const char *word, size_t width)
{
    size_t length = name_length(word);
    if (length == 0 || length != width) {
        complain(reader, reader->lines.text_line, NULL,
                 "malformed heading, expected keys, or KEY = value");
        return NULL;
    }
    const char *key = upper(reader->conf->arena, word, length);
    if (has_column(reader->section, key)) {
        complain(reader, reader->lines.text_line, key,
                 "given twice in the heading, expected once");
        return NULL;
    }
    return key;
}

static void read_heading(struct reader *reader)
{
    struct arena *arena = reader->conf->arena;
    struct conf_section *section = reader->section;
    const char *at = skip_blanks(reader->lines.text);
    while (*at != '\0') {
        if (reader->n_heading >= CELLS_MAX) {
            complain(reader, reader->lines.text_line, NULL,
                     "too many columns, expected at most 512");
            return;
        }
        size_t width = strcspn(at, " \t");
        const char *key = heading_key(reader, at, width);
        reader->heading = grown(arena, reader->heading, reader->n_heading, sizeof(key));
        reader->heading[reader->n_heading++] = key;
        if (key != NULL) {
            section->columns =
                grown(arena, section->columns, section->n_columns, sizeof(key));
            section->columns[section->n_columns++] = key;
        }
        at = skip_blanks(at + width);
    }
}

static void add_cell(struct reader *reader, struct conf_row *row, const char *key,
                     const char *text, size_t length)
{
    struct arena *arena = reader->conf->arena;
    row->cells = grown(arena, row->cells, row->n_cells, sizeof(*row->cells));
    struct conf_cell *cell = &row->cells[row->n_cells++];
    cell->key = key;
    cell->value = value_of(arena, text, length);
    cell->file = reader->lines.file;
    cell->line = reader->lines.text_line;
}

/* Cells of unusable columns are skipped. */
static void read_row(struct reader *reader)
{
    struct conf_section *section = reader->section;
    section->rows = grown(reader->conf->arena, section->rows, section->n_rows,
                          sizeof(*section->rows));
    struct conf_row *row = &section->rows[section->n_rows++];
    row->line = reader->lines.text_line;

    bool balanced = true;
    int n_words = 0;
    const char *at = skip_blanks(reader->lines.text);
    for (; *at != '\0'; n_words++) {
        const char *stop = cell_end(at, &balanced);
        if (n_words < reader->n_heading && reader->heading[n_words] != NULL) {
            add_cell(reader, row, reader->heading[n_words], at, (size_t)(stop - at));
        }
        at = skip_blanks(stop);
    }
    struct conf_section where = {.file = reader->lines.file,
                                 .line = reader->lines.text_line};
    if (!balanced) {
        conf_complain(reader->conf, CONF_ERROR, &where, NULL, NULL,
                      "parentheses do not pair, expected each closed in its cell");
    } else if (n_words != reader->n_heading) {
        conf_complain(reader->conf, CONF_ERROR, &where, NULL, NULL,
                      "%d cells, expected %d as in the heading (- if unset)", n_words,
                      reader->n_heading);
    }
}

/* ------------------------------------------------------------ all */

static void read_content(struct reader *reader)
{
    if (reader->skipping) {
        return;
    }
    struct conf_section *section = reader->section;
    if (section == NULL) {
        read_outside(reader);
        return;
    }
    if (!reader->has_content) {
        reader->has_content = true;
        section->is_table = find_equals(reader->lines.text) == NULL;
        if (section->is_table) {
            read_heading(reader);
            return;
        }
        make_keyed(reader, section);
    }
    if (section->is_table) {
        read_row(reader);
    } else {
        read_keyed(reader, section);
    }
}

/* The rest of the line after the word, or NULL if the line begins with another word. */
static const char *behind_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    if (strncasecmp(text, word, length) != 0 ||
        (text[length] != '\0' && !conf_lines_is_blank(text[length]))) {
        return NULL;
    }
    const char *rest = skip_blanks(text + length);
    return *rest != '=' ? rest : NULL;
}

static void read_line(struct reader *reader)
{
    const char *text = skip_blanks(reader->lines.text);
    const char *rest;
    if (*text == '\0') {
        return;
    }
    if ((rest = behind_word(text, "Begin")) != NULL) {
        begin_section(reader, rest);
    } else if ((rest = behind_word(text, "End")) != NULL) {
        end_section(reader, rest);
    } else {
        read_content(reader);
    }
}

/* True for a file whose first lines, or all lines if they are fewer, have no KEY =
 * value and no Begin, or a NUL byte: a program, a letter, a log. A single line may be a
 * mistake in a file that is nearly empty, and gives one error in any case. */
static bool is_something_else(const char *text, size_t length)
{
    const char *end = text + length;
    int n_strange = 0;
    while (text < end && n_strange < STRANGE_LINES) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;
        while (text < stop && (conf_lines_is_blank(*text) || *text == '\r')) {
            text++;
        }
        size_t rest = (size_t)(stop - text);
        if (memchr(text, '\0', rest) == NULL &&
            (memchr(text, '=', rest) != NULL ||
             (rest >= 5 && strncasecmp(text, "Begin", 5) == 0))) {
            return false;
        }
        n_strange += rest > 0 && *text != '#';
        text = newline != NULL ? newline + 1 : end;
    }
    return n_strange >= STRANGE_ALL;
}

void conf_read(struct conf *conf, const char *file, const char *text, size_t length)
{
    struct reader reader = {.conf = conf};
    if (is_something_else(text, length)) {
        conf_lines_init(&reader.lines, conf, file, "", 0);
        complain(&reader, 1, NULL,
                 "not a configuration file, expected lines KEY = value, and sections "
                 "from Begin NAME to End NAME");
        return;
    }
    conf_lines_init(&reader.lines, conf, file, text, length);
    while (conf_lines_next(&reader.lines)) {
        read_line(&reader);
    }
    if (reader.section != NULL) {
        complain_unended(&reader, reader.section->line);
    } else if (reader.skipping) {
        complain(&reader, conf_lines_last(&reader.lines), NULL,
                 "section is not ended, expected End");
    }
    close_section(&reader);
}
