/* SPDX-License-Identifier: Apache-2.0 */
/* test_err.c: a code and a sentence, cut where it is too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void set_fills_and_returns_the_code(void **state)
{
    struct err err = {0};
    assert_int_equal(err_set(&err, ERR_PARSE, "slots \"%s\", expected %d", "x", 4),
                     ERR_PARSE);
    assert_int_equal(err.code, ERR_PARSE);
    assert_string_equal(err.text, "slots \"x\", expected 4");
}

static void nobody_may_listen(void **state)
{
    assert_int_equal(err_set(NULL, ERR_IO, "x"), ERR_IO);
    assert_int_equal(err_prefix(NULL, "x"), 0);
}

static void prefix_goes_in_front(void **state)
{
    struct err err;
    (void)err_set(&err, ERR_IO, "no space");
    assert_int_equal(err_prefix(&err, "write \"%s\"", "journal"), ERR_IO);
    assert_string_equal(err.text, "write \"journal\": no space");
}

static void own_text_may_be_an_argument(void **state)
{
    struct err err;
    (void)err_set(&err, ERR_IO, "no space");
    (void)err_set(&err, ERR_FULL, "store: %s", err.text);
    assert_string_equal(err.text, "store: no space");
}

static void too_long_is_cut(void **state)
{
    char text[2 * sizeof(((struct err *)0)->text)];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    struct err err;
    (void)err_set(&err, ERR_IO, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    (void)err_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    (void)err_set(&err, ERR_IO, "%s", text + sizeof(text) / 2 + 2);
    (void)err_prefix(&err, "before");
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_memory_equal(err.text, "before: x", 9);
}

static void no_character_is_cut_in_half(void **state)
{
    char text[1025];
    for (size_t i = 0; i < 512; i++) {
        memcpy(text + 2 * i, "\xc3\xa9", 2);
    }
    text[1024] = '\0';
    struct err err;
    (void)err_set(&err, ERR_IO, "%s", text);
    assert_int_equal(strlen(err.text), 510);
}

static void names_are_those_of_the_table(void **state)
{
    assert_string_equal(err_name(ERR_PARSE), "parse");
    assert_string_equal(err_name(ERR_NOT_FOUND), "not_found");
    assert_string_equal(err_name(ERR_NONE), "unknown");
    assert_string_equal(err_name(7), "unknown");
    assert_string_equal(err_name(-1000), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_fills_and_returns_the_code),
        cmocka_unit_test(nobody_may_listen),
        cmocka_unit_test(prefix_goes_in_front),
        cmocka_unit_test(own_text_may_be_an_argument),
        cmocka_unit_test(too_long_is_cut),
        cmocka_unit_test(no_character_is_cut_in_half),
        cmocka_unit_test(names_are_those_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
