/* SPDX-License-Identifier: Apache-2.0 */
/* codec_check.c: see codec_check.h. */
#include "proto/codec_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"

int codec_check_refuse(const struct field *field, int64_t value, struct err *err)
{
    if (field->kind == FIELD_UINT64) {
        return err_set(err, ERR_BOUNDS, "%" PRIu64 ", expected at most %" PRId64,
                       (uint64_t)value, field->max);
    }
    return err_set(err, ERR_BOUNDS, "%" PRId64 ", expected %" PRId64 " to %" PRId64,
                   value, field->min, field->max);
}

static int check_size(const char *of, size_t size, int64_t min, int64_t max,
                      struct err *err)
{
    if (size < (uint64_t)min || size > (uint64_t)max) {
        return err_set(err, ERR_BOUNDS, "%zu %s, expected %" PRId64 " to %" PRId64,
                       size, of, min, max);
    }
    return ERR_NONE;
}

int codec_check_count(const struct field *field, size_t count, struct err *err)
{
    return check_size(field->kind == FIELD_BYTES ? "bytes" : "members", count,
                      field->min, field->max, err);
}

int codec_check_total(const struct field *field, size_t total, struct err *err)
{
    return check_size("bytes in all", total, 0, field->total_max, err);
}

/* The length of the UTF-8 character that begins at `text`, of `length` bytes; 0 if it
 * is invalid: overlong forms, surrogates and code points above U+10FFFF. */
static size_t character_length(const unsigned char *text, size_t length)
{
    unsigned char lead = text[0];
    size_t size = lead < 0x80   ? 1
                  : lead < 0xc2 ? 0
                  : lead < 0xe0 ? 2
                  : lead < 0xf0 ? 3
                                : 4;
    if (size == 0 || size > length || lead > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] > 0x9f) ||
        (lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] > 0x8f)) {
        return 0;
    }
    return size;
}

/* Of U+0000 to U+001F, U+007F, and U+0080 to U+009F, which also control terminals. */
static bool is_control(const unsigned char *character, size_t size)
{
    return character[0] < 0x20 || character[0] == 0x7f ||
           (size == 2 && character[0] == 0xc2 && character[1] < 0xa0);
}

static int check_utf8(const char *text, size_t length, bool is_line, struct err *err)
{
    const unsigned char *at = (const unsigned char *)text;
    while (length > 0) {
        size_t size = character_length(at, length);
        if (size == 0) {
            return err_set(err, ERR_PARSE, "not UTF-8");
        }
        if (is_line && is_control(at, size)) {
            return err_set(err, ERR_PARSE, "a control character in it");
        }
        at += size;
        length -= size;
    }
    return ERR_NONE;
}

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_in_charset(enum field_charset charset, char c)
{
    if (charset == CHARSET_JOB) {
        return (c >= '0' && c <= '9') || (c != '\0' && strchr("[]-,:", c) != NULL);
    }
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '-' ||
           (charset >= CHARSET_HOST && c == '@') ||
           (charset >= CHARSET_LEASE && (c == '/' || c == ':'));
}

static int check_charset(enum field_charset charset, const char *text, size_t length,
                         struct err *err)
{
    static const char *const expected[] = {
        [CHARSET_NAME] = "letters, digits, '.', '_', '-'",
        [CHARSET_HOST] = "letters, digits, '.', '_', '-', '@'",
        [CHARSET_LEASE] = "letters, digits, '.', '_', '-', '@', '/', ':'",
        [CHARSET_JOB] = "a job's id",
    };
    if (charset == CHARSET_JOB && length > 0 && (text[0] < '0' || text[0] > '9')) {
        return err_set(err, ERR_PARSE, "no number in front, expected %s",
                       expected[charset]);
    }
    for (size_t i = 0; i < length; i++) {
        if (!is_in_charset(charset, text[i])) {
            return err_set(err, ERR_PARSE, "byte 0x%02x in it, expected %s",
                           (unsigned)(unsigned char)text[i], expected[charset]);
        }
    }
    return ERR_NONE;
}

static int check_env(const char *text, size_t length, struct err *err)
{
    const char *equals = memchr(text, '=', length);
    if (equals == NULL || equals == text) {
        return err_set(err, ERR_PARSE,
                       "a variable without a name, expected NAME=value");
    }
    return ERR_NONE;
}

int codec_check_text(const struct field *field, const char *text, size_t length,
                     struct err *err)
{
    bool is_list = field->kind == FIELD_TEXTS;
    int status = check_size("bytes", length, is_list ? field->text_min : field->min,
                            is_list ? field->text_max : field->max, err);
    if (status != ERR_NONE || length == 0) {
        return status;
    }
    if (memchr(text, '\0', length) != NULL) {
        return err_set(err, ERR_PARSE, "a NUL in it");
    }
    switch (field->charset) {
    case CHARSET_NAME:
    case CHARSET_HOST:
    case CHARSET_LEASE:
    case CHARSET_JOB:
        return check_charset(field->charset, text, length, err);
    case CHARSET_LINE:
    case CHARSET_TALK:
        return check_utf8(text, length, true, err);
    case CHARSET_FREE:
        return check_utf8(text, length, false, err);
    case CHARSET_ENV:
        return check_env(text, length, err);
    }
    return err_set(err, ERR_PARSE, "unknown kind of text");
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *host_of(const void *parts, int at, size_t size)
{
    const char *host;
    memcpy(&host, (const char *)parts + (size_t)at * size, sizeof(host));
    return host;
}

/* As most lists are. */
static bool is_ascending(const void *parts, int count, size_t size)
{
    int i = 1;
    while (i < count &&
           strcmp(host_of(parts, i - 1, size), host_of(parts, i, size)) < 0) {
        i++;
    }
    return i >= count;
}

int codec_check_hosts(const void *parts, int count, size_t size, struct err *err)
{
    if (is_ascending(parts, count, size)) {
        return ERR_NONE;
    }
    const char **names = mem_alloc((size_t)count, sizeof(*names));
    for (int i = 0; i < count; i++) {
        names[i] = host_of(parts, i, size);
    }
    qsort(names, (size_t)count, sizeof(*names), compare_texts);
    int status = ERR_NONE;
    for (int i = 1; i < count && status == ERR_NONE; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) {
            status = err_set(err, ERR_PARSE, "host \"%s\" twice", names[i]);
        }
    }
    free(names);
    return status;
}

const char *codec_check_talk(struct arena *arena, const char *text, size_t max)
{
    size_t length = strlen(text);
    if (length <= max && check_utf8(text, length, true, NULL) == ERR_NONE) {
        return text;
    }
    char *copy = arena_strn(arena, text, length);
    unsigned char *bytes = (unsigned char *)copy;
    size_t at = 0;
    while (at < length) {
        size_t size = character_length(bytes + at, length - at);
        bool is_bad = size == 0 || is_control(bytes + at, size);
        size = size == 0 ? 1 : size;
        if (at + size > max) {
            break;
        }
        if (is_bad) {
            bool is_space = copy[at] == '\n' || copy[at] == '\t' || copy[at] == '\r';
            memset(copy + at, is_space ? ' ' : '?', size);
        }
        at += size;
    }
    copy[at] = '\0';
    return copy;
}

int codec_check_header(uint64_t session, const char *site, size_t length,
                       struct err *err)
{
    static const struct field session_field = {
        .name = "session", .kind = FIELD_UINT64, .max = INT64_MAX};
    static const struct field site_field = {.name = "site",
                                            .kind = FIELD_TEXT,
                                            .charset = CHARSET_NAME,
                                            .max = NAME_SIZE - 1};
    if (codec_check_number(&session_field, (int64_t)session, err) < 0) {
        return err_prefix(err, "session");
    }
    if (codec_check_text(&site_field, site, length, err) < 0) {
        return err_prefix(err, "site");
    }
    return ERR_NONE;
}
