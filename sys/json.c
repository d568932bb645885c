/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: see json.h. Written straight from the tree: building jansson's own tree first
 * took most of the time of a listing (docs/bench.md). What is not plain ASCII, and
 * reals, still go through jansson. */
#include "sys/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digits.h"

enum {
    REAL_DIGITS = 15, /* what a double holds for certain: 0.1 stays 0.1 */
    FIRST_BYTES = 4096,
};

/* The text that is being written. */
struct text {
    char *bytes;
    size_t length, capacity;
};

static char *room_for(struct text *text, size_t length)
{
    if (text->length + length > text->capacity) {
        text->capacity = 2 * (text->length + length);
        text->bytes = mem_grow(text->bytes, text->capacity, 1);
    }
    return text->bytes + text->length;
}

static void add_bytes(struct text *text, const char *bytes, size_t length)
{
    memcpy(room_for(text, length), bytes, length);
    text->length += length;
}

static void add_byte(struct text *text, char byte)
{
    *room_for(text, 1) = byte;
    text->length++;
}

static void add_by_jansson(struct text *text, json_t *json)
{
    char *dump = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY |
                                                     JSON_REAL_PRECISION(REAL_DIGITS))
                              : NULL;
    if (dump == NULL) {
        abort(); /* out of memory: there are no other errors */
    }
    add_bytes(text, dump, strlen(dump));
    free(dump);
    json_decref(json);
}

/* A text that jansson refuses is not UTF-8: each byte above ASCII becomes '?'. Texts of
 * peers were checked; this is for file names and error messages of the system. */
static void add_odd_text(struct text *text, const char *value)
{
    json_t *json = json_string(value);
    char *plain = json == NULL ? strdup(value) : NULL;
    for (char *at = plain; at != NULL && *at != '\0'; at++) {
        if ((unsigned char)*at >= 0x80) {
            *at = '?';
        }
    }
    add_by_jansson(text, json != NULL ? json : json_string(plain));
    free(plain);
}

static void add_text(struct text *text, const char *value)
{
    size_t length = 0;
    while (value[length] >= ' ' && value[length] <= '~' && value[length] != '"' &&
           value[length] != '\\') {
        length++;
    }
    if (value[length] != '\0') {
        add_odd_text(text, value);
        return;
    }
    add_byte(text, '"');
    add_bytes(text, value, length);
    add_byte(text, '"');
}

static void add_number(struct text *text, int64_t number)
{
    char digits[DIGITS_SIZE];
    size_t length = digits_write(digits, number);
    add_bytes(text, digits, length);
}

static void add_value(struct text *text, const struct value *value);

static void add_members(struct text *text, const struct value *value, char open,
                        char close)
{
    add_byte(text, open);
    for (const struct value *child = value->first; child != NULL; child = child->next) {
        if (value->kind == VALUE_OBJECT) {
            add_text(text, child->key);
            add_byte(text, ':');
        }
        add_value(text, child);
        if (child->next != NULL) {
            add_byte(text, ',');
        }
    }
    add_byte(text, close);
}

static void add_value(struct text *text, const struct value *value)
{
    switch (value->kind) {
    case VALUE_BOOL:
        add_bytes(text, value->flag ? "true" : "false", value->flag ? 4 : 5);
        return;
    case VALUE_INT:
        add_number(text, value->number);
        return;
    case VALUE_REAL: /* JSON has no infinity */
        if (isfinite(value->real)) {
            add_by_jansson(text, json_real(value->real));
            return;
        }
        break;
    case VALUE_TEXT:
        add_text(text, value->text);
        return;
    case VALUE_ARRAY:
        add_members(text, value, '[', ']');
        return;
    case VALUE_OBJECT:
        add_members(text, value, '{', '}');
        return;
    case VALUE_NULL:
        break;
    }
    add_bytes(text, "null", 4);
}

char *json_render(const struct value *value)
{
    struct text text = {.bytes = mem_alloc(FIRST_BYTES, 1), .capacity = FIRST_BYTES};
    add_value(&text, value);
    add_byte(&text, '\0');
    return text.bytes;
}
