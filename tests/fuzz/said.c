/* SPDX-License-Identifier: Apache-2.0 */
/* said.c: see said.h. */
#include "tests/fuzz/said.h"

#include <stdlib.h>
#include <string.h>

#include "model/schema.h"
#include "proto/codec.h"

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
                 const struct schema *schema, char *ours);

static const void *make_list(const struct said *said, struct input *input,
                             struct arena *arena, const struct field *field, int count)
{
    if (field->kind == FIELD_TEXTS) {
        const char **texts = arena_alloc(arena, (size_t)count, sizeof(*texts));
        for (int i = 0; i < count; i++) {
            texts[i] =
                field->charset == CHARSET_ENV ? "PATH=/bin" : said_word(said, input);
        }
        return texts;
    }
    char *parts = arena_alloc(arena, (size_t)count, field->part->size);
    for (int i = 0; i < count; i++) {
        fill(said, input, arena, field->part, parts + (size_t)i * field->part->size);
    }
    return parts;
}

static void fill_counted(const struct said *said, struct input *input,
                         struct arena *arena, const struct field *field, char *ours)
{
    int count = input_byte(input) % (LIST_MAX + 1);
    const void *list;
    if (field->kind == FIELD_BYTES) {
        list = "fuzz";
    } else {
        list = make_list(said, input, arena, field, count);
    }
    memcpy(ours + field->offset, &list, sizeof(list));
    memcpy(ours + field->count_offset, &count, sizeof(count));
}

static void fill_field(const struct said *said, struct input *input,
                       struct arena *arena, const struct field *field, char *ours)
{
    int64_t number;
    int small;
    bool flag;
    const char *text;
    switch (field->kind) {
    case FIELD_INT:
        small = (int)bounded(said, input, field->min, field->max);
        memcpy(ours + field->offset, &small, sizeof(small));
        break;
    case FIELD_INT64:
    case FIELD_UINT64:
        number = bounded(said, input, field->min, field->max);
        memcpy(ours + field->offset, &number, sizeof(number));
        break;
    case FIELD_BOOL:
        flag = (input_byte(input) & 1) != 0;
        memcpy(ours + field->offset, &flag, sizeof(flag));
        break;
    case FIELD_TEXT:
        text = said_word(said, input);
        memcpy(ours + field->offset, &text, sizeof(text));
        break;
    case FIELD_PART:
        fill(said, input, arena, field->part, ours + field->offset);
        break;
    case FIELD_BYTES:
    case FIELD_TEXTS:
    case FIELD_PARTS:
        fill_counted(said, input, arena, field, ours);
        break;
    case FIELD_REAL:
    case FIELD_OPTION:
    case FIELD_JOB_KEY:
        break; /* on no wire */
    }
}

static void fill(const struct said *said, struct input *input, struct arena *arena,
                 const struct schema *schema, char *ours)
{
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        fill_field(said, input, arena, &schema->fields[i], ours);
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
    fill(said, input, arena, msg_kinds[made.kind].schema, (char *)&made.hello);
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

static void hear_shape(struct said *said, const struct schema *schema, const char *ours)
{
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        const struct field *field = &schema->fields[i];
        uint64_t number;
        if (field->kind == FIELD_UINT64) {
            memcpy(&number, ours + field->offset, sizeof(number));
            hear_number(said, number);
        } else if (field->kind == FIELD_PART) {
            hear_shape(said, field->part, ours + field->offset);
        }
    }
}

void said_hear(struct said *said, const struct msg *msg)
{
    hear_number(said, msg->session);
    hear_shape(said,
               msg->is_relayed ? &schema_run_relayed : msg_kinds[msg->kind].schema,
               (const char *)&msg->hello);
}
