/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease.c: lease ids, the table of moves, what a move puts on disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "broker/lease/lease.h"

static struct member north = {.name = "north"}, south = {.name = "south"};
static const struct lease_id id = {
    .provider = "north", .policy = "1", .consumer = "south"};

static void an_id_has_three_parts(void **state)
{
    static const struct {
        const char *text;
        bool is_id;
    } rows[] = {
        {"north/1/south", true}, {"north/spare/south", true},
        {"north/1", false},      {"north/1/", false},
        {"/1/south", false},     {"north//south", false},
        {"a/b/c/d", false},      {"", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lease_id parsed;
        if (lease_parse_id(rows[i].text, &parsed) != rows[i].is_id) {
            fail_msg("\"%s\"", rows[i].text);
        }
    }
    char longer[LEASE_ID_SIZE];
    snprintf(longer, sizeof(longer), "%0*d/1/south", NAME_SIZE, 0);
    assert_false(lease_parse_id(longer, &(struct lease_id){0}));
}

/* Of a pool: its idle slots, or the leaf of a site. */
static void an_id_may_be_of_a_pool(void **state)
{
    static const struct {
        const char *text;
        bool is_id;
    } rows[] = {
        {"north/1/pool:p", true},     {"north/1/pool:", false},
        {"north/1/pool:p/q", false},  {"north/1/pond:p", false},
        {"north/1/south:/eng", true}, {"north/1/south:/eng/sim", true},
        {"north/1/:/eng", false},     {"north/1/south:eng", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lease_id parsed;
        if (lease_parse_id(rows[i].text, &parsed) != rows[i].is_id) {
            fail_msg("\"%s\"", rows[i].text);
        }
    }
    struct lease_id parsed;
    char longest[LEASE_ID_SIZE], longer[LEASE_ID_SIZE];
    snprintf(longest, sizeof(longest), "n/1/s:/%0*d", PLAN_PATH_SIZE - 2, 0);
    snprintf(longer, sizeof(longer), "n/1/s:/%0*d", PLAN_PATH_SIZE - 1, 0);
    assert_true(lease_parse_id(longest, &parsed));
    assert_int_equal(strlen(parsed.node), PLAN_PATH_SIZE - 1);
    assert_false(lease_parse_id(longer, &parsed));
}

/* The whole table: from each state the moves that are allowed, and no other. */
static void only_the_tables_moves_are_allowed(void **state)
{
    static const struct {
        enum lease_state from;
        int allowed; /* a bit for each enum lease_move */
    } rows[] = {
#define BIT(move) (1 << (move))
        {LEASE_PENDING,
         BIT(LEASE_MADE) | BIT(LEASE_EPOCH) | BIT(LEASE_WITHDRAW) | BIT(LEASE_END)},
        {LEASE_ACTIVE,
         BIT(LEASE_FREEZE) | BIT(LEASE_EPOCH) | BIT(LEASE_WITHDRAW) | BIT(LEASE_END)},
        {LEASE_INACTIVE,
         BIT(LEASE_EPOCH) | BIT(LEASE_THAW) | BIT(LEASE_WITHDRAW) | BIT(LEASE_END)},
        {LEASE_DRAINING, BIT(LEASE_MADE) | BIT(LEASE_EPOCH) | BIT(LEASE_RESTORE) |
                             BIT(LEASE_REOPEN) | BIT(LEASE_END)},
        {LEASE_ENDED, BIT(LEASE_REGISTER)},
#undef BIT
    };
    struct lease *lease = lease_new(&id, &north, &south);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        lease->row.state = rows[i].from;
        for (int move = 0; move < LEASE_MOVES; move++) {
            bool is_allowed = (rows[i].allowed >> move & 1) != 0;
            if (lease_may_move(lease, (enum lease_move)move) != is_allowed) {
                fail_msg("%s, move %d", msg_lease_state_name(rows[i].from), move);
            }
        }
    }
    lease_free(lease);
}

static void a_move_stores_contract_and_history(void **state)
{
    struct lease *lease = lease_new(&id, &north, &south);
    struct host_split host = {"n1", 4, 3, 1, 2, 1, false, {{0}}};
    struct effects effects;
    effects_init(&effects);
    lease->row.epoch = 7;
    lease_set_hosts(lease, &host, 1);
    lease_move(lease, LEASE_REGISTER, "because", 1234, &effects);
    assert_int_equal(effects.count, 2);
    const struct row_lease *row = &effects.items[0].row.lease;
    const struct row_history *history = &effects.items[1].row.history;
    assert_int_equal(effects.items[0].row.kind, ROW_LEASE);
    assert_int_equal(effects.items[1].row.kind, ROW_HISTORY);
    /* What was stored is a copy: the lease may change before the commit. */
    host.provider = 0;
    host.consumer = 4;
    host.provider_used = 0;
    lease_set_hosts(lease, &host, 1);
    assert_string_equal(row->id, "north/1/south");
    assert_int_equal(row->state, LEASE_PENDING);
    assert_int_equal(row->changed_ms, 1234);
    assert_int_equal(row->hosts[0].provider, 3);
    assert_string_equal(history->reason, "because");
    assert_int_equal(history->event, HISTORY_REGISTERED);
    assert_int_equal(history->epoch, 7);
    assert_int_equal(history->provider_available, 3);
    assert_int_equal(history->consumer_used, 1);
    effects_release(&effects);
    lease_free(lease);
}

static void a_long_reason_is_cut_before_a_character(void **state)
{
    struct lease *lease = lease_new(&id, &north, &south);
    struct effects effects;
    char reason[REASON_SIZE + 10];
    effects_init(&effects);
    memset(reason, 'x', sizeof(reason));
    memcpy(reason + REASON_SIZE - 3, "\xe2\x82\xac", 4); /* a euro sign over the end */
    lease_move(lease, LEASE_REGISTER, reason, 1, &effects);
    assert_int_equal(strlen(lease->row.reason), REASON_SIZE - 3);
    effects_release(&effects);
    lease_free(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_has_three_parts),
        cmocka_unit_test(an_id_may_be_of_a_pool),
        cmocka_unit_test(only_the_tables_moves_are_allowed),
        cmocka_unit_test(a_move_stores_contract_and_history),
        cmocka_unit_test(a_long_reason_is_cut_before_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
