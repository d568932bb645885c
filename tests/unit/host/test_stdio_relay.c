/* SPDX-License-Identifier: Apache-2.0 */
/* test_stdio_relay.c: a guard's keeping of an interactive job's streams, with pipes
 * for the job and the test for the user's side: what is lost comes again, what comes
 * twice does no harm, and no more is kept than a window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bounds.h"
#include "host/run_dir/run_dir.h"
#include "host/stdio/host_stdio.h"
#include "model/msg.h"

enum { SERVED = 8 }; /* turns: more than any of this takes */

struct talk {
    char dir[64];
    int home; /* the directory to go back to */
    struct stdio_relay *stream;
    int in, out, err; /* the job's ends */
    int peer;         /* the user's */
};

static void make_pipe(int *reads, int *writes)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    *reads = ends[0];
    *writes = ends[1];
}

static int join_stream(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = RUN_DIR_STREAM};
    int peer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(peer >= 0);
    assert_int_equal(connect(peer, (struct sockaddr *)&name, sizeof(name)), 0);
    return peer;
}

static int begin_as(void **state, bool is_relayed)
{
    struct talk *talk = calloc(1, sizeof(*talk));
    struct job_stdio ends;
    struct err err = {0};
    snprintf(talk->dir, sizeof(talk->dir), "/tmp/sublet-stream-XXXXXX");
    talk->home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_non_null(mkdtemp(talk->dir));
    assert_int_equal(chdir(talk->dir), 0);
    assert_int_equal(stdio_relay_new(&talk->stream, is_relayed, &err), 0);
    job_stdio_init(&ends);
    make_pipe(&talk->in, &ends.in);
    make_pipe(&ends.out, &talk->out);
    make_pipe(&ends.err, &talk->err);
    stdio_relay_begin(talk->stream, &ends, 1000);
    talk->peer = join_stream();
    *state = talk;
    return 0;
}

static int begin(void **state)
{
    return begin_as(state, false);
}

static int begin_relayed(void **state)
{
    return begin_as(state, true);
}

static int finish(void **state)
{
    struct talk *talk = *state;
    int ends[] = {talk->in, talk->out, talk->err, talk->peer};
    stdio_relay_free(talk->stream);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
    unlink(RUN_DIR_STREAM);
    assert_int_equal(fchdir(talk->home), 0);
    close(talk->home);
    rmdir(talk->dir);
    free(talk);
    return 0;
}

/* As the guard does it, until nothing moves any more. */
static void serve(struct talk *talk, int64_t now_ms)
{
    for (int i = 0; i < SERVED; i++) {
        struct pollfd polls[STDIO_RELAY_POLLS];
        int n_polls = stdio_relay_polls(talk->stream, polls);
        assert_in_range(n_polls, 1, STDIO_RELAY_POLLS);
        assert_true(poll(polls, (nfds_t)n_polls, 0) >= 0);
        stdio_relay_serve(talk->stream, polls, n_polls, now_ms);
    }
}

static void tell(struct talk *talk, const struct stream_head *head, const char *bytes)
{
    struct stream_packet packet = {.head = *head};
    packet.head.n_bytes = (uint32_t)strlen(bytes);
    memcpy(packet.bytes, bytes, packet.head.n_bytes);
    size_t size = sizeof(packet.head) + packet.head.n_bytes;
    assert_int_equal(send(talk->peer, &packet, size, 0), (ssize_t)size);
    serve(talk, 2000);
}

/* Reads what the guard has sent; false: nothing. */
static bool hear(struct talk *talk, struct stream_packet *packet)
{
    ssize_t got = recv(talk->peer, packet, sizeof(*packet), 0);
    if (got < 0) {
        return false;
    }
    assert_int_equal(got, sizeof(packet->head) + packet->head.n_bytes);
    return true;
}

static void expect_output(struct talk *talk, uint32_t stream, int64_t offset,
                          const char *bytes)
{
    struct stream_packet packet;
    do {
        assert_true(hear(talk, &packet));
    } while (packet.head.n_bytes == 0);
    assert_int_equal(packet.head.stream, stream);
    assert_int_equal(packet.head.offset, offset);
    assert_int_equal(packet.head.n_bytes, strlen(bytes));
    assert_memory_equal(packet.bytes, bytes, packet.head.n_bytes);
}

static void expect_no_output(struct talk *talk)
{
    struct stream_packet packet;
    while (hear(talk, &packet)) {
        assert_int_equal(packet.head.n_bytes, 0);
    }
}

static void write_job(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* All that the job can read now. */
static void expect_input(struct talk *talk, const char *expected)
{
    char text[256] = "";
    ssize_t got = read(talk->in, text, sizeof(text) - 1);
    text[got > 0 ? got : 0] = '\0';
    assert_string_equal(text, expected);
}

static void test_both_outputs(void **state)
{
    struct talk *talk = *state;
    write_job(talk->out, "word");
    write_job(talk->err, "trouble");
    serve(talk, 2000);
    expect_output(talk, OUTPUT_OUT, 0, "word");
    expect_output(talk, OUTPUT_ERR, 0, "trouble");
    write_job(talk->out, "more");
    serve(talk, 2000);
    expect_output(talk, OUTPUT_OUT, 4, "more");
    expect_no_output(talk);
}

/* After a time without an answer, all that was not acknowledged is sent again. */
static void test_again(void **state)
{
    struct talk *talk = *state;
    write_job(talk->out, "abcdef");
    serve(talk, 2000);
    expect_output(talk, OUTPUT_OUT, 0, "abcdef");
    tell(talk, &(struct stream_head){.got = {2, 0}}, "");
    expect_no_output(talk);
    tell(talk, &(struct stream_head){.flags = STREAM_AGAIN, .got = {2, 0}}, "");
    expect_output(talk, OUTPUT_OUT, 2, "cdef");
    /* What he cannot have, and what he had said before, change nothing. */
    tell(talk, &(struct stream_head){.flags = STREAM_AGAIN, .got = {99, 0}}, "");
    expect_output(talk, OUTPUT_OUT, 2, "cdef");
    tell(talk, &(struct stream_head){.flags = STREAM_AGAIN, .got = {1, 0}}, "");
    expect_output(talk, OUTPUT_OUT, 2, "cdef");
}

/* The newest connection counts, and gets what the one before may not have had. */
static void test_another_connection(void **state)
{
    struct talk *talk = *state;
    write_job(talk->out, "abc");
    serve(talk, 2000);
    int old = talk->peer;
    talk->peer = join_stream();
    serve(talk, 2000);
    expect_output(talk, OUTPUT_OUT, 0, "abc");
    struct stream_packet packet;
    while (recv(old, &packet, sizeof(packet), 0) > 0) {
    }
    assert_int_equal(recv(old, &packet, sizeof(packet), 0), 0); /* hung up */
    close(old);
}

static void test_input(void **state)
{
    struct talk *talk = *state;
    tell(talk, &(struct stream_head){.offset = 0}, "one ");
    tell(talk, &(struct stream_head){.offset = 0}, "one ");  /* twice */
    tell(talk, &(struct stream_head){.offset = 9}, "lost");  /* what is before is not */
    tell(talk, &(struct stream_head){.offset = 2}, "e two"); /* half of it is known */
    expect_input(talk, "one two");
    struct stream_packet packet;
    int64_t got = -1;
    while (hear(talk, &packet)) {
        got = packet.head.got[0];
    }
    assert_int_equal(got, 7);
    tell(talk, &(struct stream_head){.flags = STREAM_END, .offset = 7}, "!");
    expect_input(talk, "!");
    char byte;
    assert_int_equal(read(talk->in, &byte, 1), 0); /* at its end */
}

/* The job waits when nobody takes what it writes. */
static void test_window(void **state)
{
    struct talk *talk = *state;
    static char block[STREAM_WINDOW];
    memset(block, 'x', sizeof(block));
    for (int i = 0; i < 4; i++) {
        ssize_t put = write(talk->out, block, sizeof(block));
        (void)put; /* the pipe takes some itself */
        serve(talk, 2000);
    }
    struct stream_packet packet;
    int64_t end = 0;
    do {
        while (hear(talk, &packet)) {
            assert_int_equal(packet.head.offset, end);
            end += packet.head.n_bytes;
        }
        serve(talk, 2000); /* what the socket had no room for */
    } while (hear(talk, &packet) &&
             (assert_int_equal(packet.head.offset, end), end += packet.head.n_bytes));
    assert_int_equal(end, STREAM_WINDOW);
    tell(talk, &(struct stream_head){.got = {10, 0}}, "");
    expect_output(talk, OUTPUT_OUT, STREAM_WINDOW, "xxxxxxxxxx");
}

/* Who says what is no packet is hung up on; the job hears nothing of it. */
static void test_no_packet(void **state)
{
    struct talk *talk = *state;
    serve(talk, 2000);
    assert_int_equal(send(talk->peer, "abc", 3, 0), 3);
    serve(talk, 2000);
    struct stream_packet packet;
    while (recv(talk->peer, &packet, sizeof(packet), 0) > 0) {
    }
    assert_int_equal(recv(talk->peer, &packet, sizeof(packet), 0), 0);
    close(talk->peer);
    talk->peer = join_stream();
    serve(talk, 2000);
    tell(talk, &(struct stream_head){.n_bytes = 0}, "hello");
    expect_input(talk, "hello");
}

static void test_meeting(void **state)
{
    struct talk *talk = *state;
    assert_int_equal(stdio_relay_deadline_ms(talk->stream),
                     1000 + STDIO_RELAY_USER_WAIT_MS);
    assert_false(
        stdio_relay_is_user_there(talk->stream, 1000 + STDIO_RELAY_USER_WAIT_MS - 1));
    assert_true(
        stdio_relay_is_user_there(talk->stream, 1000 + STDIO_RELAY_USER_WAIT_MS));
    tell(talk, &(struct stream_head){0}, "");
    assert_true(stdio_relay_is_user_there(talk->stream, 1000));
    assert_int_equal(stdio_relay_deadline_ms(talk->stream), INT64_MAX);
}

/* Over is what the user's side has had, or has not asked for in a while. */
static void test_over(void **state)
{
    struct talk *talk = *state;
    write_job(talk->out, "last");
    close(talk->out);
    close(talk->err);
    talk->out = talk->err = -1;
    stdio_relay_end(talk->stream, 500, 3000);
    serve(talk, 2000);
    assert_false(stdio_relay_is_drained(talk->stream, 3499));
    assert_int_equal(stdio_relay_deadline_ms(talk->stream), 3500);
    assert_true(stdio_relay_is_drained(talk->stream, 3500));
    struct stream_packet packet;
    assert_true(hear(talk, &packet));
    assert_true((packet.head.flags & STREAM_OVER) != 0);
    tell(talk, &(struct stream_head){.got = {4, 0}}, "");
    assert_true(stdio_relay_is_drained(talk->stream, 2000));
}

/* Bytes that the user has by then, who acknowledges all of them, of a job that writes
 * without end. */
static int64_t hear_flood(struct talk *talk, int64_t got, int64_t now_ms)
{
    struct stream_packet packet;
    for (int i = 0; i < 10; i++) {
        struct stream_packet news = {.head = {.got = {got, 0}}};
        while (write(talk->out, packet.bytes, sizeof(packet.bytes)) > 0) {
        }
        assert_int_equal(send(talk->peer, &news, sizeof(news.head), 0),
                         sizeof(news.head));
        serve(talk, now_ms);
        while (hear(talk, &packet)) {
            got += packet.head.n_bytes;
        }
    }
    return got;
}

/* On its way through a broker: so much at once, then so much a second, and all of it;
 * at the pace of the bytes, also of those that are typed. */
static void test_relayed(void **state)
{
    enum { STEP_MS = 100, STEPS = 10 };
    struct talk *talk = *state;
    int64_t now_ms = 2000, got = hear_flood(talk, 0, now_ms);
    assert_in_range(got, STREAM_WINDOW, STREAM_WINDOW + STREAM_CHUNK_MAX);
    int64_t turn_ms = stdio_relay_retry_ms(talk->stream);
    assert_in_range(turn_ms, now_ms + 1, now_ms + 10);
    assert_true(hear_flood(talk, got, turn_ms - 1) == got);
    assert_true(hear_flood(talk, got, turn_ms) > got);
    for (int i = 1; i <= STEPS; i++) {
        got = hear_flood(talk, got, now_ms + i * STEP_MS);
    }
    assert_true(got > STEPS * STREAM_WINDOW / 2);
    assert_true(got < STREAM_RELAYED_PER_S + 2 * STREAM_WINDOW);
    tell(talk, &(struct stream_head){.got = {got, 0}}, "typed");
    serve(talk, now_ms + 10000);
    expect_input(talk, "typed");
    assert_int_equal(stdio_relay_retry_ms(talk->stream), INT64_MAX);
}

int main(void)
{
#define TALK(name) cmocka_unit_test_setup_teardown(name, begin, finish)
    const struct CMUnitTest tests[] = {
        TALK(test_both_outputs),
        TALK(test_again),
        TALK(test_another_connection),
        TALK(test_input),
        TALK(test_window),
        TALK(test_no_packet),
        TALK(test_meeting),
        TALK(test_over),
        cmocka_unit_test_setup_teardown(test_relayed, begin_relayed, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
