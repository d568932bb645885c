/* SPDX-License-Identifier: Apache-2.0 */
/* test_local_users.c: no user takes all connections or all of the daemon's time, and
 * administrators always get in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sys/local/local_users.h"

static const int64_t begin_ms = 1700000000000;
static const struct peer root = {
    .kind = PEER_CLIENT, .name = "root", .roles = ROLE_ADMIN};

static struct peer user(int64_t uid)
{
    return (struct peer){.kind = PEER_CLIENT, .name = "ana", .uid = uid};
}

static int join_all(struct local_users *users, int64_t uid, struct err *err)
{
    struct peer peer = user(uid);
    int count = 0;
    while (count < 2000 && local_users_join(users, &peer, false, err) == ERR_NONE) {
        count++;
    }
    return count;
}

static void test_connections(void **state)
{
    struct local_users *users = local_users_new();
    struct err err;
    assert_int_equal(join_all(users, 1001, &err), LOCAL_CONNECTIONS_PER_USER);
    assert_string_equal(err.text, "user ana has 250 connections, expected at most 250; "
                                  "end commands that wait");
    assert_int_equal(join_all(users, 1002, &err), 250);
    assert_int_equal(join_all(users, 1003, &err), 250);
    assert_int_equal(join_all(users, 1004, &err), 150); /* the rest is reserved */
    assert_string_equal(err.text, "too many connections (900); try again later");
    for (int i = 0; i < LOCAL_CONNECTIONS_RESERVED; i++) {
        assert_int_equal(local_users_join(users, &root, false, &err), ERR_NONE);
    }
    struct peer admin = user(1005); /* of ADMINS: the reserve is open, with a bound */
    for (int i = 0; i < LOCAL_CONNECTIONS_PER_USER; i++) {
        assert_int_equal(local_users_join(users, &admin, true, &err), ERR_NONE);
    }
    assert_int_equal(local_users_join(users, &admin, true, &err), ERR_FULL);
    local_users_leave(users, &admin, true);
    struct peer one = user(1001);
    assert_int_equal(local_users_join(users, &one, false, &err), ERR_FULL);
    local_users_leave(users, &one, false);
    assert_int_equal(local_users_join(users, &one, false, &err), ERR_NONE);
    local_users_free(users);
}

static void test_requests(void **state)
{
    struct local_users *users = local_users_new();
    struct peer ana = user(1001), bob = user(1002);
    int64_t ready_ms;
    int count = 0;
    while (count < 5000 && local_users_may_ask(users, &ana, begin_ms, &ready_ms)) {
        local_users_charge(users, &ana, 10);
        count++;
    }
    assert_int_equal(count, 500);
    assert_in_range(ready_ms, begin_ms + 1, begin_ms + 10);
    assert_true(local_users_may_ask(users, &bob, begin_ms, &ready_ms));
    assert_true(local_users_may_ask(users, &ana, begin_ms + 1000, &ready_ms));
    for (int i = 0; i < 5000; i++) {
        local_users_charge(users, &root, 100000);
    }
    assert_true(local_users_may_ask(users, &root, begin_ms, &ready_ms));
    local_users_free(users);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connections),
        cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
