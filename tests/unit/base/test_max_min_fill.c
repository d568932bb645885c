/* SPDX-License-Identifier: Apache-2.0 */
/* test_max_min_fill.c: runs the rows of tests/data/fill.tsv. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/max_min_fill.h"

enum { ITEMS_MAX = 16 };

static const char data_file[] = "tests/data/fill.tsv";

/* Numbers, each with one character (or the end) behind it. */
static int numbers(const char *text, int64_t *out, int room)
{
    int count = 0;
    while (*text != '\0') {
        char *end;
        assert_true(count < room);
        out[count++] = strtoll(text, &end, 10);
        assert_ptr_not_equal(end, text);
        text = *end != '\0' ? end + 1 : end;
    }
    return count;
}

static void run_row(char *line, int number)
{
    char *columns[4];
    for (int i = 0; i < 4; i++) {
        columns[i] = strsep(&line, "\t");
        if (columns[i] == NULL) {
            fail_msg("%s:%d: %d columns, expected 4", data_file, number, i);
        }
    }
    int64_t expected[ITEMS_MAX], amount, fields[3 * ITEMS_MAX];
    int n_expected = numbers(columns[0], expected, ITEMS_MAX);
    assert_int_equal(numbers(columns[1], &amount, 1), 1);
    int n_items = numbers(columns[2], fields, 3 * ITEMS_MAX) / 3;
    assert_int_equal(n_items, n_expected);

    struct max_min_fill_item items[ITEMS_MAX] = {0};
    for (int i = 0; i < n_items; i++) {
        items[i].weight = fields[3 * i];
        items[i].lo = fields[3 * i + 1];
        items[i].hi = fields[3 * i + 2];
    }
    int64_t returned = max_min_fill_shares(amount, items, n_items);

    int64_t sum = 0;
    for (int i = 0; i < n_items; i++) {
        sum += items[i].share;
        if (items[i].share != expected[i]) {
            fail_msg("%s:%d: item %d has %lld, expected %lld: %s", data_file, number, i,
                     (long long)items[i].share, (long long)expected[i], columns[3]);
        }
    }
    assert_int_equal(returned, sum);
}

static void rows_hold(void **state)
{
    FILE *file = fopen(data_file, "r");
    assert_non_null(file);
    char line[1024];
    int n_rows = 0;
    for (int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && line[0] != '\0') {
            run_row(line, number);
            n_rows++;
        }
    }
    fclose(file);
    assert_true(n_rows > 10);
}

static void nobody_to_share(void **state)
{
    assert_int_equal(max_min_fill_shares(5, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold),
        cmocka_unit_test(nobody_to_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
