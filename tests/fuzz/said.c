/* SPDX-License-Identifier: Apache-2.0 */
/* said.c: see said.h. */
#include "tests/fuzz/said.h"

#include <stdlib.h>
#include <string.h>

#include "proto/codec.h"
#include "proto/codec_field.h"

enum {
    /* A number's byte: */
    AS_HEARD = 128, /* from here: a recorded number */
    AS_NEXT = 192,  /* one above it */
    AS_BOUND = 253, /* the least, the most */
    AS_LONG = 255,  /* eight bytes that follow */
    LIST_MAX = 4,   /* of a list */
};

uint64_t said_number(const struct said *said, struct input *input)
{
    int byte = input_byte(input);
    if (byte == AS_LONG) {
        return input_number(input, 8) & INT64_MAX;
    }
    if (byte >= AS_NEXT) {
        return said->heard[byte % SAID_HEARD] + 1;
    }
    return byte >= AS_HEARD ? said->heard[byte % SAID_HEARD] : (uint64_t)byte;
}

const char *said_word(const struct said *said, struct input *input)
{
    return said->words[input_byte(input) % said->n_words];
}

/* ---------------------------------------------------------------- saying */

static int64_t bounded(const struct said *said, struct input *input, int64_t min,
                       int64_t max)
{
    if (!input_is_spent(input) && *input->at >= AS_BOUND && *input->at < AS_LONG) {
        return input_byte(input) == AS_BOUND ? min : max;
    }
    uint64_t number = said_number(said, input);
    uint64_t span = (uint64_t)max - (uint64_t)min + 1;
    return (int64_t)((uint64_t)min + (span == 0 ? number : number % span));
}

static void fill(const struct said *said, struct input *input, struct arena *arena,
                 const struct codec_shape *shape, char *ours);

static const void *make_list(const struct said *said, struct input *input,
                             struct arena *arena, const struct codec_field *field,
                             int count)
{
    if (field->type == CODEC_TEXTS) {
        const char **texts = arena_alloc(arena, (size_t)count, sizeof(*texts));
        for (int i = 0; i < count; i++) {
            texts[i] =
                field->charset == CODEC_ENV ? "PATH=/bin" : said_word(said, input);
        }
        return texts;
    }
    char *parts = arena_alloc(arena, (size_t)count, field->shape->our_size);
    for (int i = 0; i < count; i++) {
        fill(said, input, arena, field->shape,
             parts + (size_t)i * field->shape->our_size);
    }
    return parts;
}

static void fill_counted(const struct said *said, struct input *input,
                         struct arena *arena, const struct codec_field *field,
                         char *ours)
{
    int count = input_byte(input) % (LIST_MAX + 1);
    const void *list;
    if (field->type == CODEC_BYTES) {
        list = "fuzz";
    } else {
        list = make_list(said, input, arena, field, count);
    }
    memcpy(ours + field->ours, &list, sizeof(list));
    memcpy(ours + field->our_count, &count, sizeof(count));
}

static void fill_field(const struct said *said, struct input *input,
                       struct arena *arena, const struct codec_field *field, char *ours)
{
    int64_t number;
    int small;
    bool flag;
    const char *text;
    switch (field->type) {
    case CODEC_INT:
        small = (int)bounded(said, input, field->min, field->max);
        memcpy(ours + field->ours, &small, sizeof(small));
        break;
    case CODEC_INT64:
    case CODEC_UINT64:
        number = bounded(said, input, field->min, field->max);
        memcpy(ours + field->ours, &number, sizeof(number));
        break;
    case CODEC_BOOL:
        flag = (input_byte(input) & 1) != 0;
        memcpy(ours + field->ours, &flag, sizeof(flag));
        break;
    case CODEC_TEXT:
        text = said_word(said, input);
        memcpy(ours + field->ours, &text, sizeof(text));
        break;
    case CODEC_PART:
        fill(said, input, arena, field->shape, ours + field->ours);
        break;
    case CODEC_BYTES:
    case CODEC_TEXTS:
    case CODEC_PARTS:
        fill_counted(said, input, arena, field, ours);
        break;
    }
}

static void fill(const struct said *said, struct input *input, struct arena *arena,
                 const struct codec_shape *shape, char *ours)
{
    for (int i = 0; i < shape->n_fields; i++) {
        fill_field(said, input, arena, &shape->fields[i], ours);
    }
}

bool said_make(const struct said *said, struct input *input, struct arena *arena,
               struct msg *msg)
{
    struct msg made = {.kind =
                           (enum msg_kind)(1 + input_byte(input) % (MSG_KINDS - 1))};
    uint8_t *bytes;
    size_t length;
    struct err err;
    made.session = said_number(said, input);
    made.site = said_word(said, input);
    fill(said, input, arena, codec_shape_of(made.kind), (char *)&made.hello);
    if (codec_encode(&made, &bytes, &length, &err) < 0) {
        return false;
    }
    if (codec_decode(arena, bytes, length, msg, &err) < 0) {
        input_fail("a %s was encoded and is not taken: %s", msg_kind_name(made.kind),
                   err.text);
    }
    free(bytes);
    return true;
}

/* ---------------------------------------------------------------- hearing */

static void hear_number(struct said *said, uint64_t number)
{
    said->heard[said->n_heard++ % SAID_HEARD] = number;
}

static void hear_shape(struct said *said, const struct codec_shape *shape,
                       const char *ours)
{
    for (int i = 0; i < shape->n_fields; i++) {
        const struct codec_field *field = &shape->fields[i];
        uint64_t number;
        if (field->type == CODEC_UINT64) {
            memcpy(&number, ours + field->ours, sizeof(number));
            hear_number(said, number);
        } else if (field->type == CODEC_PART) {
            hear_shape(said, field->shape, ours + field->ours);
        }
    }
}

void said_hear(struct said *said, const struct msg *msg)
{
    hear_number(said, msg->session);
    hear_shape(said, codec_shape_of(msg->kind), (const char *)&msg->hello);
}
