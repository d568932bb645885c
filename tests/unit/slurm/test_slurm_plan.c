/* SPDX-License-Identifier: Apache-2.0 */
/* What scontrol is ordered, word by word, and when. The property that no sequence of
 * answers breaks is tests/prop/prop_slurm_plan.c's. Source: Slurm's scontrol(1);
 * docs/adr/0024-leases-of-slurm-nodes.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bounds.h"
#include "slurm/slurm_plan.h"

enum { NOW_S = 1000000, TERM_S = 900 };

static const char *const all[] = {"n1", "n2", "n3"};

struct world {
    struct arena arena;
    struct slurm_node nodes[3];
    struct slurm_reservation reservations[3];
    struct slurm_job jobs[3];
    struct slurm_answers answers;
    struct slurm_contract contract;
    struct slurm_plan plan;
};

/* The three nodes are idle, and the consumer has n1 and n2 under epoch 4. */
static void set_up(struct world *world)
{
    *world = (struct world){.contract = {.policy = "night",
                                         .consumer = "south",
                                         .epoch = 4,
                                         .users = "ann,bob",
                                         .nodes = all,
                                         .n_nodes = 2}};
    arena_init(&world->arena);
    for (int i = 0; i < 3; i++) {
        world->nodes[i] =
            (struct slurm_node){.name = all[i], .state = "idle", .cpus = 4};
    }
    world->answers.nodes = (struct slurm_nodes){world->nodes, 3};
    world->answers.jobs.items = world->jobs;
    world->answers.reservations.items = world->reservations;
}

static void add_reservation(struct world *world, const char *name, int first, int count)
{
    world->reservations[world->answers.reservations.count++] =
        (struct slurm_reservation){.name = name,
                                   .start_s = NOW_S - 10,
                                   .end_s = NOW_S + TERM_S,
                                   .users = "bob,ann",
                                   .is_active = true,
                                   .nodes = all + first,
                                   .n_nodes = count};
    for (int i = first; i < first + count; i++) {
        world->nodes[i].state = "idle+reserved";
    }
}

static void add_job(struct world *world, const char *reservation, int node)
{
    world->jobs[world->answers.jobs.count++] =
        (struct slurm_job){.id = world->answers.jobs.count,
                           .state = "R",
                           .reservation = reservation,
                           .nodes = all + node,
                           .n_nodes = 1};
    world->nodes[node].state = "mixed";
    world->nodes[node].used_cpus = 1;
}

/* The orders, one in each line. */
static const char *orders(struct world *world)
{
    const struct slurm_terms terms = {"north", "root", TERM_S, NOW_S};
    struct err err;
    const char *text = "";
    if (slurm_plan_make(&world->arena, &terms, &world->contract, 1, &world->answers,
                        &world->plan, &err) < 0) {
        fail_msg("%s", err.text);
    }
    for (int i = 0; i < world->plan.n_orders; i++) {
        for (const char *const *word = world->plan.orders[i].words; *word != NULL;
             word++) {
            text = arena_printf(&world->arena, "%s%s%s", text, *word,
                                word[1] != NULL ? " " : "\n");
        }
    }
    return text;
}

static void test_create(void **state)
{
    struct world world;
    (void)state;
    set_up(&world);
    assert_string_equal(orders(&world),
                        "scontrol create reservation "
                        "ReservationName=sublet_north_night_south_e4 StartTime=now "
                        "EndTime=now+900 Nodes=n1,n2 Users=ann,bob\n");
    assert_false(world.plan.standings[0].has_node[0]);

    world.contract.keeps_jobs = true; /* n1 waits until it is idle */
    add_job(&world, "", 0);
    assert_string_equal(orders(&world),
                        "scontrol create reservation "
                        "ReservationName=sublet_north_night_south_e4 StartTime=now "
                        "EndTime=now+900 Nodes=n2 Users=ann,bob Flags=FLEX\n");
    arena_release(&world.arena);
}

/* It grows by a node that is idle, under the name that it has. */
static void test_grow(void **state)
{
    struct world world;
    (void)state;
    set_up(&world);
    add_reservation(&world, "sublet_north_night_south_e4", 0, 1);
    add_job(&world, "sublet_north_night_south_e4", 0);
    assert_string_equal(orders(&world),
                        "scontrol update reservation "
                        "ReservationName=sublet_north_night_south_e4 Nodes=n1,n2\n");
    assert_true(world.plan.standings[0].has_node[0]);
    assert_false(world.plan.standings[0].has_node[1]);
    arena_release(&world.arena);
}

/* Nodes of an earlier epoch stay in its reservation, busy or not. */
static void test_stay(void **state)
{
    struct world world;
    (void)state;
    set_up(&world);
    add_reservation(&world, "sublet_north_night_south_e2", 0, 2);
    add_job(&world, "sublet_north_night_south_e2", 0);
    assert_string_equal(orders(&world), "");
    assert_true(world.plan.standings[0].has_node[0]);
    assert_true(world.plan.standings[0].has_node[1]);
    arena_release(&world.arena);
}

/* A third of the term has passed; then all is put right at once. */
static void test_renew(void **state)
{
    struct world world;
    (void)state;
    set_up(&world);
    add_reservation(&world, "sublet_north_night_south_e4", 0, 2);
    world.reservations[0].end_s = NOW_S + 601;
    assert_string_equal(orders(&world), "");
    world.reservations[0].end_s = NOW_S + 600;
    assert_string_equal(orders(&world), "scontrol update reservation "
                                        "ReservationName=sublet_north_night_south_e4 "
                                        "EndTime=now+900\n");
    world.reservations[0].end_s = NOW_S + 86400;
    world.reservations[0].users = "bob,ann,eve";
    world.reservations[0].is_flex = true;
    world.contract.n_nodes = 1;
    assert_string_equal(orders(&world),
                        "scontrol update reservation "
                        "ReservationName=sublet_north_night_south_e4 Nodes=n1 "
                        "Users=ann,bob Flags-=FLEX EndTime=now+900\n");
    assert_false(world.plan.standings[0].has_node[0]); /* eve could use it */
    arena_release(&world.arena);
}

static void test_freeze(void **state)
{
    struct world world;
    (void)state;
    set_up(&world);
    add_reservation(&world, "sublet_north_night_south_e4", 0, 2);
    world.contract.held = all + 2;
    world.contract.n_held = 1;
    assert_string_equal(orders(&world),
                        "scontrol create reservation "
                        "ReservationName=sublet_north_night_south_e5 StartTime=now "
                        "EndTime=now+900 Nodes=n3 Users=root\n");
    assert_false(world.plan.standings[0].is_held[0]);

    add_reservation(&world, "sublet_north_night_south_e5", 2, 1); /* read back */
    world.reservations[1].users = "root";
    assert_string_equal(orders(&world), "");
    assert_true(world.plan.standings[0].is_held[0]);

    world.contract.n_held = 0; /* the freeze lapses */
    assert_string_equal(orders(&world),
                        "scontrol delete "
                        "ReservationName=sublet_north_night_south_e5\n");

    world.contract.epoch = 5; /* or it is committed */
    world.contract.n_nodes = 3;
    assert_string_equal(orders(&world), "scontrol update reservation "
                                        "ReservationName=sublet_north_night_south_e5 "
                                        "Users=ann,bob\n");
    assert_false(world.plan.standings[0].has_node[2]);
    arena_release(&world.arena);
}

/* A recall: what is idle goes home, and the last one deletes the reservation. */
static void test_recall(void **state)
{
    struct world world;
    (void)state;
    set_up(&world);
    add_reservation(&world, "sublet_north_night_south_e4", 0, 2);
    add_job(&world, "sublet_north_night_south_e4", 1);
    world.contract.n_nodes = 0;
    assert_string_equal(orders(&world),
                        "scontrol update reservation "
                        "ReservationName=sublet_north_night_south_e4 Nodes=n2\n");
    world.answers.jobs.count = 0;
    assert_string_equal(orders(&world),
                        "scontrol delete "
                        "ReservationName=sublet_north_night_south_e4\n");
    arena_release(&world.arena);
}

/* A contract that has ended: its jobs may run until the reservation's end. */
static void test_ended(void **state)
{
    struct world world;
    (void)state;
    set_up(&world);
    world.contract.n_nodes = 0;
    add_reservation(&world, "sublet_north_night_east_e7", 0, 1);
    add_job(&world, "sublet_north_night_east_e7", 0);
    assert_string_equal(orders(&world), "");
    world.reservations[0].end_s = NOW_S + 86400;
    assert_string_equal(orders(&world), "scontrol update reservation "
                                        "ReservationName=sublet_north_night_east_e7 "
                                        "EndTime=now+900\n");
    world.answers.jobs.count = 0;
    assert_string_equal(orders(&world), "scontrol delete "
                                        "ReservationName=sublet_north_night_east_e7\n");
    arena_release(&world.arena);
}

/* Reservations of others, also of another site, are left alone, and so are nodes that
 * are in one, or soon will be. */
static void test_others(void **state)
{
    struct world world;
    (void)state;
    set_up(&world);
    add_reservation(&world, "maintenance", 0, 1);
    add_reservation(&world, "sublet_north2_night_south_e9", 1, 1);
    assert_string_equal(orders(&world), "");
    world.nodes[0].state = "idle"; /* it begins later */
    world.reservations[0].start_s = NOW_S + 2 * TERM_S - 1;
    assert_string_equal(orders(&world), "");
    world.reservations[0].start_s++;
    assert_string_equal(orders(&world),
                        "scontrol create reservation "
                        "ReservationName=sublet_north_night_south_e4 StartTime=now "
                        "EndTime=now+900 Nodes=n1 Users=ann,bob\n");
    add_reservation(&world, "sublet_north_night_south_e4", 0, 1);
    world.reservations[0].start_s = NOW_S - 5; /* they overlap */
    orders(&world);
    assert_false(world.plan.standings[0].has_node[0]);
    arena_release(&world.arena);
}

static void test_behind(void **state)
{
    struct world world;
    (void)state;
    set_up(&world);
    add_reservation(&world, "sublet_north_night_south_e6", 2, 1);
    assert_string_equal(orders(&world), "");
    assert_true(world.plan.standings[0].is_behind);

    world.reservations[0].name = "sublet_north_night_south_e5";
    add_job(&world, "sublet_north_night_south_e5", 2);
    assert_string_equal(orders(&world), "");
    assert_true(world.plan.standings[0].is_behind);
    arena_release(&world.arena);
}

static void test_twice(void **state)
{
    const struct slurm_terms terms = {"north", "root", TERM_S, NOW_S};
    struct world world;
    struct err err;
    (void)state;
    set_up(&world);
    struct slurm_contract contracts[2] = {world.contract, world.contract};
    world.plan.n_orders = -1;
    assert_int_equal(slurm_plan_make(&world.arena, &terms, contracts, 2, &world.answers,
                                     &world.plan, &err),
                     ERR_EXISTS);
    contracts[1].consumer = "east";
    assert_int_equal(slurm_plan_make(&world.arena, &terms, contracts, 2, &world.answers,
                                     &world.plan, &err),
                     ERR_EXISTS);
    assert_non_null(strstr(err.text, "\"n1\""));
    assert_int_equal(world.plan.n_orders, -1);
    arena_release(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create), cmocka_unit_test(test_grow),
        cmocka_unit_test(test_stay),   cmocka_unit_test(test_renew),
        cmocka_unit_test(test_freeze), cmocka_unit_test(test_recall),
        cmocka_unit_test(test_ended),  cmocka_unit_test(test_others),
        cmocka_unit_test(test_behind), cmocka_unit_test(test_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
