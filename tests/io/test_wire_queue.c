/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire_queue.c: whose message is next, how much of a batch one sender gets, and
 * what becomes of those who send more than that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "sys/daemon.h"
#include "sys/wire/wire_queue.h"

static struct wire_queue *queue;
static const struct peer site = {.kind = PEER_SITE};

/* What was delivered: the first byte of each message, and what each is said to cost. */
static struct {
    char text[4096];
    int count;
    int64_t cost_us;
} seen;

static int setup(void **state)
{
    queue = wire_queue_new();
    memset(&seen, 0, sizeof(seen));
    return 0;
}

static int teardown(void **state)
{
    wire_queue_free(queue);
    return 0;
}

static bool put(const char *sender, const void *bytes, size_t n_bytes)
{
    return wire_queue_put(queue, sender, false, &site, bytes, n_bytes, daemon_now_ms());
}

static void deliver(void *arg, const struct wire_queue_entry *entry)
{
    seen.text[seen.count++ % (int)(sizeof(seen.text) - 1)] = (char)entry->bytes[0];
    wire_queue_charge(queue, seen.cost_us);
}

static int serve(int max)
{
    return wire_queue_serve(queue, max, deliver, NULL);
}

static void test_one_message_of_each_in_turn(void **state)
{
    put("north", "a", 1);
    put("north", "b", 1);
    put("north", "c", 1);
    put("south", "x", 1);
    put("east", "y", 1);
    put("south", "z", 1);
    assert_int_equal(serve(100), 6);
    assert_string_equal(seen.text, "axybzc"); /* and those of one sender in order */
    assert_int_equal(serve(100), 0);
    assert_int_equal(wire_queue_count_bytes(queue), 0);
    assert_int_equal(wire_queue_ready_ms(queue, daemon_now_ms()), INT64_MAX);
}

/* 200 messages of 7 ms: those of the others are delivered in the first batch, and the
 * batch ends where it would keep what is due waiting. */
static void test_a_flood_delays_nobody(void **state)
{
    seen.cost_us = 7000;
    for (int i = 0; i < 200; i++) {
        put("hostile", "h", 1);
    }
    put("south", "s", 1);
    int count = serve(1000);
    assert_in_range(count, 2, 3);
    assert_non_null(strchr(seen.text, 's'));
    assert_int_equal(wire_queue_ready_ms(queue, daemon_now_ms()), 0);
}

static void test_a_batch_is_bounded_by_bytes(void **state)
{
    static const char bytes[100000] = "h";
    for (int i = 0; i < 50; i++) {
        put("hostile", bytes, sizeof(bytes));
    }
    assert_in_range(serve(1000), 1, 11); /* 1 MiB, if time allows */
}

/* Its rate limit is used up after half a second of work. From then on it is served one
 * message at a time, and only while nobody else waits. */
static void test_who_has_no_time_left_waits_for_the_others(void **state)
{
    seen.cost_us = 7000;
    for (int i = 0; i < 200; i++) {
        put("hostile", "h", 1);
    }
    int count = 0;
    while (count < 150 && serve(1000) > 0) {
        count = seen.count;
    }
    assert_true(wire_queue_rate_limit(queue, "hostile")->work_us >=
                RATE_LIMIT_WORK_MOST);
    assert_int_equal(serve(1000), 1);
    put("south", "s", 1);
    put("south", "t", 1);
    memset(seen.text, 0, sizeof(seen.text));
    seen.count = 0;
    assert_int_equal(serve(1000), 2);
    assert_string_equal(seen.text, "st");
    assert_int_equal(serve(1000), 1);
}

/* This thread computes for so long. */
static void burn(int64_t us)
{
    struct timespec now;
    int64_t begin_us = 0, now_us = 0;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        now_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
        begin_us = begin_us == 0 ? now_us : begin_us;
    } while (now_us - begin_us < us);
}

static void deliver_slowly(void *arg, const struct wire_queue_entry *entry)
{
    burn(4 * RATE_LIMIT_SHORT_US);
    deliver(arg, entry);
}

/* Idle time is not for messages that others would have to wait for: the sender waits
 * until it has time again, and the queue says when that is. */
static void test_long_messages_wait_although_nobody_else_does(void **state)
{
    seen.cost_us = 4 * RATE_LIMIT_WORK_MOST; /* eight seconds of debt at least */
    for (int i = 0; i < 3; i++) {
        put("hostile", "h", 1);
    }
    assert_int_equal(wire_queue_serve(queue, 1000, deliver_slowly, NULL), 1);
    assert_int_equal(wire_queue_serve(queue, 1000, deliver_slowly, NULL), 0);
    int64_t now_ms = daemon_now_ms();
    assert_in_range(wire_queue_ready_ms(queue, now_ms), now_ms + 1000, now_ms + 60000);
    put("south", "s", 1);
    assert_int_equal(wire_queue_ready_ms(queue, now_ms), 0);
    assert_int_equal(wire_queue_serve(queue, 1000, deliver_slowly, NULL), 1);
    assert_string_equal(seen.text, "hs");
}

static void test_one_queue_is_bounded(void **state)
{
    static char bytes[100000];
    int n_taken = 0;
    while (n_taken < 1000 && put("hostile", bytes, sizeof(bytes))) {
        n_taken++;
    }
    assert_in_range(n_taken, 80, 84); /* 8 MiB */
    assert_true(put("south", bytes, sizeof(bytes)));
    assert_int_equal(wire_queue_count_dropped(queue, "hostile"), 1);
    assert_int_equal(wire_queue_count_dropped(queue, "south"), 0);
}

/* 100 members fill what they can: it is divided. */
static void test_all_queues_are_bounded(void **state)
{
    static char bytes[200000];
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m%d", i);
        for (int n = 0; n < 50; n++) {
            put(name, bytes, sizeof(bytes));
        }
    }
    assert_true(wire_queue_count_bytes(queue) <= (300 << 20));
    assert_true(put("late", bytes, sizeof(bytes)));
}

static void test_who_goes_on_is_out(void **state)
{
    const char *out = NULL;
    put("hostile", "h", 1);
    put("south", "s", 1);
    for (int i = 0; i <= RATE_LIMIT_REFUSED_MOST + 100 && out == NULL; i++) {
        (void)wire_queue_refuse(queue, "hostile", daemon_now_ms());
        out = wire_queue_take_out(queue);
    }
    assert_string_equal(out, "hostile");
    assert_null(wire_queue_take_out(queue)); /* said once */
    assert_true(wire_queue_is_out(queue, "hostile", daemon_now_ms()));
    assert_false(wire_queue_is_out(queue, "south", daemon_now_ms()));
    assert_false(put("hostile", "h", 1));
    assert_int_equal(serve(1000), 1);
    assert_string_equal(seen.text, "s"); /* what it had sent before is dropped */
}

static void test_the_trusted_have_no_bounds(void **state)
{
    seen.cost_us = 7000;
    for (int i = 0; i < 200; i++) {
        assert_true(wire_queue_put(queue, "", true, &site, "b", 1, daemon_now_ms()));
    }
    while (serve(1000) > 0) {
    }
    assert_int_equal(seen.count, 200);
}

static void remove_it(void *arg, const struct wire_queue_entry *entry)
{
    wire_queue_remove(queue, "north");
    deliver(arg, entry);
}

static void test_a_removed_sender_may_be_the_current_one(void **state)
{
    put("north", "a", 1);
    put("north", "b", 1);
    put("south", "s", 1);
    assert_int_equal(wire_queue_serve(queue, 100, remove_it, NULL), 2);
    assert_string_equal(seen.text, "as");
    assert_null(wire_queue_rate_limit(queue, "north"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_message_of_each_in_turn),
        TEST(test_a_flood_delays_nobody),
        TEST(test_a_batch_is_bounded_by_bytes),
        TEST(test_who_has_no_time_left_waits_for_the_others),
        TEST(test_long_messages_wait_although_nobody_else_does),
        TEST(test_one_queue_is_bounded),
        TEST(test_all_queues_are_bounded),
        TEST(test_who_goes_on_is_out),
        TEST(test_the_trusted_have_no_bounds),
        TEST(test_a_removed_sender_may_be_the_current_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
