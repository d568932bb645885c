/* SPDX-License-Identifier: Apache-2.0 */
/* test_contract.c: which borrowed hosts there are, when something may start on them,
 * and how their slots are counted. */
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
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    consumer_world_release(*state);
    free(*state);
    return 0;
}

#define ASSERT_HOSTS(expected)                                                         \
    assert_string_equal(consumer_world_hosts(world), expected)
#define ASSERT_SENT(expected) assert_string_equal(consumer_world_sent(world), expected)

static void test_contract_is_acknowledged_and_offered(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_contract(world, 3, 1, LEASE_PENDING, "n1=1 n2=0");
    ASSERT_SENT("CONTRACT_ACK 3");
    ASSERT_HOSTS("n1@north 1/0 open; n2@north 0/0 open");
    struct consumer_host host;
    consumer_host_at(world->consumer, 0, &host);
    assert_string_equal(host.host, "n1");
    assert_string_equal(host.site, "north");
    assert_string_equal(host.lease, "north/1/south");
    assert_int_equal(host.epoch, 1);
    assert_false(host.is_made);
    assert_false(host.is_exclusive);
    assert_int_equal(consumer_count_contracts(world->consumer), 1);
}

static void test_states(void **state)
{
    struct consumer_world *world = *state;
    static const struct {
        enum lease_state state;
        const char *hosts;
    } rows[] = {
        {LEASE_PENDING, "n1@north 1/0 open"}, {LEASE_ACTIVE, "n1@north 1/0 open"},
        {LEASE_INACTIVE, "n1@north 1/0"},     {LEASE_DRAINING, "n1@north 1/0"},
        {LEASE_ENDED, "n1@north 1/0"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        consumer_world_contract(world, i + 1, 1, rows[i].state, "n1=1");
        ASSERT_HOSTS(rows[i].hosts);
    }
}

static void test_down_host_is_closed(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_contract(world, 1, 1, LEASE_ACTIVE, "n1=2! n2=2");
    ASSERT_HOSTS("n1@north 2/0; n2@north 2/0 open");
}

/* A recalled slot that falls free goes back: nothing starts on the lease meanwhile. */
static void test_recall_closes_the_lease(void **state)
{
    struct consumer_world *world = *state;
    struct recall recall = {.n_held = 1, .left_ms = 1000};
    struct host_split host = {.host = "n1", .n_slots = 4, .consumer = 2, .provider = 2};
    struct msg msg = {.kind = MSG_CONTRACT, .session = world->session, .site = ""};
    msg.contract = (struct msg_contract){.lease = "north/1/south",
                                         .revision = 1,
                                         .epoch = 1,
                                         .type = LEASE_POOL,
                                         .state = LEASE_ACTIVE,
                                         .is_made = true,
                                         .is_provider_here = true,
                                         .hosts = &host,
                                         .n_hosts = 1,
                                         .recalls = &recall,
                                         .n_recalls = 1};
    consumer_contract(world->consumer, &msg, world->now_ms, &world->effects);
    ASSERT_HOSTS("n1@north 2/0");
    msg.contract.revision = 2;
    msg.contract.n_recalls = 0;
    consumer_contract(world->consumer, &msg, world->now_ms, &world->effects);
    ASSERT_HOSTS("n1@north 2/0 open");
}

/* A resource that all hosts of the lease see is given to a host that joins the lease,
 * too; slots alone give nothing else. */
static void test_changes(void **state)
{
    struct consumer_world *world = *state;
    struct lease_resource resource = {
        .name = "lic", .pool = 1, .n_instances = 2, .hosts = ""};
    struct host_split hosts[] = {{.host = "n1", .n_slots = 4, .provider = 4},
                                 {.host = "n2", .n_slots = 4, .provider = 4}};
    struct msg msg = {.kind = MSG_CONTRACT, .session = world->session, .site = ""};
    msg.contract = (struct msg_contract){
        .lease = "north/1/south", .epoch = 1, .hosts = hosts, .resources = &resource};
    const struct {
        int n_hosts, n_resources, n_lent;
        bool is_other;
    } rows[] = {{1, 0, 0, false}, {2, 0, 0, false}, {1, 1, 0, true}, {1, 1, 2, false},
                {2, 1, 2, true},  {2, 1, 1, false}, {1, 1, 1, true}, {1, 0, 1, true}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t before = consumer_changes(world->consumer);
        msg.contract.revision = i + 1;
        msg.contract.n_hosts = rows[i].n_hosts;
        msg.contract.n_resources = rows[i].n_resources;
        hosts[0].consumer = rows[i].n_lent;
        consumer_contract(world->consumer, &msg, world->now_ms, &world->effects);
        assert_int_equal(consumer_changes(world->consumer) != before, rows[i].is_other);
    }
}

/* At regular instants, which the broker tells by its own clock. */
static void test_next_rebalance(void **state)
{
    static const struct {
        int64_t every_ms, past_ms, left_ms;
    } rows[] = {
        {300000, 0, 60000},
        {300000, 59999, 1},
        {300000, 60000, 0},
        {300000, 60001, 299999},
        {300000, 400000, 260000},
        {300000, 660000, 0},
        {0, 0, -1},
    };
    struct consumer_world *world = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct msg msg = {.kind = MSG_CONTRACT, .session = world->session, .site = ""};
        msg.contract = (struct msg_contract){.lease = "north/1/south",
                                             .revision = i + 1,
                                             .epoch = 1,
                                             .state = LEASE_ACTIVE,
                                             .is_made = true,
                                             .rebalance_in_ms = 60000,
                                             .rebalance_every_ms = rows[i].every_ms};
        consumer_contract(world->consumer, &msg, world->now_ms, &world->effects);
        assert_int_equal(consumer_rebalance_in_ms(world->consumer, 0,
                                                  world->now_ms + rows[i].past_ms),
                         rows[i].left_ms);
    }
}

static void test_revisions(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_contract(world, 3, 2, LEASE_ACTIVE, "n1=3");
    ASSERT_SENT("CONTRACT_ACK 3");
    consumer_world_contract(world, 2, 1, LEASE_ACTIVE, "n1=1"); /* late */
    ASSERT_SENT("");
    ASSERT_HOSTS("n1@north 3/0 open");
    consumer_world_contract(world, 3, 2, LEASE_ACTIVE, "n1=3"); /* again */
    ASSERT_SENT("CONTRACT_ACK 3");
    consumer_world_session(world, 8);
    consumer_world_contract(world, 1, 5, LEASE_ACTIVE, "n1=2"); /* counts anew */
    ASSERT_SENT("CONTRACT_ACK 1");
    ASSERT_HOSTS("n1@north 2/0 open");
}

static void test_new_session_waits_to_be_told(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_contract(world, 1, 1, LEASE_ACTIVE, "n1=2");
    consumer_broker_lost(world->consumer);
    ASSERT_HOSTS("n1@north 2/0");
    consumer_world_session(world, 8);
    ASSERT_HOSTS("n1@north 2/0");
    /* What the session before sent counts for nothing, however high its revision. */
    world->session = 7;
    consumer_world_contract(world, 99, 1, LEASE_ACTIVE, "n1=4");
    world->session = 8;
    ASSERT_HOSTS("n1@north 2/0");
    consumer_world_contract(world, 1, 1, LEASE_ACTIVE, "n1=2");
    ASSERT_HOSTS("n1@north 2/0 open");
}

static void test_ended_contract(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_contract(world, 1, 1, LEASE_ACTIVE, "n1=2");
    consumer_world_contract(world, 3, 2, LEASE_ENDED, "");
    ASSERT_HOSTS("");
    consumer_world_contract(world, 2, 1, LEASE_ACTIVE, "n1=2"); /* late */
    ASSERT_HOSTS("");
    consumer_world_session(world, 8);
    assert_int_equal(consumer_count_contracts(world->consumer), 0);
}

static void test_not_for_this_site(void **state)
{
    struct consumer_world *world = *state;
    static const struct {
        const char *lease;
        int n_contracts;
    } rows[] = {{"north/1/east", 0},          {"north/1/south2", 0}, {"south", 0},
                {"north/p/pool:south", 0},  /* what is idle in a pool */
                {"north/p/east:/south", 0}, /* a leaf's, of another site */
                {"north/p/south:/eng/sim", 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct msg msg = {
            .kind = MSG_CONTRACT,
            .session = 7,
            .site = "",
            .contract = {.lease = rows[i].lease, .state = LEASE_ACTIVE},
        };
        consumer_contract(world->consumer, &msg, world->now_ms, &world->effects);
        assert_int_equal(consumer_count_contracts(world->consumer),
                         rows[i].n_contracts);
    }
}

static void test_use_is_counted(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_contract(world, 1, 1, LEASE_ACTIVE, "n1=3 n2=2");
    consumer_world_start(world, 1, "n1=1 n2=2", "");
    consumer_world_start(world, 2, "n1=1", "");
    ASSERT_HOSTS("n1@north 3/2 open; n2@north 2/2 open");
    consumer_world_hear(world, 1, ATTEMPT_TAKEN, 0);
    ASSERT_HOSTS("n1@north 3/2 open; n2@north 2/2 open");
    consumer_world_hear(world, 2, ATTEMPT_REFUSED, 0);
    ASSERT_HOSTS("n1@north 3/1 open; n2@north 2/2 open");
    /* A contract told anew is counted anew, on the hosts that it has. */
    consumer_world_contract(world, 2, 2, LEASE_ACTIVE, "n2=2 n3=1");
    ASSERT_HOSTS("n2@north 2/2 open; n3@north 1/0 open");

    struct arena arena;
    arena_init(&arena);
    struct lease_demand *demands;
    int n_demands, waiting[] = {4};
    consumer_demands(world->consumer, waiting, &arena, &demands, &n_demands);
    assert_int_equal(n_demands, 1);
    assert_string_equal(demands[0].lease, "north/1/south");
    assert_int_equal(demands[0].epoch, 2);
    assert_int_equal(demands[0].n_used, 3); /* also on the host that is gone */
    assert_int_equal(demands[0].n_waiting, 4);
    arena_release(&arena);

    /* Hosts are found wherever the contract has them now. */
    consumer_world_contract(world, 3, 3, LEASE_ACTIVE, "n3=1 n2=2 n1=3");
    ASSERT_HOSTS("n3@north 1/0 open; n2@north 2/2 open; n1@north 3/1 open");
    consumer_world_hear(world, 1, ATTEMPT_ENDED, 0);
    ASSERT_HOSTS("n3@north 1/0 open; n2@north 2/0 open; n1@north 3/0 open");
}

static void test_resumed_attempts_are_counted_when_told(void **state)
{
    struct consumer_world *world = *state;
    consumer_world_resume(world, 1, "n1=2", true);
    consumer_world_resume(world, 2, "n1=1", false);
    consumer_world_contract(world, 1, 1, LEASE_ACTIVE, "n1=3");
    ASSERT_HOSTS("n1@north 3/3 open");
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_contract_is_acknowledged_and_offered),
        STORY(test_states),
        STORY(test_down_host_is_closed),
        STORY(test_recall_closes_the_lease),
        STORY(test_changes),
        STORY(test_next_rebalance),
        STORY(test_revisions),
        STORY(test_new_session_waits_to_be_told),
        STORY(test_ended_contract),
        STORY(test_not_for_this_site),
        STORY(test_use_is_counted),
        STORY(test_resumed_attempts_are_counted_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
