/* SPDX-License-Identifier: Apache-2.0 */
/* Refused handshakes: each is counted, and few of them are in the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "sys/wire/wire_refusals.h"

enum { MINUTE_MS = 60000, START_MS = 1000000 };

static const char key_a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char key_b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/* A peer that tries every two seconds is logged once a minute. */
static void test_once_a_minute(void **state)
{
    struct wire_refusals refusals = {.limit = {.burst = 10}};
    int64_t logged_ms = 0;
    int n_logged = 0;
    for (int64_t now_ms = START_MS; now_ms < START_MS + 2 * MINUTE_MS; now_ms += 2000) {
        wire_refusals_add_key(&refusals, PEER_SITE, "10.0.0.1", key_a, now_ms);
        n_logged += refusals.recent[0].logged_ms != logged_ms;
        logged_ms = refusals.recent[0].logged_ms;
    }
    assert_int_equal(refusals.n_keys, 60);
    assert_int_equal(refusals.n_recent, 1);
    assert_int_equal(n_logged, 2);
}

/* Another key, another address and another kind of refusal are lines of their own. */
static void test_others_are_logged(void **state)
{
    struct wire_refusals refusals = {.limit = {.burst = 10}};
    wire_refusals_add_key(&refusals, PEER_SITE, "10.0.0.1", key_a, START_MS);
    wire_refusals_add_key(&refusals, PEER_SITE, "10.0.0.1", key_b, START_MS);
    wire_refusals_add_key(&refusals, PEER_HOST, "10.0.0.2", key_a, START_MS);
    wire_refusals_add_unsealed(&refusals, PEER_SITE, "10.0.0.1", START_MS);
    wire_refusals_add_unsealed(&refusals, PEER_SITE, "10.0.0.1", START_MS + 1);
    assert_int_equal(refusals.limit.count, 4);
    assert_int_equal(refusals.n_keys, 3);
    assert_int_equal(refusals.n_unsealed, 2);
}

/* Who tries many keys fills neither the log nor the memory. */
static void test_a_flood(void **state)
{
    struct wire_refusals refusals = {.limit = {.burst = 3}};
    char key_z85[41];
    for (int i = 0; i < 1000; i++) {
        snprintf(key_z85, sizeof(key_z85), "%040d", i);
        wire_refusals_add_key(&refusals, PEER_SITE, "10.0.0.1", key_z85,
                              START_MS + 11000 * (int64_t)(i / 100));
    }
    assert_int_equal(refusals.n_keys, 1000);
    assert_int_equal(refusals.limit.count, 3);
    assert_int_equal(refusals.n_recent, 30); /* what was not logged is not kept */
    assert_true(refusals.n_recent <= WIRE_REFUSALS_RECENT);
}

int main(void)
{
    log_init("test");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_a_minute),
        cmocka_unit_test(test_others_are_logged),
        cmocka_unit_test(test_a_flood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
