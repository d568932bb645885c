/* SPDX-License-Identifier: Apache-2.0 */
/* test_revision.c: the revision of the listings grows with what they show, and with
 * nothing else; and hosts of leases, page by page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/value.h"
#include "tests/unit/broker/stage.h"

static struct stage stage;

static int open_stage(void **state)
{
    stage_open(&stage);
    stage_hello(&stage, "north", 1);
    stage_hello(&stage, "south", 1);
    return 0;
}

static int close_stage(void **state)
{
    stage_close(&stage);
    return 0;
}

static void say_lease(const char *id, int used, const char *reason,
                      const struct host_split *hosts, int n_hosts)
{
    const struct host_split one = {.host = "n1",
                                   .n_slots = 4,
                                   .provider = 3,
                                   .consumer = 1,
                                   .provider_used = used};
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){.lease = id,
                                   .epoch = 1,
                                   .type = LEASE_SHARED,
                                   .is_made = true,
                                   .hosts = hosts != NULL ? hosts : &one,
                                   .n_hosts = hosts != NULL ? n_hosts : 1,
                                   .reason = reason};
    stage_say(&stage, "north", 1, &msg);
}

static void say_usage(int n_waiting)
{
    struct msg msg = {.kind = MSG_USAGE};
    msg.usage = (struct msg_usage){.seq = 1, .n_own = 4, .n_waiting = n_waiting};
    stage_say(&stage, "south", 1, &msg);
}

static int count_since(enum query_kind kind, const char *name, uint64_t since)
{
    struct arena arena;
    const char *next;
    struct msg_query query = {
        .kind = kind, .name = "", .after = "", .since = since, .with_ended = true};
    arena_init(&arena);
    int count =
        value_find(broker_view(stage.broker, &arena, &query, 0, &next), name)->count;
    arena_release(&arena);
    return count;
}

static void test_revisions(void **state)
{
    say_lease("north/1/south", 0, "", NULL, 0);
    say_lease("north/2/south", 0, "", NULL, 0);
    uint64_t first = broker_look(stage.broker);
    assert_int_equal(broker_look(stage.broker), first);
    assert_int_equal(count_since(QUERY_LEASES, "leases", first + 1), 0);
    assert_int_equal(count_since(QUERY_LEASES, "leases", 0), 2);

    say_lease("north/1/south", 2, "", NULL, 0);
    uint64_t second = broker_look(stage.broker);
    assert_true(second > first);
    assert_int_equal(count_since(QUERY_LEASES, "leases", first + 1), 1);
    assert_int_equal(count_since(QUERY_SITES, "sites", first + 1), 0);

    say_usage(7);
    uint64_t third = broker_look(stage.broker);
    assert_int_equal(count_since(QUERY_LEASES, "leases", second + 1), 0);
    assert_int_equal(count_since(QUERY_SITES, "sites", second + 1), 1);

    say_usage(7); /* said again */
    assert_int_equal(broker_look(stage.broker), third);
}

static struct value *page_of_hosts(struct arena *arena, const char *provider,
                                   const char *after, int limit, const char **next)
{
    struct msg_query query = {.kind = QUERY_HOSTS,
                              .name = "",
                              .provider = provider,
                              .after = after,
                              .limit = limit};
    return broker_view(stage.broker, arena, &query, 0, next);
}

static void test_hosts(void **state)
{
    const struct host_split two[] = {
        {.host = "n2", .n_slots = 2, .provider = 1, .consumer = 1, .consumer_used = 1},
        {.host = "n1", .n_slots = 4, .provider = 4, .is_down = true}};
    const struct host_split more[] = {
        {.host = "n2", .n_slots = 3, .provider = 3, .provider_used = 2}};
    struct arena arena;
    const char *next = "", *hosts[] = {"n1@north", "n2@north"};
    say_lease("north/1/south", 0, "", two, 2);
    say_lease("north/2/south", 0, "", more, 1);
    arena_init(&arena);
    for (int i = 0; i < 2; i++) {
        struct value *page = page_of_hosts(&arena, "north", next, 1, &next);
        const struct value *row = value_find(page, "hosts")->first;
        assert_string_equal(value_find(row, "host")->text, hosts[i]);
        assert_int_equal(value_find(row, "leases")->count, 1 + i);
        assert_string_equal(value_find(row, "status")->text, i == 0 ? "unavail" : "ok");
        assert_int_equal(value_find(row, "max")->number, i == 0 ? 4 : 5);
        assert_int_equal(value_find(row, "njobs")->number, i == 0 ? 0 : 3);
        assert_int_equal(value_find(row, "provider.available")->number, i == 0 ? 0 : 4);
        assert_string_equal(next, i == 0 ? "north/n1" : "");
    }
    assert_int_equal(
        value_find(page_of_hosts(&arena, "south", "", 0, &next), "hosts")->count, 0);
    assert_int_equal(
        value_find(page_of_hosts(&arena, "", "gone/n9", 0, &next), "hosts")->count, 2);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_revisions, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(test_hosts, open_stage, close_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
