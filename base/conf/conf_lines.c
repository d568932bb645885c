/* SPDX-License-Identifier: Apache-2.0 */
/* conf_lines.c: see conf_lines.h. */
#include "base/conf/conf_lines.h"

#include <string.h>
#include <strings.h>

#include "base/conf/conf_if.h"

enum {
    LINE_MAX_BYTES = 65536, /* of a logical line; a job's command line fits */
    FIRST_BYTES = 256,      /* for the first lines */
};

bool conf_lines_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void conf_lines_complain(const struct conf_lines *lines, int line, const char *key,
                         const char *text)
{
    struct conf_section where = {.file = lines->file, .line = line};
    struct conf_cell cell = {.key = key, .line = line};
    conf_complain(lines->conf, CONF_ERROR, &where, NULL, key != NULL ? &cell : NULL,
                  "%s", text);
}

/* Begins with the first line of a text. */
static void open_text(struct conf_lines *lines, const char *name, const char *text,
                      size_t length)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    bool has_mark = length >= 3 && memcmp(text, byte_order_mark, 3) == 0;
    lines->file = arena_str(lines->conf->arena, name);
    lines->files[lines->n_files++] = (struct conf_lines_file){
        .name = lines->file,
        .at = text + (has_mark ? 3 : 0),
        .end = text + length,
        .n_ifs = lines->n_ifs,
    };
}

void conf_lines_init(struct conf_lines *lines, struct conf *conf, const char *file,
                     const char *text, size_t length)
{
    memset(lines, 0, sizeof(*lines));
    lines->conf = conf;
    lines->n_bytes = FIRST_BYTES;
    lines->text = arena_alloc(conf->arena, lines->n_bytes, 1);
    open_text(lines, file, text, length);
}

int conf_lines_last(const struct conf_lines *lines)
{
    return lines->files[0].line;
}

static struct conf_lines_file *current(struct conf_lines *lines)
{
    return &lines->files[lines->n_files - 1];
}

/* Bytes of the UTF-8 character at `at`; 0 if it is not valid. */
static size_t utf8_length(const unsigned char *at, const unsigned char *end)
{
    static const struct {
        unsigned char first, last; /* of the lead byte */
        unsigned char low, high;   /* of the second byte */
        unsigned char length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    if (*at < 0x80) {
        return 1;
    }
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (*at < forms[i].first || *at > forms[i].last) {
            continue;
        }
        size_t length = forms[i].length;
        if ((size_t)(end - at) < length || at[1] < forms[i].low ||
            at[1] > forms[i].high) {
            return 0;
        }
        for (size_t k = 2; k < length; k++) {
            if ((at[k] & 0xc0) != 0x80) {
                return 0;
            }
        }
        return length;
    }
    return 0;
}

/* Replaces bytes that are not UTF-8, which would spoil terminals and JSON. True if
 * there were any. */
static bool clean(char *text, size_t length)
{
    bool dirty = false;
    size_t i = 0;
    while (i < length) {
        const unsigned char *at = (const unsigned char *)text + i;
        size_t one = utf8_length(at, (const unsigned char *)text + length);
        if (one == 0 || (one == 1 && ((*at < 0x20 && *at != '\t') || *at == 0x7f))) {
            text[i] = '?';
            one = 1;
            dirty = true;
        }
        i += one;
    }
    return dirty;
}

/* The next physical line without its end: LF or CR LF. */
static bool physical_line(struct conf_lines *lines, const char **first, size_t *length)
{
    struct conf_lines_file *file = current(lines);
    if (file->at == file->end) {
        return false;
    }
    const char *start = file->at;
    const char *newline = memchr(start, '\n', (size_t)(file->end - start));
    const char *stop = newline != NULL ? newline : file->end;
    file->at = newline != NULL ? newline + 1 : file->end;
    file->line++;
    if (stop > start && stop[-1] == '\r') {
        stop--;
    }
    *first = start;
    *length = (size_t)(stop - start);
    return true;
}

/* The length without a comment, which `#` begins outside quotes. `*quoted`: a quote is
 * open, before and after the text, since continuation lines are read one by one. */
static size_t without_comment(const char *text, size_t length, bool *quoted)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') {
            *quoted = !*quoted;
        } else if (text[i] == '#' && !*quoted) {
            return i;
        }
    }
    return length;
}

/* Checks a complete line: at most one diagnostic. */
static void finish(struct conf_lines *lines, size_t used, bool too_long, bool quoted)
{
    while (used > 0 && conf_lines_is_blank(lines->text[used - 1])) {
        used--;
    }
    if (too_long) {
        conf_lines_complain(lines, lines->text_line, NULL,
                            "line too long, expected at most 65536 bytes");
        used = 0;
    } else if (clean(lines->text, used)) {
        conf_lines_complain(
            lines, lines->text_line, NULL,
            "bytes that are no text, expected UTF-8 without control characters");
    } else if (quoted) {
        conf_lines_complain(lines, lines->text_line, NULL,
                            "quote not closed, expected another \"");
    }
    lines->text[used] = '\0';
}

/* ------------------------------------------------------------ directives */

static void complain_here(struct conf_lines *lines, const char *text)
{
    conf_lines_complain(lines, current(lines)->line, NULL, text);
}

static bool judge(struct conf_lines *lines, const char *text)
{
    struct conf *conf = lines->conf;
    bool value;
    struct err err;
    if (conf_if_eval(conf->arena, text, &conf->clock, &value, &err) != 0) {
        complain_here(lines, arena_printf(conf->arena, "#if: %s", err.text));
        return false;
    }
    struct conf_condition *condition = arena_alloc(conf->arena, 1, sizeof(*condition));
    *condition = (struct conf_condition){text, value, conf->conditions};
    conf->conditions = condition;
    return value;
}

static void begin_if(struct conf_lines *lines, const char *text)
{
    if (lines->n_ifs == CONF_LINES_IFS) {
        complain_here(lines, "#if is nested too deeply, expected at most 32");
        return;
    }
    struct conf_lines_if *open = &lines->ifs[lines->n_ifs++];
    *open = (struct conf_lines_if){.line = current(lines)->line,
                                   .is_outer = !lines->is_skipped};
    open->is_taken = judge(lines, text);
    lines->is_skipped = !open->is_outer || !open->is_taken;
}

/* #elif with its condition, or #else, whose condition is NULL. */
static void go_on(struct conf_lines *lines, const char *text)
{
    if (lines->n_ifs == current(lines)->n_ifs) {
        complain_here(lines, "#else or #elif without #if");
        return;
    }
    struct conf_lines_if *open = &lines->ifs[lines->n_ifs - 1];
    if (open->has_else) {
        complain_here(lines, "#else or #elif behind #else, expected #endif");
        return;
    }
    bool value = text == NULL || judge(lines, text);
    open->has_else = text == NULL;
    lines->is_skipped = !open->is_outer || open->is_taken || !value;
    open->is_taken = open->is_taken || value;
}

static void end_if(struct conf_lines *lines)
{
    if (lines->n_ifs == current(lines)->n_ifs) {
        complain_here(lines, "#endif without #if");
        return;
    }
    lines->is_skipped = !lines->ifs[--lines->n_ifs].is_outer;
}

/* A name that does not begin with / is looked for beside the file that includes it. */
static const char *path_of(const struct conf_lines *lines, const char *name)
{
    const char *slash = strrchr(lines->files[lines->n_files - 1].name, '/');
    const char *file = lines->files[lines->n_files - 1].name;
    return name[0] == '/' || slash == NULL
               ? name
               : arena_printf(lines->conf->arena, "%.*s%s", (int)(slash + 1 - file),
                              file, name);
}

static void include(struct conf_lines *lines, const char *name)
{
    struct conf *conf = lines->conf;
    struct err err = {.text = "files are not included here"};
    const char *path = path_of(lines, name);
    size_t length = 0;
    bool is_open = false;
    for (int i = 0; i < lines->n_files; i++) {
        is_open = is_open || strcmp(lines->files[i].name, path) == 0;
    }
    if (is_open || lines->n_files == CONF_LINES_FILES ||
        lines->n_includes == CONF_LINES_INCLUDES) {
        complain_here(lines, is_open ? "#INCLUDE of a file that is being read"
                                     : "too many #INCLUDE, expected at most 8 within "
                                       "one another, and 256 in all");
        return;
    }
    lines->n_includes++;
    const char *text =
        conf->include != NULL ? conf->include(conf, path, &length, &err) : NULL;
    if (text == NULL) {
        complain_here(lines,
                      arena_printf(conf->arena, "#INCLUDE \"%s\": %s", name, err.text));
        return;
    }
    open_text(lines, path, text, length);
}

/* The rest of a line that begins with the word, or NULL. */
static const char *behind(const char *line, const char *word)
{
    size_t length = strlen(word);
    if (strncasecmp(line, word, length) != 0 ||
        (line[length] != '\0' && !conf_lines_is_blank(line[length]))) {
        return NULL;
    }
    line += length;
    return line + strspn(line, " \t");
}

/* True if the line is a directive, which is carried out. Any other line that begins
 * with # is a comment, `#if` without a condition of LSF's among them. */
static bool carry_out(struct conf_lines *lines, const char *part, size_t length)
{
    size_t blanks = 0;
    while (blanks < length && conf_lines_is_blank(part[blanks])) {
        blanks++;
    }
    if (blanks == length || part[blanks] != '#') {
        return false;
    }
    const char *line = arena_strn(lines->conf->arena, part + blanks, length - blanks);
    const char *rest;
    if ((rest = behind(line, "#if")) != NULL && strstr(rest, "time(") != NULL) {
        begin_if(lines, rest);
    } else if ((rest = behind(line, "#elif")) != NULL) {
        go_on(lines, rest);
    } else if (behind(line, "#else") != NULL) {
        go_on(lines, NULL);
    } else if (behind(line, "#endif") != NULL) {
        end_if(lines);
    } else if ((rest = behind(line, "#INCLUDE")) != NULL && !lines->is_skipped) {
        struct conf_words words = conf_words(lines->conf->arena, rest);
        if (words.count == 1) {
            include(lines, words.words[0]);
        } else {
            complain_here(lines, "malformed #INCLUDE, expected #INCLUDE \"PATH\"");
        }
    } else {
        return false;
    }
    return true;
}

/* Ends the file that is being read; false if there is none that includes it. */
static bool close_text(struct conf_lines *lines)
{
    struct conf_lines_file *file = current(lines);
    while (lines->n_ifs > file->n_ifs) {
        const struct conf_lines_if *open = &lines->ifs[--lines->n_ifs];
        conf_lines_complain(lines, open->line, NULL,
                            "#if is not ended, expected #endif");
        lines->is_skipped = !open->is_outer;
    }
    if (lines->n_files == 1) {
        return false;
    }
    lines->file = lines->files[--lines->n_files - 1].name;
    return true;
}

/* The first physical line of the next logical one. */
static bool first_line(struct conf_lines *lines, const char **part, size_t *length)
{
    for (;;) {
        if (!physical_line(lines, part, length)) {
            if (!close_text(lines)) {
                return false;
            }
        } else if (!carry_out(lines, *part, *length) && !lines->is_skipped) {
            return true;
        }
    }
}

/* Adds to the logical line, which has so many bytes. */
static void append(struct conf_lines *lines, size_t used, const char *part,
                   size_t length)
{
    if (used + length >= lines->n_bytes) { /* with its NUL */
        char *before = lines->text;
        lines->n_bytes = 2 * (used + length) + 1;
        lines->text = arena_alloc(lines->conf->arena, lines->n_bytes, 1);
        memcpy(lines->text, before, used);
    }
    memcpy(lines->text + used, part, length);
}

bool conf_lines_next(struct conf_lines *lines)
{
    const char *part;
    size_t length;
    size_t used = 0;
    bool quoted = false;
    bool more = true, too_long = false;
    for (bool first = true; more; first = false) {
        if (first && !first_line(lines, &part, &length)) {
            return false;
        }
        if (first) {
            lines->text_line = current(lines)->line;
        } else if (!physical_line(lines, &part, &length)) {
            complain_here(lines,
                          "\\ at the end of the file, expected a continuation line");
            break;
        }
        size_t kept = without_comment(part, length, &quoted);
        more = kept == length && kept > 0 && part[kept - 1] == '\\';
        kept -= more;
        if (kept > LINE_MAX_BYTES - used) {
            too_long = true;
            kept = LINE_MAX_BYTES - used;
        }
        append(lines, used, part, kept);
        used += kept;
    }
    finish(lines, used, too_long, quoted);
    return true;
}
