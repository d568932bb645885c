/* SPDX-License-Identifier: Apache-2.0 */
/* conf_lines.c: see conf_lines.h. */
#include "base/conf_lines.h"

#include <string.h>

enum { LINE_MAX_BYTES = 65536 }; /* of a logical line; a job's command line fits */

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

void conf_lines_init(struct conf_lines *lines, struct conf *conf, const char *file,
                     const char *text, size_t length)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    bool has_mark = length >= 3 && memcmp(text, byte_order_mark, 3) == 0;
    /* */
    size_t room = length < LINE_MAX_BYTES ? length : LINE_MAX_BYTES;
    *lines = (struct conf_lines){
        .conf = conf,
        .file = arena_str(conf->arena, file),
        .at = text + (has_mark ? 3 : 0),
        .end = text + length,
        .text = arena_alloc(conf->arena, room + 1, 1),
    };
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
    if (lines->at == lines->end) {
        return false;
    }
    const char *start = lines->at;
    const char *newline = memchr(start, '\n', (size_t)(lines->end - start));
    const char *stop = newline != NULL ? newline : lines->end;
    lines->at = newline != NULL ? newline + 1 : lines->end;
    lines->line++;
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

bool conf_lines_next(struct conf_lines *lines)
{
    const char *part;
    size_t length;
    size_t used = 0;
    bool quoted = false;
    bool more = true, too_long = false;
    lines->text_line = lines->line + 1;
    for (bool first = true; more; first = false) {
        if (!physical_line(lines, &part, &length)) {
            if (first) {
                return false;
            }
            conf_lines_complain(
                lines, lines->line, NULL,
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
        memcpy(lines->text + used, part, kept);
        used += kept;
    }
    finish(lines, used, too_long, quoted);
    return true;
}
