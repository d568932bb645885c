/* SPDX-License-Identifier: Apache-2.0 */
/* test_promtext.c: lines of metrics that are written together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sys/promtext.h"

static struct promtext_block block;
static struct arena arena;
static char *text;
static size_t length;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena);
    block = (struct promtext_block){.to = open_memstream(&text, &length)};
    return block.to != NULL ? 0 : -1;
}

static const char *written(void)
{
    promtext_flush(&block);
    fflush(block.to);
    return text;
}

static int end(void **state)
{
    (void)state;
    fclose(block.to);
    free(text);
    arena_release(&arena);
    return 0;
}

static void test_names_of_other_systems_are_escaped(void **state)
{
    (void)state;
    const char *label = promtext_label(&arena, "lease", "a\\b\"c\nd");
    promtext_number(&block, "epoch", label, ",side=\"provider\"", -12);
    assert_string_equal(written(),
                        "epoch{lease=\"a\\\\b\\\"c\\nd\",side=\"provider\"} -12\n");
}

static void test_an_instant_has_three_decimals(void **state)
{
    (void)state;
    const char *label = promtext_label(&arena, "lease", "n/1/s");
    promtext_instant(&block, "changed", label, INT64_C(1700000000007));
    promtext_instant(&block, "changed", label, 999);
    assert_string_equal(written(), "changed{lease=\"n/1/s\"} 1700000000.007\n"
                                   "changed{lease=\"n/1/s\"} 0.999\n");
}

static void test_no_line_is_lost_where_a_block_ends(void **state)
{
    (void)state;
    const char *label = promtext_label(&arena, "lease", "north/1/south");
    for (int i = 0; i < 5000; i++) {
        promtext_number(&block, "slots", label, "", i);
    }
    const char *at = written();
    for (int i = 0; i < 5000; i++) {
        char line[64];
        int n = snprintf(line, sizeof(line), "slots{lease=\"north/1/south\"} %d\n", i);
        assert_memory_equal(at, line, (size_t)n);
        at += n;
    }
    assert_string_equal(at, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names_of_other_systems_are_escaped, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_an_instant_has_three_decimals, begin, end),
        cmocka_unit_test_setup_teardown(test_no_line_is_lost_where_a_block_ends, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
