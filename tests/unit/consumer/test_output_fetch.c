/* SPDX-License-Identifier: Apache-2.0 */
/* test_output_fetch.c: output comes home before the end is reported, piece by piece,
 * and what cannot be had is named instead of waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "tests/unit/consumer/consumer_world.h"

static int set_up(void **state)
{
    struct consumer_world *world = mem_alloc(1, sizeof(*world));
    consumer_world_init(world);
    consumer_world_session(world, 7);
    consumer_world_contract(world, 1, 1, LEASE_ACTIVE, "n1=4");
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    consumer_world_release(*state);
    free(*state);
    return 0;
}

#define ASSERT_SENT(expected) assert_string_equal(consumer_world_sent(world), expected)
#define ASSERT_NEWS(expected)                                                          \
    assert_string_equal(consumer_world_reported(world), expected)

/* An attempt that has just ended. */
static void run(struct consumer_world *world, const char *files)
{
    consumer_world_start(world, 1, "n1=1", files);
    consumer_world_hear(world, 1, ATTEMPT_RUNNING, 0);
    consumer_world_sent(world);
    consumer_world_reported(world);
    consumer_world_hear(world, 1, ATTEMPT_ENDED, 0);
}

static void test_nothing_to_fetch(void **state)
{
    struct consumer_world *world = *state;
    run(world, "");
    ASSERT_NEWS("ended 1 ");
    ASSERT_SENT("ACK 1");
}

static void test_pieces(void **state)
{
    struct consumer_world *world = *state;
    run(world, "o");
    ASSERT_NEWS("");
    /* Its slots are free meanwhile. */
    assert_string_equal(consumer_world_hosts(world), "n1@north 4/0 open");
    assert_int_equal(world->effects.items[0].send.msg.output_ask.n_bytes,
                     OUTPUT_CHUNK_MAX);
    consumer_world_output(world, "abc", false, false);
    ASSERT_NEWS("output 1 out@0 abc");
    ASSERT_SENT("OUTPUT 1 out@0; OUTPUT 1 out@3");
    consumer_world_tick(world, 1000); /* so that there is an ask to answer */
    consumer_world_output(world, "de", true, false);
    ASSERT_NEWS("output 1 out@3 de; ended 1 ");
    ASSERT_SENT("OUTPUT 1 out@3; ACK 1");
}

static void test_both_streams(void **state)
{
    struct consumer_world *world = *state;
    run(world, "oe");
    consumer_world_output(world, "out", true, false);
    consumer_world_output(world, "err", true, false);
    ASSERT_NEWS("output 1 out@0 out; output 1 err@0 err; ended 1 ");
    ASSERT_SENT("OUTPUT 1 out@0; OUTPUT 1 err@0; ACK 1");
}

static void test_error_output_alone(void **state)
{
    struct consumer_world *world = *state;
    run(world, "e");
    consumer_world_output(world, "err", true, false);
    ASSERT_NEWS("output 1 err@0 err; ended 1 ");
    ASSERT_SENT("OUTPUT 1 err@0; ACK 1");
}

static void test_empty_output_makes_an_empty_file(void **state)
{
    struct consumer_world *world = *state;
    run(world, "o");
    consumer_world_output(world, "", true, false);
    ASSERT_NEWS("output 1 out@0 ; ended 1 ");
}

static void test_end_behind_the_last_byte(void **state)
{
    struct consumer_world *world = *state;
    run(world, "o");
    consumer_world_output(world, "abc", false, false);
    consumer_world_output(world, "", true, false);
    ASSERT_NEWS("output 1 out@0 abc; ended 1 ");
}

static void test_asked_again_until_answered(void **state)
{
    struct consumer_world *world = *state;
    run(world, "o");
    ASSERT_SENT("OUTPUT 1 out@0");
    consumer_world_tick(world, 999);
    ASSERT_SENT("");
    consumer_world_tick(world, 1);
    ASSERT_SENT("OUTPUT 1 out@0");
    consumer_broker_lost(world->consumer);
    consumer_world_tick(world, 5000);
    ASSERT_SENT("");
    consumer_world_session(world, 8);
    ASSERT_SENT("OUTPUT 1 out@0");
}

static void test_nothing_yet_is_no_piece(void **state)
{
    struct consumer_world *world = *state;
    run(world, "o");
    consumer_world_output(world, "", false, false);
    ASSERT_NEWS("");
    consumer_world_tick(world, 1000);
    ASSERT_SENT("OUTPUT 1 out@0; OUTPUT 1 out@0");
}

static void test_late_pieces_are_ignored(void **state)
{
    struct consumer_world *world = *state;
    world->writes = false;
    run(world, "o");
    consumer_world_output(world, "abc", false, false);
    ASSERT_NEWS("output 1 out@0 abc");
    consumer_world_output(world, "abc", false, false); /* a copy, while it is written */
    ASSERT_NEWS("");
    consumer_world_tick(world, 60000); /* however long that takes */
    ASSERT_SENT("OUTPUT 1 out@0");
    consumer_world_reported(world); /* its provider is silent, too */
    /* Another's request: someone peeks at the same run. */
    struct msg msg = {
        .kind = MSG_OUTPUT,
        .site = "north",
        .output = {.run = {"south", 1},
                   .request = 1,
                   .bytes = (const uint8_t *)"x",
                   .n_bytes = 1},
    };
    consumer_message(world->consumer, &msg, world->now_ms, &world->effects, NULL, NULL);
    consumer_written(world->consumer, 1, true, world->now_ms, &world->effects);
    consumer_written(world->consumer, 1, true, world->now_ms, &world->effects);
    ASSERT_SENT("OUTPUT 1 out@3");
}

/* The site writes outside the step: the end follows with the next tick. */
static void test_end_follows_the_last_write(void **state)
{
    struct consumer_world *world = *state;
    world->writes = false;
    run(world, "o");
    consumer_world_output(world, "abc", true, false);
    ASSERT_NEWS("output 1 out@0 abc");
    consumer_written(world->consumer, 1, true, world->now_ms, &world->effects);
    assert_true(consumer_wake_ms(world->consumer) <= world->now_ms);
    consumer_world_tick(world, 0);
    ASSERT_NEWS("ended 1 ");
    assert_int_equal(consumer_wake_ms(world->consumer), INT64_MAX);
}

static void test_gone_output_is_named(void **state)
{
    struct consumer_world *world = *state;
    run(world, "oe");
    consumer_world_output(world, "abc", false, false);
    consumer_world_output(world, "", true, true);
    consumer_world_output(world, "err", true, false);
    ASSERT_NEWS("output 1 out@0 abc; output 1 err@0 err; "
                "ended 1 output from byte 3 on no longer exists");
}

static void test_unwritable_output_is_named(void **state)
{
    struct consumer_world *world = *state;
    world->writes = false;
    run(world, "oe");
    consumer_world_output(world, "abc", false, false);
    consumer_written(world->consumer, 1, false, world->now_ms, &world->effects);
    consumer_world_output(world, "", true, true);
    ASSERT_NEWS("output 1 out@0 abc; "
                "ended 1 output from byte 0 on could not be written; "
                "error output from byte 0 on no longer exists");
}

/* A job that writes without end, or a provider that sends without end: the end of the
 * job is its owner's to have. */
static void test_a_kill_leaves_ten_seconds(void **state)
{
    struct consumer_world *world = *state;
    run(world, "oe");
    assert_true(consumer_is_fetching(world->consumer, 1));
    consumer_cut_output(world->consumer, 1, world->now_ms);
    consumer_world_output(world, "abc", false, false);
    consumer_world_tick(world, 6000);
    consumer_cut_output(world->consumer, 1, world->now_ms); /* again: no longer */
    consumer_world_output(world, "de", false, false);
    consumer_world_tick(world, 3999);
    ASSERT_NEWS("output 1 out@0 abc; output 1 out@3 de");
    assert_true(consumer_wake_ms(world->consumer) <= world->now_ms + 1);
    consumer_world_tick(world, 1);
    ASSERT_NEWS("ended 1 output from byte 5 on was not fetched, as the job was killed; "
                "error output from byte 0 on was not fetched, as the job was killed");
    assert_false(consumer_is_fetching(world->consumer, 1));
}

static void test_output_that_comes_in_time_is_whole(void **state)
{
    struct consumer_world *world = *state;
    run(world, "o");
    consumer_cut_output(world->consumer, 1, world->now_ms);
    consumer_world_output(world, "abc", false, false);
    consumer_world_output(world, "de", true, false);
    ASSERT_NEWS("output 1 out@0 abc; output 1 out@3 de; ended 1 ");
}

/* Its piece comes to the file before the end is told. */
static void test_a_piece_that_is_written_is_waited_for(void **state)
{
    struct consumer_world *world = *state;
    world->writes = false;
    run(world, "o");
    consumer_world_output(world, "abc", false, false);
    consumer_cut_output(world->consumer, 1, world->now_ms);
    consumer_world_tick(world, 20000);
    ASSERT_NEWS("output 1 out@0 abc");
    consumer_written(world->consumer, 1, true, world->now_ms, &world->effects);
    consumer_world_tick(world, 0);
    ASSERT_NEWS("ended 1 output from byte 3 on was not fetched, as the job was killed");
}

/* The output of a job that a kill has ended is wanted. */
static void test_a_kill_before_the_end_cuts_nothing(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_start(world, 1, "n1=1", "o");
    consumer_world_hear(world, 1, ATTEMPT_RUNNING, 0);
    consumer_cut_output(world->consumer, 1, world->now_ms);
    consumer_world_hear(world, 1, ATTEMPT_ENDED, 0);
    consumer_world_reported(world);
    consumer_world_tick(world, 25000);
    consumer_world_output(world, "abc", true, false);
    ASSERT_NEWS("output 1 out@0 abc; ended 1 ");
}

static void test_end_is_reported_once(void **state)
{
    struct consumer_world *world = *state;
    world->acknowledges = false;
    run(world, "");
    ASSERT_NEWS("ended 1 ");
    consumer_world_hear(world, 1, ATTEMPT_ENDED, 0);
    consumer_world_tick(world, 60000);
    ASSERT_NEWS("");
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_nothing_to_fetch),
        STORY(test_pieces),
        STORY(test_both_streams),
        STORY(test_error_output_alone),
        STORY(test_empty_output_makes_an_empty_file),
        STORY(test_end_behind_the_last_byte),
        STORY(test_asked_again_until_answered),
        STORY(test_nothing_yet_is_no_piece),
        STORY(test_late_pieces_are_ignored),
        STORY(test_end_follows_the_last_write),
        STORY(test_gone_output_is_named),
        STORY(test_unwritable_output_is_named),
        STORY(test_a_kill_leaves_ten_seconds),
        STORY(test_output_that_comes_in_time_is_whole),
        STORY(test_a_piece_that_is_written_is_waited_for),
        STORY(test_a_kill_before_the_end_cuts_nothing),
        STORY(test_end_is_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
