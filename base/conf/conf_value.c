/* SPDX-License-Identifier: Apache-2.0 */
/* conf_value.c: see conf_value.h. */
#include "base/conf/conf_value.h"

#include <string.h>
#include <strings.h>

#include "base/conf/conf_keys.h"

static const char *text_outside(const struct conf *conf, const char *key)
{
    struct conf_place outside = {0};
    const char *text = NULL;
    bool is_known = conf_keys_among(conf->keys_outside, key) != NULL;
    while (is_known && text == NULL && conf_next_row(conf, "", &outside)) {
        text = conf_text(outside.row, key, NULL);
    }
    return text;
}

struct conf_place conf_value_last(const struct conf *conf, const char *name,
                                  const char *key)
{
    struct conf_place place = {0}, at = {0};
    while (conf_next_row(conf, name, &at)) {
        place = conf_text(at.row, key, NULL) != NULL ? at : place;
    }
    if (place.row == NULL) {
        struct conf_section *empty = arena_alloc(conf->arena, 1, sizeof(*empty));
        empty->name = name;
        empty->keys = conf_keys_of(name);
        empty->rows = arena_alloc(conf->arena, 1, sizeof(*empty->rows));
        place = (struct conf_place){empty, empty->rows};
    }
    return place;
}

const char *conf_value_text(const struct conf *conf, const struct conf_place *at,
                            const char *key)
{
    const char *text = conf_text(at->row, key, NULL);
    text = text != NULL ? text : text_outside(conf, key);
    return text != NULL ? text : conf_keys_among(at->section->keys, key)->initial;
}

int64_t conf_value_int(const struct conf *conf, const struct conf_place *at,
                       const char *key, int64_t otherwise)
{
    const struct conf_key *entry = conf_keys_among(at->section->keys, key);
    const char *text = conf_value_text(conf, at, key);
    int64_t number = otherwise;
    bool is_bad =
        text != NULL && conf_parse_int(text, entry->min, entry->max, &number, NULL) < 0;
    return is_bad ? otherwise : number;
}

int64_t conf_value_duration(const struct conf *conf, const struct conf_place *at,
                            const char *key, int64_t otherwise_ms)
{
    const struct conf_key *entry = conf_keys_among(at->section->keys, key);
    const char *text = conf_value_text(conf, at, key);
    int64_t ms = otherwise_ms;
    bool is_bad =
        text != NULL && (conf_parse_duration(text, entry->unit_ms, &ms, NULL) < 0 ||
                         ms < entry->min || ms > entry->max);
    return is_bad ? otherwise_ms : ms;
}

bool conf_value_bool(const struct conf *conf, const struct conf_place *at,
                     const char *key, bool otherwise)
{
    const char *text = conf_value_text(conf, at, key);
    bool flag = otherwise;
    bool is_bad = text != NULL && conf_parse_bool(text, &flag, NULL) < 0;
    return is_bad ? otherwise : flag;
}

int conf_value_word(const struct conf *conf, const struct conf_place *at,
                    const char *key)
{
    const char *text = conf_value_text(conf, at, key);
    const char *word = conf_keys_among(at->section->keys, key)->words;
    for (int i = 0; text != NULL && *word != '\0'; i++) {
        size_t length = strcspn(word, " ");
        if (strlen(text) == length && strncasecmp(text, word, length) == 0) {
            return i;
        }
        word += length;
        word += strspn(word, " ");
    }
    return 0;
}
