/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_id.c: ids and index lists, rows with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/job_id.h"

enum { ARRAY_MAX = 1000 };

static const struct {
    const char *name;
    const char *indices; /* "": refused */
    const char *why;
} names[] = {
    {"a[1]", "1", "one element"},
    {"a[1-3]", "1 2 3", "a range"},
    {"a[3-3]", "3", "a range of one"},
    {"a[1-10:4]", "1 5 9", "a step; the end need not be met"},
    {"a[1-3,7,20-24:2]", "1 2 3 7 20 22 24", "a list"},
    {"a[7,1-3]", "1 2 3 7", "in any order"},
    {"a[1-3,2-4,3]", "1 2 3 4", "what is said twice counts once"},
    {"[2]", "2", "without a name"},
    {"a[998-1000]", "998 999 1000", "up to the largest"},
    {"a[1001]", "", "above the largest"},
    {"a[1-1001]", "", "a range that ends above it"},
    {"a[1-10:1001]", "", "a step above it"},
    {"a[0-3]", "", "indices begin with 1"},
    {"a[01]", "", "a leading zero"},
    {"a[3-1]", "", "backwards"},
    {"a[1-3:0]", "", "a step of 0 would never end"},
    {"a[]", "", "empty"},
    {"a[1,]", "", "an empty place"},
    {"a[1", "", "not closed"},
    {"a[1]b", "", "text behind it"},
    {"a[1-2]%2", "1 2", "a limit"},
    {"a[1]%0", "", "a limit of none"},
    {"a[1]%x", "", "a limit that is no number"},
    {"a[1]%2x", "", "text behind the limit"},
    {"a[1][2]", "", "two lists"},
    {"a[-1]", "", "a sign"},
    {"a[99999999999999999999]", "", "more digits than a number has"},
    {"a[1 - 3]", "", "blanks"},
    {"a", "", "no list"},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct arena arena;
        struct job_id id;
        struct err err = {0};
        const int *indices;
        char text[128] = "";
        size_t length = 0;
        arena_init(&arena);
        int code = job_id_read_name(&arena, names[i].name, ARRAY_MAX, &id, &err);
        int count = code == 0 ? job_id_expand(&arena, &id, &indices) : 0;
        for (int k = 0; k < count; k++) {
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%d",
                                       k > 0 ? " " : "", indices[k]);
            assert_true(job_id_has(&id, indices[k]));
        }
        if (strcmp(text, names[i].indices) != 0 || (code != 0) != (text[0] == '\0')) {
            fail_msg("%s: \"%s\", expected \"%s\": %s (%s)", names[i].name, text,
                     names[i].indices, names[i].why, err.text);
        }
        arena_release(&arena);
    }
}

static void test_largest_array(void **state)
{
    struct arena arena;
    struct job_id id;
    const int *indices;
    (void)state;
    arena_init(&arena);
    assert_int_equal(job_id_read_name(&arena, "a[1-999999]", JOB_INDEX_MAX, &id, NULL),
                     0);
    assert_int_equal(job_id_expand(&arena, &id, &indices), JOB_INDEX_MAX);
    assert_int_equal(indices[JOB_INDEX_MAX - 1], JOB_INDEX_MAX);
    arena_release(&arena);
}

static void test_ids(void **state)
{
    static const struct {
        const char *text;
        uint64_t number; /* 0: refused */
        int has, has_not;
    } rows[] = {
        {"12", 12, 3, -1},
        {"12[3]", 12, 3, 4},
        {"12[1-5,9]", 12, 9, 8},
        {"9999999999999", 9999999999999, 0, -1},
        {"99999999999999", 0, 0, 0}, /* would not fit a key */
        {"0", 0, 0, 0},
        {"012", 0, 0, 0},
        {"", 0, 0, 0},
        {"12x", 0, 0, 0},
        {"12[3", 0, 0, 0},
        {"12[]", 0, 0, 0},
        {"-1", 0, 0, 0},
        {"12[0]", 0, 0, 0},
        {"12[3]4", 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct job_id id;
        arena_init(&arena);
        int code = job_id_read(&arena, rows[i].text, &id, NULL);
        if ((code == 0) != (rows[i].number != 0)) {
            fail_msg("\"%s\": %d", rows[i].text, code);
        }
        if (code == 0) {
            assert_int_equal(id.number, rows[i].number);
            assert_true(job_id_has(&id, rows[i].has));
            assert_true(rows[i].has_not < 0 || !job_id_has(&id, rows[i].has_not));
        }
        arena_release(&arena);
    }
}

static void test_texts_and_keys(void **state)
{
    struct arena arena;
    (void)state;
    arena_init(&arena);
    assert_string_equal(job_id_text(&arena, 12, 0), "12");
    assert_string_equal(job_id_text(&arena, 12, 3), "12[3]");
    assert_string_equal(job_id_element_name(&arena, "lisa[1-9]", 3), "lisa[3]");
    assert_string_equal(job_id_element_name(&arena, "lisa", 0), "lisa");
    assert_int_equal(job_id_key_number(job_id_key(9999999999999, JOB_INDEX_MAX)),
                     9999999999999);
    assert_int_equal(job_id_key_index(job_id_key(1, JOB_INDEX_MAX)), JOB_INDEX_MAX);
    assert_true(job_id_key(1, JOB_INDEX_MAX) < job_id_key(2, 0));
    assert_true(job_id_key(2, 0) < job_id_key(2, 1));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_largest_array),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_texts_and_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
