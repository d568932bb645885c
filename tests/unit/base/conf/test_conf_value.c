/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_value.c: where a row's value comes from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/conf/conf_value.h"

static void values_come_from_row_then_outside_then_table(void **state)
{
    static const char text[] = "EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS = Y\n"
                               "EGO_CONSUMER_PRIORITY_DEFAULT = 7\n"
                               "Begin Pool\n"
                               "NAME = p\n"
                               "CYCLE = 2m\n"
                               "ROUND = Sticky\n"
                               "MIN_HOLD = soon\n"
                               "SLOTS = 0\n"
                               "EGO_CONSUMER_PRIORITY_DEFAULT = 3\n"
                               "End Pool\n";
    struct arena arena;
    struct conf conf;
    arena_init(&arena);
    conf_init(&conf, &arena);
    conf_read(&conf, "f", text, strlen(text));
    const struct conf_section *section = conf_next(&conf, "Pool", NULL);
    const struct conf_place at = {section, &section->rows[0]};

    assert_string_equal(conf_value_text(&conf, &at, "NAME"), "p");
    assert_int_equal(conf_value_duration(&conf, &at, "CYCLE", 0), 120000);
    assert_int_equal(conf_value_int(&conf, &at, "EGO_CONSUMER_PRIORITY_DEFAULT", 0), 3);
    assert_int_equal(conf_value_word(&conf, &at, "ROUND"), 2);
    /* outside sections */
    assert_true(
        conf_value_bool(&conf, &at, "EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS", false));
    /* the table's */
    assert_true(conf_value_bool(&conf, &at, "REBALANCE", false));
    assert_int_equal(conf_value_word(&conf, &at, "PLACEMENT"), 0);
    /* none, malformed, out of bounds */
    assert_int_equal(conf_value_duration(&conf, &at, "MAX_BORROWER_GRACE", -1), -1);
    assert_null(conf_value_text(&conf, &at, "MAX_BORROWER_GRACE"));
    assert_int_equal(conf_value_duration(&conf, &at, "MIN_HOLD", 5), 5);
    assert_int_equal(conf_value_int(&conf, &at, "SLOTS", 9), 9);
    arena_release(&arena);
}

static void the_last_of_several_sections_counts(void **state)
{
    (void)state;
    const char *text =
        "LSF_STRICT_RESREQ = N\n"
        "Begin Parameters\nMIN_HOLD = 1\nCLEAN_PERIOD = 7\nEnd Parameters\n"
        "Begin Parameters\nMIN_HOLD = 2\nEnd Parameters\n";
    struct arena arena;
    struct conf conf;
    arena_init(&arena);
    conf_init(&conf, &arena);
    conf_read(&conf, "f", text, strlen(text));

    struct conf_place at = conf_value_last(&conf, "Parameters", "MIN_HOLD");
    assert_int_equal(conf_value_duration(&conf, &at, "MIN_HOLD", 0), 2000);
    at = conf_value_last(&conf, "Parameters", "CLEAN_PERIOD");
    assert_int_equal(at.section->line, 2);
    assert_int_equal(conf_value_duration(&conf, &at, "CLEAN_PERIOD", 0), 7000);
    at = conf_value_last(&conf, "Parameters", "LEASE_TERM"); /* the table's */
    assert_int_equal(conf_value_duration(&conf, &at, "LEASE_TERM", 0), 300000);
    at = conf_value_last(&conf, "Site", "FREEZE_TIMEOUT"); /* no such section */
    assert_int_equal(conf_value_duration(&conf, &at, "FREEZE_TIMEOUT", 0), 30000);
    at = conf_value_last(&conf, "", "LSF_STRICT_RESREQ");
    assert_false(conf_value_bool(&conf, &at, "LSF_STRICT_RESREQ", true));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_from_row_then_outside_then_table),
        cmocka_unit_test(the_last_of_several_sections_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
