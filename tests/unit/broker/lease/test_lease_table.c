/* SPDX-License-Identifier: Apache-2.0 */
/* No provider takes more than its share of the broker's memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "broker/lease/lease.h"
#include "tests/unit/broker/stage.h"

static void state_lease(struct stage *stage, const char *site, int policy, int n_hosts,
                        bool is_ended)
{
    static struct host_split hosts[HOSTS_MAX];
    static char names[HOSTS_MAX][8];
    char id[LEASE_ID_SIZE];
    struct msg msg = {.kind = MSG_STATE};
    snprintf(id, sizeof(id), "%s/p%d/%s", site, policy, "south");
    for (int i = 0; i < n_hosts; i++) {
        snprintf(names[i], sizeof(names[i]), "h%d", i);
        hosts[i] = (struct host_split){.host = names[i], .n_slots = 1, .provider = 1};
    }
    msg.state = (struct msg_state){.lease = id,
                                   .epoch = 1,
                                   .is_withdrawn = is_ended,
                                   .is_ended = is_ended,
                                   .hosts = hosts,
                                   .n_hosts = n_hosts,
                                   .reason = ""};
    stage_say(stage, site, 1, &msg);
}

static int refused(const struct stage *stage)
{
    return stage_count_sent(stage, "north", MSG_ERROR);
}

static void test_leases_of_one_provider(void **state)
{
    struct stage stage;
    stage_open(&stage);
    stage.max_leases = LEASES_PER_PROVIDER_MAX;
    stage_reload(&stage, NULL);
    stage_hello(&stage, "north", 1);
    for (int i = 0; i < LEASES_PER_PROVIDER_MAX; i++) {
        struct msg msg = {.kind = MSG_STATE};
        char id[LEASE_ID_SIZE];
        snprintf(id, sizeof(id), "north/p%d/south", i);
        msg.state = (struct msg_state){.lease = id, .epoch = 1, .reason = ""};
        struct peer peer = {.kind = PEER_SITE, .name = "north", .link = 1, .roles = 3};
        struct event event = {.kind = EVENT_MESSAGE, .from = peer, .msg = &msg};
        event.now_ms = stage.now_ms;
        msg.session = 1;
        msg.site = "";
        effects_clear(&stage.effects); /* nothing kept: the stage's rows are a list */
        broker_step(stage.broker, &event, &stage.effects);
    }
    assert_int_equal(broker_count_leases(stage.broker), LEASES_PER_PROVIDER_MAX);
    state_lease(&stage, "north", LEASES_PER_PROVIDER_MAX, 0, false);
    assert_int_equal(refused(&stage), 1);
    assert_int_equal(broker_count_leases(stage.broker), LEASES_PER_PROVIDER_MAX);
    /* One that ended gives way. */
    state_lease(&stage, "north", 17, 0, true);
    assert_int_equal(refused(&stage), 0);
    state_lease(&stage, "north", LEASES_PER_PROVIDER_MAX, 0, false);
    assert_int_equal(refused(&stage), 0);
    assert_int_equal(broker_count_leases(stage.broker), LEASES_PER_PROVIDER_MAX);
    stage_close(&stage);
}

static void test_hosts_of_one_provider(void **state)
{
    const int n_leases = LEASE_HOSTS_PER_PROVIDER_MAX / HOSTS_MAX;
    struct stage stage;
    stage_open(&stage);
    stage_hello(&stage, "north", 1);
    for (int i = 0; i < n_leases; i++) {
        state_lease(&stage, "north", i, HOSTS_MAX, false);
        assert_int_equal(refused(&stage), 0);
    }
    state_lease(&stage, "north", n_leases, 1, false);
    assert_int_equal(refused(&stage), 1);
    assert_int_equal(broker_count_leases(stage.broker), n_leases);
    state_lease(&stage, "north", 0, HOSTS_MAX, true);
    state_lease(&stage, "north", n_leases, 1, false);
    assert_int_equal(refused(&stage), 0);
    stage_close(&stage);
}

static struct lease *new_lease(struct member *provider, struct member *consumer)
{
    struct lease_id id = {.part = LEASE_WHOLE, .policy = "1"};
    snprintf(id.provider, sizeof(id.provider), "%s", provider->name);
    snprintf(id.consumer, sizeof(id.consumer), "%s", consumer->name);
    return lease_new(&id, provider, consumer);
}

/* As many leases as fit, most of them one open lease in many places. */
static void test_leases_of_all_providers(void **state)
{
    static struct member north = {.name = "north"}, west = {.name = "west"};
    static struct member south = {.name = "south"}, zoo = {.name = "zoo"};
    static struct member east = {.name = "east"};
    struct lease_table leases;
    lease_table_init(&leases);
    struct lease *open = new_lease(&west, &south);
    open->row.state = LEASE_ACTIVE;
    lease_table_add(&leases, new_lease(&north, &south)); /* has ended */
    lease_table_add(&leases, open);
    leases.items = mem_grow(leases.items, LEASES_MAX, sizeof(*leases.items));
    leases.capacity = LEASES_MAX;
    while (leases.count < LEASES_MAX - 1) {
        leases.items[leases.count++] = open;
    }
    /* Nothing is removed while there is room. */
    assert_true(lease_table_make_room(&leases, &zoo));
    assert_int_equal(leases.count, LEASES_MAX - 1);
    leases.items[leases.count++] = open;
    /* Then the ended lease makes room, once. */
    assert_true(lease_table_make_room(&leases, &zoo));
    assert_int_equal(leases.count, LEASES_MAX - 1);
    assert_ptr_equal(leases.items[0], open);
    leases.items[leases.count++] = open;
    assert_false(lease_table_make_room(&leases, &zoo));
    assert_int_equal(leases.count, LEASES_MAX);
    /* A drained lease may be resumed: it is removed if there is no other. */
    struct lease *drained = new_lease(&east, &south);
    drained->row.is_drained = true;
    leases.count = LEASES_MAX - 2;
    lease_table_add(&leases, drained);
    lease_table_add(&leases, new_lease(&north, &south));
    assert_true(lease_table_make_room(&leases, &zoo));
    assert_ptr_equal(lease_table_find(&leases, drained->row.id), drained);
    leases.items[leases.count++] = open;
    assert_true(lease_table_make_room(&leases, &zoo));
    assert_null(lease_table_find(&leases, "east/1/south"));
    leases.count = 1;
    lease_table_release(&leases);
}

static int state_pair(struct stage *stage, const char *id, bool is_ended)
{
    struct msg msg = {.kind = MSG_STATE};
    msg.state =
        (struct msg_state){.lease = id, .epoch = 1, .is_ended = is_ended, .reason = ""};
    stage_say(stage, "north", stage->max_leases > 100 ? 2 : 1, &msg);
    return refused(stage);
}

static int state_number(struct stage *stage, const char *consumer, int number)
{
    char id[LEASE_ID_SIZE];
    snprintf(id, sizeof(id), "north/p%d/%s", number, consumer);
    return state_pair(stage, id, false);
}

/* 100 by default, for each pair of sites; what has ended does not count. */
static void test_leases_of_a_pair_of_sites(void **state)
{
    struct stage stage;
    stage_open(&stage);
    stage_hello(&stage, "north", 1);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(state_number(&stage, "south", i), 0);
    }
    assert_int_equal(state_number(&stage, "south", 100), 1);
    const struct msg *msg = stage_sent(&stage, "north", MSG_ERROR, 0);
    assert_int_equal(msg->error.code, ERR_FULL);
    assert_string_equal(
        msg->error.text,
        "\"north\" has 100 leases with \"south\", expected at most 100: "
        "end one, or have the broker's administrator raise MAX_LEASES "
        "in their rows of section Member");
    assert_int_equal(broker_count_leases(stage.broker), 100);
    assert_int_equal(state_number(&stage, "south", 99), 0); /* it is there already */
    assert_int_equal(state_number(&stage, "west", 0), 0);   /* another pair */
    assert_int_equal(state_pair(&stage, "north/p17/south", true), 0);
    assert_int_equal(state_number(&stage, "south", 100), 0);
    assert_int_equal(state_number(&stage, "south", 101), 1);
    stage_close(&stage);
}

/* The provider states again what was refused once the bound is raised. */
static void test_max_leases_is_raised(void **state)
{
    struct stage stage;
    stage_open(&stage);
    stage.max_leases = 1;
    stage_reload(&stage, NULL);
    stage_hello(&stage, "north", 1);
    assert_int_equal(state_number(&stage, "south", 0), 0);
    assert_int_equal(state_number(&stage, "south", 1), 1);
    stage.max_leases = 101;
    stage_reload(&stage, NULL);
    stage_usage(&stage, "north", 1, 1);
    const struct msg *msg = stage_sent(&stage, "north", MSG_ERROR, 0);
    assert_int_equal(msg->error.code, ERR_STALE); /* so it opens a session */
    stage_hello(&stage, "north", 2);
    assert_int_equal(state_number(&stage, "south", 1), 0);
    assert_int_equal(broker_count_leases(stage.broker), 2);
    stage_close(&stage);
}

/* Contracts of pools are bounded by their plans. */
static void test_contracts_of_pools_do_not_count(void **state)
{
    struct stage stage;
    stage_open(&stage);
    stage.max_leases = 1;
    stage_reload(&stage, NULL);
    stage_hello(&stage, "north", 1);
    assert_int_equal(state_number(&stage, "south", 0), 0);
    assert_int_equal(state_pair(&stage, "north/1/pool:p", false), 0);
    assert_int_equal(state_pair(&stage, "north/2/pool:p", false), 0);
    assert_int_equal(state_number(&stage, "south", 1), 1);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leases_of_one_provider),
        cmocka_unit_test(test_hosts_of_one_provider),
        cmocka_unit_test(test_leases_of_all_providers),
        cmocka_unit_test(test_leases_of_a_pair_of_sites),
        cmocka_unit_test(test_max_leases_is_raised),
        cmocka_unit_test(test_contracts_of_pools_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
