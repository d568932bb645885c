/* SPDX-License-Identifier: Apache-2.0 */
/* test_effect.c: effects keep their order and outlive the event that caused them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/value.h"
#include "model/effect.h"

static struct effects effects;

static int open_effects(void **state)
{
    effects_init(&effects);
    return 0;
}

static int close_effects(void **state)
{
    effects_release(&effects);
    return 0;
}

static void test_kept_in_order(void **state)
{
    enum { COUNT = 1000 };
    for (int i = 0; i < COUNT; i++) {
        struct row row = {.kind = ROW_COUNTER};
        row.counter.value = (uint64_t)i;
        effects_store(&effects, &row);
    }
    assert_int_equal(effects.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(effects.items[i].kind, EFFECT_STORE);
        assert_int_equal(effects.items[i].row.counter.value, i);
    }
}

static void test_added_is_zeroed_also_after_clear(void **state)
{
    effects_log(&effects, LOG_LEVEL_NOTICE, "%s %d", "host", 7);
    assert_string_equal(effects.items[0].log.text, "host 7");
    effects_clear(&effects);
    assert_int_equal(effects.count, 0);
    assert_true(effects.capacity > 0); /* reused for the next batch */
    static const struct effect nothing;
    struct effect *effect = effects_add(&effects, EFFECT_STORE);
    assert_memory_equal(effect, &nothing, sizeof(nothing));
}

static void test_peer_outlives_the_event(void **state)
{
    char *name = strdup("north");
    struct peer to = {.kind = PEER_SITE, .name = name, .link = 5};
    struct msg msg = {.kind = MSG_PONG, .site = "", .pong = {.seq = 9}};
    effects_send(&effects, &to, &msg);
    free(name);
    assert_int_equal(effects.items[0].kind, EFFECT_SEND);
    assert_string_equal(effects.items[0].send.to.name, "north");
    assert_int_equal(effects.items[0].send.to.link, 5);
    assert_int_equal(effects.items[0].send.msg.pong.seq, 9);
}

static void test_replies(void **state)
{
    struct peer to = {.kind = PEER_CLIENT};
    struct value *value = value_object(&effects.arena);
    effects_reply(&effects, &to, 3, NULL, value, NULL);
    effects_reply_error(&effects, &to, 4, ERR_NOT_FOUND, "no job %d", 12);
    const struct msg *first = &effects.items[0].send.msg;
    assert_int_equal(first->kind, MSG_REPLY);
    assert_string_equal(first->site, "");
    assert_int_equal(first->reply.request, 3);
    assert_int_equal(first->reply.code, 0);
    assert_string_equal(first->reply.text, "");
    assert_string_equal(first->reply.next, "");
    assert_ptr_equal(first->reply.value, value);
    const struct msg *second = &effects.items[1].send.msg;
    assert_int_equal(second->reply.code, ERR_NOT_FOUND);
    assert_string_equal(second->reply.text, "no job 12");
    assert_null(second->reply.value);
    assert_null(effects.items[1].send.to.name);
}

static void test_names(void **state)
{
    for (int kind = MSG_NONE; kind < MSG_KINDS; kind++) {
        assert_string_not_equal(msg_kind_name((enum msg_kind)kind), "?");
    }
    assert_string_equal(msg_kind_name(MSG_KINDS), "?");
    assert_string_equal(msg_kind_name((enum msg_kind) - 1), "?");
    assert_string_equal(msg_lease_state_name(LEASE_INACTIVE), "inactive");
    assert_string_equal(msg_lease_state_name((enum lease_state)99), "?");
    assert_string_equal(msg_lease_type_name(LEASE_SHARED), "shared");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_effects, close_effects)
    const struct CMUnitTest tests[] = {
        TEST(test_kept_in_order),
        TEST(test_added_is_zeroed_also_after_clear),
        TEST(test_peer_outlives_the_event),
        TEST(test_replies),
        TEST(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
