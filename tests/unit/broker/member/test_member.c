/* SPDX-License-Identifier: Apache-2.0 */
/* test_member.c: which HELLO opens a session, and when a site is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/broker.h"
#include "broker/member/member.h"

static const struct broker_member members[] = {
    {.name = "south", .roles = ROLE_CONSUMER},
    {.name = "north", .roles = ROLE_PROVIDER | ROLE_CONSUMER}};
static const struct broker_config config = {members, 2, 15000, NULL, 0};
static const struct msg_hello hello = {.name = "south", .roles = 7};
static struct members sessions;

static int open_sessions(void **state)
{
    members_init(&sessions, &config);
    struct effects effects;
    effects_init(&effects);
    members_start(&sessions, 0, &effects);
    effects_release(&effects);
    return 0;
}

static int close_sessions(void **state)
{
    members_release(&sessions);
    return 0;
}

static enum hello_verdict say_hello(uint64_t session, int64_t now_ms)
{
    return members_hello(&sessions, members_find(&sessions, "south"), session, session,
                         &hello, now_ms);
}

static void a_higher_session_replaces_the_open_one(void **state)
{
    struct member *south = members_find(&sessions, "south");
    assert_int_equal(say_hello(5, 0), HELLO_ACCEPTED);
    assert_int_equal(say_hello(5, 10), HELLO_REPEATED);
    assert_int_equal(say_hello(4, 20), HELLO_REFUSED);
    assert_int_equal(south->session, 5);
    assert_int_equal(say_hello(6, 30), HELLO_ACCEPTED);
    assert_int_equal(south->session, 6);
    assert_int_equal(south->link, 6);
}

static void a_lower_session_opens_once_the_other_is_lost(void **state)
{
    struct member *south = members_find(&sessions, "south");
    say_hello(5, 0);
    assert_null(members_lose(&sessions, 14999));
    assert_ptr_equal(members_lose(&sessions, 15000), south);
    assert_null(members_lose(&sessions, 15000));
    assert_false(south->is_here);
    assert_int_equal(south->since_ms, 15000);
    assert_int_equal(say_hello(2, 16000), HELLO_ACCEPTED);
    assert_int_equal(south->session, 2);
}

static void roles_are_claimed_and_allowed(void **state)
{
    say_hello(5, 0);
    const struct member *south = members_find(&sessions, "south");
    assert_int_equal(south->roles, ROLE_CONSUMER);
    assert_true(member_is_here(south, ROLE_CONSUMER));
    assert_false(member_is_here(south, ROLE_PROVIDER));
}

static void words_keep_a_site_and_bring_it_back(void **state)
{
    struct member *south = members_find(&sessions, "south");
    say_hello(5, 0);
    assert_false(members_note_message(&sessions, south, 14000));
    assert_null(members_lose(&sessions, 15000)); /* the alarm was set at HELLO */
    assert_int_equal(members_wake_ms(&sessions), 29000);
    assert_ptr_equal(members_lose(&sessions, 29000), south);
    assert_true(members_wake_ms(&sessions) == INT64_MAX);
    assert_true(members_note_message(&sessions, south, 40000));
    assert_true(south->is_here);
    assert_int_equal(south->since_ms, 40000);
    assert_int_equal(members_wake_ms(&sessions), 55000);
}

static void who_left_the_list_is_kept_without_roles(void **state)
{
    assert_null(members_find(&sessions, "old"));
    struct member *old = members_find_or_retire(&sessions, "old");
    assert_ptr_equal(members_find(&sessions, "old"), old);
    assert_ptr_equal(members_find_or_retire(&sessions, "old"), old);
    assert_int_equal(old->roles_allowed, 0);
    assert_non_null(members_find(&sessions, "north"));
    assert_non_null(members_find(&sessions, "south"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_higher_session_replaces_the_open_one,
                                        open_sessions, close_sessions),
        cmocka_unit_test_setup_teardown(a_lower_session_opens_once_the_other_is_lost,
                                        open_sessions, close_sessions),
        cmocka_unit_test_setup_teardown(roles_are_claimed_and_allowed, open_sessions,
                                        close_sessions),
        cmocka_unit_test_setup_teardown(words_keep_a_site_and_bring_it_back,
                                        open_sessions, close_sessions),
        cmocka_unit_test_setup_teardown(who_left_the_list_is_kept_without_roles,
                                        open_sessions, close_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
