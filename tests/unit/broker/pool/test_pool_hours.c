/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_hours.c: HOURS and PRICE of nodes, from the STATE of a provider to the
 * recalls; and the events of HOURS of a lease between two sites. north exports 8 slots
 * of n1 to pool p, west 4 of w1. /eng and its leaf /eng/a are bounded; /eng/a and
 * /eng/b are of south and west, /ops is north's own. Sources: docs/adr/0034,
 * docs/plans.md "Hours and prices". */
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
#define A "north/1/south:/eng/a"
#define B "north/1/west:/eng/b"
#define HOUR QUOTA_HOUR_MS
#define FEBRUARY (31 * 24 * HOUR)

enum { CYCLE_MS = 10000 };

#define PLAN(hours, more)                                                              \
    "Begin Pool\nNAME = p\nCYCLE = 10s\nEnd Pool\n"                                    \
    "Begin PlanNode\n"                                                                 \
    "NAME POOL OWNED RESERVE GRACE SITE HOURS PRICE\n"                                 \
    "/eng p 6 - - - " hours " 2\n"                                                     \
    "/eng/a p 3 - 20s south 6 -\n"                                                     \
    "/eng/b p 3 1 20s west - 4\n"                                                      \
    "/ops p 2 - 0s north 1 -\n" more "End PlanNode\n"

static struct arena arena;
static struct plan_pools pools;
static struct stage stage;

static uint64_t idle_epoch;

/* A contract of north's books. */
static struct part {
    const char *lease;
    uint64_t epoch;
    int n_slots, n_used, price;
    int64_t month_ms, used_ms, since_ms;
    bool is_frozen;
    uint64_t freeze, recall;
    struct recall open_recall;
    int n_recalls;
} part_a, part_b;

static void read_plans(const char *text)
{
    struct conf *conf = arena_alloc(&arena, 1, sizeof(*conf));
    conf_init(conf, &arena);
    conf_read(conf, "stage", arena_str(&arena, text), strlen(text));
    conf_check(conf);
    assert_true(plan_config_read(conf, &pools));
    assert_int_equal(conf->n_errors, 0);
}

static void state_idle(int n_slots)
{
    struct host_split host = {.host = "n1", .n_slots = n_slots, .consumer = n_slots};
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

static void state_part(const struct part *part)
{
    struct host_split host = {.host = "n1",
                              .n_slots = part->n_slots,
                              .consumer = part->n_slots,
                              .consumer_used = part->n_used};
    struct msg msg = {.kind = MSG_STATE,
                      .state = {.lease = part->lease,
                                .epoch = part->epoch,
                                .type = LEASE_POOL,
                                .is_made = true,
                                .is_frozen = part->is_frozen,
                                .freeze = part->freeze,
                                .recall = part->recall,
                                .recalls = &part->open_recall,
                                .n_recalls = part->n_recalls,
                                .hosts = &host,
                                .n_hosts = part->n_slots > 0,
                                .price = part->price,
                                .hours_ms = part->used_ms,
                                .hours_month_ms = part->month_ms,
                                .hours_since_ms = part->since_ms,
                                .reason = ""}};
    stage_say(&stage, "north", 1, &msg);
}

static void tell_hours(struct part *part, int64_t used_ms)
{
    part->used_ms = used_ms;
    state_part(part);
}

static void hello_all(void)
{
    stage_hello(&stage, "south", 1);
    stage_hello(&stage, "west", 1);
    stage_hello(&stage, "north", 1);
}

static int64_t usages;

static void say_waiting(const char *site, int n_waiting)
{
    struct queue_demand demand = {.queue = "normal", .n_waiting = n_waiting};
    struct msg msg = {.kind = MSG_USAGE, .usage.seq = (uint64_t)++usages};
    msg.usage.queues = &demand;
    msg.usage.n_queues = n_waiting > 0;
    stage_say(&stage, site, 1, &msg);
}

/* south has 3 slots and uses 2, west has 1 and uses it; 4 are idle. */
static int open_pool(void **state)
{
    (void)state;
    arena_init(&arena);
    read_plans(PLAN("10", ""));
    idle_epoch = 0;
    part_a = (struct part){
        .lease = A, .epoch = 2, .n_slots = 3, .n_used = 2, .price = 2, .since_ms = 500};
    part_b = (struct part){
        .lease = B, .epoch = 2, .n_slots = 1, .n_used = 1, .price = 4, .since_ms = 600};
    stage_open_pools(&stage, &pools);
    hello_all();
    state_idle(4);
    state_part(&part_a);
    state_part(&part_b);
    return 0;
}

static int close_pool(void **state)
{
    (void)state;
    stage_close(&stage);
    arena_release(&arena);
    return 0;
}

static void wait_cycle(void)
{
    int64_t next_ms = stage.now_ms - stage.now_ms % CYCLE_MS + CYCLE_MS;
    while (stage.now_ms < next_ms) {
        int64_t wake_ms = broker_wake_ms(stage.broker);
        stage_wait(&stage, wake_ms < next_ms && wake_ms > stage.now_ms
                               ? wake_ms - stage.now_ms
                               : next_ms - stage.now_ms);
    }
}

static const struct row_hours *stored_hours(const char *name)
{
    const struct row_hours *found = NULL;
    for (int i = 0; i < stage.n_rows; i++) {
        const struct row *row = &stage.rows[i];
        if (row->kind == ROW_HOURS && !row->hours.is_gone &&
            strcmp(row->hours.name, name) == 0) {
            found = &row->hours;
        }
    }
    return found;
}

static int level_of(const char *node)
{
    const struct row_hours *row = stored_hours(node);
    return row != NULL ? row->level : 0;
}

/* The last event of the node; NULL: there is none. */
static const char *event_of(const char *node)
{
    const char *reason = NULL;
    for (int i = 0; i < stage.n_rows; i++) {
        const struct row *row = &stage.rows[i];
        if (row->kind == ROW_HISTORY && row->history.event == HISTORY_HOURS &&
            strcmp(row->history.node, node) == 0) {
            assert_string_equal(row->history.pool, "p");
            assert_string_equal(row->history.lease, "");
            reason = row->history.reason;
        }
    }
    return reason;
}

static const struct msg_recall *recall_of(const char *lease)
{
    const struct msg_recall *found = NULL;
    for (int i = 0; i < stage_count_sent(&stage, "north", MSG_RECALL); i++) {
        const struct msg *msg = stage_sent(&stage, "north", MSG_RECALL, i);
        found = strcmp(msg->recall.lease, lease) == 0 ? &msg->recall : found;
    }
    return found;
}

/* ---------------------------------------------------------------- what is counted */

static void levels_begin_with_the_millisecond_and_are_recorded(void **state)
{
    (void)state;
    tell_hours(&part_a, 6 * HOUR / 10 * 8 - 1);
    assert_int_equal(level_of("/eng/a"), 0);
    assert_null(event_of("/eng/a"));
    tell_hours(&part_a, 6 * HOUR / 10 * 8);
    assert_int_equal(level_of("/eng/a"), 1);
    assert_string_equal(event_of("/eng/a"),
                        "4.8 of 6 slot hours of 1970-01 (HOURS) are used");
    assert_null(event_of("/eng"));
    tell_hours(&part_a, 6 * HOUR);
    assert_int_equal(level_of("/eng/a"), 2);
    assert_true(stage_has_log(&stage, "pool p: /eng/a: 6.0 of 6 slot hours"));
    /* a node is what is below it together: 6 + 2 of 10 are 80 % */
    tell_hours(&part_b, 2 * HOUR - 1);
    assert_int_equal(level_of("/eng"), 0);
    tell_hours(&part_b, 2 * HOUR);
    assert_int_equal(level_of("/eng"), 1);
    assert_null(event_of("/ops"));
    assert_null(stored_hours("/eng/b")); /* it has no HOURS, and so no level */
}

/* Sites repeat themselves, and a copy may be late. */
static void a_late_copy_changes_nothing(void **state)
{
    (void)state;
    tell_hours(&part_a, 6 * HOUR);
    tell_hours(&part_a, 3 * HOUR);
    assert_int_equal(stored_hours(A)->used_ms, 6 * HOUR);
    assert_int_equal(level_of("/eng/a"), 2);
}

/* Its provider has lost its journal: what it counts from now on is added. */
static void a_count_that_begins_anew_is_added(void **state)
{
    (void)state;
    tell_hours(&part_a, 4 * HOUR);
    part_a.since_ms = stage.now_ms;
    tell_hours(&part_a, HOUR);
    assert_int_equal(level_of("/eng/a"), 1);
    tell_hours(&part_a, 2 * HOUR);
    assert_int_equal(level_of("/eng/a"), 2);
}

/* Before north is back, its hours are those that it told; nothing is recorded twice. */
static void a_restart_forgets_nothing(void **state)
{
    (void)state;
    tell_hours(&part_a, 6 * HOUR);
    tell_hours(&part_b, HOUR);
    const char *last = event_of("/eng/a");
    stage_restart(&stage);
    stage_wait(&stage, 0);
    assert_int_equal(level_of("/eng/a"), 2);
    assert_ptr_equal(event_of("/eng/a"), last);
    hello_all();
    state_idle(4);
    tell_hours(&part_b, 4 * HOUR); /* used while the broker was away */
    assert_int_equal(level_of("/eng"), 2);
}

static void hours_of_a_month_that_is_over_count_in_it_alone(void **state)
{
    (void)state;
    tell_hours(&part_a, 6 * HOUR);
    stage.now_ms = FEBRUARY - 1;
    stage_wait(&stage, 0);
    assert_int_equal(level_of("/eng/a"), 2);
    stage_wait(&stage, 1);
    assert_int_equal(level_of("/eng/a"), 0);
    assert_string_equal(event_of("/eng/a"),
                        "0.0 of 6 slot hours of 1970-02 (HOURS) are used");
    assert_null(stored_hours(A)); /* nothing of January is kept */
    hello_all();
    tell_hours(&part_a, 7 * HOUR); /* of January, by a site that was away */
    assert_null(stored_hours(A));
    part_a.month_ms = FEBRUARY;
    tell_hours(&part_a, 5 * HOUR);
    assert_int_equal(stored_hours(A)->used_ms, 5 * HOUR);
    assert_int_equal(level_of("/eng/a"), 1);
}

/* north's clock is ahead by some seconds: January is not over before ours says so. */
static void a_month_that_begins_early_elsewhere_takes_nothing_away(void **state)
{
    (void)state;
    tell_hours(&part_a, 6 * HOUR);
    stage.now_ms = FEBRUARY - 5000;
    hello_all();
    part_a.month_ms = FEBRUARY;
    tell_hours(&part_a, 1000);
    assert_int_equal(level_of("/eng/a"), 2);
    part_a.month_ms = FEBRUARY + 28 * 24 * HOUR; /* March */
    tell_hours(&part_a, 9 * HOUR);
    stage_wait(&stage, 5000);
    assert_int_equal(level_of("/eng/a"), 0);
    assert_int_equal(stored_hours(A)->used_ms, 1000);
}

/* HOURS that are loaded count what has been used in the month. */
static void hours_of_a_plan_that_is_loaded(void **state)
{
    (void)state;
    tell_hours(&part_a, 5 * HOUR);
    tell_hours(&part_b, HOUR);
    assert_int_equal(level_of("/eng"), 0);
    read_plans(PLAN("6", ""));
    stage_reload(&stage, &pools);
    assert_int_equal(level_of("/eng"), 2);
    read_plans(PLAN("-", ""));
    stage_reload(&stage, &pools);
    assert_int_equal(level_of("/eng"), 0);
    assert_null(strstr(event_of("/eng"), " 0 slot hours")); /* none of no HOURS */
    stage_reload(&stage, NULL);
    assert_null(stored_hours(A));
    assert_null(stored_hours("/eng/a"));
}

/* Without HOURS each STATE would be a row for nothing. */
static void a_pool_without_hours_stores_none(void **state)
{
    (void)state;
    static const char plain[] = "Begin Pool\nNAME = p\nCYCLE = 10s\nEnd Pool\n"
                                "Begin PlanNode\nNAME POOL OWNED SITE\n/eng p 6 -\n"
                                "/eng/a p 3 south\n/eng/b p 3 west\nEnd PlanNode\n";
    read_plans(plain);
    stage_reload(&stage, &pools);
    tell_hours(&part_a, 5 * HOUR);
    assert_int_equal(stored_hours(A)->used_ms, 0); /* as the plan had HOURS */
    read_plans(PLAN("5", ""));
    stage_reload(&stage, &pools);
    assert_int_equal(stored_hours(A)->used_ms, 5 * HOUR);
    assert_int_equal(level_of("/eng"), 2);
}

/* What a leaf has used counts for the nodes above it, also when it has left the plan.
 */
static void a_leaf_that_leaves_has_used_its_hours(void **state)
{
    (void)state;
    tell_hours(&part_b, 9 * HOUR);
    read_plans("Begin Pool\nNAME = p\nCYCLE = 10s\nEnd Pool\nBegin PlanNode\n"
               "NAME POOL OWNED SITE HOURS\n/eng p 6 - 10\n/eng/a p 3 south 6\n"
               "/ops p 2 north 1\nEnd PlanNode\n");
    stage_reload(&stage, &pools);
    assert_int_equal(level_of("/eng"), 1);
    tell_hours(&part_a, HOUR);
    assert_int_equal(level_of("/eng"), 2);
}

/* ---------------------------------------------------------------- what follows */

static void leaves_whose_hours_are_used_up_give_back_what_is_idle(void **state)
{
    (void)state;
    wait_cycle();
    tell_hours(&part_a, 6 * HOUR);
    const struct msg_recall *recall = recall_of(A);
    assert_non_null(recall); /* at once, not with the next cycle */
    assert_int_equal(recall->n_recalls, 1);
    assert_int_equal(recall->recalls[0].n_held, 0);
    assert_true(recall_waits(recall->recalls[0].left_ms)); /* running jobs go on */
    assert_null(recall_of(B));
    assert_string_equal(stage_history(&stage, A)->reason,
                        "its slot hours of the month are used up (HOURS)");
    part_a.recall = recall->number;
    part_a.open_recall = recall->recalls[0];
    part_a.n_recalls = 1;
    part_a.n_slots = 2; /* the idle one is back */
    part_a.epoch++;
    state_idle(5);
    state_part(&part_a);
    say_waiting("south", 5);
    for (int i = 0; i < 3; i++) {
        wait_cycle();
        assert_null(recall_of(A)); /* nothing more to say */
        assert_int_equal(stage_count_sent(&stage, "north", MSG_FREEZE), 0);
    }
    /* The month is over: the recall is taken back, and the leaf borrows again. */
    stage.now_ms = FEBRUARY;
    stage_wait(&stage, 0);
    hello_all();
    state_idle(5);
    state_part(&part_a);
    say_waiting("south", 5);
    wait_cycle();
    assert_int_equal(level_of("/eng/a"), 0);
    recall = recall_of(A);
    assert_true(recall == NULL || recall->n_recalls == 0);
}

/* b has HOURS above it alone. */
static void hours_of_a_node_bound_all_leaves_below_it(void **state)
{
    (void)state;
    say_waiting("west", 5);
    wait_cycle();
    tell_hours(&part_b, 10 * HOUR);
    assert_int_equal(level_of("/eng"), 2);
    assert_non_null(recall_of(A));
    assert_non_null(recall_of(B));
}

/* A grant is on its way as the hours are used up: its hand-over gives nothing. */
static void a_grant_on_its_way_is_dropped(void **state)
{
    (void)state;
    say_waiting("south", 5);
    wait_cycle();
    for (int i = 0; i < 5 && stage_count_sent(&stage, "north", MSG_FREEZE) == 0; i++) {
        stage_wait_next(&stage);
    }
    const struct msg *msg = stage_sent(&stage, "north", MSG_FREEZE, 0);
    assert_non_null(msg);
    assert_string_equal(msg->freeze.lease, A);
    uint64_t freeze = msg->freeze.freeze;
    tell_hours(&part_a, 6 * HOUR);
    assert_int_equal(level_of("/eng/a"), 2);
    part_a.is_frozen = true;
    part_a.freeze = freeze;
    state_part(&part_a);
    for (int i = 0; i < 5 && stage_count_sent(&stage, "north", MSG_PROPOSE) == 0; i++) {
        stage_wait_next(&stage);
    }
    msg = stage_sent(&stage, "north", MSG_PROPOSE, 0);
    assert_non_null(msg);
    assert_int_equal(msg->propose.n_hosts, 1);
    assert_int_equal(msg->propose.hosts[0].consumer, 3); /* what it has */
}

/* ---------------------------------------------------------------- questions */

/* Two slots of a are in use: the 80 % are expected after (4.8 - 4) / 2 hours. north is
 * asked then, and not before. */
static void a_provider_is_asked_when_a_level_is_expected(void **state)
{
    (void)state;
    part_b.n_used = 0; /* nothing of it can change */
    state_part(&part_b);
    wait_cycle();
    tell_hours(&part_a, 4 * HOUR);
    int64_t due_ms = stage.now_ms + HOUR / 10 * 4;
    int n_asked = 0;
    while (n_asked == 0 && stage.now_ms < due_ms + 5000) {
        int64_t wake_ms = broker_wake_ms(stage.broker);
        hello_all();
        stage_wait(&stage, wake_ms > stage.now_ms ? wake_ms - stage.now_ms : 1);
        n_asked = stage_count_sent(&stage, "north", MSG_STATE_ASK);
        n_asked = stage.now_ms < due_ms ? 0 : n_asked;
    }
    assert_int_equal(stage.now_ms, due_ms);
    assert_int_equal(n_asked, 1);
    assert_string_equal(stage_sent(&stage, "north", MSG_STATE_ASK, 0)->state_ask.lease,
                        A);
    assert_int_equal(level_of("/eng/a"), 0); /* what is expected is no level */
}

/* ---------------------------------------------------------------- prices */

static void a_provider_is_told_the_price_until_it_states_it(void **state)
{
    (void)state;
    part_a.price = 0;
    state_part(&part_a);
    wait_cycle();
    const struct msg *msg = stage_sent(&stage, "north", MSG_LEASE_OPEN, 0);
    assert_non_null(msg);
    assert_string_equal(msg->lease_open.lease, A);
    assert_int_equal(msg->lease_open.price, 2); /* that of the node above */
    assert_null(stage_sent(&stage, "north", MSG_LEASE_OPEN, 1));
    stage_wait(&stage, 1000);
    assert_int_equal(stage_count_sent(&stage, "north", MSG_LEASE_OPEN), 1);
    part_a.price = 2;
    state_part(&part_a);
    wait_cycle();
    assert_int_equal(stage_count_sent(&stage, "north", MSG_LEASE_OPEN), 0);
}

/* ---------------------------------------------------------------- a HostExport */

#define LEASE "north/2/south"

static bool is_lease_over;

static void state_lease(int64_t n_hours, int64_t used_ms)
{
    struct host_split host = {.host = "n9", .n_slots = 2, .consumer = 2};
    struct msg msg = {.kind = MSG_STATE,
                      .state = {.lease = LEASE,
                                .epoch = is_lease_over ? 2 : 1,
                                .is_made = true,
                                .is_ended = is_lease_over,
                                .hosts = &host,
                                .n_hosts = !is_lease_over,
                                .n_hours = n_hours,
                                .hours_ms = used_ms,
                                .hours_since_ms = 100,
                                .reason = ""}};
    stage_say(&stage, "north", 1, &msg);
}

static int count_lease_events(void)
{
    return stage_count_history(&stage, LEASE, HISTORY_HOURS);
}

/* The broker was away when the level changed, and learns of it with the next STATE. */
static void a_level_that_began_without_the_broker_is_recorded(void **state)
{
    (void)state;
    is_lease_over = false;
    state_lease(10, 7 * HOUR);
    assert_int_equal(count_lease_events(), 0);
    stage_restart(&stage);
    hello_all();
    state_lease(10, 9 * HOUR);
    assert_int_equal(count_lease_events(), 1);
    assert_string_equal(stage_history(&stage, LEASE)->reason,
                        "9.0 of 10 slot hours of 1970-01 (HOURS) are used");
    stage_restart(&stage);
    hello_all();
    state_lease(10, 9 * HOUR);
    assert_int_equal(count_lease_events(), 1); /* and not twice */
    state_lease(10, 10 * HOUR - 1);
    assert_int_equal(count_lease_events(), 1);
    state_lease(10, 10 * HOUR);
    assert_int_equal(count_lease_events(), 2);
    stage_restart(&stage);
    hello_all();
    state_lease(20, 10 * HOUR); /* the provider has raised it */
    assert_int_equal(count_lease_events(), 3);
    state_lease(10, 10 * HOUR);
    state_lease(0, 0); /* no quota any more: no level, and nothing to say */
    assert_int_equal(count_lease_events(), 4);
    assert_null(stored_hours(LEASE));
}

static void a_lease_that_ends_takes_its_level_along(void **state)
{
    (void)state;
    is_lease_over = false;
    state_lease(10, 9 * HOUR);
    assert_int_equal(stored_hours(LEASE)->level, 1);
    is_lease_over = true;
    state_lease(10, 9 * HOUR);
    assert_null(stored_hours(LEASE));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pool, close_pool)
    const struct CMUnitTest tests[] = {
        TEST(levels_begin_with_the_millisecond_and_are_recorded),
        TEST(a_late_copy_changes_nothing),
        TEST(a_count_that_begins_anew_is_added),
        TEST(a_restart_forgets_nothing),
        TEST(hours_of_a_month_that_is_over_count_in_it_alone),
        TEST(a_month_that_begins_early_elsewhere_takes_nothing_away),
        TEST(hours_of_a_plan_that_is_loaded),
        TEST(a_pool_without_hours_stores_none),
        TEST(a_leaf_that_leaves_has_used_its_hours),
        TEST(leaves_whose_hours_are_used_up_give_back_what_is_idle),
        TEST(hours_of_a_node_bound_all_leaves_below_it),
        TEST(a_grant_on_its_way_is_dropped),
        TEST(a_provider_is_asked_when_a_level_is_expected),
        TEST(a_provider_is_told_the_price_until_it_states_it),
        TEST(a_level_that_began_without_the_broker_is_recorded),
        TEST(a_lease_that_ends_takes_its_level_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
