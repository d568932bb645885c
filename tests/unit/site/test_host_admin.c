/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_admin.c: `sublet close` and `sublet open`: which users may, and which
 * hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

static struct site_stage stage;

static int open_stage(void **state)
{
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    return 0;
}

static int close_stage(void **state)
{
    (void)state;
    site_stage_release(&stage);
    return 0;
}

/* The code of the answer. */
static int say(const char *user, const char *host, bool is_closed)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_HOST_CONTROL, .site = ""};
    msg.host_control = (struct msg_host_control){
        .request = ++stage.request, .host = host, .is_closed = is_closed};
    site_stage_message(&stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(&stage);
    assert_non_null(reply);
    return reply->code;
}

static void test_administrators_alone(void **state)
{
    (void)state;
    assert_int_equal(say("ana", "s1", true), ERR_DENIED);
    assert_int_equal(site_stage_count_rows(&stage, ROW_CLOSED), 0);
    assert_int_equal(say("root", "s1", true), 0);
    assert_int_equal(site_stage_count_rows(&stage, ROW_CLOSED), 1);
    assert_int_equal(say("ana", "s1", false), ERR_DENIED);
    assert_int_equal(site_stage_count_rows(&stage, ROW_CLOSED), 1);
    assert_int_equal(say("root", "s1", false), 0);
    assert_int_equal(site_stage_count_rows(&stage, ROW_CLOSED), 0);
}

static void test_unknown_host(void **state)
{
    (void)state;
    assert_int_equal(say("root", "nowhere", true), ERR_NOT_FOUND);
    assert_int_equal(say("root", "nowhere", false), ERR_NOT_FOUND);
    assert_int_equal(say("root", "n1@north", true), ERR_NOT_FOUND);
    assert_int_equal(site_stage_count_rows(&stage, ROW_CLOSED), 0);
}

/* A borrowed host can be closed; it can be opened when its lease is gone, too. */
static void test_borrowed_host(void **state)
{
    (void)state;
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    assert_int_equal(say("root", "n1@north", true), 0);
    site_stage_restart(&stage); /* the broker has not said again what it has */
    assert_int_equal(say("root", "n1@north", false), 0);
    assert_int_equal(say("root", "n1@north", false), ERR_NOT_FOUND);
}

/* Names of hosts that are not borrowed any more stay on the list: it is bounded. */
static void test_bound(void **state)
{
    (void)state;
    char name[32];
    for (int i = 0; i < HOSTS_MAX - 1; i++) {
        snprintf(name, sizeof(name), "n%d@north", i);
        struct row row = {.kind = ROW_CLOSED};
        row.closed = (struct row_closed){.host = name, .is_closed = true};
        site_load(stage.site, &row);
    }
    assert_int_equal(say("root", "s1", true), 0);
    assert_int_equal(say("root", "s2", true), ERR_FULL);
    assert_int_equal(say("root", "s1", true), 0); /* it is closed already */
    assert_int_equal(say("root", "n7@north", false), 0);
    assert_int_equal(say("root", "s2", true), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_administrators_alone),
        TEST(test_unknown_host),
        TEST(test_borrowed_host),
        TEST(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
