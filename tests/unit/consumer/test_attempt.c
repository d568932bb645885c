/* SPDX-License-Identifier: Apache-2.0 */
/* test_attempt.c: an attempt from START to ACK: what is sent, when it is sent again,
 * what is reported, and that late or repeated answers say nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/consumer/consumer_world.h"

static int set_up(void **state)
{
    struct consumer_world *world = mem_alloc(1, sizeof(*world));
    consumer_world_init(world);
    consumer_world_session(world, 7);
    consumer_world_contract(world, 1, 1, LEASE_ACTIVE, "n1=4");
    consumer_world_sent(world);
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

static void test_start_says_it_all(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_start(world, 1, "n1=2", "");
    assert_int_equal(world->effects.count, 1);
    const struct msg *msg = &world->effects.items[0].send.msg;
    assert_int_equal(msg->kind, MSG_START);
    assert_string_equal(msg->site, "north");
    assert_string_equal(msg->start.run.site, "south");
    assert_string_equal(msg->start.lease, "north/1/south");
    assert_int_equal(msg->start.epoch, 1);
    assert_string_equal(msg->start.job, "12");
    assert_int_equal(msg->start.n_hosts, 1);
    assert_string_equal(msg->start.hosts[0].host, "n1");
    assert_int_equal(msg->start.hosts[0].n_slots, 2);
    assert_string_equal(msg->start.spec.command, "true");
}

static void test_start_until_answered(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_start(world, 1, "n1=1", "");
    ASSERT_SENT("START 1");
    consumer_world_start(world, 1, "n1=1",
                         ""); /* the same number is the same attempt */
    ASSERT_SENT("");
    consumer_world_tick(world, 999);
    ASSERT_SENT("");
    assert_int_equal(consumer_wake_ms(world->consumer), world->now_ms + 1);
    consumer_world_tick(world, 1);
    ASSERT_SENT("START 1");
    consumer_world_tick(world, 3600000); /* silence is no reason for anything else */
    ASSERT_SENT("START 1");
    ASSERT_NEWS("");
    consumer_world_hear(world, 1, ATTEMPT_TAKEN, 0);
    ASSERT_NEWS("taken 1");
    consumer_world_tick(world, 1000);
    ASSERT_SENT("");
}

/* What each answer does, by what is known: "before" is heard first. */
static void test_answers(void **state)
{
    (void)state;
    enum { NONE = -1 };
    static const struct {
        const char *why;
        int before;
        enum attempt_state answer;
        const char *news;
    } rows[] = {
        {"refused: requeue", NONE, ATTEMPT_REFUSED, "refused 1"},
        {"never began", NONE, ATTEMPT_LOST, "lost 1"},
        {"START never arrived: nothing to report", NONE, ATTEMPT_ABSENT, ""},
        {"taken", NONE, ATTEMPT_TAKEN, "taken 1"},
        {"running: what came before is made up for", NONE, ATTEMPT_RUNNING,
         "taken 1; running 1"},
        {"over before anything was heard", NONE, ATTEMPT_ENDED, "taken 1; ended 1 "},
        {"the answer again", ATTEMPT_TAKEN, ATTEMPT_TAKEN, ""},
        {"a refusal of a copy, late", ATTEMPT_TAKEN, ATTEMPT_REFUSED, ""},
        {"its trace is gone", ATTEMPT_TAKEN, ATTEMPT_LOST, "lost 1"},
        {"the provider has lost its record", ATTEMPT_TAKEN, ATTEMPT_ABSENT, "lost 1"},
        {"it begins", ATTEMPT_TAKEN, ATTEMPT_RUNNING, "running 1"},
        {"never back", ATTEMPT_RUNNING, ATTEMPT_TAKEN, ""},
        {"the state again", ATTEMPT_RUNNING, ATTEMPT_RUNNING, ""},
        {"suspended there", ATTEMPT_RUNNING, ATTEMPT_SUSPENDED, "suspended 1"},
        {"and on", ATTEMPT_SUSPENDED, ATTEMPT_RUNNING, "running 1"},
        {"the trace of a running one is gone", ATTEMPT_RUNNING, ATTEMPT_LOST, "lost 1"},
        {"the end", ATTEMPT_RUNNING, ATTEMPT_ENDED, "ended 1 "},
        {"what is over is over", ATTEMPT_ENDED, ATTEMPT_RUNNING, ""},
        {"also against a trace that is gone", ATTEMPT_ENDED, ATTEMPT_LOST, ""},
        {"the end again", ATTEMPT_ENDED, ATTEMPT_ENDED, ""},
        {"refused is final", ATTEMPT_REFUSED, ATTEMPT_TAKEN, ""},
        {"lost is final", ATTEMPT_LOST, ATTEMPT_RUNNING, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *made;
        set_up(&made);
        struct consumer_world *world = made;
        world->acknowledges = false;
        consumer_world_start(world, 1, "n1=1", "");
        if (rows[i].before != NONE) {
            consumer_world_hear(world, 1, (enum attempt_state)rows[i].before, 0);
        }
        consumer_world_reported(world);
        consumer_world_hear(world, 1, rows[i].answer, 0);
        const char *news = consumer_world_reported(world);
        if (strcmp(news, rows[i].news) != 0) {
            fail_msg("%s: got \"%s\"", rows[i].why, news);
        }
        tear_down(&made);
    }
}

static void test_absent_sends_start_again(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_start(world, 1, "n1=1", "");
    consumer_world_sent(world);
    consumer_world_hear(world, 1, ATTEMPT_ABSENT, 0);
    consumer_world_tick(world, 0);
    ASSERT_SENT("START 1");
}

static void test_only_its_provider_counts(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_start(world, 1, "n1=1", "");
    consumer_world_hear_from(world, "west", 1, ATTEMPT_REFUSED);
    ASSERT_NEWS("");
    consumer_world_hear_from(world, "north", 1, ATTEMPT_REFUSED);
    ASSERT_NEWS("refused 1");
}

static void test_end_is_acknowledged_when_on_record(void **state)
{
    struct consumer_world *world = *state;
    world->acknowledges = false;
    consumer_world_start(world, 1, "n1=1", "");
    consumer_acknowledge(world->consumer, 1, &world->effects); /* not before its end */
    ASSERT_SENT("START 1");
    consumer_world_hear(world, 1, ATTEMPT_ENDED, 0);
    ASSERT_SENT("");
    consumer_acknowledge(world->consumer, 1, &world->effects);
    ASSERT_SENT("ACK 1");
    /* The provider did not hear it, and tells again: nobody knows the attempt here. */
    consumer_world_reported(world);
    consumer_world_hear(world, 1, ATTEMPT_ENDED, 0);
    ASSERT_SENT("ACK 1");
    ASSERT_NEWS("");
    consumer_world_hear(world, 1, ATTEMPT_RUNNING, 0);
    ASSERT_SENT("");
}

/* ------------------------------------------------------------ START_TIMEOUT */

enum { TIMEOUT_MS = 60000 };

/* The provider is silent: the attempt stays, and is only asked for. */
static void test_withdrawn_until_answered(void **state)
{
    struct consumer_world *world = *state;
    consumer_set_start_timeout(world->consumer, TIMEOUT_MS);
    consumer_world_start(world, 1, "n1=1", "");
    consumer_world_tick(world, TIMEOUT_MS - 1);
    ASSERT_SENT("START 1; START 1");
    assert_false(consumer_is_withdrawn(world->consumer, 1));
    consumer_world_tick(world, 1);
    ASSERT_SENT("ASK 1 withdrawn");
    assert_true(consumer_is_withdrawn(world->consumer, 1));
    consumer_world_tick(world, 3600000);
    ASSERT_SENT("ASK 1 withdrawn");
    consumer_world_session(world, 8);
    ASSERT_SENT("ASK 1 withdrawn");
    ASSERT_NEWS("");
    consumer_world_hear(world, 1, ATTEMPT_LOST, 0);
    ASSERT_NEWS("lost 1");
    assert_false(consumer_is_withdrawn(world->consumer, 1));
}

/* An order for a job whose provider has not decided about it waits for the answer, and
 * the site does not wake for it meanwhile. */
static void test_order_while_withdrawn(void **state)
{
    struct consumer_world *world = *state;
    struct run_control kill = {.number = 1, .action = CONTROL_KILL};
    consumer_set_start_timeout(world->consumer, TIMEOUT_MS);
    consumer_world_start(world, 1, "n1=1", "");
    consumer_world_tick(world, TIMEOUT_MS);
    consumer_world_sent(world);
    consumer_control(world->consumer, 1, &kill, world->now_ms, &world->effects);
    ASSERT_SENT("");
    assert_true(consumer_wake_ms(world->consumer) > world->now_ms);
    consumer_world_tick(world, 3600000);
    ASSERT_SENT("ASK 1 withdrawn");
    assert_true(consumer_wake_ms(world->consumer) > world->now_ms);
    consumer_world_hear(world, 1, ATTEMPT_RUNNING, 0);
    consumer_world_tick(world, 0);
    ASSERT_SENT("CONTROL 1/1");
}

/* Then nothing starts on its lease for as long. */
static void test_lease_is_avoided(void **state)
{
    struct consumer_world *world = *state;
    consumer_set_start_timeout(world->consumer, TIMEOUT_MS);
    consumer_world_start(world, 1, "n1=1", "");
    consumer_world_hear(world, 1, ATTEMPT_TAKEN, 0);
    consumer_world_tick(world, TIMEOUT_MS);
    assert_string_equal(consumer_world_hosts(world), "n1@north 4/1 open");
    consumer_world_hear(world, 1, ATTEMPT_LOST, 0);
    assert_string_equal(consumer_world_hosts(world), "n1@north 4/0");
    assert_true(consumer_avoids(world->consumer, "north/1/south"));
    world->now_ms += TIMEOUT_MS - 1;
    assert_false(consumer_end_avoiding(world->consumer, world->now_ms));
    assert_int_equal(consumer_wake_ms(world->consumer), world->now_ms + 1);
    assert_true(consumer_end_avoiding(world->consumer, world->now_ms + 1));
    assert_string_equal(consumer_world_hosts(world), "n1@north 4/0 open");
}

/* It has started meanwhile, or its provider is of a version that starts it again. */
static void test_withdrawn_in_vain(void **state)
{
    struct consumer_world *world = *state;
    consumer_set_start_timeout(world->consumer, TIMEOUT_MS);
    consumer_world_start(world, 1, "n1=1", "");
    consumer_world_tick(world, TIMEOUT_MS);
    consumer_world_hear(world, 1, ATTEMPT_RUNNING, 0);
    ASSERT_NEWS("taken 1; running 1");
    assert_false(consumer_is_withdrawn(world->consumer, 1));
    consumer_world_tick(world, TIMEOUT_MS / 2);
    consumer_world_hear(world, 1, ATTEMPT_LOST, 0);
    assert_false(consumer_avoids(world->consumer, "north/1/south"));

    consumer_world_start(world, 2, "n1=1", "");
    consumer_world_tick(world, TIMEOUT_MS);
    consumer_world_sent(world);
    consumer_world_hear(world, 2, ATTEMPT_ABSENT, 0);
    consumer_world_tick(world, 1000);
    ASSERT_SENT("START 2");
}

/* ------------------------------------------------------------ orders */

static void test_orders(void **state)
{
    struct consumer_world *world = *state;
    struct run_control stop = {.number = 1, .action = CONTROL_SUSPEND};
    struct run_control kill = {.number = 2, .action = CONTROL_KILL};
    consumer_world_start(world, 1, "n1=1", "");
    consumer_world_hear(world, 1, ATTEMPT_RUNNING, 0);
    consumer_world_sent(world);
    consumer_world_reported(world);
    consumer_control(world->consumer, 1, &stop, world->now_ms, &world->effects);
    consumer_control(world->consumer, 1, &stop, world->now_ms, &world->effects);
    ASSERT_SENT("CONTROL 1/1");
    consumer_world_tick(world, 1000);
    ASSERT_SENT("CONTROL 1/1");
    consumer_control(world->consumer, 1, &kill, world->now_ms, &world->effects);
    consumer_control(world->consumer, 1, &stop, world->now_ms, &world->effects);
    ASSERT_SENT("CONTROL 1/2");
    consumer_world_hear(world, 1, ATTEMPT_SUSPENDED, 1);
    ASSERT_NEWS("done 1/1; suspended 1");
    consumer_world_tick(world, 1000);
    ASSERT_SENT("CONTROL 1/2");
    /* From before the first order: late. */
    consumer_world_hear(world, 1, ATTEMPT_RUNNING, 0);
    ASSERT_NEWS("");
    consumer_world_hear(world, 1, ATTEMPT_ENDED, 2);
    ASSERT_NEWS("done 1/2; ended 1 ");
    consumer_world_sent(world);
    consumer_world_tick(world, 60000);
    ASSERT_SENT("");
}

/* Before the attempt is decided there is nobody to order: it is kept. */
static void test_order_waits_for_the_answer(void **state)
{
    struct consumer_world *world = *state;
    struct run_control kill = {.number = 1, .action = CONTROL_KILL};
    consumer_world_start(world, 1, "n1=1", "");
    consumer_control(world->consumer, 1, &kill, world->now_ms, &world->effects);
    ASSERT_SENT("START 1");
    consumer_world_hear(world, 1, ATTEMPT_TAKEN, 0);
    ASSERT_SENT("CONTROL 1/1");
}

/* ------------------------------------------------------------ silence and sessions */

static void test_silence(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_start(world, 1, "n1=1", "");
    consumer_world_hear(world, 1, ATTEMPT_RUNNING, 0);
    consumer_world_sent(world);
    consumer_world_reported(world);
    consumer_world_tick(world, 9999);
    ASSERT_SENT("");
    consumer_world_tick(world, 1);
    ASSERT_SENT("ASK 1");
    consumer_world_tick(world, 10000);
    ASSERT_SENT("ASK 1");
    consumer_world_tick(world, 9999);
    ASSERT_NEWS("");
    consumer_world_tick(world, 1);
    ASSERT_NEWS("unknown 1");
    ASSERT_SENT("ASK 1");
    consumer_world_tick(world, 60000);
    ASSERT_NEWS("");
    /* It is found again: its state is told, though it is the same. */
    consumer_world_hear(world, 1, ATTEMPT_RUNNING, 0);
    ASSERT_NEWS("running 1");
    assert_string_equal(consumer_world_hosts(world), "n1@north 4/1 open");
}

static void test_new_session(void **state)
{
    struct consumer_world *world = *state;
    struct run_control stop = {.number = 1, .action = CONTROL_SUSPEND};
    consumer_world_start(world, 1, "n1=1", "");
    consumer_world_start(world, 2, "n1=1", "");
    consumer_world_start(world, 3, "n1=1", "");
    consumer_world_hear(world, 2, ATTEMPT_RUNNING, 0);
    consumer_world_hear(world, 3, ATTEMPT_RUNNING, 0);
    consumer_control(world->consumer, 3, &stop, world->now_ms, &world->effects);
    consumer_world_sent(world);
    consumer_broker_lost(world->consumer);
    consumer_world_tick(world, 5000);
    ASSERT_SENT("");
    consumer_world_session(world, 8);
    ASSERT_SENT("START 1; ASK 2; ASK 3; CONTROL 3/1");
}

static void test_started_while_the_broker_is_lost(void **state)
{
    struct consumer_world *world = *state;
    consumer_broker_lost(world->consumer);
    consumer_world_start(world, 1, "n1=1", "");
    ASSERT_SENT("");
    consumer_world_session(world, 8);
    ASSERT_SENT("START 1");
}

static void test_after_a_restart(void **state)
{
    struct consumer_world *world = *state;
    consumer_broker_lost(world->consumer);
    consumer_world_resume(world, 4, "n1=1", false);
    consumer_world_resume(world, 5, "n1=1", true);
    ASSERT_SENT("");
    consumer_world_session(world, 8);
    ASSERT_SENT("START 4; ASK 5");
    /* The one that may not have arrived did, and is over. */
    consumer_world_hear(world, 4, ATTEMPT_ENDED, 0);
    ASSERT_NEWS("taken 4; ended 4 ");
    ASSERT_SENT("ACK 4");
    consumer_world_hear(world, 5, ATTEMPT_LOST, 0);
    ASSERT_NEWS("lost 5");
    assert_int_equal(consumer_wake_ms(world->consumer), INT64_MAX);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_start_says_it_all),
        STORY(test_start_until_answered),
        cmocka_unit_test(test_answers),
        STORY(test_absent_sends_start_again),
        STORY(test_only_its_provider_counts),
        STORY(test_end_is_acknowledged_when_on_record),
        STORY(test_withdrawn_until_answered),
        STORY(test_order_while_withdrawn),
        STORY(test_lease_is_avoided),
        STORY(test_withdrawn_in_vain),
        STORY(test_orders),
        STORY(test_order_waits_for_the_answer),
        STORY(test_silence),
        STORY(test_new_session),
        STORY(test_started_while_the_broker_is_lost),
        STORY(test_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
