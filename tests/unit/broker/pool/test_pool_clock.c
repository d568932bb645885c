/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_clock.c: what the broker says to whom while a pool runs: grants from the
 * first LEASE_OPEN on, recalls, their cancel, restarts, plans that go. north exports 4
 * slots of n1 to pool p; /eng is south's, /ops north's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/conf/conf.h"
#include "broker/plan/plan.h"
#include "tests/unit/broker/stage.h"

#define IDLE "north/1/pool:p"
#define ENG "north/1/south:/eng"

enum { CYCLE_MS = 10000 };

static const char text[] = "Begin Pool\nNAME = p\nCYCLE = 10s\nEnd Pool\n"
                           "Begin PlanNode\n"
                           "NAME POOL OWNED GRACE SITE QUEUES\n"
                           "/eng p 1 20s south (away)\n"
                           "/ops p 3 0s north -\n"
                           "End PlanNode\n";

/* South's leaf goes over to ownership policy at 1020 s. */
static const char windows_text[] = "Begin Pool\nNAME = p\nCYCLE = 10s\nEnd Pool\n"
                                   "Begin TimeWindow\n"
                                   "NAME POOL FROM TO\n"
                                   "early p 00:00 00:17\n"
                                   "late p 00:17 24:00\n"
                                   "End TimeWindow\n"
                                   "Begin PlanNode\n"
                                   "NAME POOL OWNED GRACE SITE QUEUES POLICY WINDOW\n"
                                   "/eng p 1 20s south (away) hybrid early\n"
                                   "/eng p 1 20s south (away) ownership late\n"
                                   "/ops p 3 0s north - hybrid -\n"
                                   "End PlanNode\n";

static struct arena arena;
static struct plan_pools pools;
static struct stage stage;

/* North's books. */
static int n_idle, n_eng, n_eng_used;
static uint64_t idle_epoch, eng_epoch, recall;
static bool is_frozen;
static uint64_t freeze;
static struct recall open_recall;
static int n_recalls;

static int64_t usages;

static void say_usage(const char *site, const char *queue, int n_waiting)
{
    struct queue_demand demand = {.queue = queue, .n_waiting = n_waiting};
    struct msg msg = {.kind = MSG_USAGE, .usage.seq = (uint64_t)++usages};
    msg.usage.queues = &demand;
    msg.usage.n_queues = n_waiting > 0;
    stage_say(&stage, site, 1, &msg);
}

static void state_idle(void)
{
    struct host_split host = {.host = "n1", .n_slots = n_idle, .consumer = n_idle};
    struct msg msg = {.kind = MSG_STATE,
                      .state = {.lease = IDLE,
                                .epoch = ++idle_epoch,
                                .type = LEASE_POOL,
                                .is_made = true,
                                .hosts = &host,
                                .n_hosts = 1,
                                .reason = ""}};
    stage_say(&stage, "north", 1, &msg);
}

static void state_eng(void)
{
    struct host_split host = {
        .host = "n1", .n_slots = n_eng, .consumer = n_eng, .consumer_used = n_eng_used};
    struct msg msg = {.kind = MSG_STATE,
                      .state = {.lease = ENG,
                                .epoch = eng_epoch,
                                .type = LEASE_POOL,
                                .is_made = true,
                                .is_frozen = is_frozen,
                                .freeze = freeze,
                                .recall = recall,
                                .recalls = &open_recall,
                                .n_recalls = n_recalls,
                                .hosts = &host,
                                .n_hosts = n_eng > 0,
                                .reason = ""}};
    stage_say(&stage, "north", 1, &msg);
}

static void open_with(const char *plan)
{
    struct conf *conf;
    arena_init(&arena);
    conf = arena_alloc(&arena, 1, sizeof(*conf));
    conf_init(conf, &arena);
    conf_read(conf, "stage", plan, strlen(plan));
    conf_check(conf);
    assert_true(plan_config_read(conf, &pools));
    n_idle = 4;
    n_eng = n_eng_used = n_recalls = 0;
    idle_epoch = recall = freeze = 0;
    eng_epoch = 1;
    is_frozen = false;
    stage_open_pools(&stage, &pools);
    stage_hello(&stage, "south", 1);
    stage_hello(&stage, "north", 1);
    state_idle();
}

static int open_pool(void **state)
{
    (void)state;
    open_with(text);
    return 0;
}

static int open_windows(void **state)
{
    (void)state;
    open_with(windows_text);
    return 0;
}

static int close_pool(void **state)
{
    (void)state;
    stage_close(&stage);
    arena_release(&arena);
    return 0;
}

/* To the next instant at which the pool has a cycle, and no further. */
static void wait_cycle(void)
{
    int64_t next_ms = stage.now_ms - stage.now_ms % CYCLE_MS + CYCLE_MS;
    while (stage.now_ms < next_ms) {
        int64_t wake_ms = broker_wake_ms(stage.broker);
        stage.now_ms = wake_ms > stage.now_ms ? stage.now_ms : stage.now_ms;
        stage_wait(&stage, wake_ms < next_ms && wake_ms > stage.now_ms
                               ? wake_ms - stage.now_ms
                               : next_ms - stage.now_ms);
    }
}

/* South has 3 slots of the pool and uses all. */
static void give_three(void)
{
    n_idle = 1;
    n_eng = n_eng_used = 3;
    eng_epoch = 2;
    state_idle();
    state_eng();
}

static const struct msg_recall *told_recall(void)
{
    const struct msg *msg = stage_sent(&stage, "north", MSG_RECALL, 0);
    return msg != NULL ? &msg->recall : NULL;
}

/* north wants all that it owns: 2 slots of /eng's 3 have to go. */
static void recall_two(void)
{
    give_three();
    say_usage("south", "away", 0);
    say_usage("north", "normal", 3);
    wait_cycle();
    assert_non_null(told_recall());
}

static void a_grant_is_opened_frozen_and_proposed(void **state)
{
    (void)state;
    say_usage("south", "away", 3);
    say_usage("north", "normal", 0);
    wait_cycle();
    assert_int_equal(stage_count_sent(&stage, "north", MSG_LEASE_OPEN), 1);
    assert_string_equal(
        stage_sent(&stage, "north", MSG_LEASE_OPEN, 0)->lease_open.lease, ENG);
    stage_wait(&stage, 1000); /* no answer: again */
    assert_int_equal(stage_count_sent(&stage, "north", MSG_LEASE_OPEN), 1);
    state_eng(); /* registered, without a slot */
    for (int i = 0; i < 5 && stage_count_sent(&stage, "north", MSG_FREEZE) == 0; i++) {
        stage_wait_next(&stage);
    }
    const struct msg *msg = stage_sent(&stage, "north", MSG_FREEZE, 0);
    assert_non_null(msg);
    assert_int_equal(msg->freeze.base, 1);
    is_frozen = true;
    freeze = msg->freeze.freeze;
    state_eng();
    msg = stage_sent(&stage, "north", MSG_PROPOSE, 0);
    assert_non_null(msg);
    assert_int_equal(msg->propose.n_hosts, 1);
    assert_string_equal(msg->propose.hosts[0].host, "n1");
    assert_int_equal(msg->propose.hosts[0].consumer, 3);
    is_frozen = false;
    n_eng = 3;
    eng_epoch = 2;
    state_eng();
    msg = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_non_null(msg);
    assert_int_equal(msg->contract.type, LEASE_POOL);
    assert_int_equal(msg->contract.n_queues, 1);
    assert_string_equal(msg->contract.queues[0], "away");
    assert_int_equal(msg->contract.grace_ms, 20000);
    assert_int_equal(msg->contract.n_recalls, 0);
    assert_int_equal(stage_stored(&stage, ENG)->state, LEASE_ACTIVE);
}

/* The provider says each time that the slots are not there: three times, then it is
 * left to the next cycle. */
static void a_grant_that_is_not_taken_is_given_up(void **state)
{
    (void)state;
    int n_proposals = 0;
    say_usage("south", "away", 3);
    say_usage("north", "normal", 0);
    wait_cycle();
    state_eng();
    for (int i = 0; i < 30; i++) {
        const struct msg *msg = stage_sent(&stage, "north", MSG_FREEZE, 0);
        const struct msg *proposed = stage_sent(&stage, "north", MSG_PROPOSE, 0);
        if (msg == NULL && proposed == NULL) {
            stage_wait_next(&stage);
            continue;
        }
        if (msg != NULL) {
            is_frozen = true;
            freeze = msg->freeze.freeze;
        } else { /* refused, but for the split that it is */
            n_proposals += proposed->propose.n_hosts > 0;
            is_frozen = false;
        }
        state_eng();
    }
    assert_int_equal(n_proposals, 3);
    assert_int_equal(stage_stored(&stage, ENG)->epoch, 1);
}

static void a_recall_is_told_again_until_state_names_it(void **state)
{
    (void)state;
    recall_two();
    const struct msg_recall *order = told_recall();
    assert_string_equal(order->lease, ENG);
    assert_int_equal(order->number, 1);
    assert_false(order->is_whole);
    assert_int_equal(order->n_recalls, 1);
    assert_int_equal(order->recalls[0].n_held, 1);
    assert_int_equal(order->recalls[0].left_ms, 20000);
    const struct msg *contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_non_null(contract); /* its site hears of it with the contract, at once */
    assert_int_equal(contract->contract.n_recalls, 1);
    assert_int_equal(contract->contract.recalls[0].n_held, 1);
    stage_wait(&stage, 500);
    assert_non_null(told_recall());
    assert_int_equal(told_recall()->recalls[0].left_ms, 19500);
    recall = 1;
    open_recall = (struct recall){1, 19000};
    n_recalls = 1;
    state_eng();
    stage_wait(&stage, 3000);
    assert_null(told_recall());
    assert_int_equal(stage_count_history(&stage, ENG, HISTORY_RECALL), 1);
    assert_string_equal(stage_history(&stage, ENG)->reason,
                        "others have less than their quota");
    /* Home. */
    n_eng = n_eng_used = 1;
    eng_epoch = 3;
    n_recalls = 0;
    state_eng();
    assert_int_equal(stage_count_history(&stage, ENG, HISTORY_RECALL_DONE), 1);
    assert_int_equal(stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.n_recalls,
                     0);
}

/* The next cycles say nothing of what is on its way; when nobody wants it any more, the
 * order is taken back under the next number. */
static void a_recall_is_cancelled_when_the_need_is_gone(void **state)
{
    (void)state;
    recall_two();
    recall = 1;
    open_recall = (struct recall){1, 20000};
    n_recalls = 1;
    state_eng();
    say_usage("south", "away", 0);
    say_usage("north", "normal", 3);
    wait_cycle();
    assert_null(told_recall());
    say_usage("south", "away", 0);
    say_usage("north", "normal", 0);
    wait_cycle();
    assert_non_null(told_recall());
    assert_int_equal(told_recall()->number, 2);
    assert_int_equal(told_recall()->n_recalls, 0);
}

/* It has nothing of recalls on disk: STATE brings back what is open, and what is new
 * goes out under the next number. */
static void a_restarted_broker_learns_of_recalls_from_state(void **state)
{
    (void)state;
    recall_two();
    recall = 7;
    open_recall = (struct recall){1, 15000};
    n_recalls = 1;
    stage_restart(&stage);
    stage_hello(&stage, "south", 1);
    stage_hello(&stage, "north", 1);
    state_idle();
    state_eng();
    assert_null(told_recall());
    const struct msg *contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_non_null(contract);
    assert_int_equal(contract->contract.n_recalls, 1);
    assert_int_equal(contract->contract.recalls[0].left_ms, 15000);
    say_usage("south", "away", 0);
    say_usage("north", "normal", 0);
    wait_cycle();
    assert_non_null(told_recall());
    assert_int_equal(told_recall()->number, 8);
}

/* Slots that are not back yet must not look as if they were gone. */
static void no_cycle_before_all_providers_are_back(void **state)
{
    (void)state;
    static const char *const south[] = {"south", NULL};
    give_three();
    stage_restart(&stage);
    stage_hello(&stage, "south", 1);
    say_usage("south", "away", 4);
    int before = stage_count_history(&stage, "", HISTORY_QUOTA);
    stage_wait_with(&stage, STAGE_LOST_AFTER_MS - 1000, south, 1);
    assert_int_equal(stage_count_history(&stage, "", HISTORY_QUOTA), before);
    stage_wait_with(&stage, CYCLE_MS + 2000, south, 1);
    assert_null(told_recall());
    assert_true(stage_count_history(&stage, "", HISTORY_QUOTA) > before);
}

/* Both sites are back, and nobody wants anything. */
static void come_back(void)
{
    stage_hello(&stage, "south", 1);
    stage_hello(&stage, "north", 1);
    state_idle();
    state_eng();
    say_usage("south", "away", 0);
    say_usage("north", "normal", 0);
}

static const struct row *stored(enum row_kind kind)
{
    for (int i = 0; i < stage.n_rows; i++) {
        if (stage.rows[i].kind == kind) {
            return &stage.rows[i];
        }
    }
    return NULL;
}

/* /eng has three slots of which it owns one; by ownership policy it keeps that. */
static void a_window_that_begins_without_a_broker_recalls(void **state)
{
    (void)state;
    give_three();
    say_usage("south", "away", 0);
    say_usage("north", "normal", 0);
    wait_cycle();
    assert_null(told_recall());
    assert_string_equal(stored(ROW_POOL)->pool.window, "early");
    assert_int_equal(stored(ROW_POOL)->pool.slots, 4);
    stage.now_ms = 1021000;
    stage_restart(&stage);
    come_back();
    wait_cycle();
    assert_non_null(told_recall());
    assert_int_equal(told_recall()->recalls[0].n_held, 1);
    assert_string_equal(stage_history(&stage, ENG)->reason,
                        "its policy has changed with the time window");
    assert_string_equal(stored(ROW_POOL)->pool.window, "late");
    assert_int_equal(stored(ROW_KEPT)->kept.slots, 1);
}

static void switch_over(void)
{
    give_three();
    for (int i = 0; i < 2; i++) {
        say_usage("south", "away", 0);
        say_usage("north", "normal", 0);
        wait_cycle();
    }
    assert_non_null(told_recall());
    recall = 1;
    open_recall = (struct recall){1, 19000};
    n_recalls = 1;
    state_eng();
}

/* Nobody misses the slots, and they are recalled all the same, over a restart too. When
 * they are home it may borrow as anybody. */
static void a_recall_for_a_window_is_not_cancelled_by_a_restart(void **state)
{
    (void)state;
    switch_over();
    stage_restart(&stage);
    come_back();
    wait_cycle();
    assert_null(told_recall());
    assert_false(stored(ROW_KEPT)->kept.is_gone);
    n_idle = 3;
    n_eng = n_eng_used = 1;
    eng_epoch = 3;
    n_recalls = 0;
    come_back();
    wait_cycle();
    assert_true(stored(ROW_KEPT)->kept.is_gone);
    stage_restart(&stage);
    n_idle = 1;
    n_eng = n_eng_used = 3;
    eng_epoch = 4;
    come_back();
    wait_cycle();
    assert_null(told_recall());
}

/* Another plan under the old names: what its window has to say is another matter. */
static void a_pool_that_is_gone_is_forgotten(void **state)
{
    (void)state;
    switch_over();
    stage_reload(&stage, NULL);
    assert_true(stored(ROW_POOL)->pool.is_gone);
    stage_reload(&stage, &pools);
    stage_restart(&stage);
    assert_true(stored(ROW_POOL)->pool.is_gone);
}

/* The broker was away while its configuration changed. */
static void a_pool_that_went_while_no_broker_ran_is_forgotten(void **state)
{
    (void)state;
    switch_over();
    stage.pools = NULL;
    stage_restart(&stage);
    stage_wait(&stage, 0);
    assert_true(stored(ROW_POOL)->pool.is_gone);
}

static void leaves_that_no_plan_has_give_back_all(void **state)
{
    (void)state;
    give_three();
    stage_reload(&stage, NULL); /* not even the pool is there */
    assert_non_null(stage_sent(&stage, "north", MSG_DRAIN, 0));
    assert_non_null(told_recall());
    assert_int_equal(told_recall()->recalls[0].n_held, 0);
    assert_int_equal(told_recall()->recalls[0].left_ms, 20000); /* its last grace */
    assert_string_equal(stage_history(&stage, ENG)->reason,
                        "the current plan does not have it");
}

/* The provider's journal was replaced by one from before the leaf's contract, and the
 * broker was started again since. The leaf gets slots again under an epoch of its own.
 */
static void
a_contract_that_its_provider_lost_is_opened_above_its_last_epoch(void **state)
{
    (void)state;
    give_three();
    eng_epoch = 0;
    n_eng = n_eng_used = 0;
    state_eng();
    assert_int_equal(stage_stored(&stage, ENG)->state, LEASE_ENDED);
    n_idle = 4;
    state_idle();
    stage_restart(&stage);
    stage_hello(&stage, "south", 1);
    stage_hello(&stage, "north", 1);
    idle_epoch--;
    state_idle();
    say_usage("south", "away", 3);
    say_usage("north", "normal", 0);
    wait_cycle();
    const struct msg *msg = stage_sent(&stage, "north", MSG_LEASE_OPEN, 0);
    assert_non_null(msg);
    assert_int_equal(msg->lease_open.above, 2);
    eng_epoch = 3;
    state_eng();
    assert_int_equal(stage_stored(&stage, ENG)->state, LEASE_ACTIVE);
    assert_int_equal(stage_stored(&stage, ENG)->epoch, 3);
}

/* The sender pays for the plan that has to be computed, and those that ask for the same
 * pool meanwhile do not. */
static void a_report_pays_for_the_plan_that_it_asks_for(void **state)
{
    (void)state;
    say_usage("south", "away", 2);
    assert_int_equal(broker_take_asked_nodes(stage.broker), 0); /* no cycle yet */
    wait_cycle();
    assert_int_equal(broker_take_asked_nodes(stage.broker), 0);
    say_usage("south", "away", 3);
    say_usage("south", "away", 4);
    say_usage("north", "normal", 1);
    assert_int_equal(broker_take_asked_nodes(stage.broker), 2);
    assert_int_equal(broker_take_asked_nodes(stage.broker), 0);
    stage_wait(&stage, 2000);      /* the look has been taken */
    say_usage("south", "away", 1); /* fewer: nothing has to be computed */
    assert_int_equal(broker_take_asked_nodes(stage.broker), 0);
    say_usage("south", "away", 2);
    assert_int_equal(broker_take_asked_nodes(stage.broker), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pool, close_pool)
        TEST(a_grant_is_opened_frozen_and_proposed),
        TEST(a_grant_that_is_not_taken_is_given_up),
        TEST(a_recall_is_told_again_until_state_names_it),
        TEST(a_recall_is_cancelled_when_the_need_is_gone),
        TEST(a_restarted_broker_learns_of_recalls_from_state),
        TEST(no_cycle_before_all_providers_are_back),
        TEST(leaves_that_no_plan_has_give_back_all),
        TEST(a_contract_that_its_provider_lost_is_opened_above_its_last_epoch),
        TEST(a_report_pays_for_the_plan_that_it_asks_for),
#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_windows, close_pool)
        TEST(a_window_that_begins_without_a_broker_recalls),
        TEST(a_recall_for_a_window_is_not_cancelled_by_a_restart),
        TEST(a_pool_that_is_gone_is_forgotten),
        TEST(a_pool_that_went_while_no_broker_ran_is_forgotten),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
