/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_line.c: see scenario.h. */
#include "sim/scenario/scenario.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* ---- words */

struct cursor {
    const char *at, *end;
};

/* Reads from a quote to the next one, without both. */
static const char *take_quoted(struct arena *arena, struct cursor *cursor)
{
    char quote = *cursor->at++;
    size_t left = (size_t)(cursor->end - cursor->at);
    const char *close = memchr(cursor->at, quote, left);
    const char *text;

    if (!close) {
        return NULL;
    }
    text = arena_strn(arena, cursor->at, (size_t)(close - cursor->at));
    cursor->at = close + 1;
    return text;
}

static bool is_quote(const struct cursor *cursor)
{
    return cursor->at < cursor->end && (*cursor->at == '"' || *cursor->at == '\'');
}

static int take_word(struct arena *arena, struct cursor *cursor,
                     struct scenario_word *word, struct err *err)
{
    const char *begin = cursor->at;

    *word = (struct scenario_word){.is_quoted = is_quote(cursor)};
    if (word->is_quoted) {
        word->text = take_quoted(arena, cursor);
    } else {
        while (cursor->at < cursor->end && !is_blank(*cursor->at) &&
               *cursor->at != '=') {
            cursor->at++;
        }
        cursor->at += cursor->at < cursor->end && *cursor->at == '=';
        if (is_quote(cursor) && cursor->at > begin && cursor->at[-1] == '=') {
            const char *key = arena_strn(arena, begin, (size_t)(cursor->at - begin));
            const char *value = take_quoted(arena, cursor);

            word->text = value ? arena_printf(arena, "%s%s", key, value) : NULL;
        } else {
            while (cursor->at < cursor->end && !is_blank(*cursor->at)) {
                cursor->at++;
            }
            word->text = arena_strn(arena, begin, (size_t)(cursor->at - begin));
        }
    }
    if (!word->text) {
        return err_set(err, ERR_PARSE, "a quote is not closed, expected a second one");
    }
    return 0;
}

int scenario_line_split(struct arena *arena, const char *text, size_t length,
                        struct scenario_line *line, struct err *err)
{
    struct cursor cursor = {text, text + length};
    const char *begin = NULL, *end = text;

    line->n_words = 0;
    line->text = "";
    if (memchr(text, '\0', length)) {
        return err_set(err, ERR_PARSE, "a NUL byte, expected text");
    }
    for (;;) {
        while (cursor.at < cursor.end && is_blank(*cursor.at)) {
            cursor.at++;
        }
        if (cursor.at == cursor.end || *cursor.at == '#') {
            break;
        }
        if (line->n_words == SCENARIO_WORDS_MAX) {
            return err_set(err, ERR_BOUNDS, "too many words, expected at most %d",
                           SCENARIO_WORDS_MAX);
        }
        begin = begin ? begin : cursor.at;
        int code = take_word(arena, &cursor, &line->words[line->n_words], err);
        if (code) {
            return code;
        }
        line->n_words++;
        end = cursor.at;
    }
    if (begin) {
        line->text = arena_strn(arena, begin, (size_t)(end - begin));
    }
    return 0;
}

/* ---- values */

/* Reads a decimal number, times `one`. `*rest` is the text after it. False if there is
 * no digit, or the number is too large. */
static bool read_decimal(const char *word, int64_t one, int64_t *out, const char **rest)
{
    int64_t number = 0, fraction = 0, unit = one;
    const char *at = word;

    if (*at < '0' || *at > '9') {
        return false;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *at - '0', &number)) {
            return false;
        }
    }
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++) {
            unit /= 10;
            fraction += unit * (*at - '0');
        }
    }
    *rest = at;
    return !__builtin_mul_overflow(number, one, &number) &&
           !__builtin_add_overflow(number, fraction, out);
}

int scenario_line_duration(const char *word, int64_t unit_ms, int64_t *ms,
                           struct err *err)
{
    static const struct {
        char suffix;
        int64_t unit_ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}};
    const char *rest = "?";
    int64_t number;

    if (read_decimal(word, unit_ms, &number, &rest) && !*rest) {
        *ms = number;
        return 0;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (*rest == units[i].suffix && !rest[1] &&
            read_decimal(word, units[i].unit_ms, &number, &rest)) {
            *ms = number;
            return 0;
        }
    }
    return err_set(
        err, ERR_PARSE,
        "\"%.40s\" is not a time, expected a number of %s, or one with a suffix "
        "s m h d",
        word, unit_ms == 60000 ? "minutes" : "seconds");
}

int scenario_line_chance(const char *word, int *in_10000, struct err *err)
{
    const char *rest = "?";
    int64_t number;
    bool is_read = read_decimal(word, 10000, &number, &rest);

    if (is_read && rest[0] == '%' && !rest[1]) {
        number /= 100;
    } else if (!is_read || *rest) {
        number = -1;
    }
    if (number < 0 || number > 10000) {
        return err_set(err, ERR_PARSE,
                       "\"%.40s\" is not a probability, expected one from 0 to 1, or a "
                       "percentage as 10%%",
                       word);
    }
    *in_10000 = (int)number;
    return 0;
}

int scenario_line_decimal(const char *word, int64_t one, int64_t *out, struct err *err)
{
    const char *rest;

    if (!read_decimal(word, one, out, &rest) || *rest) {
        return err_set(err, ERR_PARSE, "\"%.40s\" is not a number, expected one as 0.5",
                       word);
    }
    return 0;
}
