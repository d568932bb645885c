/* SPDX-License-Identifier: Apache-2.0 */
/* The session with the broker: HELLO, WELCOME, USAGE, silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/site/site_stage.h"

static void test_hello(void **state)
{
    struct site_stage stage;
    struct msg msg = {.kind = MSG_WELCOME};
    (void)state;
    site_stage_init(&stage);
    const struct msg *hello = site_stage_sent(&stage, MSG_HELLO, 0); /* at the start */
    assert_string_equal(hello->hello.name, "south");
    assert_int_equal(hello->hello.roles, ROLE_PROVIDER | ROLE_CONSUMER);
    assert_int_equal(hello->hello.reclaim_delay_ms, 0); /* not configured */
    uint64_t first = hello->session;
    site_stage_pass(&stage, 3500);
    assert_int_equal(site_stage_count(&stage, MSG_HELLO), 3); /* until it is answered */
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 0);
    assert_int_equal(site_stage_sent(&stage, MSG_HELLO, 2)->session, first);

    stage.session = first; /* refused: one above what the broker knows */
    msg.welcome.min_session = first + 40;
    msg.welcome.text = "old";
    site_stage_broker(&stage, &msg);
    stage.session = first + 41;
    assert_int_equal(site_stage_sent(&stage, MSG_HELLO, 0)->session, first + 41);
    msg.welcome = (struct msg_welcome){.is_accepted = true, .text = ""};
    site_stage_broker(&stage, &msg);
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 1);
    site_stage_broker(&stage, &msg); /* repeated */
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 0);

    site_stage_restart(&stage); /* a boot later: above all of the last boot */
    hello = site_stage_sent(&stage, MSG_HELLO, 0);
    assert_true(hello->session > first + 41);
    site_stage_release(&stage);
}

static void test_usage(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_broker_up(&stage);
    const struct msg_usage *usage = &site_stage_sent(&stage, MSG_USAGE, 0)->usage;
    assert_int_equal(usage->n_own, 4);
    assert_int_equal(usage->n_idle, 2);
    assert_int_equal(usage->n_waiting, 0);
    uint64_t seq = usage->seq;
    site_stage_submit(&stage, "local", "a"); /* within 100 ms of the last: held back */
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 0);
    site_stage_submit(&stage, "local", "b");
    site_stage_submit(&stage, "local", "c");
    site_stage_pass(&stage, 150);
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 1); /* three changes, one */
    usage = &site_stage_sent(&stage, MSG_USAGE, 0)->usage;
    assert_true(usage->seq > seq);
    assert_int_equal(usage->n_own_used, 2);
    assert_int_equal(usage->n_idle, 0);
    assert_int_equal(usage->n_waiting, 1);
    site_stage_pass(&stage, 1500);
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 0); /* nothing changed */
    site_stage_pass(&stage, 1000);
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 1); /* a heartbeat */
    site_stage_release(&stage);
}

static void test_demand(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 3, LEASE_ACTIVE, 1, true);
    for (int i = 0; i < 3; i++) {
        site_stage_submit(&stage, "lease", "a");
    }
    site_stage_pass(&stage, 150);
    const struct msg_usage *usage = &site_stage_sent(&stage, MSG_USAGE, 0)->usage;
    assert_int_equal(usage->n_borrowed, 1);
    assert_int_equal(usage->n_demands, 1);
    assert_string_equal(usage->demands[0].lease, "north/spare/south");
    assert_int_equal(usage->demands[0].epoch, 3);
    assert_int_equal(usage->demands[0].n_used, 1);
    assert_int_equal(usage->demands[0].n_waiting, 2);
    site_stage_release(&stage);
}

static void test_silence(void **state)
{
    struct site_stage stage;
    struct msg pong = {.kind = MSG_PONG};
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    site_stage_pass(&stage, 5000);
    site_stage_broker(&stage, &pong);
    site_stage_pass(&stage, 5000);
    assert_null(site_stage_effect(&stage, EFFECT_RECONNECT));
    site_stage_pass(&stage, 1500);
    assert_non_null(site_stage_effect(&stage, EFFECT_RECONNECT));
    const struct msg *hello = site_stage_sent(&stage, MSG_HELLO, 0);
    assert_true(hello->session > stage.session);
    uint64_t id =
        site_stage_submit(&stage, "lease", "a"); /* nothing new starts there */
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
    site_stage_broker(&stage, &pong); /* of the session that is over */
    site_stage_pass(&stage, 100);
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 0);
    site_stage_broker_up(&stage);
    assert_int_equal(site_stage_attempt_of(&stage, id), 0); /* until it is told anew */
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    assert_int_not_equal(site_stage_attempt_of(&stage, id), 0);
    site_stage_release(&stage);
}

static void test_stale(void **state)
{
    struct site_stage stage;
    struct msg msg = {.kind = MSG_ERROR};
    (void)state;
    site_stage_init(&stage);
    site_stage_broker_up(&stage);
    uint64_t session = stage.session;
    msg.error.code = ERR_STALE;
    msg.error.text = "no such session";
    stage.session = session - 1; /* about an earlier one: late */
    site_stage_broker(&stage, &msg);
    assert_int_equal(site_stage_count(&stage, MSG_HELLO), 0);
    stage.session = session;
    site_stage_broker(&stage, &msg);
    assert_int_equal(site_stage_sent(&stage, MSG_HELLO, 0)->session, session + 1);
    assert_null(site_stage_effect(&stage, EFFECT_RECONNECT)); /* it is there */
    site_stage_release(&stage);
}

/* A site that lists several brokers leaves one that is silent for 2 s, and so has to
 * ask more often than that whether it is there. */
static void test_silence_with_standbys(void **state)
{
    struct site_stage stage;
    struct msg pong = {.kind = MSG_PONG};
    (void)state;
    site_stage_init_text(&stage,
                         "Begin Site\nNAME = south\nSPOOL = /nowhere\nKEY = k\n"
                         "BROKER = tcp://a:1 tcp://b:1\nBROKER_KEY = b\nEnd Site\n"
                         "Begin Host\nHOST_NAME MXJ\ns1 2\nEnd Host\n"
                         "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n");
    site_stage_broker_up(&stage);
    site_stage_pass(&stage, 1900);
    assert_in_range(site_stage_count(&stage, MSG_USAGE), 2, 4);
    assert_null(site_stage_effect(&stage, EFFECT_RECONNECT));
    site_stage_broker(&stage, &pong);
    site_stage_pass(&stage, 1900);
    assert_null(site_stage_effect(&stage, EFFECT_RECONNECT));
    site_stage_pass(&stage, 200);
    const struct effect *move = site_stage_effect(&stage, EFFECT_RECONNECT);
    assert_non_null(move);
    assert_string_equal(move->reconnect.endpoint, ""); /* whichever is next */
    site_stage_pass(&stage, 2000);
    assert_non_null(site_stage_effect(&stage, EFFECT_RECONNECT)); /* nor this one */
    site_stage_release(&stage);
}

static void test_a_standby_names_the_leader(void **state)
{
    struct site_stage stage;
    struct msg msg = {.kind = MSG_WELCOME};
    (void)state;
    site_stage_init(&stage);
    uint64_t first = site_stage_sent(&stage, MSG_HELLO, 0)->session;
    msg.welcome =
        (struct msg_welcome){.is_standby = true, .text = "tcp://leader.example:5570"};
    stage.session = first - 1; /* of an earlier HELLO: late */
    site_stage_broker(&stage, &msg);
    assert_null(site_stage_effect(&stage, EFFECT_RECONNECT));
    stage.session = first;
    site_stage_broker(&stage, &msg);
    const struct effect *move = site_stage_effect(&stage, EFFECT_RECONNECT);
    assert_non_null(move);
    assert_string_equal(move->reconnect.endpoint, "tcp://leader.example:5570");
    assert_true(site_stage_sent(&stage, MSG_HELLO, 0)->session > first);
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 0);
    site_stage_broker_up(&stage);
    assert_int_equal(site_stage_count(&stage, MSG_USAGE), 1);
    site_stage_release(&stage);
}

/* A standby answers at once: a site that cannot turn to another broker yet must not ask
 * it without a pause. */
static void test_a_standby_is_not_asked_without_a_pause(void **state)
{
    struct site_stage stage;
    struct msg msg = {.kind = MSG_WELCOME};
    (void)state;
    site_stage_init(&stage);
    msg.welcome = (struct msg_welcome){.is_standby = true, .text = ""};
    stage.session = site_stage_sent(&stage, MSG_HELLO, 0)->session;
    site_stage_broker(&stage, &msg);
    stage.session = site_stage_sent(&stage, MSG_HELLO, 0)->session;
    site_stage_broker(&stage, &msg);
    assert_non_null(site_stage_effect(&stage, EFFECT_RECONNECT));
    assert_int_equal(site_stage_count(&stage, MSG_HELLO), 0);
    site_stage_pass(&stage, 199);
    assert_int_equal(site_stage_count(&stage, MSG_HELLO), 0);
    site_stage_pass(&stage, 1);
    assert_int_equal(site_stage_count(&stage, MSG_HELLO), 1);
    site_stage_release(&stage);
}

static void test_alone(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage,
                         "Begin Site\nNAME = south\nSPOOL = /nowhere\nEnd Site\n"
                         "Begin Host\nHOST_NAME MXJ\ns1 2\nEnd Host\n"
                         "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n");
    assert_int_equal(site_stage_count(&stage, MSG_HELLO), 0);
    site_stage_host_up(&stage, "s1");
    site_stage_submit(&stage, "local", "a");
    assert_int_not_equal(site_stage_attempt_of(&stage, 1), 0);
    site_stage_pass(&stage, 60000);
    assert_int_equal(site_stage_count(&stage, MSG_HELLO), 0);
    assert_null(site_stage_effect(&stage, EFFECT_RECONNECT));
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hello),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_demand),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_silence_with_standbys),
        cmocka_unit_test(test_a_standby_names_the_leader),
        cmocka_unit_test(test_a_standby_is_not_asked_without_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
