/* SPDX-License-Identifier: Apache-2.0 */
/* test_codec_bounds.c: each bound of each field, violated once, is refused both in
 * encoding and in decoding; and a manual table of bounds that must not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

/* ---------------------------------------------------------------- the whole table */

static struct shapes_message message;
static int n_refused;

static void check_refusal(const struct field *field, const char *what, int status,
                          const struct err *err)
{
    if (status != ERR_PARSE && status != ERR_BOUNDS) {
        fail_msg("%s: %s: %s: accepted", msg_kind_name(message.ours.kind), field->name,
                 what);
    }
    if (strstr(err->text, field->name) == NULL) {
        fail_msg("%s: %s: %s: \"%s\" does not name the field",
                 msg_kind_name(message.ours.kind), field->name, what, err->text);
    }
    n_refused++;
}

/* Changes a member of our struct, encodes it, and restores the member. */
static void spoil_ours(const struct shapes_place *place, size_t offset,
                       const void *value, size_t size, const char *what)
{
    char kept[8];
    memcpy(kept, place->ours + offset, size);
    memcpy(place->ours + offset, value, size);
    uint8_t *bytes;
    size_t length;
    struct err err = {0};
    int status = codec_encode(&message.ours, &bytes, &length, &err);
    free(bytes);
    memcpy(place->ours + offset, kept, size);
    check_refusal(place->field, what, status, &err);
}

static void spoil_theirs(const struct shapes_place *place, size_t offset,
                         const void *value, size_t size, const char *what)
{
    char kept[sizeof(ProtobufCBinaryData)];
    memcpy(kept, place->theirs + offset, size);
    memcpy(place->theirs + offset, value, size);
    size_t length;
    const uint8_t *bytes = shapes_pack(&arena, &message, &length);
    memcpy(place->theirs + offset, kept, size);
    if (length > FRAME_MAX) {
        return; /* bounded already */
    }
    struct msg msg;
    struct err err = {0};
    int status = codec_decode(&arena, bytes, length, &msg, &err);
    check_refusal(place->field, what, status, &err);
    assert_int_equal(msg.kind, MSG_NONE);
}

static void spoil_int(const struct shapes_place *place)
{
    const int64_t values[] = {place->field->min - 1, place->field->max + 1, 999999999};
    for (size_t i = 0; i < 3; i++) {
        int32_t value = (int32_t)values[i];
        if (value == values[i] &&
            (value < place->field->min || value > place->field->max)) {
            spoil_ours(place, place->field->offset, &value, 4, "number");
            spoil_theirs(place, place->wire->offset, &value, 4, "number");
        }
    }
}

static void spoil_int64(const struct shapes_place *place)
{
    const int64_t values[] = {place->field->min - 1, place->field->max + 1, INT64_MAX,
                              INT64_MIN};
    for (size_t i = 0; i < 4; i++) {
        spoil_ours(place, place->field->offset, &values[i], 8, "number");
        spoil_theirs(place, place->wire->offset, &values[i], 8, "number");
    }
}

static void spoil_uint64(const struct shapes_place *place)
{
    const uint64_t values[] = {(uint64_t)INT64_MAX + 1, UINT64_MAX};
    for (size_t i = 0; i < 2; i++) {
        spoil_ours(place, place->field->offset, &values[i], 8, "number");
        spoil_theirs(place, place->wire->offset, &values[i], 8, "number");
    }
}

static ProtobufCBinaryData data_of(const char *text, size_t length)
{
    return (ProtobufCBinaryData){length, (uint8_t *)arena_copy(&arena, text, length)};
}

/* Texts that a charset refuses; what is left of the rows is NULL. */
static const char *const *bad_texts(enum field_charset charset)
{
    static const char *const name[] = {"a b", "a/b", "a@b", "\xc3\xa4",
                                       "a\n", "*",   NULL};
    static const char *const host[] = {"a b", "a/b", "a\n", NULL};
    static const char *const lease[] = {"a b", "a;b", "a\n", NULL};
    static const char *const job[] = {"a", "1;2", "-1", NULL};
    static const char *const line[] = {
        "a\n",      "\x1b[2J",  "\xff",         "\xc0\x80",         "\x7f",
        "\xc2\x9b", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", NULL};
    static const char *const text[] = {"\xff", "\xc3(", "\xf8\x88\x80\x80\x80", NULL};
    static const char *const env[] = {"NAME", "=value", NULL};
    switch (charset) {
    case CHARSET_NAME:
        return name;
    case CHARSET_HOST:
        return host;
    case CHARSET_LEASE:
        return lease;
    case CHARSET_JOB:
        return job;
    case CHARSET_LINE:
    case CHARSET_TALK:
        return line;
    case CHARSET_ENV:
        return env;
    case CHARSET_FREE:
        break;
    }
    return text;
}

static char *long_text(enum field_charset charset, size_t length)
{
    char *text = arena_alloc(&arena, length + 1, 1);
    memset(text, charset == CHARSET_JOB ? '1' : 'a', length);
    if (charset == CHARSET_ENV) {
        text[1] = '=';
    }
    return text;
}

static void spoil_text_of_theirs(const struct shapes_place *place)
{
    const struct field *field = place->field;
    const char *nul = field->charset == CHARSET_JOB ? "1\0" : "a=\0b";
    ProtobufCBinaryData value = data_of(nul, field->charset == CHARSET_JOB ? 2 : 4);
    spoil_theirs(place, place->wire->offset, &value, sizeof(value), "NUL");
    value = data_of(long_text(field->charset, (size_t)field->max + 1),
                    (size_t)field->max + 1);
    spoil_theirs(place, place->wire->offset, &value, sizeof(value), "too long");
    for (const char *const *bad = bad_texts(field->charset); *bad != NULL; bad++) {
        value = data_of(*bad, strlen(*bad));
        spoil_theirs(place, place->wire->offset, &value, sizeof(value), *bad);
    }
    if (field->min > 0) {
        value = (ProtobufCBinaryData){0, NULL};
        spoil_theirs(place, place->wire->offset, &value, sizeof(value), "empty");
    }
}

static void spoil_text(const struct shapes_place *place)
{
    const struct field *field = place->field;
    spoil_text_of_theirs(place);
    if (field->charset == CHARSET_TALK || field->max == FRAME_MAX) {
        return; /* made to fit, or the frame's bound */
    }
    const char *text = long_text(field->charset, (size_t)field->max + 1);
    spoil_ours(place, field->offset, &text, sizeof(text), "too long");
    for (const char *const *bad = bad_texts(field->charset); *bad != NULL; bad++) {
        spoil_ours(place, field->offset, bad, sizeof(*bad), *bad);
    }
    if (field->min > 0) {
        text = NULL;
        spoil_ours(place, field->offset, &text, sizeof(text), "NULL");
    }
}

/* A list of `count` texts, in both forms. */
static void spoil_with_texts(const struct shapes_place *place, const char *text,
                             int count, const char *what)
{
    const struct field *field = place->field;
    const char **ours = arena_alloc(&arena, (size_t)count, sizeof(*ours));
    ProtobufCBinaryData *theirs = arena_alloc(&arena, (size_t)count, sizeof(*theirs));
    for (int i = 0; i < count; i++) {
        ours[i] = text;
        theirs[i] = (ProtobufCBinaryData){strlen(text), (uint8_t *)ours[i]};
    }
    size_t many = (size_t)count;
    int kept;
    memcpy(&kept, place->ours + field->count_offset, sizeof(kept));
    memcpy(place->ours + field->count_offset, &count, sizeof(count));
    spoil_ours(place, field->offset, &ours, sizeof(ours), what);
    memcpy(place->ours + field->count_offset, &kept, sizeof(kept));

    size_t their_kept;
    memcpy(&their_kept, place->theirs + place->wire->quantifier_offset,
           sizeof(their_kept));
    memcpy(place->theirs + place->wire->quantifier_offset, &many, sizeof(many));
    spoil_theirs(place, place->wire->offset, &theirs, sizeof(theirs), what);
    memcpy(place->theirs + place->wire->quantifier_offset, &their_kept,
           sizeof(their_kept));
}

static void spoil_texts(const struct shapes_place *place)
{
    const struct field *field = place->field;
    const char *good = field->charset == CHARSET_JOB   ? "1"
                       : field->charset == CHARSET_ENV ? "A="
                                                       : "a";
    spoil_with_texts(place, good, (int)field->max + 1, "too many");
    spoil_with_texts(place, "", 1, "empty");
    spoil_with_texts(place, long_text(field->charset, (size_t)field->text_max + 1), 1,
                     "too long");
    for (const char *const *bad = bad_texts(field->charset); *bad != NULL; bad++) {
        spoil_with_texts(place, *bad, 1, *bad);
    }
    int full = (int)(field->total_max / field->text_max);
    if (full < field->max) {
        spoil_with_texts(place, long_text(field->charset, (size_t)field->text_max),
                         full + 1, "too much in all");
    }
    int count = -1;
    spoil_ours(place, field->count_offset, &count, sizeof(count), "negative count");
}

static void spoil_bytes(const struct shapes_place *place)
{
    const struct field *field = place->field;
    size_t length = (size_t)field->max + 1;
    ProtobufCBinaryData value = {length, (uint8_t *)long_text(CHARSET_NAME, length)};
    spoil_theirs(place, place->wire->offset, &value, sizeof(value), "too long");
    const int counts[] = {(int)length, -1};
    for (size_t i = 0; i < 2; i++) {
        spoil_ours(place, field->count_offset, &counts[i], sizeof(int), "count");
    }
}

static void spoil_parts(const struct shapes_place *place)
{
    const struct field *field = place->field;
    void **parts;
    memcpy(&parts, place->theirs + place->wire->offset, sizeof(parts));
    size_t many = (size_t)field->max + 1;
    void **more = arena_alloc(&arena, many, sizeof(*more));
    for (size_t i = 0; i < many; i++) {
        more[i] = parts[0];
    }
    size_t kept = SHAPES_MEMBERS;
    memcpy(place->theirs + place->wire->quantifier_offset, &many, sizeof(many));
    spoil_theirs(place, place->wire->offset, &more, sizeof(more), "too many");
    memcpy(place->theirs + place->wire->quantifier_offset, &kept, sizeof(kept));

    const int counts[] = {(int)field->max + 1, -1, (int)field->min - 1};
    for (size_t i = 0; i < 3; i++) {
        spoil_ours(place, field->count_offset, &counts[i], sizeof(int), "count");
    }
    if (field->part->begins_with_host) {
        void **twice = arena_copy(&arena, parts, SHAPES_MEMBERS * sizeof(*parts));
        twice[2] = twice[0];
        spoil_theirs(place, place->wire->offset, &twice, sizeof(twice), "host twice");
    }
    if (field->min > 0) {
        size_t none = 0;
        spoil_theirs(place, place->wire->quantifier_offset, &none, sizeof(none),
                     "none");
    }
}

static void spoil(const struct shapes_place *place)
{
    void *none = NULL;
    switch (place->field->kind) {
    case FIELD_INT:
        spoil_int(place);
        break;
    case FIELD_INT64:
        spoil_int64(place);
        break;
    case FIELD_UINT64:
        spoil_uint64(place);
        break;
    case FIELD_TEXT:
        spoil_text(place);
        break;
    case FIELD_TEXTS:
        spoil_texts(place);
        break;
    case FIELD_BYTES:
        spoil_bytes(place);
        break;
    case FIELD_PART:
        spoil_theirs(place, place->wire->offset, &none, sizeof(none), "not there");
        break;
    case FIELD_PARTS:
        spoil_parts(place);
        break;
    case FIELD_BOOL: /* has no bad value */
    case FIELD_REAL: /* on no wire, as those below */
    case FIELD_OPTION:
    case FIELD_JOB_KEY:
        break;
    }
}

static void test_every_bound_of_every_field(void **state)
{
    n_refused = 0;
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        shapes_build(&arena, (enum msg_kind)kind, &message);
        for (int i = 0; i < message.n_places; i++) {
            spoil(&message.places[i]);
        }
        arena_clear(&arena);
    }
    assert_true(n_refused > 1500);
}

static void test_numbers_at_their_bounds_pass(void **state)
{
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        shapes_build(&arena, (enum msg_kind)kind, &message);
        for (int i = 0; i < message.n_places; i++) {
            const struct shapes_place *place = &message.places[i];
            if (place->field->kind == FIELD_INT) {
                int32_t value = (int32_t)place->field->max;
                memcpy(place->ours + place->field->offset, &value, sizeof(value));
            } else if (place->field->kind == FIELD_INT64 ||
                       place->field->kind == FIELD_UINT64) {
                memcpy(place->ours + place->field->offset, &place->field->max, 8);
            }
        }
        uint8_t *bytes;
        size_t length;
        struct err err;
        struct msg msg;
        assert_int_equal(codec_encode(&message.ours, &bytes, &length, &err), ERR_NONE);
        assert_int_equal(codec_decode(&arena, bytes, length, &msg, &err), ERR_NONE);
        shapes_assert_same(msg_kinds[msg.kind].schema, &message.ours.hello, &msg.hello);
        free(bytes);
        arena_clear(&arena);
    }
}

/* ---------------------------------------------------------------- by hand */

static const struct host_split two_hosts[] = {{.host = "n1"}, {.host = "n1"}};
static const struct host_split many_slots[] = {{.host = "n1", .n_slots = 100001}};
static const struct host_slots no_slots[] = {{.host = "n1", .n_slots = 0}};

static const struct {
    const char *why, *says;
    struct msg msg;
} rows[] = {
    {"a site's name is 63 bytes",
     "name: 64 bytes",
     {.kind = MSG_HELLO,
      .hello = {.name = "a123456789a123456789a123456789a123456789a123456789a123456789"
                        "a123"}}},
    {"roles are three bits",
     "roles: 8",
     {.kind = MSG_HELLO, .hello = {.name = "n", .roles = 8}}},
    {"a lease has a name",
     "lease: 0 bytes",
     {.kind = MSG_FREEZE, .freeze = {.lease = ""}}},
    {"a host is in a lease once",
     "hosts: host \"n1\" twice",
     {.kind = MSG_STATE,
      .state = {.lease = "n/1/s", .hosts = two_hosts, .n_hosts = 2}}},
    {"a host has at most 100,000 slots",
     "n_slots: 100001",
     {.kind = MSG_PROPOSE,
      .propose = {.lease = "n/1/s", .hosts = many_slots, .n_hosts = 1}}},
    {"a job takes a slot on each of its hosts",
     "hosts: n_slots: 0",
     {.kind = MSG_START,
      .start = {.run = {"s", 1},
                .lease = "n/1/s",
                .job = "1",
                .hosts = no_slots,
                .n_hosts = 1,
                .spec = {.n_slots = 1}}}},
    {"a job takes a slot",
     "spec: n_slots: 0",
     {.kind = MSG_SUBMIT, .submit = {.spec = {.n_slots = 0}}}},
    {"uid -1 means none to the kernel",
     "uid: 4294967295",
     {.kind = MSG_SUBMIT, .submit = {.spec = {.n_slots = 1, .uid = UINT32_MAX}}}},
    {"there are 64 signals",
     "control: signal: 65",
     {.kind = MSG_ATTEMPT_CONTROL,
      .lifecycle_control = {.run = {"s", 1}, .control = {.signal = 65}}}},
    {"a piece of output is 64 KiB",
     "n_bytes: 65537",
     {.kind = MSG_OUTPUT_ASK, .output_ask = {.run = {"s", 1}, .n_bytes = 65537}}},
    {"a code is one of the error table",
     "code: -13",
     {.kind = MSG_ERROR, .error = {.code = -13}}},
    {"a code is no success", "code: 1", {.kind = MSG_REPLY, .reply = {.code = 1}}},
    {"a delay is removed by -1 only",
     "delay_ms: -2",
     {.kind = MSG_SET_RECLAIM, .set_reclaim = {.delay_ms = -2}}},
    {"a page has 500 rows", "limit: 501", {.kind = MSG_QUERY, .query = {.limit = 501}}},
    {"no such kind", "not a kind", {.kind = MSG_NONE}},
    {"no such kind", "not a kind", {.kind = MSG_KINDS}},
    {"a session is below 2^63",
     "session: 9223372036854775808",
     {.kind = MSG_PONG, .session = (uint64_t)1 << 63}},
};

static void test_bounds_by_hand(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t *bytes;
        size_t length;
        struct err err;
        int status = codec_encode(&rows[i].msg, &bytes, &length, &err);
        if (status != ERR_PARSE && status != ERR_BOUNDS) {
            fail_msg("%s: accepted", rows[i].why);
        }
        if (strstr(err.text, rows[i].says) == NULL) {
            fail_msg("%s: \"%s\", expected \"%s\"", rows[i].why, err.text,
                     rows[i].says);
        }
        assert_null(bytes);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)
    const struct CMUnitTest tests[] = {
        TEST(test_every_bound_of_every_field),
        TEST(test_numbers_at_their_bounds_pass),
        TEST(test_bounds_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
