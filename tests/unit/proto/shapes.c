/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c: see shapes.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/field.h"
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

static const char *take_text(struct filler *filler, enum field_charset charset)
{
    int number = (int)++filler->next;
    switch (charset) {
    case CHARSET_NAME:
        return arena_printf(filler->arena, "na.m_e-%d", number);
    case CHARSET_HOST:
        return arena_printf(filler->arena, "n%d@north", number);
    case CHARSET_LEASE:
        return arena_printf(filler->arena, "north/%d/south", number);
    case CHARSET_JOB:
        return arena_printf(filler->arena, "%d[3]", number);
    case CHARSET_LINE:
    case CHARSET_TALK:
        return arena_printf(filler->arena, "a \xc3\xa4 line %d", number);
    case CHARSET_FREE:
        return arena_printf(filler->arena, "echo \xe2\x82\xac\n\techo %d", number);
    case CHARSET_ENV:
        return arena_printf(filler->arena, "V%d=\xff latin", number);
    }
    return "";
}

static void put_int(char *ours, size_t offset, int value)
{
    memcpy(ours + offset, &value, sizeof(value));
}

static void fill(struct filler *filler, const struct schema *schema, char *ours);

static void fill_list(struct filler *filler, const struct field *field, char *ours)
{
    if (field->kind == FIELD_TEXTS) {
        const char **texts = arena_alloc(filler->arena, SHAPES_MEMBERS, sizeof(*texts));
        for (int i = 0; i < SHAPES_MEMBERS; i++) {
            texts[i] = take_text(filler, field->charset);
        }
        memcpy(ours + field->offset, &texts, sizeof(texts));
    } else {
        size_t size = field->part->size;
        char *parts = arena_alloc(filler->arena, SHAPES_MEMBERS, size);
        for (size_t i = 0; i < SHAPES_MEMBERS; i++) {
            fill(filler, field->part, parts + i * size);
        }
        memcpy(ours + field->offset, &parts, sizeof(parts));
    }
    put_int(ours, field->count_offset, SHAPES_MEMBERS);
}

static void fill_field(struct filler *filler, const struct field *field, char *ours)
{
    int64_t number;
    bool flag = true;
    const void *pointer;
    switch (field->kind) {
    case FIELD_INT:
        put_int(ours, field->offset, (int)take_number(filler, field->min, field->max));
        break;
    case FIELD_INT64:
    case FIELD_UINT64:
        number = take_number(filler, field->min, field->max);
        memcpy(ours + field->offset, &number, sizeof(number));
        break;
    case FIELD_BOOL:
        memcpy(ours + field->offset, &flag, sizeof(flag));
        break;
    case FIELD_TEXT:
        pointer = take_text(filler, field->charset);
        memcpy(ours + field->offset, &pointer, sizeof(pointer));
        break;
    case FIELD_BYTES:
        pointer = "by\0tes\xff";
        memcpy(ours + field->offset, &pointer, sizeof(pointer));
        put_int(ours, field->count_offset, 7);
        break;
    case FIELD_PART:
        fill(filler, field->part, ours + field->offset);
        break;
    case FIELD_TEXTS:
    case FIELD_PARTS:
        fill_list(filler, field, ours);
        break;
    case FIELD_REAL:
    case FIELD_OPTION:
    case FIELD_JOB_KEY:
        fail_msg("%s: on no wire", field->name);
    }
}

static void fill(struct filler *filler, const struct schema *schema, char *ours)
{
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        fill_field(filler, &schema->fields[i], ours);
    }
}

/* ---------------------------------------------------------------- places */

static void list_places(struct shapes_message *message, const struct schema *schema,
                        char *ours, char *theirs)
{
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        const struct field *field = &schema->fields[i];
        const ProtobufCFieldDescriptor *wire =
            &((ProtobufCMessage *)(void *)theirs)->descriptor->fields[i];
        assert_true(message->n_places < SHAPES_PLACES_MAX);
        message->places[message->n_places++] =
            (struct shapes_place){field, wire, schema, ours, theirs};
        char *their_part;
        if (field->kind == FIELD_PART) {
            memcpy(&their_part, theirs + wire->offset, sizeof(their_part));
            list_places(message, field->part, ours + field->offset, their_part);
        } else if (field->kind == FIELD_PARTS) {
            char *our_part, **their_parts;
            memcpy(&our_part, ours + field->offset, sizeof(our_part));
            memcpy(&their_parts, theirs + wire->offset, sizeof(their_parts));
            list_places(message, field->part, our_part, their_parts[0]);
        }
    }
}

static ProtobufCMessage *fill_theirs(struct arena *arena,
                                     const ProtobufCMessageDescriptor *descriptor,
                                     const struct schema *schema, const char *ours);

/* protobuf-c needs a non-const pointer, but does not write through it. */
static ProtobufCBinaryData borrow(const void *data, size_t length)
{
    ProtobufCBinaryData borrowed = {.len = length};
    memcpy(&borrowed.data, &data, sizeof(borrowed.data));
    return borrowed;
}

static void *fill_their_list(struct arena *arena, const ProtobufCFieldDescriptor *wire,
                             const struct field *field, const char *ours)
{
    const char *list = field_pointer(field, ours);
    size_t count = (size_t)field_count(field, ours);
    ProtobufCBinaryData *texts = arena_alloc(arena, count, sizeof(*texts));
    ProtobufCMessage **parts = arena_alloc(arena, count, sizeof(*parts));
    for (size_t i = 0; i < count; i++) {
        if (field->kind == FIELD_TEXTS) {
            const char *text = ((const char *const *)(const void *)list)[i];
            texts[i] = borrow(text, strlen(text));
        } else {
            parts[i] = fill_theirs(arena, wire->descriptor, field->part,
                                   list + i * field->part->size);
        }
    }
    return field->kind == FIELD_TEXTS ? (void *)texts : (void *)parts;
}

static void fill_their_field(struct arena *arena, const ProtobufCFieldDescriptor *wire,
                             const struct field *field, const char *ours, char *theirs)
{
    char *to = theirs + wire->offset;
    if (field->kind == FIELD_PART) {
        ProtobufCMessage *part =
            fill_theirs(arena, wire->descriptor, field->part, ours + field->offset);
        memcpy(to, &part, sizeof(part));
    } else if (field->kind == FIELD_TEXTS || field->kind == FIELD_PARTS) {
        void *list = fill_their_list(arena, wire, field, ours);
        size_t count = (size_t)field_count(field, ours);
        memcpy(to, &list, sizeof(list));
        memcpy(theirs + wire->quantifier_offset, &count, sizeof(count));
    } else if (field->kind == FIELD_TEXT || field->kind == FIELD_BYTES) {
        const char *data = field_pointer(field, ours);
        size_t length =
            field->kind == FIELD_TEXT ? strlen(data) : (size_t)field_count(field, ours);
        ProtobufCBinaryData bytes = borrow(data, length);
        memcpy(to, &bytes, sizeof(bytes));
    } else {
        int64_t number = field_number(field, ours);
        int32_t narrow = (int32_t)number; /* also a protobuf_c_boolean */
        bool is_narrow = field->kind == FIELD_INT || field->kind == FIELD_BOOL;
        memcpy(to, is_narrow ? (void *)&narrow : (void *)&number,
               is_narrow ? sizeof(narrow) : sizeof(number));
    }
}

static ProtobufCMessage *fill_theirs(struct arena *arena,
                                     const ProtobufCMessageDescriptor *descriptor,
                                     const struct schema *schema, const char *ours)
{
    ProtobufCMessage *theirs = arena_alloc(arena, 1, descriptor->sizeof_message);
    descriptor->message_init(theirs);
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        fill_their_field(arena, &descriptor->fields[i], &schema->fields[i], ours,
                         (char *)theirs);
    }
    return theirs;
}

void shapes_build(struct arena *arena, enum msg_kind kind,
                  struct shapes_message *message)
{
    const struct schema *schema = msg_kinds[kind].schema;
    struct filler filler = {.arena = arena};
    memset(message, 0, sizeof(*message));
    message->ours.kind = kind;
    message->ours.session = (uint64_t)INT64_MAX;
    message->ours.site = "south";
    fill(&filler, schema, (char *)&message->ours.hello);

    sublet__envelope__init(&message->theirs);
    message->theirs.version = PROTOCOL_VERSION;
    message->theirs.session = message->ours.session;
    message->theirs.site = borrow(message->ours.site, strlen(message->ours.site));
    /* Bodies are numbered in the order of the kinds. */
    const ProtobufCMessageDescriptor *descriptor = message->theirs.base.descriptor;
    const ProtobufCFieldDescriptor *field =
        &descriptor->fields[3 + (int)kind - (int)MSG_HELLO];
    assert_int_equal(field->id, msg_kinds[kind].tag);
    ProtobufCMessage *body =
        fill_theirs(arena, field->descriptor, schema, (char *)&message->ours.hello);
    message->theirs.body_case = (Sublet__Envelope__BodyCase)field->id;
    memcpy((char *)&message->theirs + field->offset, &body, sizeof(body));
    list_places(message, schema, (char *)&message->ours.hello, (char *)body);
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

static void assert_same_list(const struct field *field, const char *a, const char *b)
{
    int count;
    memcpy(&count, a + field->count_offset, sizeof(count));
    assert_memory_equal(a + field->count_offset, b + field->count_offset,
                        sizeof(count));
    const char *of_a, *of_b;
    memcpy(&of_a, a + field->offset, sizeof(of_a));
    memcpy(&of_b, b + field->offset, sizeof(of_b));
    if (field->kind == FIELD_BYTES) {
        assert_memory_equal(of_a, of_b, (size_t)count);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (field->kind == FIELD_TEXTS) {
            assert_same_text(((const char *const *)(const void *)of_a)[i],
                             ((const char *const *)(const void *)of_b)[i]);
        } else {
            size_t at = (size_t)i * field->part->size;
            shapes_assert_same(field->part, of_a + at, of_b + at);
        }
    }
}

void shapes_assert_same(const struct schema *schema, const void *a, const void *b)
{
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        const struct field *field = &schema->fields[i];
        const char *at_a = (const char *)a + field->offset;
        const char *at_b = (const char *)b + field->offset;
        const char *text_a, *text_b;
        switch (field->kind) {
        case FIELD_INT:
            assert_memory_equal(at_a, at_b, 4);
            break;
        case FIELD_INT64:
        case FIELD_UINT64:
            assert_memory_equal(at_a, at_b, 8);
            break;
        case FIELD_BOOL:
            assert_memory_equal(at_a, at_b, sizeof(bool));
            break;
        case FIELD_TEXT:
            memcpy(&text_a, at_a, sizeof(text_a));
            memcpy(&text_b, at_b, sizeof(text_b));
            assert_same_text(text_a, text_b);
            break;
        case FIELD_PART:
            shapes_assert_same(field->part, at_a, at_b);
            break;
        case FIELD_TEXTS:
        case FIELD_BYTES:
        case FIELD_PARTS:
            assert_same_list(field, a, b);
            break;
        case FIELD_REAL:
        case FIELD_OPTION:
        case FIELD_JOB_KEY:
            break;
        }
    }
}
