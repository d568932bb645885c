/* SPDX-License-Identifier: Apache-2.0 */
/* test_codec_hostile.c: bytes that no peer of ours would send: no crash, bounded
 * memory, and whatever is accepted can be encoded again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "proto/codec.h"
#include "proto/codec_unpack.h"
#include "tests/unit/proto/shapes.h"

static struct arena arena;

static int open_arena(void **state)
{
    arena_init(&arena);
    return 0;
}

static int close_arena(void **state)
{
    arena_release(&arena);
    return 0;
}

/* ---------------------------------------------------------------- wire by hand */

struct wire {
    uint8_t bytes[FRAME_MAX + 64];
    size_t length;
};

static struct wire wire;

static void put_varint(uint64_t value)
{
    while (value >= 0x80) {
        wire.bytes[wire.length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    wire.bytes[wire.length++] = (uint8_t)value;
}

static void put_number(unsigned tag, uint64_t value)
{
    put_varint(tag << 3);
    put_varint(value);
}

static void begin(uint32_t version)
{
    wire.length = 0;
    put_number(1, version);
}

/* The head of a part of `size` bytes. */
static void put_head(unsigned tag, size_t size)
{
    put_varint(tag << 3 | 2);
    put_varint(size);
}

static int decode(struct err *err)
{
    struct msg msg;
    arena_clear(&arena);
    return codec_decode(&arena, wire.bytes, wire.length, &msg, err);
}

static void test_version_is_judged_first(void **state)
{
    struct err err;
    begin(2);
    put_head(9999, 4); /* a kind and fields of the future */
    memcpy(wire.bytes + wire.length, "\xff\xff\xff\xff", 4);
    wire.length += 4;
    assert_int_equal(decode(&err), ERR_VERSION);
    wire.length = 0; /* none at all */
    assert_int_equal(decode(&err), ERR_VERSION);
    begin(UINT32_MAX);
    assert_int_equal(decode(&err), ERR_VERSION);
}

static void test_unknown_kinds_and_fields(void **state)
{
    struct err err;
    begin(PROTOCOL_VERSION);
    assert_int_equal(decode(&err), ERR_PARSE); /* no body */
    put_head(200, 0);
    assert_int_equal(decode(&err), ERR_PARSE); /* a kind that we do not know */
    begin(PROTOCOL_VERSION);
    put_head(13, 0);
    assert_int_equal(decode(&err), ERR_NONE); /* PONG */
    put_number(4, 1);
    assert_int_equal(decode(&err), ERR_PARSE); /* and an unknown field beside it */
    begin(PROTOCOL_VERSION);
    put_head(13, 2);
    put_number(15, 1);
    assert_int_equal(decode(&err), ERR_PARSE); /* or within */
}

/* A later version of the program has added a field to the message: its tag is 256 or
 * more. Only some of them are ignored, as each takes memory. */
static void test_added_fields_are_ignored(void **state)
{
    (void)state;
    struct err err;
    begin(PROTOCOL_VERSION);
    put_head(13, 5); /* PONG */
    put_number(1, 7);
    put_number(256, 1);
    struct msg msg;
    arena_clear(&arena);
    assert_int_equal(codec_decode(&arena, wire.bytes, wire.length, &msg, &err), 0);
    assert_int_equal(msg.pong.seq, 7);
    begin(PROTOCOL_VERSION);
    put_head(13, 3);
    put_number(255, 1);
    assert_int_equal(decode(&err), ERR_PARSE);
    for (int count = 16; count <= 17; count++) {
        begin(PROTOCOL_VERSION);
        put_head(13, (size_t)count * 3);
        for (int i = 0; i < count; i++) {
            put_number(2000, 1);
        }
        assert_int_equal(decode(&err), count == 16 ? ERR_NONE : ERR_PARSE);
    }
}

static void test_a_frame_of_empty_members(void **state)
{
    static const struct {
        const char *why;
        unsigned kind, tag;
    } rows[] = {
        {"hosts of a STATE", 15, 13},
        {"demands of a USAGE", 12, 8},
        {"jobs of a JOB_CONTROL", 71, 4},
        {"an unknown field", 15, 14},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(PROTOCOL_VERSION);
        size_t size = FRAME_MAX - 16;
        put_head(rows[i].kind, size & ~(size_t)1);
        while (wire.length + 2 <= FRAME_MAX - 8) {
            put_head(rows[i].tag, 0);
        }
        /* Make the head's size true. */
        size_t body = wire.length;
        begin(PROTOCOL_VERSION);
        put_head(rows[i].kind, size);
        size = body - wire.length;
        begin(PROTOCOL_VERSION);
        put_head(rows[i].kind, size);
        wire.length += size;
        struct err err;
        int status = decode(&err);
        if (status != ERR_BOUNDS && status != ERR_PARSE) {
            fail_msg("%s: accepted", rows[i].why);
        }
    }
}

struct wide {
    const void *members;
    int n_members;
    char rest[1000];
};

/* A list within its bound, whose members are empty on the wire and large in memory. */
static void test_memory_is_bounded(void **state)
{
    static const struct schema empty = {.name = "Wide", .size = sizeof(struct wide)};
    enum { MEMBERS = DECODE_BYTES_MAX / sizeof(struct wide) };
    const struct field list = {.name = "members",
                               .kind = FIELD_PARTS,
                               .tag = 1,
                               .offset = offsetof(struct wide, members),
                               .count_offset = offsetof(struct wide, n_members),
                               .part = &empty,
                               .max = FRAME_MAX};
    const struct schema schema = {
        .name = "Wide", .size = sizeof(struct wide), .fields = &list, .n_fields = 1};
    for (int more = 0; more < 2; more++) {
        struct wide wide = {.members = NULL};
        struct err err = {0};
        wire.length = 0;
        for (int i = 0; i < MEMBERS + more; i++) {
            put_head(1, 0);
        }
        const struct codec_wire_span body = {wire.bytes, wire.length};
        int status = codec_unpack(&arena, &schema, body, &wide, &err);
        assert_int_equal(status, more == 0 ? ERR_NONE : ERR_BOUNDS);
        assert_int_equal(wide.n_members, more == 0 ? MEMBERS : 0);
    }
}

/* The first part that is not complete, a field that is no list for the second time, a
 * field of another type. */
static void test_what_no_sender_writes(void **state)
{
    static const struct {
        const char *body, *expected;
        size_t size;
        enum msg_kind kind;
    } rows[] = {
        {"\x42\0\x42\0", "demands: lease: 0 bytes, expected 1 to 199", 4, MSG_USAGE},
        {"\x0a\x01x\x0a\x01x", "name: twice, expected once", 6, MSG_HELLO},
        {"\x08\x01\x08\x01", "seq: twice, expected once", 4, MSG_PONG},
        {"\x0a\x01x", "seq: a field of another type", 3, MSG_PONG},
        {"\x78\x01", "an unknown field 15", 2, MSG_PONG},
        {"\x0a\x05x", "not a message", 3, MSG_HELLO},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err = {0};
        const struct codec_wire_span body = {(const uint8_t *)rows[i].body,
                                             rows[i].size};
        struct msg msg = {.kind = rows[i].kind};
        assert_true(codec_unpack(&arena, msg_kinds[msg.kind].schema, body, &msg.hello,
                                 &err) < 0);
        assert_string_equal(err.text, rows[i].expected);
    }
}

static void test_one_member_too_many(void **state)
{
    const struct schema *schema = &schema_run_lease_load;
    const struct field *hosts = &schema->fields[1];
    struct err err = {0};
    assert_int_equal(hosts->kind, FIELD_PARTS);
    wire.length = 0;
    for (int64_t i = 0; i <= hosts->max; i++) {
        put_head((unsigned)hosts->tag, 3);
        memcpy(wire.bytes + wire.length, "\x0a\x01n", 3);
        wire.length += 3;
    }
    const struct codec_wire_span body = {wire.bytes, wire.length};
    struct msg_lease_load load = {.lease = NULL};
    assert_int_equal(codec_unpack(&arena, schema, body, &load, &err), ERR_BOUNDS);
    assert_non_null(strstr(err.text, "members, expected 0 to"));
}

static void test_too_long_a_frame(void **state)
{
    struct err err;
    begin(PROTOCOL_VERSION);
    wire.length = FRAME_MAX + 1;
    assert_int_equal(decode(&err), ERR_BOUNDS);
}

/* ---------------------------------------------------------------- good ones, spoilt */

/* A message that decodes must also encode. */
static void decode_any(const uint8_t *bytes, size_t length)
{
    struct arena own;
    arena_init(&own);
    struct msg msg;
    struct err err = {0};
    int status = codec_decode(&own, bytes, length, &msg, &err);
    if (status == ERR_NONE) {
        uint8_t *again;
        size_t again_length;
        if (codec_encode(&msg, &again, &again_length, &err) != ERR_NONE) {
            fail_msg("taken, but not sent again: %s", err.text);
        }
        free(again);
    } else {
        assert_true(err.text[0] != '\0');
        assert_int_equal(err.code, status);
    }
    arena_release(&own);
}

static void test_cut_at_every_byte(void **state)
{
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        static struct shapes_message message;
        shapes_build(&arena, (enum msg_kind)kind, &message);
        size_t length;
        const uint8_t *bytes = shapes_pack(&arena, &message, &length);
        for (size_t cut = 0; cut < length; cut++) {
            uint8_t *part = malloc(cut + 1); /* so that a read too far is seen */
            memcpy(part, bytes, cut);
            decode_any(part, cut);
            free(part);
        }
    }
}

static void mutate(struct rng *rng, uint8_t *bytes, size_t *length)
{
    int changes = 1 + (int)rng_below(rng, 4);
    for (int i = 0; i<changes && * length> 0; i++) {
        size_t at = (size_t)rng_below(rng, (int64_t)*length);
        switch (rng_below(rng, 4)) {
        case 0:
            bytes[at] ^= (uint8_t)(1U << rng_below(rng, 8));
            break;
        case 1:
            bytes[at] = (uint8_t)rng_below(rng, 256);
            break;
        case 2: /* a byte goes */
            memmove(bytes + at, bytes + at + 1, *length - at - 1);
            (*length)--;
            break;
        default: { /* a stretch comes twice */
            size_t size = (size_t)rng_below(rng, 16) + 1;
            size = size < *length - at ? size : *length - at;
            memmove(bytes + at + size, bytes + at, *length - at);
            *length += size;
            break;
        }
        }
    }
}

static void test_mutations(void **state)
{
    enum { ROUNDS = 20000, SEED = 4, ROOM = 128 };
    struct rng rng;
    rng_init(&rng, SEED);
    static struct shapes_message messages[MSG_KINDS];
    static const uint8_t *good[MSG_KINDS];
    static size_t lengths[MSG_KINDS];
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        shapes_build(&arena, (enum msg_kind)kind, &messages[kind]);
        good[kind] = shapes_pack(&arena, &messages[kind], &lengths[kind]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        int kind = 1 + (int)rng_below(&rng, MSG_KINDS - 1);
        size_t length = lengths[kind];
        uint8_t *bytes = malloc(length + ROOM);
        memcpy(bytes, good[kind], length);
        mutate(&rng, bytes, &length);
        decode_any(bytes, length);
        free(bytes);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)
    const struct CMUnitTest tests[] = {
        TEST(test_version_is_judged_first),  TEST(test_unknown_kinds_and_fields),
        TEST(test_added_fields_are_ignored), TEST(test_a_frame_of_empty_members),
        TEST(test_memory_is_bounded),        TEST(test_what_no_sender_writes),
        TEST(test_one_member_too_many),      TEST(test_too_long_a_frame),
        TEST(test_cut_at_every_byte),        TEST(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
