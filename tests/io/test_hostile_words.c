/* SPDX-License-Identifier: Apache-2.0 */
/* What a member may say that is not true, not its own, or not a message at all: it is
 * told so, the contracts stay, and the others are served. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "proto/codec.h"
#include "tests/io/hostile.h"

static const char lease_id[] = "north/1/south";
static const struct host_split split = {
    .host = "n1", .n_slots = 4, .provider = 3, .consumer = 1};

struct scene {
    struct hostile hostile;
    zsock_t *north, *east, *south;
};

static struct msg state_of(const char *lease, uint64_t session, uint64_t epoch)
{
    struct msg msg = {.kind = MSG_STATE, .session = session};
    msg.state = (struct msg_state){
        .lease = lease, .epoch = epoch, .hosts = &split, .n_hosts = 1, .reason = ""};
    return msg;
}

static int setup(void **state)
{
    struct scene *scene = mem_alloc(1, sizeof(*scene));
    hostile_init(&scene->hostile);
    hostile_start(&scene->hostile, "");
    scene->north = hostile_voice(&scene->hostile, "north", "north-id");
    scene->east = hostile_voice(&scene->hostile, "east", NULL);
    scene->south = hostile_voice(&scene->hostile, "south", NULL);
    hostile_hello(&scene->hostile, scene->north, "north", 10);
    hostile_hello(&scene->hostile, scene->east, "east", 10);
    hostile_hello(&scene->hostile, scene->south, "south", 10);
    struct msg msg = state_of(lease_id, 10, 5);
    hostile_say(scene->north, &msg);
    *state = scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;
    zsock_destroy(&scene->north);
    zsock_destroy(&scene->east);
    zsock_destroy(&scene->south);
    hostile_release(&scene->hostile);
    free(scene);
    return 0;
}

/* The contract as anyone sees it. */
static const char *see_lease(struct scene *scene)
{
    struct msg ask = {.kind = MSG_QUERY}, answer;
    ask.query.kind = QUERY_LEASES;
    ask.query.name = lease_id;
    ask.query.user = ask.query.queue = ask.query.host = ask.query.after = "";
    zsock_t *voice = hostile_voice(&scene->hostile, "ops", NULL);
    hostile_say(voice, &ask);
    assert_true(hostile_hear_kind(&scene->hostile, voice, MSG_REPLY, &answer));
    assert_int_equal(answer.reply.code, 0);
    zsock_destroy(&voice);
    return answer.reply.json;
}

static void assert_lease_stands(struct scene *scene)
{
    const char *json = see_lease(scene);
    assert_non_null(json);
    if (strstr(json, "\"epoch\":5") == NULL || strstr(json, "\"pending\"") == NULL) {
        fail_msg("%s", json);
    }
}

static void assert_refused(struct scene *scene, zsock_t *voice, int code,
                           const char *what)
{
    struct msg answer;
    if (!hostile_hear_kind(&scene->hostile, voice, MSG_ERROR, &answer)) {
        fail_msg("%s: no answer", what);
    }
    if (answer.error.code != code) {
        fail_msg("%s: code %d (%s), expected %d", what, answer.error.code,
                 answer.error.text, code);
    }
}

/* ---------------------------------------------------------------- lies */

static struct run_id run_of(const char *site)
{
    return (struct run_id){.site = site, .attempt = 1};
}

static struct msg start_of(const char *consumer)
{
    static const struct host_slots host = {.host = "n1", .n_slots = 1};
    static const char *const env[] = {"A=b"};
    struct msg msg = {.kind = MSG_START, .session = 10, .site = "north"};
    msg.start.run = run_of(consumer);
    msg.start.lease = lease_id;
    msg.start.epoch = 5;
    msg.start.job = "1";
    msg.start.hosts = &host;
    msg.start.n_hosts = 1;
    msg.start.spec = (struct job_spec){.name = "a",
                                       .user = "root",
                                       .queue = "normal",
                                       .command = "true",
                                       .cwd = "",
                                       .in_file = "",
                                       .out_file = "",
                                       .err_file = "",
                                       .env = env,
                                       .n_env = 1,
                                       .n_slots = 1};
    return msg;
}

static void test_lies(void **state)
{
    struct scene *scene = *state;
    struct msg hello = {.kind = MSG_HELLO, .session = 99};
    hello.hello.name = "north";
    hello.hello.roles = ROLE_PROVIDER;
    struct msg stolen = state_of(lease_id, 10, 6);
    struct msg nobodys = state_of("east/1/nobody", 10, 1);
    struct msg to_itself = state_of("east/1/east", 10, 1);
    struct msg attempt = {.kind = MSG_ATTEMPT_STATE, .session = 10, .site = "south"};
    attempt.attempt_state =
        (struct msg_attempt_state){.run = run_of("north"), .reason = ""};
    attempt.attempt_state.exit.text = "";
    struct msg start = start_of("south");
    struct msg south_state = state_of("south/1/east", 10, 1);
    struct msg freeze = {.kind = MSG_FREEZE, .session = 10};
    freeze.freeze = (struct msg_freeze){.lease = lease_id, .base = 5, .freeze = 1};
    struct msg output = {.kind = MSG_OUTPUT, .session = 10, .site = "south"};
    output.output = (struct msg_output){
        .run = run_of("north"), .bytes = (const uint8_t *)"x", .n_bytes = 1};
    const struct {
        const char *why;
        zsock_t *voice;
        const struct msg *msg;
        int code;
    } lies[] = {
        {"HELLO of another's name", scene->east, &hello, ERR_DENIED},
        {"STATE for another provider's lease", scene->east, &stolen, ERR_DENIED},
        {"a lease to nobody", scene->east, &nobodys, ERR_DENIED},
        {"a lease to itself", scene->east, &to_itself, ERR_DENIED},
        {"STATE of a site that is no provider", scene->south, &south_state, ERR_DENIED},
        {"how another's attempt is", scene->east, &attempt, ERR_DENIED},
        {"output of another's run", scene->east, &output, ERR_DENIED},
        {"START in another's name", scene->east, &start, ERR_DENIED},
        {"what only a broker says", scene->east, &freeze, ERR_STATE},
    };
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        hostile_say(lies[i].voice, lies[i].msg);
        assert_refused(scene, lies[i].voice, lies[i].code, lies[i].why);
    }
    assert_lease_stands(scene);
}

/* Another's acknowledgement is nothing: the consumer is told until it says so itself.
 */
static void test_an_acknowledgement_of_another(void **state)
{
    struct scene *scene = *state;
    struct msg told, ack = {.kind = MSG_CONTRACT_ACK, .session = 10};
    assert_true(hostile_hear_kind(&scene->hostile, scene->south, MSG_CONTRACT, &told));
    ack.contract_ack.lease = lease_id;
    ack.contract_ack.revision = told.contract.revision;
    hostile_say(scene->east, &ack);
    assert_true(hostile_hear_kind(&scene->hostile, scene->south, MSG_CONTRACT, &told));
    assert_lease_stands(scene);
}

/* ---------------------------------------------------------------- replays */

static void test_an_earlier_session(void **state)
{
    struct scene *scene = *state;
    struct msg answer;
    struct msg late = state_of(lease_id, 10, 900);
    struct msg usage = {.kind = MSG_USAGE, .session = 10};
    struct msg hello = {.kind = MSG_HELLO, .session = 3};
    hello.hello.name = "north";
    hello.hello.roles = ROLE_PROVIDER;
    hostile_hello(&scene->hostile, scene->north, "north", 11);
    hostile_say(scene->north, &late);
    assert_refused(scene, scene->north, ERR_STALE, "a STATE of an earlier session");
    hostile_say(scene->north, &usage);
    assert_refused(scene, scene->north, ERR_STALE, "a USAGE of an earlier session");
    hostile_say(scene->north, &hello);
    assert_true(hostile_hear_kind(&scene->hostile, scene->north, MSG_WELCOME, &answer));
    assert_false(answer.welcome.is_accepted);
    struct msg behind = state_of(lease_id, 11, 4);
    hostile_say(scene->north, &behind);
    assert_lease_stands(scene);
}

/* Two sockets with one routing id: with another's key, and with one's own. */
static void test_a_copied_routing_id(void **state)
{
    struct scene *scene = *state;
    struct msg answer, usage = {.kind = MSG_USAGE, .session = 10};
    struct msg stolen = state_of(lease_id, 10, 6);
    zsock_t *thief = hostile_voice(&scene->hostile, "east", "north-id");
    zsock_t *twin = hostile_voice(&scene->hostile, "north", "north-id");
    hostile_say(thief, &stolen);
    hostile_say(twin, &stolen);
    assert_true(hostile_is_served(&scene->hostile));
    for (uint64_t i = 1; i <= 20; i++) {
        usage.usage.seq = i;
        hostile_say(scene->north, &usage);
        assert_true(
            hostile_hear_kind(&scene->hostile, scene->north, MSG_PONG, &answer));
        assert_int_equal(answer.pong.seq, i);
    }
    while (hostile_hear(&scene->hostile, thief, &answer, 100)) {
        assert_int_equal(answer.kind, MSG_ERROR); /* nothing of north's */
    }
    assert_lease_stands(scene);
    zsock_destroy(&thief);
    zsock_destroy(&twin);
}

/* Taken off the list, and the broker restarted: the socket that comes back by itself is
 * not let in. */
static void test_a_key_that_was_taken_off(void **state)
{
    struct scene *scene = *state;
    struct msg answer, usage = {.kind = MSG_USAGE, .session = 10};
    assert_lease_stands(scene);
    hostile_kill(&scene->hostile);
    hostile_start(&scene->hostile, "east");
    while (hostile_hear(&scene->hostile, scene->east, &answer, 0)) {
    }
    hostile_say(scene->east, &usage);
    assert_true(hostile_is_served(&scene->hostile));
    hostile_say(scene->north, &usage);
    assert_refused(scene, scene->north, ERR_STALE, "north comes back");
    assert_false(hostile_hear(&scene->hostile, scene->east, &answer, 300));
    assert_lease_stands(scene);
}

/* ---------------------------------------------------------------- no messages */

struct bytes {
    uint8_t *at;
    size_t size;
};

static struct bytes repeat(struct arena *arena, const char *head, size_t head_size,
                           const char *unit, size_t unit_size, size_t size)
{
    struct bytes bytes = {arena_alloc(arena, size, 1), size};
    memcpy(bytes.at, head, head_size);
    for (size_t i = head_size; i + unit_size <= size; i += unit_size) {
        memcpy(bytes.at + i, unit, unit_size);
    }
    return bytes;
}

/* A STATE of these bytes: found by encoding one and taking its body's tag. */
static struct bytes state_with(struct arena *arena, const char *unit, size_t unit_size,
                               size_t size)
{
    struct msg msg = state_of(lease_id, 10, 6);
    uint8_t *encoded;
    size_t length;
    struct err err;
    msg.site = "";
    assert_int_equal(codec_encode(&msg, &encoded, &length, &err), 0);
    /* version, session, then the body's tag of two bytes at most; its length is ours */
    size_t at = 0;
    while (at + 2 < length && (encoded[at] & 7) != 2) {
        at += 2;
    }
    size_t tag_end = at + ((encoded[at] & 0x80) != 0 ? 2 : 1);
    struct bytes body = repeat(arena, "", 0, unit, unit_size, size);
    struct bytes whole = {arena_alloc(arena, size + tag_end + 3, 1), 0};
    memcpy(whole.at, encoded, tag_end);
    whole.size = tag_end;
    for (size_t left = size, more = 1; more; left >>= 7) {
        more = left > 0x7f;
        whole.at[whole.size++] = (uint8_t)((left & 0x7f) | (more ? 0x80 : 0));
    }
    memcpy(whole.at + whole.size, body.at, size);
    whole.size += size;
    free(encoded);
    return whole;
}

/* Groups in groups, and members in members, each as deep as the frame is long. */
static struct bytes nested(struct arena *arena)
{
    return repeat(arena, "", 0, "\x0b", 1, FRAME_MAX - 1000);
}

/* In `msg` as it is sent, the text `from` becomes `to`, of the same length. */
static struct bytes spoiled(struct arena *arena, const struct msg *msg,
                            const char *from, const char *to, size_t size)
{
    struct msg copy = *msg;
    uint8_t *encoded;
    size_t length;
    struct err err;
    copy.site = copy.site != NULL ? copy.site : "";
    assert_int_equal(codec_encode(&copy, &encoded, &length, &err), 0);
    uint8_t *at = memmem(encoded, length, from, size);
    assert_non_null(at);
    memcpy(at, to, size);
    struct bytes bytes = {arena_copy(arena, encoded, length), length};
    free(encoded);
    return bytes;
}

static void test_no_messages(void **state)
{
    struct scene *scene = *state;
    struct arena arena;
    arena_init(&arena);
    const size_t large = FRAME_MAX - 1000;
    struct msg good = state_of(lease_id, 10, 6);
    struct msg hello = {.kind = MSG_HELLO, .session = 12};
    hello.hello.name = "east";
    hello.hello.roles = ROLE_CONSUMER;
    const struct {
        const char *why;
        struct bytes bytes;
    } rows[] = {
        {"nothing", {(uint8_t *)"", 0}},
        {"one byte", {(uint8_t *)"\xff", 1}},
        {"empty members", repeat(&arena, "", 0, "\x1a\0", 2, large)},
        {"empty members in a STATE", state_with(&arena, "\x6a\0", 2, large)},
        {"unknown fields", repeat(&arena, "", 0, "\xf8\x7f\x01", 3, large)},
        {"unknown fields in a STATE", state_with(&arena, "\xf8\x7f\x01", 3, large)},
        {"numbers one by one", repeat(&arena, "", 0, "\x08\x01", 2, large)},
        {"a packed list", state_with(&arena, "\x01", 1, large)},
        {"depth", nested(&arena)},
        {"a length beyond the end", {(uint8_t *)"\x0a\xff\xff\xff\xff\x0f", 6}},
        {"NUL in a name", spoiled(&arena, &hello, "east", "e\0st", 4)},
        {"no UTF-8", spoiled(&arena, &hello, "east", "e\xff\xfet", 4)},
        {"a control character", spoiled(&arena, &hello, "east", "e\033[t", 4)},
        {"a lease id that is none", spoiled(&arena, &good, "north/1", "../../\x7f", 7)},
        {"an enum of 999", state_with(&arena, "\x18\xe7\x07", 3, 3)},
    };
    int before = hostile_memory_mib(&scene->hostile, "VmRSS");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct msg answer;
        for (int n = 0; n < 20; n++) {
            hostile_say_bytes(scene->east, rows[i].bytes.at, rows[i].bytes.size);
        }
        if (!hostile_hear_kind(&scene->hostile, scene->east, MSG_ERROR, &answer)) {
            fail_msg("%s: no answer", rows[i].why);
        }
    }
    assert_lease_stands(scene);
    int after = hostile_memory_mib(&scene->hostile, "VmHWM");
    if (after > before + 60) {
        fail_msg("memory: %d MiB before, at most %d since", before, after);
    }
    arena_release(&arena);
}

#define words_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        words_test(test_lies),
        words_test(test_an_acknowledgement_of_another),
        words_test(test_an_earlier_session),
        words_test(test_a_copied_routing_id),
        words_test(test_a_key_that_was_taken_off),
        words_test(test_no_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
