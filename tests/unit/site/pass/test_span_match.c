/* SPDX-License-Identifier: Apache-2.0 */
/* How hosts form groups for `same`, and which tiles they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site/pass/span_match.h"

enum { N_HOSTS = 4, N_ALL = N_HOSTS + 1 };

struct world {
    struct arena arena;
    struct resources *resources;
    struct resource_table *table;
    int rack, licences; /* ids */
    struct place_host hosts[N_ALL];
    const struct compute_units *units;
};

static int add(struct resources *resources, const char *name, enum resource_type type)
{
    struct resource resource = {.name = name, .type = type};
    struct err err;
    int id = -1;
    assert_int_equal(resources_add(resources, &resource, &id, &err), 0);
    return id;
}

static void set_up(struct world *world)
{
    *world = (struct world){.hosts = {{.max = 4}, {.max = 0}, {.max = -1}, {.max = 2}}};
    arena_init(&world->arena);
    world->resources = resources_new();
    world->rack = add(world->resources, "rack", RESOURCE_STRING);
    world->licences = add(world->resources, "licences", RESOURCE_NUMERIC);
    world->table = resource_table_new(world->resources);
    resource_table_resize(world->table, N_ALL);
}

static void tear_down(struct world *world)
{
    resource_table_free(world->table);
    resources_free(world->resources);
    arena_release(&world->arena);
}

/* The host that stands behind the last one must not count. */
static const struct place_span *
make(struct world *world, const struct resreq_span *request, const uint8_t *matches)
{
    static const int rows[N_ALL] = {0, 1, 2, 3, 4};
    struct span_match_hosts hosts = {.hosts = world->hosts,
                                     .n_hosts = N_HOSTS,
                                     .table = world->table,
                                     .units = world->units,
                                     .rows = rows,
                                     .matches = matches};
    return span_match_make(&world->arena, request, &hosts);
}

/* If each host has all of the resources or none, they form groups together; else each
 * resource forms groups of its own. */
static void test_same(void **state)
{
    static const uint8_t all[N_ALL] = {1, 1, 1, 1, 1}, few[N_ALL] = {1, 1, 1, 0, 1};
    struct world world;
    (void)state;
    set_up(&world);
    const struct resreq_span request = {.same = {world.rack, world.licences},
                                        .n_same = 2};
    for (int i = 0; i < 3; i++) { /* the fourth host has neither */
        resource_table_set_text(world.table, i, world.rack, i < 2 ? "a" : "b");
        resource_table_set_number(world.table, i, world.licences, i == 0 ? 5 : 6);
    }
    resource_table_set_text(world.table, N_HOSTS, world.rack, "c");
    const struct place_span *span = make(&world, &request, all);
    assert_int_equal(span->n_same, 1);
    assert_int_equal(span->n_same_groups[0], 3);
    assert_int_not_equal(span->same[0][0], span->same[0][1]);
    assert_int_not_equal(span->same[0][1], span->same[0][2]);
    assert_int_equal(span->same[0][3], -1);

    resource_table_set_text(world.table, 3, world.rack, "b");
    span = make(&world, &request, all);
    assert_int_equal(span->n_same, 2);
    assert_int_equal(span->n_same_groups[0], 2);
    assert_int_equal(span->same[0][0], span->same[0][1]);
    assert_int_equal(span->same[0][2], span->same[0][3]);
    assert_int_equal(span->n_same_groups[1], 2);
    assert_int_equal(span->same[1][1], span->same[1][2]);
    assert_int_equal(span->same[1][3], -1);

    span = make(&world, &request, few); /* which leaves out the fourth host */
    assert_int_equal(span->n_same, 1);
    assert_int_equal(span->same[0][3], -1);
    tear_down(&world);
}

/* ptile='!': the slots of the host, or what its type gives it. */
static void test_tiles(void **state)
{
    static const uint8_t all[N_ALL] = {1, 1, 1, 1, 1};
    static const struct resreq_ptile tiles[] = {{"A", 3}, {"B", 1}};
    struct world world;
    (void)state;
    set_up(&world);
    const struct resreq_span request = {
        .kind = RESREQ_SPAN_PTILE_ALL, .ptiles = tiles, .n_ptiles = 2};
    resource_table_set_text(world.table, 3, RESOURCE_TYPE, "B");
    const struct place_span *span = make(&world, &request, all);
    assert_int_equal(span->kind, PLACE_SPAN_PTILE);
    assert_int_equal(span->n_same, 0);
    assert_int_equal(span->ptiles[0], 4);
    assert_int_equal(span->ptiles[1], 0);
    assert_int_equal(span->ptiles[2], 0);
    assert_int_equal(span->ptiles[3], 1);
    tear_down(&world);
}

/* Hosts are in the units of the type that is asked for; a borrowed one is in none. */
static void test_units(void **state)
{
    static const uint8_t all[N_ALL] = {1, 1, 1, 1, 1};
    static const struct compute_unit_host fine[] = {{"n0", 1}, {"n1", 0}};
    static const struct compute_unit_host coarse[] = {{"n0", 0}, {"n1", 0}, {"n2", 0}};
    static const struct compute_unit_type types[] = {{fine, 2, 2}, {coarse, 3, 1}};
    static const char *const names[] = {"n0", "n1", "n2", "n0"};
    static const struct compute_units units = {.of_type = types};
    struct world world;
    (void)state;
    set_up(&world);
    world.units = &units;
    for (int i = 0; i < N_HOSTS; i++) {
        world.hosts[i].name = names[i];
        world.hosts[i].site = i == 3 ? "south" : "";
    }
    struct resreq_span request = {.cu = {.is_given = true,
                                         .pref = RESREQ_CU_MINAVAIL,
                                         .max_units = 2,
                                         .is_balanced = true}};
    const struct place_span_units *made = make(&world, &request, all)->units;
    assert_int_equal(made->n_units, 2);
    assert_int_equal(made->unit_of[0], 1);
    assert_int_equal(made->unit_of[1], 0);
    assert_int_equal(made->unit_of[2], -1);
    assert_int_equal(made->unit_of[3], -1);
    assert_int_equal(made->pref, PLACE_SPAN_MINAVAIL);
    assert_int_equal(made->max_units, 2);
    assert_true(made->is_even);
    assert_null(made->next_in_unit);
    request.cu.type = 1;
    request.cu.is_exclusive = true;
    made = make(&world, &request, all)->units;
    assert_int_equal(made->n_units, 1);
    assert_int_equal(made->unit_of[2], 0);
    assert_int_equal(made->unit_of[3], -1);
    assert_int_equal(made->next_in_unit[0], 1);
    assert_int_equal(made->next_in_unit[1], 2);
    assert_int_equal(made->next_in_unit[2], 0);
    assert_int_equal(made->next_in_unit[3], -1);
    tear_down(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same),
                                       cmocka_unit_test(test_tiles),
                                       cmocka_unit_test(test_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
