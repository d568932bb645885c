/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c: see shapes.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/codec_pack.h"
#include "tests/unit/proto/shapes.h"

/* ---------------------------------------------------------------- filling */

struct filler {
    struct arena *arena;
    int64_t next; /* grows with each value */
};

/* A number within the bounds, not 0 if possible. */
static int64_t take_number(struct filler *filler, int64_t min, int64_t max)
{
    int64_t number = filler->next++;
    if (max > 0) {
        int64_t low = min > 0 ? min : 1;
        return low + number % (max - low + 1);
    }
    return min < 0 ? -1 - number % -min : 0;
}

static const char *take_text(struct filler *filler, enum codec_charset charset)
{
    int number = (int)++filler->next;
    switch (charset) {
    case CODEC_NAME:
        return arena_printf(filler->arena, "na.m_e-%d", number);
    case CODEC_HOST:
        return arena_printf(filler->arena, "n%d@north", number);
    case CODEC_LEASE:
        return arena_printf(filler->arena, "north/%d/south", number);
    case CODEC_JOB:
        return arena_printf(filler->arena, "%d[3]", number);
    case CODEC_LINE:
    case CODEC_TALK:
        return arena_printf(filler->arena, "a \xc3\xa4 line %d", number);
    case CODEC_FREE:
        return arena_printf(filler->arena, "echo \xe2\x82\xac\n\techo %d", number);
    case CODEC_ENV:
        return arena_printf(filler->arena, "V%d=\xff latin", number);
    }
    return "";
}

static void put_int(char *ours, size_t offset, int value)
{
    memcpy(ours + offset, &value, sizeof(value));
}

static void fill(struct filler *filler, const struct codec_shape *shape, char *ours);

static void fill_list(struct filler *filler, const struct codec_field *field,
                      char *ours)
{
    if (field->type == CODEC_TEXTS) {
        const char **texts = arena_alloc(filler->arena, SHAPES_MEMBERS, sizeof(*texts));
        for (int i = 0; i < SHAPES_MEMBERS; i++) {
            texts[i] = take_text(filler, field->charset);
        }
        memcpy(ours + field->ours, &texts, sizeof(texts));
    } else {
        size_t size = field->shape->our_size;
        char *parts = arena_alloc(filler->arena, SHAPES_MEMBERS, size);
        for (size_t i = 0; i < SHAPES_MEMBERS; i++) {
            fill(filler, field->shape, parts + i * size);
        }
        memcpy(ours + field->ours, &parts, sizeof(parts));
    }
    put_int(ours, field->our_count, SHAPES_MEMBERS);
}

static void fill_field(struct filler *filler, const struct codec_field *field,
                       char *ours)
{
    int64_t number;
    bool flag = true;
    const void *pointer;
    switch (field->type) {
    case CODEC_INT:
        put_int(ours, field->ours, (int)take_number(filler, field->min, field->max));
        break;
    case CODEC_INT64:
    case CODEC_UINT64:
        number = take_number(filler, field->min, field->max);
        memcpy(ours + field->ours, &number, sizeof(number));
        break;
    case CODEC_BOOL:
        memcpy(ours + field->ours, &flag, sizeof(flag));
        break;
    case CODEC_TEXT:
        pointer = take_text(filler, field->charset);
        memcpy(ours + field->ours, &pointer, sizeof(pointer));
        break;
    case CODEC_BYTES:
        pointer = "by\0tes\xff";
        memcpy(ours + field->ours, &pointer, sizeof(pointer));
        put_int(ours, field->our_count, 7);
        break;
    case CODEC_PART:
        fill(filler, field->shape, ours + field->ours);
        break;
    case CODEC_TEXTS:
    case CODEC_PARTS:
        fill_list(filler, field, ours);
        break;
    }
}

static void fill(struct filler *filler, const struct codec_shape *shape, char *ours)
{
    for (int i = 0; i < shape->n_fields; i++) {
        fill_field(filler, &shape->fields[i], ours);
    }
}

/* ---------------------------------------------------------------- places */

static void list_places(struct shapes_message *message, const struct codec_shape *shape,
                        char *ours, char *theirs)
{
    for (int i = 0; i < shape->n_fields; i++) {
        const struct codec_field *field = &shape->fields[i];
        assert_true(message->n_places < SHAPES_PLACES_MAX);
        message->places[message->n_places++] =
            (struct shapes_place){field, shape, ours, theirs};
        char *their_part;
        if (field->type == CODEC_PART) {
            memcpy(&their_part, theirs + field->theirs, sizeof(their_part));
            list_places(message, field->shape, ours + field->ours, their_part);
        } else if (field->type == CODEC_PARTS) {
            char *our_part, **their_parts;
            memcpy(&our_part, ours + field->ours, sizeof(our_part));
            memcpy(&their_parts, theirs + field->theirs, sizeof(their_parts));
            list_places(message, field->shape, our_part, their_parts[0]);
        }
    }
}

void shapes_build(struct arena *arena, enum msg_kind kind,
                  struct shapes_message *message)
{
    const struct codec_shape *shape = codec_shape_of(kind);
    struct filler filler = {.arena = arena};
    memset(message, 0, sizeof(*message));
    message->ours.kind = kind;
    message->ours.session = (uint64_t)INT64_MAX;
    message->ours.site = "south";
    fill(&filler, shape, (char *)&message->ours.hello);

    sublet__envelope__init(&message->theirs);
    message->theirs.version = PROTOCOL_VERSION;
    ProtobufCMessage *body = codec_pack_new(arena, shape->descriptor);
    struct err err;
    assert_int_equal(codec_pack(arena, shape, &message->ours.hello, body, &err), 0);
    /* Bodies are numbered in the order of the kinds. */
    const ProtobufCMessageDescriptor *descriptor = message->theirs.base.descriptor;
    const ProtobufCFieldDescriptor *field =
        &descriptor->fields[3 + (int)kind - (int)MSG_HELLO];
    message->theirs.body_case = (Sublet__Envelope__BodyCase)field->id;
    memcpy((char *)&message->theirs + field->offset, &body, sizeof(body));
    list_places(message, shape, (char *)&message->ours.hello, (char *)body);
}

uint8_t *shapes_pack(struct arena *arena, const struct shapes_message *message,
                     size_t *length)
{
    *length = sublet__envelope__get_packed_size(&message->theirs);
    uint8_t *bytes = arena_alloc(arena, *length + 1, 1);
    sublet__envelope__pack(&message->theirs, bytes);
    return bytes;
}

/* ---------------------------------------------------------------- comparing */

static void assert_same_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        assert_ptr_equal(a, b);
    } else {
        assert_string_equal(a, b);
    }
}

static void assert_same_list(const struct codec_field *field, const char *a,
                             const char *b)
{
    int count;
    memcpy(&count, a + field->our_count, sizeof(count));
    assert_memory_equal(a + field->our_count, b + field->our_count, sizeof(count));
    const char *of_a, *of_b;
    memcpy(&of_a, a + field->ours, sizeof(of_a));
    memcpy(&of_b, b + field->ours, sizeof(of_b));
    if (field->type == CODEC_BYTES) {
        assert_memory_equal(of_a, of_b, (size_t)count);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (field->type == CODEC_TEXTS) {
            assert_same_text(((const char *const *)(const void *)of_a)[i],
                             ((const char *const *)(const void *)of_b)[i]);
        } else {
            size_t at = (size_t)i * field->shape->our_size;
            shapes_assert_same(field->shape, of_a + at, of_b + at);
        }
    }
}

void shapes_assert_same(const struct codec_shape *shape, const void *a, const void *b)
{
    for (int i = 0; i < shape->n_fields; i++) {
        const struct codec_field *field = &shape->fields[i];
        const char *at_a = (const char *)a + field->ours;
        const char *at_b = (const char *)b + field->ours;
        const char *text_a, *text_b;
        switch (field->type) {
        case CODEC_INT:
            assert_memory_equal(at_a, at_b, 4);
            break;
        case CODEC_INT64:
        case CODEC_UINT64:
            assert_memory_equal(at_a, at_b, 8);
            break;
        case CODEC_BOOL:
            assert_memory_equal(at_a, at_b, sizeof(bool));
            break;
        case CODEC_TEXT:
            memcpy(&text_a, at_a, sizeof(text_a));
            memcpy(&text_b, at_b, sizeof(text_b));
            assert_same_text(text_a, text_b);
            break;
        case CODEC_PART:
            shapes_assert_same(field->shape, at_a, at_b);
            break;
        case CODEC_TEXTS:
        case CODEC_BYTES:
        case CODEC_PARTS:
            assert_same_list(field, a, b);
            break;
        }
    }
}
