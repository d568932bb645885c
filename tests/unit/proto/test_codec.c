/* SPDX-License-Identifier: Apache-2.0 */
/* test_codec.c: every field of every kind of message survives encoding and decoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/row.h"
#include "proto/codec.h"
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

/* Sends and receives; what arrived lives in the arena. */
static struct msg pass(const struct msg *msg)
{
    uint8_t *bytes;
    size_t length;
    struct err err = {0};
    struct msg arrived = {0};
    if (codec_encode(msg, &bytes, &length, &err) != ERR_NONE ||
        codec_decode(&arena, bytes, length, &arrived, &err) != ERR_NONE) {
        fail_msg("%s", err.text);
    }
    free(bytes);
    return arrived;
}

static void test_every_kind_in_every_field(void **state)
{
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        static struct shapes_message message;
        shapes_build(&arena, (enum msg_kind)kind, &message);
        struct msg arrived = pass(&message.ours);
        assert_int_equal(arrived.kind, kind);
        assert_true(arrived.session == message.ours.session);
        assert_string_equal(arrived.site, "south");
        shapes_assert_same(msg_kinds[arrived.kind].schema, &message.ours.hello,
                           &arrived.hello);
    }
}

/* The bytes are those of protobuf-c, and its bytes are read. */
static void test_protobuf_c_agrees(void **state)
{
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        static struct shapes_message message;
        uint8_t *bytes, *theirs;
        size_t length, their_length;
        struct err err = {0};
        struct msg arrived;
        shapes_build(&arena, (enum msg_kind)kind, &message);
        theirs = shapes_pack(&arena, &message, &their_length);
        assert_int_equal(codec_encode(&message.ours, &bytes, &length, &err), 0);
        assert_int_equal(length, their_length);
        assert_memory_equal(bytes, theirs, length);
        assert_int_equal(codec_decode(&arena, theirs, their_length, &arrived, &err), 0);
        shapes_assert_same(msg_kinds[kind].schema, &message.ours.hello, &arrived.hello);
        free(bytes);
    }
}

/* shapes.c goes by the position: both tables are in the order of the tags. */
static void test_every_field_of_the_wire_has_a_row(void **state)
{
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        static struct shapes_message message;
        shapes_build(&arena, (enum msg_kind)kind, &message);
        for (int i = 0; i < message.n_places; i++) {
            const struct shapes_place *place = &message.places[i];
            const ProtobufCMessage *theirs = (void *)place->theirs;
            int n_tagged = 0;
            while (n_tagged < place->schema->n_fields &&
                   place->schema->fields[n_tagged].tag != 0) {
                n_tagged++;
            }
            assert_int_equal(n_tagged, (int)theirs->descriptor->n_fields);
            assert_string_equal(place->field->name, place->wire->name);
            assert_int_equal(place->field->tag, (int)place->wire->id);
        }
    }
}

static size_t size_of(const struct field *field)
{
    return field->kind == FIELD_INT    ? sizeof(int)
           : field->kind == FIELD_BOOL ? sizeof(bool)
           : field->kind == FIELD_PART ? field->part->size
                                       : 8;
}

/* Bytes of our struct that no row covers may only be padding: fewer than an int, or
 * four before a member of eight. */
static void check_coverage(const struct schema *schema, const char *name, size_t exempt,
                           size_t exempt_size)
{
    char spoken[1024] = {0};
    assert_true(schema->size <= sizeof(spoken));
    memset(spoken + exempt, 1, exempt_size);
    for (int i = 0; i < schema->n_fields; i++) {
        const struct field *field = &schema->fields[i];
        memset(spoken + field->offset, 1, size_of(field));
        if (field->count_offset > 0) {
            memset(spoken + field->count_offset, 1, sizeof(int));
        }
        if (field->part != NULL) {
            check_coverage(field->part, field->name, 0, 0);
        }
    }
    size_t silent = 0;
    for (size_t i = 0; i <= schema->size; i++) {
        if (i < schema->size && !spoken[i]) {
            silent++;
            continue;
        }
        if (silent >= 8 || (silent >= 4 && i % 8 != 0)) {
            fail_msg("%s: %zu bytes before %zu", name, silent, i);
        }
        silent = 0;
    }
}

static void test_every_field_of_ours_has_a_row(void **state)
{
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        /* the shell's, never on the wire */
        size_t exempt = kind == MSG_REPLY ? offsetof(struct msg_reply, value) : 0;
        check_coverage(msg_kinds[kind].schema, msg_kind_name((enum msg_kind)kind),
                       exempt, exempt > 0 ? sizeof(void *) : 0);
    }
    for (int kind = 0; kind < ROW_KINDS; kind++) {
        check_coverage(schema_row_kinds[kind], schema_row_kinds[kind]->name, 0, 0);
    }
}

static void test_state_by_hand(void **state)
{
    const struct host_split hosts[] = {
        {.host = "n1", .n_slots = 4, .provider = 3, .consumer = 1, .provider_used = 2},
        {.host = "n2",
         .n_slots = 5,
         .consumer = 5,
         .consumer_used = 4,
         .is_down = true},
    };
    struct msg msg = {.kind = MSG_STATE, .session = 7, .site = ""};
    msg.state = (struct msg_state){
        .lease = "north/1/south",
        .epoch = 12,
        .type = LEASE_SHARED,
        .is_frozen = true,
        .freeze = 3,
        .provider_waiting = 9,
        .reclaim_policy = RECLAIM_DEMAND,
        .min_hold_ms = 60000,
        .lease_term_ms = 300000,
        .takes_interactive = true,
        .hosts = hosts,
        .n_hosts = 2,
        .reason = "host \"n2\" is down",
    };
    struct msg_state arrived = pass(&msg).state;
    assert_string_equal(arrived.lease, "north/1/south");
    assert_int_equal(arrived.epoch, 12);
    assert_int_equal(arrived.type, LEASE_SHARED);
    assert_false(arrived.is_made);
    assert_true(arrived.is_frozen);
    assert_int_equal(arrived.freeze, 3);
    assert_int_equal(arrived.provider_waiting, 9);
    assert_true(arrived.takes_interactive);
    assert_int_equal(arrived.reclaim_policy, RECLAIM_DEMAND);
    assert_int_equal(arrived.n_hosts, 2);
    assert_string_equal(arrived.hosts[0].host, "n1");
    assert_int_equal(arrived.hosts[0].provider, 3);
    assert_int_equal(arrived.hosts[0].consumer, 1);
    assert_int_equal(arrived.hosts[0].provider_used, 2);
    assert_false(arrived.hosts[0].is_down);
    assert_int_equal(arrived.hosts[1].consumer_used, 4);
    assert_true(arrived.hosts[1].is_down);
    assert_string_equal(arrived.reason, "host \"n2\" is down");
}

static void test_nothing_is_empty_not_null(void **state)
{
    struct msg msg = {.kind = MSG_REPLY};
    struct msg arrived = pass(&msg);
    assert_string_equal(arrived.site, "");
    assert_string_equal(arrived.reply.text, "");
    assert_string_equal(arrived.reply.next, "");
    assert_null(arrived.reply.json); /* NULL: none */
    assert_int_equal(arrived.reply.n_bytes, 0);

    msg = (struct msg){.kind = MSG_QUERY};
    arrived = pass(&msg);
    assert_string_equal(arrived.query.name, "");
    assert_string_equal(arrived.query.after, "");
}

static void test_long_talk_is_cut_not_refused(void **state)
{
    char text[3 * REASON_SIZE];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    memcpy(text + REASON_SIZE - 2, "\xe2\x82\xac", 3); /* across the cut */
    struct msg msg = {.kind = MSG_STATE, .state = {.lease = "n/1/s", .reason = text}};
    struct msg arrived = pass(&msg);
    assert_int_equal(strlen(arrived.state.reason), REASON_SIZE - 2);

    msg.state.reason = "two\nlines, \x1b[1m, \xff";
    arrived = pass(&msg);
    assert_string_equal(arrived.state.reason, "two lines, ?[1m, ?");
}

static void test_host_lists_at_their_bound(void **state)
{
    struct host_split *hosts = arena_alloc(&arena, HOSTS_MAX, sizeof(*hosts));
    for (int i = 0; i < HOSTS_MAX; i++) {
        hosts[i].host = arena_printf(&arena, "n%d", i);
        hosts[i].n_slots = 64;
        hosts[i].provider = 63;
        hosts[i].consumer = 1;
    }
    struct msg msg = {
        .kind = MSG_PROPOSE,
        .propose = {.lease = "n/1/s", .hosts = hosts, .n_hosts = HOSTS_MAX}};
    struct msg arrived = pass(&msg);
    assert_int_equal(arrived.propose.n_hosts, HOSTS_MAX);
    assert_string_equal(arrived.propose.hosts[HOSTS_MAX - 1].host, "n9999");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)
    const struct CMUnitTest tests[] = {
        TEST(test_every_kind_in_every_field),
        TEST(test_protobuf_c_agrees),
        TEST(test_every_field_of_the_wire_has_a_row),
        TEST(test_every_field_of_ours_has_a_row),
        TEST(test_state_by_hand),
        TEST(test_nothing_is_empty_not_null),
        TEST(test_long_talk_is_cut_not_refused),
        TEST(test_host_lists_at_their_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
