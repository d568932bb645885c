/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_place.c: which hosts' idle slots a leaf is granted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "broker/lease/lease.h"
#include "broker/pool/pool_table.h"

enum { HOSTS = 4 };

static struct arena arena;
static struct member north = {.name = "north"}, south = {.name = "south"};
static struct lease of_north = {.provider = &north}, of_south = {.provider = &south};
static struct pool_host hosts[HOSTS];
static struct pool_snapshot picture;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    hosts[0] = (struct pool_host){&of_north, "n1", 4, 2};
    hosts[1] = (struct pool_host){&of_north, "n2", 4, 4};
    hosts[2] = (struct pool_host){&of_south, "s1", 4, 3};
    hosts[3] = (struct pool_host){&of_south, "s2", 2, 2};
    picture = (struct pool_snapshot){.hosts = hosts, .n_hosts = HOSTS};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* "n1=2 n2=1" */
static void expect_picks(struct pool_place *place, const char *site, int64_t n_slots,
                         const char *expected)
{
    char text[128] = "";
    struct pool_pick *picks;
    int n_picks = pool_place_pick(place, site, false, n_slots, &arena, &picks);
    for (int i = 0; i < n_picks; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%s%s=%d", i > 0 ? " " : "",
                 hosts[picks[i].host].host, picks[i].n_slots);
    }
    assert_string_equal(text, expected);
}

static void stacked_fills_a_host_before_the_next(void **state)
{
    (void)state;
    struct pool_place *place = pool_place_new(&picture, PLAN_STACKED, &arena);
    expect_picks(place, "east", 3, "n1=2 n2=1");
    expect_picks(place, "east", 4, "n2=3 s1=1");
    expect_picks(place, "east", 9, "s1=2 s2=2");
    expect_picks(place, "east", 1, "");
}

static void balanced_takes_where_most_are_idle(void **state)
{
    (void)state;
    struct pool_place *place = pool_place_new(&picture, PLAN_BALANCED, &arena);
    expect_picks(place, "east", 1, "n2=1");      /* 2 3 3 2 */
    expect_picks(place, "east", 2, "n2=1 s1=1"); /* 2 2 2 2 */
    expect_picks(place, "east", 3, "n1=1 n2=1 s1=1");
    expect_picks(place, "east", 9, "n1=1 n2=1 s1=1 s2=2");
}

static void exclusive_takes_whole_hosts_that_are_idle(void **state)
{
    (void)state;
    struct pool_place *place = pool_place_new(&picture, PLAN_EXCLUSIVE, &arena);
    expect_picks(place, "east", 3, "s2=2"); /* n1 and s1 are somebody's in part */
    expect_picks(place, "east", 3, "");
    expect_picks(place, "east", 5, "n2=4");
}

static void a_site_gets_its_own_first(void **state)
{
    (void)state;
    static const struct {
        enum plan_placement placement;
        const char *expected, *why;
    } rows[] = {{PLAN_STACKED, "n1=1 s1=3 s2=2", "own ones, then in order"},
                {PLAN_BALANCED, "n2=1 s1=3 s2=2", "own ones, then where most are"},
                {PLAN_EXCLUSIVE, "n2=4 s2=2", "whole ones"}};
    teardown(NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setup(NULL);
        struct pool_place *place = pool_place_new(&picture, rows[i].placement, &arena);
        expect_picks(place, "south", 6, rows[i].expected);
        teardown(NULL);
    }
    setup(NULL); /* for the teardown behind it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stacked_fills_a_host_before_the_next, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(balanced_takes_where_most_are_idle, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(exclusive_takes_whole_hosts_that_are_idle,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_site_gets_its_own_first, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
