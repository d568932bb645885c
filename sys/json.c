/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: see json.h. */
#include "sys/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_DIGITS = 15 }; /* what a double holds for certain: 0.1 stays 0.1 */

static json_t *or_abort(json_t *json)
{
    if (json == NULL) {
        abort(); /* out of memory: all else was ruled out */
    }
    return json;
}

/* A text that jansson refuses is not UTF-8: each byte above ASCII becomes '?'. What
 * comes from peers was checked; this is for file names and the system's words. */
static json_t *build_text(const char *text)
{
    json_t *json = json_string(text);
    if (json != NULL) {
        return json;
    }
    char *plain = strdup(text);
    for (char *at = plain; at != NULL && *at != '\0'; at++) {
        if ((unsigned char)*at >= 0x80) {
            *at = '?';
        }
    }
    json = or_abort(plain != NULL ? json_string(plain) : NULL);
    free(plain);
    return json;
}

static json_t *build(const struct value *value);

static json_t *build_array(const struct value *value)
{
    json_t *array = or_abort(json_array());
    for (const struct value *child = value->first; child != NULL; child = child->next) {
        if (json_array_append_new(array, build(child)) != 0) {
            abort();
        }
    }
    return array;
}

static json_t *build_object(const struct value *value)
{
    json_t *object = or_abort(json_object());
    for (const struct value *child = value->first; child != NULL; child = child->next) {
        json_t *key = build_text(child->key);
        if (json_object_set_new(object, json_string_value(key), build(child)) != 0) {
            abort();
        }
        json_decref(key);
    }
    return object;
}

static json_t *build(const struct value *value)
{
    switch (value->kind) {
    case VALUE_BOOL:
        return json_boolean(value->flag);
    case VALUE_INT:
        return or_abort(json_integer(value->number));
    case VALUE_REAL: /* JSON has no infinity */
        return isfinite(value->real) ? or_abort(json_real(value->real)) : json_null();
    case VALUE_TEXT:
        return build_text(value->text);
    case VALUE_ARRAY:
        return build_array(value);
    case VALUE_OBJECT:
        return build_object(value);
    case VALUE_NULL:
        break;
    }
    return json_null();
}

char *json_render(const struct value *value)
{
    json_t *json = build(value);
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY |
                                      JSON_REAL_PRECISION(REAL_DIGITS));
    json_decref(json);
    if (text == NULL) {
        abort();
    }
    return text;
}
