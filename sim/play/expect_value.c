/* SPDX-License-Identifier: Apache-2.0 */
/* expect_value.c: see expect_value.h. */
#include "sim/play/expect_value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/scenario.h"

/* ---- finding */

static bool is_text(const struct value *value, const char *text, size_t length)
{
    return value && value->kind == VALUE_TEXT && strlen(value->text) == length &&
           !memcmp(value->text, text, length);
}

static const struct value *member(const struct value *root, const char *key,
                                  size_t length)
{
    int index = 0;

    for (const struct value *at = root->first; at; at = at->next, index++) {
        bool is_it = root->kind == VALUE_OBJECT
                         ? strlen(at->key) == length && !memcmp(at->key, key, length)
                         : is_text(at->first, key, length) ||
                               (strspn(key, "0123456789") == length && length < 9 &&
                                (int)strtol(key, NULL, 10) == index);
        if (is_it) {
            return at;
        }
    }
    return NULL;
}

const struct value *expect_value_find(const struct value *root, const char *path)
{
    for (size_t length = strlen(path); root && length > 0; length--) {
        const struct value *found;

        /* try the longest key first */
        if (path[length] && path[length] != '.') {
            continue;
        }
        found = member(root, path, length);
        if (found && path[length]) {
            found = expect_value_find(found, path + length + 1);
        }
        if (found) {
            return found;
        }
    }
    return NULL;
}

/* ---- comparing */

/* `order` is -1, 0 or 1. */
static bool is_met(const char *op, int order)
{
    if (!strcmp(op, "==")) {
        return order == 0;
    }
    if (!strcmp(op, "!=")) {
        return order != 0;
    }
    if (op[0] == '<') {
        return order < 0 || (op[1] == '=' && order == 0);
    }
    return order > 0 || (op[1] == '=' && order == 0);
}

static bool is_number(const char *text, double *number)
{
    char *end;

    if (!strchr("0123456789-+.", text[0]) || !text[0]) {
        return false;
    }
    *number = strtod(text, &end);
    return !*end;
}

/* A number, or a time in seconds: "10m". */
static bool parse_number(const struct expect_wish *wish, double *number)
{
    int64_t ms;

    if (wish->is_quoted || is_number(wish->text, number)) {
        return !wish->is_quoted;
    }
    if (scenario_line_duration(wish->text, 1000, &ms, NULL)) {
        return false;
    }
    *number = (double)ms / 1000;
    return true;
}

/* The number in `count` digits at `text`; -1 if there are none. */
static int64_t digits(const char *text, int count)
{
    int64_t number = 0;

    for (int i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return -1;
        }
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

/* "1970-01-01T12:10:00.000Z" in seconds since the epoch. */
static bool parse_instant(const char *text, int64_t epoch_ms, double *seconds)
{
    char day[32], from[32];
    int64_t ms = epoch_ms - epoch_ms % 86400000;

    if (strlen(text) != 24 || text[10] != 'T' || text[23] != 'Z') {
        return false;
    }
    /* counts days one by one, since simulations last only months */
    value_format_instant(epoch_ms, from);
    memcpy(day, text, 10);
    while (memcmp(from, day, 10) < 0) {
        ms += 86400000;
        value_format_instant(ms, from);
    }
    ms += (digits(text + 11, 2) * 3600 + digits(text + 14, 2) * 60 +
           digits(text + 17, 2)) *
              1000 +
          digits(text + 20, 3);
    *seconds = (double)(ms - epoch_ms) / 1000;
    return memcmp(from, day, 10) == 0;
}

static bool holds_number(double found, const struct expect_wish *wish)
{
    double wanted;

    if (!parse_number(wish, &wanted)) {
        return !strcmp(wish->op, "!=");
    }
    /* durations are whole milliseconds, written as seconds */
    double apart = found - wanted;
    int order = apart > 1e-9 ? 1 : apart < -1e-9 ? -1 : 0;
    return is_met(wish->op, order);
}

static bool holds_text(const char *found, const struct expect_wish *wish)
{
    double seconds, wanted;

    if (parse_number(wish, &wanted) && parse_instant(found, wish->epoch_ms, &seconds)) {
        return holds_number(seconds, wish);
    }
    if (!wish->is_quoted && !strcmp(wish->text, "null")) {
        return !strcmp(wish->op, "!=");
    }
    return is_met(wish->op, strcmp(found, wish->text));
}

/* Words that are not texts: null, true, false. */
static bool holds_word(const char *found, const struct expect_wish *wish)
{
    bool is_equal = !wish->is_quoted && !strcmp(found, wish->text);

    return (!strcmp(wish->op, "==") && is_equal) ||
           (!strcmp(wish->op, "!=") && !is_equal);
}

bool expect_value_holds(const struct value *found, const struct expect_wish *wish)
{
    struct arena arena;
    bool holds;

    switch (found->kind) {
    case VALUE_NULL:
        return holds_word("null", wish);
    case VALUE_BOOL:
        return holds_word(found->flag ? "true" : "false", wish);
    case VALUE_INT:
        return holds_number((double)found->number, wish);
    case VALUE_REAL:
        return holds_number(found->real, wish);
    case VALUE_TEXT:
        return holds_text(found->text, wish);
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        break;
    }
    arena_init(&arena);
    holds = holds_word(expect_value_show(&arena, found, wish->epoch_ms), wish);
    arena_release(&arena);
    return holds;
}

/* ---- showing */

static const char *show(struct arena *arena, const struct value *value)
{
    const char *text = "";

    switch (value->kind) {
    case VALUE_NULL:
        return "null";
    case VALUE_BOOL:
        return value->flag ? "true" : "false";
    case VALUE_INT:
        return arena_printf(arena, "%" PRId64, value->number);
    case VALUE_REAL:
        return arena_printf(arena, "%.10g", value->real);
    case VALUE_TEXT:
        return arena_printf(arena, "\"%s\"", value->text);
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        break;
    }
    for (const struct value *at = value->first; at; at = at->next) {
        const char *key = at->key ? arena_printf(arena, "\"%s\":", at->key) : "";

        text = arena_printf(arena, "%s%s%s%s", text, at == value->first ? "" : ",", key,
                            show(arena, at));
    }
    return value->kind == VALUE_ARRAY ? arena_printf(arena, "[%s]", text)
                                      : arena_printf(arena, "{%s}", text);
}

const char *expect_value_show(struct arena *arena, const struct value *value,
                              int64_t epoch_ms)
{
    double seconds;

    if (value->kind == VALUE_TEXT && parse_instant(value->text, epoch_ms, &seconds)) {
        return arena_printf(arena, "\"%s\" (%.10g s)", value->text, seconds);
    }
    return show(arena, value);
}
