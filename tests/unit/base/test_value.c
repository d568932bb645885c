/* SPDX-License-Identifier: Apache-2.0 */
/* test_value.c: trees of values, paths into them, instants as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/value.h"

static struct arena arena;

static int open_arena(void **state)
{
    arena_init(&arena);
    return 0;
}

static int close_arena(void **state)
{
    arena_release(&arena);
    return 0;
}

static void members_keep_their_order(void **state)
{
    struct value *lease = value_object(&arena);
    value_add_text(&arena, lease, "id", "north/1/south");
    value_add_int(&arena, lease, "epoch", 3);
    value_add_bool(&arena, lease, "frozen", true);
    assert_int_equal(lease->count, 3);
    assert_string_equal(lease->first->key, "id");
    assert_string_equal(lease->first->text, "north/1/south");
    assert_string_equal(lease->first->next->key, "epoch");
    assert_int_equal(lease->first->next->number, 3);
    assert_ptr_equal(lease->first->next->next, lease->last);
    assert_true(lease->last->flag);

    struct value *leases = value_array(&arena);
    value_add(&arena, leases, NULL, lease);
    assert_int_equal(leases->count, 1);
    assert_null(leases->first->key);
}

static void what_is_absent_is_null(void **state)
{
    struct value *object = value_object(&arena);
    assert_int_equal(value_add_text(&arena, object, "a", NULL)->kind, VALUE_NULL);
    assert_int_equal(value_add_instant(&arena, object, "b", 0)->kind, VALUE_NULL);
    assert_int_equal(value_add_duration(&arena, object, "c", -1)->kind, VALUE_NULL);
    assert_int_equal(value_add_null(&arena, object, "d")->kind, VALUE_NULL);
    assert_int_equal(object->count, 4);
}

static void durations_are_seconds(void **state)
{
    struct value *object = value_object(&arena);
    const struct value *whole = value_add_duration(&arena, object, "a", 600000);
    assert_int_equal(whole->kind, VALUE_INT);
    assert_int_equal(whole->number, 600);
    const struct value *part = value_add_duration(&arena, object, "b", 1500);
    assert_int_equal(part->kind, VALUE_REAL);
    assert_true(part->real == 1.5);
}

static void paths_lead_to_members(void **state)
{
    struct value *lease = value_object(&arena);
    struct value *consumer = value_object(&arena);
    value_add(&arena, lease, "consumer", consumer);
    value_add_int(&arena, consumer, "available", 4);
    assert_int_equal(value_find(lease, "consumer.available")->number, 4);
    assert_ptr_equal(value_find(lease, "consumer"), consumer);
    assert_null(value_find(lease, "consum"));
    assert_null(value_find(lease, "consumer."));
    assert_null(value_find(lease, "consumer.available.more"));
    assert_null(value_find(lease, ""));
    assert_null(value_find(value_array(&arena), "a"));
    assert_null(value_find(NULL, "a"));
}

static void instants_are_rfc_3339(void **state)
{
    static const struct {
        int64_t at_ms;
        const char *text;
        const char *why;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z", "the epoch"},
        {1, "1970-01-01T00:00:00.001Z", "milliseconds"},
        {-1, "1969-12-31T23:59:59.999Z", "before the epoch, rounded down"},
        {951782400000, "2000-02-29T00:00:00.000Z", "leap day of a 400th year"},
        {4107542400000, "2100-03-01T00:00:00.000Z", "no leap day in a 100th year"},
        {1709164799999, "2024-02-28T23:59:59.999Z", "day before a leap day"},
        {1709164800000, "2024-02-29T00:00:00.000Z", "leap day"},
        {1735689599000, "2024-12-31T23:59:59.000Z", "end of a leap year"},
        {-62167219200000, "0000-01-01T00:00:00.000Z", "year 0"},
        {INT64_MAX, "292278994-08-17T07:12:55.807Z", "the last instant"},
        {INT64_MIN, "-292275055-05-16T16:47:04.192Z", "the first instant"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[32];
        value_format_instant(rows[i].at_ms, text);
        if (strcmp(text, rows[i].text) != 0) {
            fail_msg("%s: %s, expected %s", rows[i].why, text, rows[i].text);
        }
        assert_int_equal(value_day_of_month(rows[i].at_ms),
                         strtol(strchr(text, 'T') - 2, NULL, 10));
    }
    struct value *object = value_object(&arena);
    assert_string_equal(value_add_instant(&arena, object, "at", 1)->text,
                        "1970-01-01T00:00:00.001Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members_keep_their_order, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(what_is_absent_is_null, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(durations_are_seconds, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(paths_lead_to_members, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(instants_are_rfc_3339, open_arena, close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
