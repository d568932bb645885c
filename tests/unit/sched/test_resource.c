/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of resources, and the table of values of hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "sched/resource/resource.h"

static int id_of(const struct resources *resources, const char *name)
{
    return resources_find(resources, name, strlen(name));
}

static void names_and_aliases(void **state)
{
    struct resources *resources = resources_new();
    assert_int_equal(id_of(resources, "swp"), RESOURCE_SWP);
    assert_int_equal(id_of(resources, "swap"), RESOURCE_SWP);
    assert_int_equal(id_of(resources, "cpu"), RESOURCE_R1M);
    assert_int_equal(id_of(resources, "login"), RESOURCE_LS);
    assert_int_equal(id_of(resources, "idle"), RESOURCE_IT);
    assert_int_equal(id_of(resources, "SWP"), -1);
    assert_int_equal(resources_find(resources, "swpx", 3), RESOURCE_SWP);
    assert_true(resources_at(resources, RESOURCE_R15S)->is_increasing);
    assert_false(resources_at(resources, RESOURCE_MEM)->is_increasing);
    assert_true(resources_at(resources, RESOURCE_MEM)->is_consumable);
    assert_false(resources_at(resources, RESOURCE_NCPUS)->is_consumable);
    assert_false(resources_at(resources, RESOURCE_TYPE)->is_orderable);
    assert_false(resources_at(resources, RESOURCE_REXPRI)->is_orderable);
    resources_free(resources);
}

static void names_that_cannot_be(void **state)
{
    static const struct {
        const char *name;
        int code;
    } rows[] = {{"fs", 0},
                {"inf", 0},
                {"nanotubes", 0},
                {"fs", ERR_EXISTS},
                {"mem", ERR_EXISTS},
                {"swap", ERR_EXISTS},
                {"", ERR_PARSE},
                {"9lives", ERR_PARSE},
                {"a b", ERR_PARSE},
                {"a:b", ERR_PARSE},
                {"a=b", ERR_PARSE},
                {"any", ERR_PARSE},
                {"null", ERR_PARSE},
                {"defined", ERR_PARSE},
                {"rusage", ERR_PARSE}};
    struct resources *resources = resources_new();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct resource resource = {.name = rows[i].name, .type = RESOURCE_BOOLEAN};
        int before = resources_count(resources), id;
        struct err err;
        assert_int_equal(resources_add(resources, &resource, &id, &err), rows[i].code);
        assert_int_equal(resources_count(resources), before + (rows[i].code == 0));
    }
    resources_free(resources);
}

static void absent_values_are_nothing(void **state)
{
    struct resources *resources = resources_new();
    struct resource_table *table = resource_table_new(resources);
    resource_table_resize(table, 3);
    assert_false(resource_table_has(table, 1, RESOURCE_SWP));
    assert_true(resource_table_number(table, 1, RESOURCE_SWP) == 0);
    assert_string_equal(resource_table_text(table, 1, RESOURCE_TYPE), "");
    resource_table_set_number(table, 1, RESOURCE_SWP, 5);
    resource_table_set_text(table, 1, RESOURCE_TYPE, "LINUX");
    assert_true(resource_table_has(table, 1, RESOURCE_SWP));
    assert_false(resource_table_has(table, 0, RESOURCE_SWP));
    resource_table_set_number(table, 1, RESOURCE_SWP, (double)NAN);
    assert_false(resource_table_has(table, 1, RESOURCE_SWP));
    resource_table_set_number(table, 1, RESOURCE_SWP, (double)INFINITY);
    assert_false(resource_table_has(table, 1, RESOURCE_SWP));
    assert_true(resource_table_number(table, 1, RESOURCE_SWP) == 0);
    resource_table_unset(table, 1, RESOURCE_TYPE);
    assert_string_equal(resource_table_text(table, 1, RESOURCE_TYPE), "");
    resource_table_free(table);
    resources_free(resources);
}

/* Rows that came later, went and came again have nothing of those before. */
static void rows_come_and_go(void **state)
{
    struct resources *resources = resources_new();
    struct resource fs = {.name = "fs", .type = RESOURCE_BOOLEAN};
    struct err err;
    int id;
    assert_int_equal(resources_add(resources, &fs, &id, &err), 0);
    struct resource_table *table = resource_table_new(resources);
    resource_table_resize(table, 2);
    resource_table_set_exclusive(table, 1, id, true);
    assert_true(resource_table_flag(table, 1, id));
    resource_table_resize(table, 1000);
    assert_true(resource_table_is_exclusive(table, 1, id));
    assert_false(resource_table_flag(table, 999, id));
    resource_table_set_number(table, 999, RESOURCE_MEM, 7);
    resource_table_copy_row(table, 5, table, 1);
    assert_true(resource_table_is_exclusive(table, 5, id));
    resource_table_resize(table, 1);
    resource_table_resize(table, 1000);
    assert_false(resource_table_flag(table, 1, id));
    assert_false(resource_table_is_exclusive(table, 1, id));
    assert_false(resource_table_has(table, 999, RESOURCE_MEM));
    resource_table_free(table);
    resources_free(resources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_aliases),
        cmocka_unit_test(names_that_cannot_be),
        cmocka_unit_test(absent_values_are_nothing),
        cmocka_unit_test(rows_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
