/* SPDX-License-Identifier: Apache-2.0 */
/* test_codec_relay.c: a body that is relayed goes on byte for byte, and nobody can make
 * the relay read another site or lease in it than the receiver does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/codec_relay.h"
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

static bool relays_all(enum msg_kind kind)
{
    return kind != MSG_NONE;
}

static bool relays_start(enum msg_kind kind)
{
    return kind == MSG_START;
}

struct frame {
    uint8_t *bytes;
    size_t length;
};

static struct frame encode(const struct msg *msg)
{
    struct frame frame;
    uint8_t *bytes;
    struct err err;
    if (codec_encode(msg, &bytes, &frame.length, &err) < 0) {
        fail_msg("%s", err.text);
    }
    frame.bytes = arena_copy(&arena, bytes, frame.length);
    free(bytes);
    return frame;
}

/* ---------------------------------------------------------------- what goes on */

static void test_every_body_goes_on_as_it_is(void **state)
{
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        static struct shapes_message message;
        struct msg msg, copy;
        struct err err;
        shapes_build(&arena, (enum msg_kind)kind, &message);
        struct frame frame = encode(&message.ours);
        if (codec_relay_decode(&arena, frame.bytes, frame.length, relays_all, &msg,
                               &err) < 0) {
            fail_msg("%s", err.text);
        }
        assert_true(msg.is_relayed);
        assert_int_equal(msg.kind, kind);
        assert_true(msg.session == message.ours.session);
        assert_string_equal(msg.site, message.ours.site);
        memset(frame.bytes, 0xff, frame.length);
        msg_copy(&arena, &msg, &copy); /* as effects_send does */
        copy.session = message.ours.session = 77;
        copy.site = message.ours.site = "someone-else";
        struct frame relayed = encode(&copy), whole = encode(&message.ours);
        assert_int_equal(relayed.length, whole.length);
        assert_memory_equal(relayed.bytes, whole.bytes, whole.length);
    }
}

static void test_what_the_relay_needs_is_read(void **state)
{
    static struct shapes_message message;
    struct err err;
    struct msg msg;
    shapes_build(&arena, MSG_START, &message);
    struct frame frame = encode(&message.ours);
    assert_int_equal(
        codec_relay_decode(&arena, frame.bytes, frame.length, relays_start, &msg, &err),
        0);
    assert_string_equal(msg.relayed.run_site, message.ours.start.run.site);
    assert_string_equal(msg.relayed.lease, message.ours.start.lease);
    shapes_build(&arena, MSG_STREAM_UP, &message);
    frame = encode(&message.ours);
    assert_int_equal(
        codec_relay_decode(&arena, frame.bytes, frame.length, relays_all, &msg, &err),
        0);
    assert_string_equal(msg.relayed.run_site, message.ours.stream_up.run.site);
    assert_null(msg.relayed.lease);
    assert_int_equal(msg.relayed.n_data, message.ours.stream_up.n_bytes);
}

static void test_other_kinds_are_opened(void **state)
{
    static struct shapes_message message;
    struct err err;
    struct msg msg;
    shapes_build(&arena, MSG_ATTEMPT_ASK, &message);
    struct frame frame = encode(&message.ours);
    assert_int_equal(
        codec_relay_decode(&arena, frame.bytes, frame.length, relays_start, &msg, &err),
        0);
    assert_false(msg.is_relayed);
    assert_string_equal(msg.attempt.run.site, message.ours.attempt.run.site);
}

/* ---------------------------------------------------------------- what does not */

/* 30 is the tag of a START; in it 1 is the run with its site (1), 2 the lease. */
#define VERSION "\x08\x01"
#define SESSION "\x10\x05"
#define TO_NORTH "\x1a\x05north"
#define RUN_SOUTH "\x0a\x07\x0a\x05south"
#define LEASE "\x12\x0dnorth/1/south"
#define START(size, body) "\xf2\x01" size body

static void test_what_could_be_read_in_two_ways_is_refused(void **state)
{
    static const struct {
        const char *frame;
        bool is_taken;
        const char *why;
    } rows[] = {
        {VERSION SESSION TO_NORTH START("\x18", RUN_SOUTH LEASE), true, "all is well"},
        {VERSION SESSION TO_NORTH START("\x1a", RUN_SOUTH LEASE "\x38\x01"), true,
         "the rest is the receiver's to check"},
        {VERSION SESSION TO_NORTH START("\x21", RUN_SOUTH LEASE RUN_SOUTH), false,
         "two runs"},
        {VERSION SESSION TO_NORTH START("\x27", RUN_SOUTH LEASE LEASE), false,
         "two leases"},
        {VERSION SESSION TO_NORTH START("\x1f",
                                        "\x0a\x0e\x0a\x05south\x0a\x05north" LEASE),
         false, "a run of two sites"},
        {VERSION SESSION TO_NORTH START("\x11", "\x08\x01" LEASE), false,
         "a run that is a number"},
        {VERSION SESSION TO_NORTH START("\x0f", LEASE), false, "no run"},
        {VERSION SESSION TO_NORTH START("\x09", RUN_SOUTH), false, "no lease"},
        {VERSION SESSION TO_NORTH START("\x18", RUN_SOUTH "\x12\x0dnorth/1/so th"),
         false, "no lease has a blank"},
        {VERSION SESSION TO_NORTH TO_NORTH START("\x18", RUN_SOUTH LEASE), false,
         "two receivers"},
        {VERSION SESSION TO_NORTH START("\x18", RUN_SOUTH LEASE)
             START("\x18", RUN_SOUTH LEASE),
         false, "two bodies"},
        {VERSION SESSION TO_NORTH START("\x19", RUN_SOUTH LEASE), false,
         "a body longer than the frame"},
        {"\x08\x02" SESSION TO_NORTH START("\x18", RUN_SOUTH LEASE), false,
         "another version"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err = {0};
        struct msg msg;
        int code = codec_relay_decode(&arena, (const uint8_t *)rows[i].frame,
                                      strlen(rows[i].frame), relays_start, &msg, &err);
        if ((code == 0) != rows[i].is_taken || (code == 0) != msg.is_relayed) {
            fail_msg("%s: %d, %s", rows[i].why, code, err.text);
        }
    }
}

/* A START that is cut anywhere, or with one byte changed, is relayed or refused. */
static void test_spoiled_bytes_do_no_harm(void **state)
{
    static struct shapes_message message;
    struct err err;
    struct msg msg;
    shapes_build(&arena, MSG_START, &message);
    struct frame frame = encode(&message.ours);
    size_t most = frame.length < 400 ? frame.length : 400;
    for (size_t i = 0; i < most; i++) {
        uint8_t *cut = malloc(i + 1); /* so that a sanitizer sees the end */
        memcpy(cut, frame.bytes, i);
        int code = codec_relay_decode(&arena, cut, i, relays_start, &msg, &err);
        assert_true(code < 0);
        free(cut);
        for (int bit = 0; bit < 8; bit++) {
            frame.bytes[i] ^= (uint8_t)(1U << bit);
            code = codec_relay_decode(&arena, frame.bytes, frame.length, relays_start,
                                      &msg, &err);
            assert_true(code < 0 || msg.is_relayed || msg.kind != MSG_START);
            frame.bytes[i] ^= (uint8_t)(1U << bit);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_body_goes_on_as_it_is),
        TEST(test_what_the_relay_needs_is_read),
        TEST(test_other_kinds_are_opened),
        TEST(test_what_could_be_read_in_two_ways_is_refused),
        TEST(test_spoiled_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
