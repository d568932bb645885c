/* SPDX-License-Identifier: Apache-2.0 */
/* test_local_resources.c: LSF_LOCAL_RESOURCES, rows with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/local_resources.h"

static const struct {
    const char *text;
    const char *values; /* "name=value", "!name=1" exclusive; "error": refused */
    const char *says;   /* a part of the error */
    const char *why;
} rows[] = {
    {"[resource linux] [!bigmem]", "linux=1 !bigmem=1", "", "the seed's example"},
    {"[linux][resource !bigmem]", "linux=1 !bigmem=1", "",
     "without blanks, either way"},
    {"[resourcemap 2*verilog] [resourcemap 4.2*os_version]", "verilog=2 os_version=4.2",
     "", "values"},
    {"[type SUN] [Model Ultra5F]", "type=SUN model=Ultra5F", "",
     "instead of detection"},
    {"  [ resource\tlinux ]  ", "linux=1", "", "blanks anywhere"},
    {"", "", "", "nothing"},
    {"[]", "error", "keyword", "an empty part"},
    {"linux", "error", "\"linux\", expected", "no brackets"},
    {"[resource linux", "error", "\"[resource linux\", expected", "not closed"},
    {"[resource linux] x", "error", "\"x\", expected", "text behind it"},
    {"[resource linux scsi]", "error", "one word", "two words"},
    {"[resources linux]", "error", "expected resource, resourcemap", "no such keyword"},
    {"[resource 1a]", "error", "not a resource's name", "a bad name"},
    {"[!!bigmem]", "error", "not a resource's name", "two marks"},
    {"[resourcemap verilog]", "error", "expected VALUE*NAME", "no value"},
    {"[resourcemap *verilog]", "error", "0 bytes", "an empty value"},
    {"[resourcemap 1*2*a]", "error", "not a resource's name", "two stars"},
    {"[a] [resourcemap 1*a]", "error", "\"a\" twice", "said twice"},
};

static void test_rows(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct load_value values[LOCAL_RESOURCES_MAX];
        struct err err = {0};
        char text[256] = "error";
        size_t length = 0;
        int count = 0;
        arena_init(&arena);
        memset(values, 1, sizeof(values)); /* whatever stood there */
        int code = local_resources_read(&arena, rows[i].text, values, &count, &err);
        assert_int_equal(
            local_resources_read(&arena, rows[i].text, values, &count, NULL),
            code); /* whether or not anybody reads why */
        if (code == 0) {
            text[0] = '\0';
        }
        for (int k = 0; code == 0 && k < count; k++) {
            length += (size_t)snprintf(
                text + length, sizeof(text) - length, "%s%s%s=%s", k > 0 ? " " : "",
                values[k].is_exclusive ? "!" : "", values[k].name, values[k].value);
        }
        if (strcmp(text, rows[i].values) != 0 ||
            strstr(err.text, rows[i].says) == NULL) {
            fail_msg("%s: \"%s\" (%s), expected \"%s\" (%s): %s", rows[i].text, text,
                     err.text, rows[i].values, rows[i].says, rows[i].why);
        }
        arena_release(&arena);
    }
}

static void test_bounds(void **state)
{
    struct arena arena;
    struct load_value values[LOCAL_RESOURCES_MAX];
    char text[1024] = "";
    size_t length = 0;
    int count = 0;
    arena_init(&arena);
    for (int i = 0; i < LOCAL_RESOURCES_MAX; i++) {
        length += (size_t)snprintf(text + length, sizeof(text) - length, "[r%d]", i);
    }
    assert_int_equal(local_resources_read(&arena, text, values, &count, NULL), 0);
    assert_int_equal(count, LOCAL_RESOURCES_MAX);
    snprintf(text + length, sizeof(text) - length, "[more]");
    assert_int_equal(local_resources_read(&arena, text, values, &count, NULL),
                     ERR_BOUNDS);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
