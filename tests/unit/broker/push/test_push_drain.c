/* SPDX-License-Identifier: Apache-2.0 */
/* test_push_drain.c: an administrator drains a lease or a site, and takes it back: who
 * may, what is told to whom, and that the order outlives whatever is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/broker/stage.h"

static const char lease_id[] = "north/1/south";
static const char *const both[] = {"north", "south", NULL};

static const struct peer ops = {
    .kind = PEER_SITE, .name = "ops", .link = 9, .roles = ROLE_ADMIN};
static const struct peer north = {
    .kind = PEER_SITE, .name = "north", .link = 1, .roles = ROLE_PROVIDER};
static const struct peer south = {
    .kind = PEER_SITE, .name = "south", .link = 2, .roles = ROLE_CONSUMER};
static const struct peer west = {
    .kind = PEER_SITE, .name = "west", .link = 3, .roles = ROLE_CONSUMER};

static struct stage stage;

/* What the provider states. */
static struct msg_state books;
static struct host_split host;

static void state_books(void)
{
    struct msg msg = {.kind = MSG_STATE, .state = books};
    msg.state.hosts = &host;
    msg.state.n_hosts = books.is_ended ? 0 : 1;
    stage_say(&stage, "north", 1, &msg);
}

static int open_lease(void **state)
{
    stage_open(&stage);
    host =
        (struct host_split){.host = "n1", .n_slots = 4, .provider = 1, .consumer = 3};
    host.consumer_used = 2;
    books = (struct msg_state){.lease = lease_id,
                               .epoch = 5,
                               .type = LEASE_SHARED,
                               .is_made = true,
                               .lease_term_ms = 300000,
                               .reason = ""};
    stage_hello(&stage, "south", 1);
    stage_hello(&stage, "west", 1);
    stage_hello(&stage, "north", 1);
    state_books();
    return 0;
}

static int close_lease(void **state)
{
    stage_close(&stage);
    return 0;
}

static const struct msg_reply *order(const struct peer *from, enum drain_scope scope,
                                     const char *name, bool is_drained)
{
    struct msg msg = {.kind = MSG_SET_DRAIN, .site = ""};
    msg.set_drain = (struct msg_set_drain){
        .request = 7, .scope = scope, .name = name, .is_drained = is_drained};
    stage_say_as(&stage, from, &msg);
    const struct msg *reply = stage_sent(&stage, from->name, MSG_REPLY, 0);
    assert_non_null(reply);
    assert_int_equal(reply->reply.request, 7);
    return &reply->reply;
}

static const struct msg_drain *told(void)
{
    const struct msg *msg = stage_sent(&stage, "north", MSG_DRAIN, 0);
    return msg != NULL ? &msg->drain : NULL;
}

static enum lease_state state_now(void)
{
    return stage_stored(&stage, lease_id)->state;
}

/* The provider takes the order as told: withdrawn, or exported again. */
static void obey(uint64_t number, bool is_drained)
{
    books.drain = number;
    if (books.is_drained != is_drained) {
        books.is_drained = books.is_withdrawn = is_drained;
        books.is_ended = false;
        books.epoch++;
    }
    state_books();
}

static void end_at_provider(void)
{
    books.is_ended = true;
    books.epoch++;
    state_books();
}

static void test_drain(void **state)
{
    const struct msg_reply *reply = order(&ops, DRAIN_LEASE, lease_id, true);
    assert_int_equal(reply->code, 0);
    assert_string_equal(reply->text,
                        "Lease <north/1/south> is draining: slots in use: 2.");
    assert_non_null(told());
    assert_int_equal(told()->number, 1);
    assert_true(told()->is_drained);
    const struct msg *contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_non_null(contract); /* at once: nothing new starts */
    assert_int_equal(contract->contract.state, LEASE_DRAINING);
    assert_string_equal(stage_history(&stage, lease_id)->reason, "drained by ops");
    assert_true(stage_stored(&stage, lease_id)->is_drain_ordered);

    obey(1, true);
    assert_int_equal(state_now(), LEASE_DRAINING);
    stage_wait_with(&stage, 20000, both, 1);
    assert_null(told()); /* it knows */
    end_at_provider();
    assert_int_equal(state_now(), LEASE_ENDED);
    reply = order(&ops, DRAIN_LEASE, lease_id, true);
    assert_int_equal(reply->code, 0);
    assert_string_equal(reply->text, "Lease <north/1/south> is drained.");
}

static void test_resume(void **state)
{
    order(&ops, DRAIN_LEASE, lease_id, true);
    obey(1, true);
    end_at_provider();
    const struct msg_reply *reply = order(&north, DRAIN_LEASE, lease_id, false);
    assert_int_equal(reply->code, 0);
    assert_string_equal(reply->text, "Lease <north/1/south> is resumed.");
    assert_int_equal(told()->number, 2);
    assert_false(told()->is_drained);
    obey(2, false); /* exported again, above its last epoch */
    assert_int_equal(state_now(), LEASE_ACTIVE);
    assert_int_equal(stage_stored(&stage, lease_id)->epoch, books.epoch);
    reply = order(&ops, DRAIN_LEASE, lease_id, false);
    assert_int_equal(reply->code, 0);
    assert_string_equal(reply->text, "Lease <north/1/south> is not drained.");
}

/* Taken back before the provider has heard of it: it never withdrew, and its epoch is
 * what it was. */
static void test_taken_back(void **state)
{
    order(&ops, DRAIN_LEASE, lease_id, true);
    state_books(); /* on its way before */
    assert_int_equal(state_now(), LEASE_DRAINING);
    order(&ops, DRAIN_LEASE, lease_id, false);
    assert_int_equal(state_now(), LEASE_DRAINING);
    obey(2, false);
    assert_int_equal(state_now(), LEASE_ACTIVE);
}

/* A host of the lease grows while the order is on its way: that is no reason to open
 * it.
 */
static void test_change_on_the_way(void **state)
{
    order(&ops, DRAIN_LEASE, lease_id, true);
    books.epoch++;
    host.n_slots = 5;
    host.provider = 2;
    state_books();
    assert_int_equal(state_now(), LEASE_DRAINING);
    assert_int_equal(stage_stored(&stage, lease_id)->epoch, books.epoch);
}

static void test_restart(void **state)
{
    order(&ops, DRAIN_LEASE, lease_id, true);
    stage_restart(&stage);
    stage_hello(&stage, "north", 2);
    assert_non_null(told());
    assert_int_equal(told()->number, 1);
    assert_true(told()->is_drained);
}

/* A lease that ended by an order is still known after a restart, and can be resumed. */
static void test_restart_when_ended(void **state)
{
    order(&ops, DRAIN_LEASE, lease_id, true);
    obey(1, true);
    end_at_provider();
    stage_restart(&stage);
    assert_int_equal(order(&ops, DRAIN_LEASE, lease_id, false)->code, 0);
    stage_hello(&stage, "north", 2);
    assert_int_equal(told()->number, 2);
    assert_false(told()->is_drained);
}

/* The broker lost the order with its disk: the provider still has it. */
static void test_restored_broker(void **state)
{
    books.drain = 3;
    books.is_drained = books.is_withdrawn = true;
    books.epoch++;
    state_books();
    const struct row_lease *stored = stage_stored(&stage, lease_id);
    assert_int_equal(stored->state, LEASE_DRAINING);
    assert_true(stored->is_drain_ordered);
    order(&ops, DRAIN_LEASE, lease_id, false);
    assert_int_equal(told()->number, 4);
}

/* Likewise, of a lease that has ended and that the broker has never heard of. */
static void test_forgotten(void **state)
{
    struct msg msg = {.kind = MSG_STATE, .state = books};
    msg.state.lease = "north/2/south";
    msg.state.is_withdrawn = msg.state.is_ended = msg.state.is_drained = true;
    msg.state.drain = 1;
    stage_say(&stage, "north", 1, &msg);
    assert_int_equal(stage_stored(&stage, "north/2/south")->state, LEASE_ENDED);
    const struct msg *end = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_non_null(end); /* its consumer may know it from before */
    assert_string_equal(end->contract.lease, "north/2/south");
    assert_int_equal(end->contract.state, LEASE_ENDED);
    assert_int_equal(order(&ops, DRAIN_LEASE, "north/2/south", false)->code, 0);
    assert_int_equal(told()->number, 2);
}

/* The provider's journal was replaced by one from before the lease. */
static void lose_at_provider(void)
{
    books.epoch = 0;
    books.drain = 0;
    books.is_drained = books.is_withdrawn = books.is_ended = books.is_made = false;
    state_books();
}

/* It cannot obey the order, and is not told again before it states the lease. */
static void test_lost_by_its_provider(void **state)
{
    order(&ops, DRAIN_SITE, "north", true);
    obey(1, true);
    end_at_provider();
    stage_hello(&stage, "north", 2);
    assert_int_equal(told()->number, 1);
    struct msg msg = {.kind = MSG_STATE, .state = {.lease = lease_id, .reason = ""}};
    stage_say(&stage, "north", 2, &msg);
    const char *const none[] = {NULL};
    for (int i = 0; i < 30; i++) {
        stage_wait_with(&stage, 1000, none, 2);
        assert_null(told());
    }
    assert_true(stage_stored(&stage, lease_id)->is_drained);
}

/* The order of an administrator stays in force, so that nothing starts on the lease
 * when it comes back. */
static void test_order_outlives_the_journal_of_the_provider(void **state)
{
    order(&ops, DRAIN_LEASE, lease_id, true);
    obey(1, true);
    lose_at_provider();
    assert_int_equal(state_now(), LEASE_ENDED);
    stage_wait(&stage, 6000);
    assert_null(told());
    assert_true(stage_stored(&stage, lease_id)->is_drain_ordered);

    books.epoch = 1;
    state_books(); /* exported again, as the provider does not know the order */
    assert_int_equal(state_now(), LEASE_DRAINING);
    const struct msg *contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_non_null(contract);
    assert_int_equal(contract->contract.state, LEASE_DRAINING);
    assert_string_equal(stage_history(&stage, lease_id)->reason,
                        "drained by an administrator");
    assert_int_equal(told()->number, 1);
    assert_true(told()->is_drained);
}

static void test_same_number_twice(void **state)
{
    books.drain = 1; /* given, taken back by nobody here: "not drained" */
    order(&ops, DRAIN_LEASE, lease_id, true);
    state_books();
    assert_int_equal(told()->number, 2);
    assert_true(told()->is_drained);
}

/* ---------------------------------------------------------------- sites */

static void test_site(void **state)
{
    const struct msg_reply *reply = order(&ops, DRAIN_SITE, "south", true);
    assert_int_equal(reply->code, 0);
    assert_string_equal(reply->text,
                        "Site <south> is draining: leases: 1, slots in use: 2.");
    assert_non_null(told());
    assert_string_equal(stage_history(&stage, lease_id)->reason,
                        "site south is drained");
    assert_false(stage_stored(&stage, lease_id)->is_drain_ordered);
    obey(1, true);

    reply = order(&ops, DRAIN_LEASE, lease_id, false);
    assert_int_equal(reply->code, ERR_STATE);
    assert_non_null(strstr(reply->text, "lease resume --site south"));

    stage_restart(&stage); /* the site's order is on record */
    stage_hello(&stage, "north", 2);
    struct msg msg = {.kind = MSG_STATE, .state = books};
    msg.state.lease = "north/2/south"; /* one that came later */
    msg.state.drain = 0;
    msg.state.is_drained = msg.state.is_withdrawn = false;
    msg.state.hosts = &host;
    msg.state.n_hosts = 1;
    stage_say(&stage, "north", 2, &msg);
    assert_int_equal(stage_stored(&stage, "north/2/south")->state, LEASE_DRAINING);

    assert_int_equal(order(&ops, DRAIN_SITE, "south", false)->code, 0);
    assert_int_equal(stage_count_sent(&stage, "north", MSG_DRAIN), 2);
    assert_false(told()->is_drained);
}

/* Two reasons to drain: one taken back leaves the other. */
static void test_site_and_lease(void **state)
{
    order(&ops, DRAIN_LEASE, lease_id, true);
    order(&ops, DRAIN_SITE, "north", true);
    obey(1, true);
    order(&ops, DRAIN_SITE, "north", false);
    assert_null(told());
    assert_true(stage_stored(&stage, lease_id)->is_drained);
    order(&ops, DRAIN_LEASE, lease_id, false);
    assert_false(told()->is_drained);
}

/* ---------------------------------------------------------------- rights */

static void test_refusals(void **state)
{
    const struct {
        const struct peer *from;
        enum drain_scope scope;
        const char *name;
        int code;
        const char *why;
    } rows[] = {
        {&north, DRAIN_LEASE, lease_id, 0, "its provider may"},
        {&south, DRAIN_LEASE, lease_id, ERR_DENIED, "its consumer may not"},
        {&west, DRAIN_LEASE, lease_id, ERR_DENIED, "nor another"},
        {&south, DRAIN_SITE, "south", 0, "a site may drain itself"},
        {&west, DRAIN_SITE, "south", ERR_DENIED, "but no other"},
        {&north, DRAIN_SITE, "south", ERR_DENIED, "a provider neither"},
        {&ops, DRAIN_LEASE, "north/9/south", ERR_NOT_FOUND, "no such lease"},
        {&ops, DRAIN_SITE, "nowhere", ERR_NOT_FOUND, "no such site"},
        {&ops, DRAIN_SITE, "ops", ERR_STATE, "an administrator's key is never here"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct msg_reply *reply =
            order(rows[i].from, rows[i].scope, rows[i].name, true);
        if (reply->code != rows[i].code) {
            fail_msg("%s: %d, expected %d: %s", rows[i].why, reply->code, rows[i].code,
                     reply->text);
        }
    }
}

static void test_ended(void **state)
{
    books.is_withdrawn = true;
    end_at_provider();
    const struct msg_reply *reply = order(&ops, DRAIN_LEASE, lease_id, true);
    assert_int_equal(reply->code, ERR_STATE);
    assert_non_null(strstr(reply->text, "has ended"));
    assert_null(told());
}

static const struct msg_reply *recover(const struct peer *from)
{
    struct msg msg = {.kind = MSG_SET_DRAIN, .site = ""};
    msg.set_drain = (struct msg_set_drain){
        .request = 8, .scope = DRAIN_LEASE, .name = lease_id, .is_recovery = true};
    stage_say_as(&stage, from, &msg);
    return &stage_sent(&stage, from->name, MSG_REPLY, 0)->reply;
}

/* A provider that lost its books goes on above the epoch that is known, when an
 * administrator says so. */
static void test_recovery(void **state)
{
    assert_int_equal(recover(&ops)->code, ERR_STATE); /* nothing is lost */
    books.epoch = 1;
    books.is_made = false;
    state_books();
    assert_int_equal(recover(&ops)->code, ERR_STATE); /* a late copy? */
    state_books();
    assert_int_equal(recover(&south)->code, ERR_DENIED);
    assert_null(told());
    const struct msg_reply *reply = recover(&ops);
    assert_string_equal(reply->text,
                        "Lease <north/1/south> is recovered: from epoch 1 to above 5.");
    assert_non_null(told());
    assert_int_equal(told()->raise_above, 5);
    assert_false(told()->is_drained);
    state_books(); /* it was on its way: told again */
    stage_wait_with(&stage, 5000, both, 1);
    assert_int_equal(stage_stored(&stage, lease_id)->epoch, 5);

    books.epoch = 6;
    books.drain = 1;
    state_books();
    assert_int_equal(stage_stored(&stage, lease_id)->epoch, 6);
    assert_int_equal(recover(&ops)->code, ERR_STATE); /* done */
    stage_wait_with(&stage, 20000, both, 1);
    assert_null(told());
    order(&ops, DRAIN_LEASE, lease_id, true);
    assert_int_equal(told()->number, 2);
    assert_int_equal(told()->raise_above, 0);
}

static struct row_lease lease_now(void)
{
    struct row_lease row;
    assert_true(broker_find_lease(stage.broker, lease_id, &row));
    return row;
}

/* One whose books have passed the epoch that is known, without what it stands for. */
static void test_recovery_of_books_that_passed(void **state)
{
    books.epoch = 6;
    books.commits = 600;
    state_books();
    books.epoch = 8; /* from epoch 5 on, by itself */
    books.commits = 503;
    state_books();
    state_books();
    assert_int_equal(lease_now().epoch, 6);
    const struct msg_reply *reply = recover(&ops);
    assert_string_equal(reply->text,
                        "Lease <north/1/south> is recovered: from epoch 8 to above 8.");
    assert_int_equal(told()->raise_above, 8);
    uint64_t number = told()->number;

    books.epoch = 9; /* a change of its own, before it has the order */
    books.commits = 504;
    state_books();
    assert_int_equal(lease_now().epoch, 6);
    books.epoch = 10;
    books.drain = number;
    books.commits = 602;
    books.lost_from = 500; /* it was found out since, and not recovered from */
    books.lost_to = 601;
    state_books();
    assert_int_equal(lease_now().epoch, 6);
    books.lost_from = books.lost_to = 0;
    state_books();
    assert_int_equal(lease_now().epoch, 10);
    assert_int_equal(lease_now().commits, 602);
    assert_int_equal(recover(&ops)->code, ERR_STATE); /* done */
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, open_lease, close_lease)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(drain),
        TEST(resume),
        TEST(taken_back),
        TEST(change_on_the_way),
        TEST(restart),
        TEST(restart_when_ended),
        TEST(restored_broker),
        TEST(forgotten),
        TEST(lost_by_its_provider),
        TEST(order_outlives_the_journal_of_the_provider),
        TEST(same_number_twice),
        TEST(site),
        TEST(site_and_lease),
        TEST(refusals),
        TEST(ended),
        TEST(recovery),
        TEST(recovery_of_books_that_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
