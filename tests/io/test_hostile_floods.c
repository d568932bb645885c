/* SPDX-License-Identifier: Apache-2.0 */
/* Much of everything, from members and from strangers: the broker's memory stays within
 * a bound, and others are served. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/io/hostile.h"

static int setup(void **state)
{
    struct hostile *hostile = mem_alloc(1, sizeof(*hostile));
    hostile_init(hostile);
    hostile_start(hostile, "");
    *state = hostile;
    return 0;
}

static int teardown(void **state)
{
    hostile_release(*state);
    free(*state);
    return 0;
}

/* What the test did has cost at most so much, ever since the broker began. */
static void assert_peak(struct hostile *hostile, int max_mib)
{
    int peak = hostile_memory_mib(hostile, "VmHWM");
    if (peak > max_mib) {
        fail_msg("memory peaked at %d MiB, expected at most %d", peak, max_mib);
    }
}

static struct msg query(enum query_kind kind)
{
    struct msg msg = {.kind = MSG_QUERY};
    msg.query.kind = kind;
    msg.query.name = msg.query.user = msg.query.queue = msg.query.host = "";
    msg.query.after = "";
    return msg;
}

static void state_lease(zsock_t *voice, const char *site, int number)
{
    static const struct host_split host = {.host = "n1", .n_slots = 1, .provider = 1};
    char id[LEASE_ID_SIZE];
    struct msg msg = {.kind = MSG_STATE, .session = 1};
    snprintf(id, sizeof(id), "%s/p%d/south", site, number);
    msg.state = (struct msg_state){
        .lease = id, .epoch = 1, .hosts = &host, .n_hosts = 1, .reason = ""};
    hostile_say(voice, &msg);
}

/* ---------------------------------------------------------------- frames */

static void test_a_message_of_many_frames(void **state)
{
    struct hostile *hostile = *state;
    /* Refused, and said so; a flood that died of it may be another's turn. */
    assert_true(
        run_fixture_wait(hostile_flood(hostile, "north", 20, 20001, 0, 20000) == 1));
    assert_true(hostile_is_served(hostile));
    assert_peak(hostile, 100);
}

/* Half a gigabyte, all of it one message: libzmq alone would keep it (wire_watch.h). A
 * peer with another library need not even have that much itself, nor ever end it. */
static void test_a_message_that_does_not_end(void **state)
{
    struct hostile *hostile = *state;
    /* It is cut off, or dies: no answer comes. */
    (void)hostile_flood(hostile, "north", 1, 8192, 65536, 500);
    assert_true(hostile_is_served(hostile));
    zsock_t *voice = hostile_voice(hostile, "north", NULL);
    hostile_hello(hostile, voice, "north", 1); /* its key is not shut out */
    assert_peak(hostile, 250);
    zsock_destroy(&voice);
}

static void test_a_frame_that_is_too_large(void **state)
{
    struct hostile *hostile = *state;
    static const char bytes[1 << 20];
    for (int i = 0; i < 20; i++) {
        zsock_t *voice = hostile_voice(hostile, "north", NULL);
        hostile_say_bytes(voice, bytes, sizeof(bytes));
        hostile_say_bytes(voice, bytes, sizeof(bytes));
        zsock_destroy(&voice);
    }
    assert_true(hostile_is_served(hostile));
    assert_peak(hostile, 100);
}

/* ---------------------------------------------------------------- messages */

static void test_usage_without_end(void **state)
{
    struct hostile *hostile = *state;
    zsock_t *voice = hostile_voice(hostile, "north", NULL);
    struct msg msg = {.kind = MSG_USAGE, .session = 1};
    hostile_hello(hostile, voice, "north", 1);
    zsock_set_sndtimeo(voice, 0); /* it is disconnected now and then */
    for (uint64_t i = 0; i < 200000; i++) {
        msg.usage.seq = i;
        hostile_say(voice, &msg);
        hostile_skip_answers(voice);
    }
    assert_true(hostile_is_served(hostile));
    assert_peak(hostile, 150);
    zsock_destroy(&voice);
}

static bool has_lease(struct hostile *hostile, zsock_t *voice, const char *lease)
{
    struct msg ask = query(QUERY_LEASES), answer;
    ask.query.name = lease;
    hostile_say(voice, &ask);
    assert_true(hostile_hear_kind(hostile, voice, MSG_REPLY, &answer));
    return answer.reply.code == 0 && answer.reply.json != NULL &&
           strstr(answer.reply.json, lease) != NULL;
}

/* Each answer is a page of a quarter of a megabyte. */
static void test_a_peer_that_never_reads(void **state)
{
    struct hostile *hostile = *state;
    struct msg ask = query(QUERY_LEASES), answer;
    zsock_t *north = hostile_voice(hostile, "north", NULL);
    hostile_hello(hostile, north, "north", 1);
    for (int i = 0; i < PAGE_ROWS_MAX; i++) {
        state_lease(north, "north", i);
    }
    hostile_say(north, &ask);
    assert_true(hostile_hear_kind(hostile, north, MSG_REPLY, &answer));
    zsock_t *voice = hostile_deaf_voice(hostile, "east");
    hostile_hello(hostile, voice, "east", 1);
    for (int i = 0; i < 400; i++) {
        hostile_say(voice, &ask);
    }
    assert_true(hostile_is_served(hostile));
    state_lease(voice, "east", 1); /* the last that it says: all before it is done */
    assert_true(run_fixture_wait(has_lease(hostile, north, "east/p1/south")));
    assert_peak(hostile, 60); /* 100 without a bound on what waits */
    zsock_destroy(&voice);
    zsock_destroy(&north);
}

static void test_a_provider_of_too_many_leases(void **state)
{
    struct hostile *hostile = *state;
    struct msg answer;
    zsock_t *north = hostile_voice(hostile, "north", NULL);
    zsock_t *east = hostile_voice(hostile, "east", NULL);
    hostile_hello(hostile, north, "north", 1);
    hostile_hello(hostile, east, "east", 1);
    for (int i = 0; i < LEASES_PER_PROVIDER_MAX + 500; i++) {
        state_lease(north, "north", i);
    }
    assert_true(hostile_hear_kind(hostile, north, MSG_ERROR, &answer));
    assert_non_null(strstr(answer.error.text, "expected at most 10000"));
    assert_true(hostile_is_served(hostile));
    /* Others register theirs: a lease that stands may have its STATE behind. */
    state_lease(east, "east", 1);
    assert_true(run_fixture_wait(has_lease(hostile, east, "east/p1/south")));
    assert_peak(hostile, 250);
    zsock_destroy(&north);
    zsock_destroy(&east);
}

/* ---------------------------------------------------------------- connections */

static void test_many_connections_of_one_key(void **state)
{
    enum { N_VOICES = 200 };
    struct hostile *hostile = *state;
    int before = hostile_count_descriptors(hostile);
    zsock_t *voices[N_VOICES];
    struct msg ask = query(QUERY_VERSION);
    for (int i = 0; i < N_VOICES; i++) {
        voices[i] = hostile_brief_voice(hostile, "north");
        hostile_say(voices[i], &ask);
    }
    assert_true(hostile_is_served(hostile));
    assert_true(run_fixture_wait(hostile_count_descriptors(hostile) < before + 60));
    assert_true(hostile_is_served(hostile));
    for (int i = 0; i < N_VOICES; i++) {
        zsock_destroy(&voices[i]);
    }
}

static void test_500_unknown_keys(void **state)
{
    enum { N_VOICES = 500 };
    struct hostile *hostile = *state;
    static zsock_t *voices[N_VOICES];
    struct msg ask = query(QUERY_VERSION), answer;
    for (int i = 0; i < N_VOICES; i++) {
        voices[i] = hostile_voice(hostile, "stranger", NULL);
        hostile_say(voices[i], &ask);
    }
    assert_true(hostile_is_served(hostile));
    assert_false(hostile_hear(hostile, voices[0], &answer, 200));
    assert_false(hostile_hear(hostile, voices[N_VOICES - 1], &answer, 200));
    assert_peak(hostile, 150);
    for (int i = 0; i < N_VOICES; i++) {
        zsock_destroy(&voices[i]);
    }
}

static int open_tcp(const struct hostile *hostile, const void *bytes, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)hostile->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    if (size > 0) {
        assert_true(send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size);
    }
    return fd;
}

static bool is_closed(int fd)
{
    char bytes[4096];
    for (;;) {
        ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got <= 0) {
            return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
        }
    }
}

/* Connections that say nothing, begin a handshake and stop, or speak HTTP: closed by us
 * before libzmq would, and in nobody's way until then. */
static void test_half_a_handshake(void **state)
{
    enum { N_EACH = 50 };
    static const char greeting[] = "\xff\0\0\0\0\0\0\0\x01\x7f\x03\x01"
                                   "CURVE\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    static const char http[] = "GET / HTTP/1.0\r\n\r\n";
    struct hostile *hostile = *state;
    int fds[3 * N_EACH];
    for (int i = 0; i < N_EACH; i++) {
        fds[3 * i] = open_tcp(hostile, "", 0);
        fds[3 * i + 1] = open_tcp(hostile, greeting, 10 + (size_t)i % 20);
        fds[3 * i + 2] = open_tcp(hostile, http, sizeof(http) - 1);
    }
    assert_true(hostile_is_served(hostile));
    for (int i = 0; i < 3 * N_EACH; i++) {
        assert_true(run_fixture_wait(is_closed(fds[i])));
        close(fds[i]);
    }
    assert_true(hostile_is_served(hostile));
}

static void test_no_key_and_a_password(void **state)
{
    struct hostile *hostile = *state;
    struct msg ask = query(QUERY_VERSION), answer;
    zsock_t *null = hostile_voice(hostile, "", NULL);
    zsock_t *plain = zsock_new(ZMQ_DEALER);
    zsock_set_linger(plain, 0);
    zsock_set_plain_username(plain, "ops");
    zsock_set_plain_password(plain, "secret");
    assert_int_equal(zsock_connect(plain, "%s", hostile->endpoint), 0);
    hostile_say(null, &ask);
    hostile_say(plain, &ask);
    assert_true(hostile_is_served(hostile));
    assert_false(hostile_hear(hostile, null, &answer, 300));
    assert_false(hostile_hear(hostile, plain, &answer, 300));
    zsock_destroy(&null);
    zsock_destroy(&plain);
}

#define hostile_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        hostile_test(test_a_message_of_many_frames),
        hostile_test(test_a_message_that_does_not_end),
        hostile_test(test_a_frame_that_is_too_large),
        hostile_test(test_usage_without_end),
        hostile_test(test_a_peer_that_never_reads),
        hostile_test(test_a_provider_of_too_many_leases),
        hostile_test(test_many_connections_of_one_key),
        hostile_test(test_500_unknown_keys),
        hostile_test(test_half_a_handshake),
        hostile_test(test_no_key_and_a_password),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
