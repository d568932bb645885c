/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c: value trees as JSON: what is written is what jansson reads, and would
 * have written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "sys/json.h"

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

static void expect_text(const char *value, const char *wanted)
{
    struct value *array = value_array(&arena);
    value_add_text(&arena, array, NULL, value);
    char *text = json_render(array);
    assert_string_equal(text, wanted);
    json_t *read = json_loads(text, 0, NULL);
    assert_non_null(read);
    json_decref(read);
    free(text);
}

static void test_texts(void **state)
{
    expect_text("plain, with ~ and /", "[\"plain, with ~ and /\"]");
    expect_text("", "[\"\"]");
    expect_text(NULL, "[null]");
    expect_text("a \"quoted\" \\ one", "[\"a \\\"quoted\\\" \\\\ one\"]");
    expect_text("two\nlines\x01\x7f", "[\"two\\nlines\\u0001\x7f\"]");
    expect_text("gr\xc3\xbc\xc3\x9f", "[\"gr\xc3\xbc\xc3\x9f\"]");
    expect_text("no UTF-8: \xff\xfe", "[\"no UTF-8: ??\"]");
}

static void test_shapes(void **state)
{
    struct value *root = value_object(&arena);
    value_add_int(&arena, root, "least", INT64_MIN);
    value_add_int(&arena, root, "most", INT64_MAX);
    value_add_bool(&arena, root, "yes", true);
    value_add_bool(&arena, root, "no", false);
    value_add_null(&arena, root, "nothing");
    value_add_real(&arena, root, "tenth", 0.1);
    value_add_real(&arena, root, "endless", INFINITY);
    value_add(&arena, root, "none", value_array(&arena));
    struct value *inner = value_add(&arena, root, "in", value_object(&arena));
    value_add(&arena, inner, "k\"", value_object(&arena));
    char *text = json_render(root);
    assert_string_equal(text,
                        "{\"least\":-9223372036854775808,\"most\":9223372036854775807,"
                        "\"yes\":true,\"no\":false,\"nothing\":null,\"tenth\":0.1,"
                        "\"endless\":null,\"none\":[],\"in\":{\"k\\\"\":{}}}");
    free(text);
}

/* Longer than what is allocated first. */
static void test_long(void **state)
{
    enum { ROWS = 3000 };
    struct value *array = value_array(&arena);
    for (int i = 0; i < ROWS; i++) {
        value_add_int(&arena, array, NULL, i);
    }
    char *text = json_render(array);
    json_t *read = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(read), ROWS);
    assert_int_equal(json_integer_value(json_array_get(read, ROWS - 1)), ROWS - 1);
    json_decref(read);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_texts, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_shapes, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_long, open_arena, close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
