/* SPDX-License-Identifier: Apache-2.0 */
/* test_elim_line.c: lines of an elim, rows with a reason; and what is kept of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "host/load/elim_line.h"

static const struct {
    const char *line;
    const char *pairs; /* "name=value ..."; "!": refused */
    const char *says;  /* a part of the error */
    const char *why;
} lines[] = {
    {"1 licences 17", "licences=17", "", "one pair"},
    {"3 a 1 b 2.5 os_version 4.2", "a=1 b=2.5 os_version=4.2", "", "several"},
    {"  2\ta\t1   b  2\r", "a=1 b=2", "", "any blanks; a CR before the newline"},
    {"0", "", "", "nothing to tell is said so"},
    {"1 a -", "a=?", "", "a value that is not known now"},
    {"1 a -5", "a=-5", "", "a negative number"},
    {"1 inf nan", "inf=nan", "", "names and texts as any other"},
    {"1 tmp 47.5", "tmp=47.5", "", "an index of LSF's"},
    {"", "!", "number of pairs", "empty"},
    {"   ", "!", "number of pairs", "blank"},
    {"a 1", "!", "number of pairs", "no count"},
    {"-1", "!", "number of pairs", "a negative count"},
    {"1.0 a 1", "!", "number of pairs", "a count with a point"},
    {"257 a 1", "!", "number of pairs", "more than LSF has"},
    {"99999999999999999999 a 1", "!", "number of pairs", "more than a number holds"},
    {"-99999999999999999999 a 1", "!", "number of pairs", "or less"},
    {"2 a 1", "!", "only 1 pair", "less than it says"},
    {"2 a 1 b", "!", "only 1 pair", "half a pair"},
    {"1 a", "!", "only 0 pairs", "a name alone"},
    {"1 a 1 b 2", "!", "\"b\" behind the last of 1", "more than it says"},
    {"2 a 1 a 2", "!", "\"a\" twice", "a name twice"},
    {"1 1a 1", "!", "not a resource's name", "a digit first"},
    {"1 a+b 1", "!", "not a resource's name", "an operator in a name"},
    {"1 a[1] 1", "!", "not a resource's name", "brackets in a name"},
    {"1 \xc3\xa4 1", "!", "not a resource's name", "not ASCII"},
    {"1 a \xff", "!", "not printable", "a value that is not ASCII"},
    {"1 a \x1b[31m", "!", "not printable", "a value that steers terminals"},
};

static void list_pairs(const struct elim_pair *pairs, int count, char *text,
                       size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s=%s",
                                   i > 0 ? " " : "", pairs[i].name,
                                   pairs[i].value != NULL ? pairs[i].value : "?");
    }
}

static void test_lines(void **state)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct elim_pair pairs[ELIM_PAIRS_MAX];
        struct err err = {0};
        char line[256], text[512] = "!";
        int count = 0;
        snprintf(line, sizeof(line), "%s", lines[i].line);
        int code = elim_line_parse(line, strlen(line), pairs, &count, &err);
        if (code == 0) {
            list_pairs(pairs, count, text, sizeof(text));
        }
        if (strcmp(text, lines[i].pairs) != 0 ||
            strstr(err.text, lines[i].says) == NULL) {
            fail_msg("\"%s\": \"%s\" (%s), expected \"%s\" (%s): %s", lines[i].line,
                     text, err.text, lines[i].pairs, lines[i].says, lines[i].why);
        }
    }
}

static void test_nul(void **state)
{
    struct elim_pair pairs[ELIM_PAIRS_MAX];
    char line[] = "1 a 1\0 2";
    struct err err;
    int count = 7;
    assert_true(elim_line_parse(line, sizeof(line) - 1, pairs, &count, &err) < 0);
    assert_int_equal(count, 7);
}

static void test_bounds(void **state)
{
    struct elim_pair pairs[ELIM_PAIRS_MAX];
    char line[ELIM_LINE_MAX + 1], long_value[LOAD_VALUE_SIZE + 8];
    size_t length = (size_t)snprintf(line, sizeof(line), "%d", ELIM_PAIRS_MAX);
    struct err err = {0};
    int count = 0;
    memset(long_value, 'v', sizeof(long_value));
    for (int i = 0; i < ELIM_PAIRS_MAX; i++) {
        length += (size_t)snprintf(line + length, sizeof(line) - length, " n%062d %.*s",
                                   i, LOAD_VALUE_SIZE - 1, long_value);
    }
    assert_true(length < ELIM_LINE_MAX); /* the longest line there may be fits */
    assert_int_equal(elim_line_parse(line, length, pairs, &count, &err), 0);
    assert_int_equal(count, ELIM_PAIRS_MAX);
    length =
        (size_t)snprintf(line, sizeof(line), "1 a %.*s", LOAD_VALUE_SIZE, long_value);
    assert_int_equal(elim_line_parse(line, length, pairs, &count, &err), ERR_BOUNDS);
    length = (size_t)snprintf(line, sizeof(line), "1 n%063d 1", 1);
    assert_int_equal(elim_line_parse(line, length, pairs, &count, &err), ERR_BOUNDS);
}

/* ---------------------------------------------------------------- the table */

static void test_table(void **state)
{
    struct elim_table *table = mem_alloc(1, sizeof(*table));
    struct load_value values[4];
    const struct elim_pair two[] = {{"a", "1"}, {"b", "x"}};
    const struct elim_pair other[] = {{"a", "2"}};
    const struct elim_pair gone[] = {{"b", NULL}, {"c", NULL}};
    assert_true(elim_table_take(table, two, 2, 1000));
    assert_false(elim_table_take(table, two, 2, 2000)); /* the same again is no news */
    assert_true(elim_table_take(table, other, 1, 3000));
    assert_int_equal(elim_table_list(table, values, 4), 2);
    assert_string_equal(values[0].name, "a");
    assert_string_equal(values[0].value, "2");
    assert_string_equal(values[1].value, "x"); /* what a line leaves out stays */
    assert_int_equal(elim_table_list(table, values, 1), 1);
    assert_false(elim_table_expire(table, 2000));
    assert_true(elim_table_expire(table, 2001)); /* b was said at 2000 */
    assert_int_equal(elim_table_list(table, values, 4), 1);
    assert_string_equal(values[0].name, "a");
    elim_table_take(table, two, 2, 4000);
    assert_true(elim_table_take(table, gone, 2, 5000));
    assert_false(elim_table_take(table, gone, 2, 5000));
    assert_int_equal(elim_table_list(table, values, 4), 1);
    free(table);
}

static void test_table_is_bounded(void **state)
{
    struct elim_table *table = mem_alloc(1, sizeof(*table));
    char name[16];
    struct elim_pair pair = {name, "1"};
    for (int i = 0; i < ELIM_PAIRS_MAX; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        assert_true(elim_table_take(table, &pair, 1, i));
    }
    assert_false(elim_table_take(table, &(struct elim_pair){"more", "1"}, 1, 999));
    assert_int_equal(table->count, ELIM_PAIRS_MAX);
    assert_true(elim_table_take(table, &(struct elim_pair){"n0", NULL}, 1, 999));
    assert_true(elim_table_take(table, &(struct elim_pair){"more", "1"}, 1, 999));
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_table_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
