/* SPDX-License-Identifier: Apache-2.0 */
/* conf_if.c: see conf_if.h. A parser by recursive descent that computes the value. */
#include "base/conf/conf_if.h"

#include <string.h>

#include "base/window.h"

enum { DEPTH_MAX = 32 };

struct parser {
    struct arena *arena;
    const struct conf_clock *clock;
    const char *at;
    int depth;
    struct err *err;
    bool is_bad;
};

static bool either(struct parser *parser);

static bool fail(struct parser *parser, const char *what)
{
    if (!parser->is_bad) {
        parser->is_bad = true;
        err_set(parser->err, ERR_PARSE, "%s, expected a condition as time(20:00-8:30)",
                what);
    }
    return false;
}

/* True if the text goes on with that word, which is skipped. */
static bool skip(struct parser *parser, const char *word)
{
    size_t length = strlen(word);
    parser->at += strspn(parser->at, " \t");
    if (strncmp(parser->at, word, length) != 0) {
        return false;
    }
    parser->at += length;
    return true;
}

/* `time(` has been read. */
static bool is_in_windows(struct parser *parser)
{
    size_t length = strcspn(parser->at, ")");
    if (parser->at[length] == '\0') {
        return fail(parser, "no ) behind time(");
    }
    struct conf_words words =
        conf_words(parser->arena, arena_strn(parser->arena, parser->at, length));
    parser->at += length + 1;
    bool is_utc =
        words.count > 0 && (strcmp(words.words[words.count - 1], "UTC") == 0 ||
                            strcmp(words.words[words.count - 1], "GMT") == 0);
    const char *text = "";
    for (int i = 0; i < words.count - is_utc; i++) {
        text = arena_printf(parser->arena, "%s %s", text, words.words[i]);
    }
    struct window_list list;
    if (window_read(parser->arena, text, &list, parser->err) < 0) {
        parser->is_bad = true;
        return false;
    }
    int64_t offset = is_utc ? parser->clock->utc_offset_ms : 0;
    return window_is_open(&list, parser->clock->local_ms - offset);
}

static bool one(struct parser *parser)
{
    if (++parser->depth > DEPTH_MAX) {
        return fail(parser, "nested too deeply");
    }
    bool value = false;
    if (skip(parser, "!")) {
        value = !one(parser);
    } else if (skip(parser, "(")) {
        value = either(parser);
        if (!skip(parser, ")")) {
            fail(parser, "( is not closed");
        }
    } else if (skip(parser, "time(")) {
        value = is_in_windows(parser);
    } else {
        fail(parser, "not a condition");
    }
    parser->depth--;
    return value && !parser->is_bad;
}

static bool both(struct parser *parser)
{
    bool value = one(parser);
    while (!parser->is_bad && skip(parser, "&&")) {
        bool other = one(parser);
        value = value && other;
    }
    return value;
}

static bool either(struct parser *parser)
{
    bool value = both(parser);
    while (!parser->is_bad && skip(parser, "||")) {
        bool other = both(parser);
        value = value || other;
    }
    return value;
}

int conf_if_eval(struct arena *arena, const char *text, const struct conf_clock *clock,
                 bool *value, struct err *err)
{
    struct parser parser = {.arena = arena, .clock = clock, .at = text, .err = err};
    bool is_true = either(&parser);
    parser.at += strspn(parser.at, " \t");
    if (*parser.at != '\0') {
        fail(&parser, "text behind the condition");
    }
    *value = is_true && !parser.is_bad;
    return parser.is_bad ? ERR_PARSE : 0;
}

bool conf_if_has_changed(const struct conf *conf, const struct conf_clock *clock)
{
    struct arena arena;
    bool has_changed = false;
    arena_init(&arena);
    for (const struct conf_condition *condition = conf->conditions;
         condition != NULL && !has_changed; condition = condition->next) {
        bool value;
        struct err err;
        has_changed = conf_if_eval(&arena, condition->text, clock, &value, &err) == 0 &&
                      value != condition->value;
    }
    arena_release(&arena);
    return has_changed;
}
