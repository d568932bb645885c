/* SPDX-License-Identifier: Apache-2.0 */
/* test_expect_value.c: what an expectation finds at a path, and when it holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/play/expect_value.h"

#define EPOCH_MS INT64_C(1672531200000) /* 2023-01-01 */

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

/* A lease and a job in one. */
static struct value *thing(void)
{
    struct value *root = value_object(&arena);
    struct value *hosts, *host;

    value_add_int(&arena, root, "epoch", 6);
    value_add_real(&arena, root, "share", 0.25);
    value_add_text(&arena, root, "state", "active");
    value_add_null(&arena, root, "reason");
    value_add_bool(&arena, root, "is_made", true);
    value_add_instant(&arena, root, "changed_at", EPOCH_MS + 90 * 86400000LL + 600000);
    value_add_duration(&arena, root, "reclaim_delay_s", 600000);
    host = value_add(&arena, root, "used", value_object(&arena));
    value_add_int(&arena, host, "n1.a@north", 2);
    hosts = value_add(&arena, root, "hosts", value_array(&arena));
    for (int i = 0; i < 2; i++) {
        host = value_add(&arena, hosts, NULL, value_object(&arena));
        value_add_text(&arena, host, "host", i == 0 ? "n1" : "n2.b");
        value_add_int(&arena, host, "slots", 4 + i);
    }
    return root;
}

static void expectations_are_compared(void **state)
{
    static const struct {
        const char *path, *op, *text;
        bool is_quoted, holds;
    } rows[] = {
        {"epoch", "==", "6", false, true},
        {"epoch", "==", "6.0", false, true},
        {"epoch", "!=", "6", false, false},
        {"epoch", "<", "7", false, true},
        {"epoch", "<=", "6", false, true},
        {"epoch", ">", "6", false, false},
        {"epoch", ">=", "-1", false, true},
        {"epoch", "==", "6", true, false}, /* a text is no number */
        {"epoch", "!=", "six", false, true},
        {"epoch", "<", "six", false, false},
        {"share", "==", "0.25", false, true},
        {"share", ">", "0.3", false, false},
        {"state", "==", "active", false, true},
        {"state", "==", "active", true, true},
        {"state", "!=", "pending", false, true},
        {"state", "<", "b", false, true}, /* byte by byte */
        {"state", "==", "null", false, false},
        {"state", "!=", "null", false, true},
        {"reason", "==", "null", false, true},
        {"reason", "==", "null", true, false},
        {"reason", "!=", "null", false, false},
        {"reason", "<", "5", false, false}, /* no order */
        {"reason", "!=", "5", false, true},
        {"is_made", "==", "true", false, true},
        {"is_made", "!=", "true", false, false},
        {"is_made", "==", "1", false, false},
        {"reclaim_delay_s", "==", "600", false, true},
        {"reclaim_delay_s", "==", "10m", false, true},
        {"changed_at", "==", "2023-04-01T00:10:00.000Z", false, true},
        {"changed_at", "==", "7776600", false, true}, /* since the start */
        {"changed_at", ">", "90d", false, true},
        {"changed_at", "<", "90d", false, false},
        {"hosts.n1.slots", "==", "4", false, true},
        {"hosts.n2.b.slots", "==", "5", false, true}, /* a name with a dot */
        {"hosts.1.slots", "==", "5", false, true},
        {"used.n1.a@north", "==", "2", false, true},
        {"used", "==", "{\"n1.a@north\":2}", false, true},
        {"used", "==", "{}", false, false},
    };
    const struct value *root = thing();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct expect_wish wish = {rows[i].op, rows[i].text, rows[i].is_quoted,
                                   EPOCH_MS};
        const struct value *found = expect_value_find(root, rows[i].path);

        assert_non_null(found);
        if (expect_value_holds(found, &wish) != rows[i].holds) {
            fail_msg("%s %s %s: expected to %s", rows[i].path, rows[i].op, rows[i].text,
                     rows[i].holds ? "hold" : "fail");
        }
    }
}

static void missing_members_are_not_found(void **state)
{
    static const char *const paths[] = {"",         "none",        "epoch.x",
                                        "hosts.n3", "hosts.2",     "hosts.n1.none",
                                        ".",        "hosts..slots"};
    const struct value *root = thing();

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_null(expect_value_find(root, paths[i]));
    }
}

static void values_show_as_json(void **state)
{
    const struct value *root = thing();

    assert_string_equal(
        expect_value_show(&arena, expect_value_find(root, "hosts"), 0),
        "[{\"host\":\"n1\",\"slots\":4},{\"host\":\"n2.b\",\"slots\":5}]");
    assert_string_equal(
        expect_value_show(&arena, expect_value_find(root, "changed_at"), EPOCH_MS),
        "\"2023-04-01T00:10:00.000Z\" (7776600 s)");
    assert_string_equal(expect_value_show(&arena, expect_value_find(root, "reason"), 0),
                        "null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(expectations_are_compared, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(missing_members_are_not_found, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(values_show_as_json, open_arena, close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
