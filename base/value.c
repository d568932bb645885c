/* SPDX-License-Identifier: Apache-2.0 */
/* value.c: see value.h. */
#include "base/value.h"

#include <stdio.h>
#include <string.h>

enum { INSTANT_SIZE = 32 };

static struct value *value_new(struct arena *arena, enum value_kind kind)
{
    struct value *value = arena_alloc(arena, 1, sizeof(*value));
    value->kind = kind;
    return value;
}

struct value *value_object(struct arena *arena)
{
    return value_new(arena, VALUE_OBJECT);
}

struct value *value_array(struct arena *arena)
{
    return value_new(arena, VALUE_ARRAY);
}

struct value *value_add(struct arena *arena, struct value *parent, const char *key,
                        struct value *child)
{
    (void)arena;
    child->key = key;
    child->next = NULL;
    if (parent->last != NULL) {
        parent->last->next = child;
    } else {
        parent->first = child;
    }
    parent->last = child;
    parent->count++;
    return child;
}

struct value *value_add_null(struct arena *arena, struct value *parent, const char *key)
{
    return value_add(arena, parent, key, value_new(arena, VALUE_NULL));
}

struct value *value_add_bool(struct arena *arena, struct value *parent, const char *key,
                             bool flag)
{
    struct value *value = value_add(arena, parent, key, value_new(arena, VALUE_BOOL));
    value->flag = flag;
    return value;
}

struct value *value_add_int(struct arena *arena, struct value *parent, const char *key,
                            int64_t number)
{
    struct value *value = value_add(arena, parent, key, value_new(arena, VALUE_INT));
    value->number = number;
    return value;
}

struct value *value_add_known(struct arena *arena, struct value *parent,
                              const char *key, bool is_known, int64_t number)
{
    return is_known ? value_add_int(arena, parent, key, number)
                    : value_add_null(arena, parent, key);
}

struct value *value_add_real(struct arena *arena, struct value *parent, const char *key,
                             double real)
{
    struct value *value = value_add(arena, parent, key, value_new(arena, VALUE_REAL));
    value->real = real;
    return value;
}

struct value *value_add_text(struct arena *arena, struct value *parent, const char *key,
                             const char *text)
{
    if (text == NULL) {
        return value_add_null(arena, parent, key);
    }
    struct value *value = value_add(arena, parent, key, value_new(arena, VALUE_TEXT));
    value->text = arena_str(arena, text);
    return value;
}

struct value *value_add_nonempty(struct arena *arena, struct value *parent,
                                 const char *key, const char *text)
{
    return value_add_text(arena, parent, key, text[0] != '\0' ? text : NULL);
}

struct value *value_add_instant(struct arena *arena, struct value *parent,
                                const char *key, int64_t at_ms)
{
    if (at_ms == 0) {
        return value_add_null(arena, parent, key);
    }
    char text[INSTANT_SIZE];
    value_format_instant(at_ms, text);
    return value_add_text(arena, parent, key, text);
}

struct value *value_add_duration(struct arena *arena, struct value *parent,
                                 const char *key, int64_t duration_ms)
{
    if (duration_ms < 0) {
        return value_add_null(arena, parent, key);
    }
    if (duration_ms % 1000 == 0) {
        return value_add_int(arena, parent, key, duration_ms / 1000);
    }
    return value_add_real(arena, parent, key, (double)duration_ms / 1000);
}

static const struct value *member(const struct value *object, const char *key,
                                  size_t length)
{
    if (object->kind != VALUE_OBJECT) {
        return NULL;
    }
    for (const struct value *child = object->first; child != NULL;
         child = child->next) {
        if (strlen(child->key) == length && memcmp(child->key, key, length) == 0) {
            return child;
        }
    }
    return NULL;
}

const struct value *value_find(const struct value *root, const char *path)
{
    while (root != NULL) {
        size_t length = strcspn(path, ".");
        root = member(root, path, length);
        if (path[length] == '\0') {
            break;
        }
        path += length + 1;
    }
    return root;
}

enum {
    NUMBER_BYTES = 24,
    ESCAPED_BYTES = 6, /* \u0001 */
};

/* The size of the text in quotes; stops counting beyond `max`. */
static int64_t text_bytes(const char *text, int64_t max)
{
    int64_t n_bytes = 2;
    for (const char *at = text; *at != '\0' && n_bytes <= max; at++) {
        unsigned char c = (unsigned char)*at;
        n_bytes += c < 0x20 || c == '"' || c == '\\' || c == 0x7f ? ESCAPED_BYTES : 1;
    }
    return n_bytes;
}

int64_t value_json_bytes(const struct value *value)
{
    int64_t n_bytes = NUMBER_BYTES;
    if (value->key != NULL) {
        n_bytes += text_bytes(value->key, INT64_MAX);
    }
    if (value->text != NULL) {
        n_bytes += text_bytes(value->text, INT64_MAX);
    }
    for (const struct value *at = value->first; at != NULL; at = at->next) {
        n_bytes += value_json_bytes(at);
    }
    return n_bytes;
}

const char *value_cut_text(struct arena *arena, const char *text, int64_t n_bytes)
{
    if (text_bytes(text, n_bytes) <= n_bytes) {
        return text;
    }
    size_t length = strnlen(text, (size_t)(n_bytes / ESCAPED_BYTES));
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
        length--; /* not in the middle of a character */
    }
    return arena_printf(arena, "%.*s...", (int)length, text);
}

struct date {
    int64_t year;
    int month, day;
};

/* Civil date of a day since 1970-01-01. Counts in years that begin in March, so that
 * the leap day is the last of its year, and in eras of 400 years (146,097 days). */
static struct date date_of_day(int64_t day)
{
    day += 719468; /* days from 0000-03-01 */
    int64_t era = (day >= 0 ? day : day - 146096) / 146097;
    int64_t of_era = day - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153; /* 0 = March */
    struct date date;
    date.day = (int)(of_year - (153 * month + 2) / 5 + 1);
    date.month = (int)(month < 10 ? month + 3 : month - 9);
    date.year = year + era * 400 + (date.month <= 2);
    return date;
}

int value_day_of_month(int64_t at_ms)
{
    const int64_t day_ms = 86400000;
    return date_of_day(at_ms / day_ms - (at_ms % day_ms < 0)).day;
}

void value_format_instant(int64_t at_ms, char *text)
{
    const int64_t day_ms = 86400000;
    int64_t day = at_ms / day_ms;
    int64_t rest = at_ms % day_ms;
    if (rest < 0) {
        rest += day_ms;
        day--;
    }
    struct date date = date_of_day(day);
    snprintf(text, INSTANT_SIZE, "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ",
             (long long)date.year, date.month, date.day, (int)(rest / 3600000),
             (int)(rest / 60000 % 60), (int)(rest / 1000 % 60), (int)(rest % 1000));
}
