/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_if.c: #if, #elif, #else, #endif and #INCLUDE, by LSF's administration
 * guide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/conf/conf.h"
#include "base/conf/conf_if.h"

#define MINUTE_MS INT64_C(60000)

static struct arena arena;
static struct conf conf;

static int open_conf(void **state)
{
    arena_init(&arena);
    conf_init(&conf, &arena);
    return 0;
}

static int close_conf(void **state)
{
    arena_release(&arena);
    return 0;
}

/* 1970-01-01 was a Thursday (4); its Sunday (0) came three days later. */
static struct conf_clock at(int day, int hour, int minute)
{
    int64_t days = (day - 4 + 7) % 7;
    return (struct conf_clock){
        .local_ms = ((days * 24 + hour) * 60 + minute) * MINUTE_MS,
        .utc_offset_ms = 2 * 60 * MINUTE_MS,
    };
}

static void conditions(void **state)
{
    static const struct {
        const char *text;
        int day, hour, minute;
        bool value;
    } rows[] = {
        {"time(8:00-18:30)", 1, 8, 0, true},
        {"time(8:00-18:30)", 1, 7, 59, false},
        {"time(8:00-18:30)", 1, 18, 29, true},
        {"time(8:00-18:30)", 1, 18, 30, false}, /* up to, not including */
        {"time(18:30-8:00)", 1, 3, 0, true},    /* over midnight */
        {"time(5:19:00-1:8:30)", 0, 12, 0, true},
        {"time(5:19:00-1:8:30)", 1, 8, 30, false},
        {"time(5:19:00-1:8:30)", 5, 18, 59, false},
        {"time(8-9 17-18)", 3, 17, 30, true}, /* several windows */
        {"time(8-9 17-18)", 3, 12, 0, false},
        {"!time(8-18)", 3, 12, 0, false},
        {"! time(8-18)", 3, 20, 0, true},
        {"!!time(8-18)", 3, 12, 0, true},
        {"time(8-18) && time(12-13)", 3, 12, 30, true},
        {"time(8-18) && time(12-13)", 3, 14, 0, false},
        {"time(8-9) || time(12-13)", 3, 12, 30, true},
        {"time(8-9) || time(12-13)", 3, 14, 0, false},
        /* && binds tighter than ||, and parentheses change it */
        {"time(8-18) || time(8-18) && time(1-2)", 3, 12, 0, true},
        {"(time(8-18) || time(8-18)) && time(1-2)", 3, 12, 0, false},
        {"!(time(8-9) || time(9-10))", 3, 9, 30, false},
        {"time(8-18 UTC)", 3, 10, 0, true}, /* 8:00 in UTC, two hours behind */
        {"time(8-18 UTC)", 3, 9, 59, false},
        {"time(8-18 GMT)", 3, 19, 0, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct conf_clock clock = at(rows[i].day, rows[i].hour, rows[i].minute);
        struct err err;
        bool value;
        if (conf_if_eval(&arena, rows[i].text, &clock, &value, &err) != 0) {
            fail_msg("%s: %s", rows[i].text, err.text);
        }
        if (value != rows[i].value) {
            fail_msg("%s at %d:%02d:%02d", rows[i].text, rows[i].day, rows[i].hour,
                     rows[i].minute);
        }
    }
}

static void malformed_conditions(void **state)
{
    static const char *const rows[] = {
        "",
        "time",
        "time(",
        "time()",
        "time(8)",
        "time(8-18",
        "time(8-18))",
        "(time(8-18)",
        "time(8-18) &&",
        "time(8-18) & time(9-10)",
        "time(8-18) time(9-10)",
        "!",
        "time(25-26)",
        "time(8-18 EDT)",
        "cluster(a)",
        "((((((((((((((((((((((((((((((((((((((((time(8-18)"
        "))))))))))))))))))))))))))))))))))))))))",
    };
    struct conf_clock clock = at(1, 12, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err;
        bool value = true;
        if (conf_if_eval(&arena, rows[i], &clock, &value, &err) != ERR_PARSE || value) {
            fail_msg("%s was taken", rows[i]);
        }
        assert_non_null(strstr(err.text, "expected"));
    }
}

/* The values of KEY that count, in their order. */
static const char *values(const char *text)
{
    const char *found = "";
    conf_read(&conf, "/etc/lsf.conf", text, strlen(text));
    for (const struct conf_section *section = conf.first; section != NULL;
         section = section->next) {
        for (int i = 0; i < section->rows[0].n_cells; i++) {
            found =
                arena_printf(&arena, "%s%s", found, section->rows[0].cells[i].value);
        }
    }
    return found;
}

static void lines_that_do_not_count_are_left_out(void **state)
{
    static const struct {
        const char *text, *values;
    } rows[] = {
        {"#if time(8-18)\nA=1\n#else\nA=2\n#endif\nB=3\n", "13"},
        {"#if time(1-2)\nA=1\n#else\nA=2\n#endif\nB=3\n", "23"},
        {"#if time(1-2)\nA=1\n#elif time(8-18)\nA=2\n#else\nA=3\n#endif\n", "2"},
        {"#if time(8-18)\nA=1\n#elif time(8-18)\nA=2\n#else\nA=3\n#endif\n", "1"},
        {"#if time(1-2)\n#if "
         "time(8-18)\nA=1\n#else\nA=2\n#endif\nB=1\n#else\nC=7\n#endif\n",
         "7"},
        {"#if time(8-18)\n#if time(1-2)\nA=1\n#else\nA=2\n#endif\nB=4\n#endif\n", "24"},
        {"  #if time(1-2)\r\nA=1\r\n  #endif\r\nB=2\r\n", "2"},
        {"# if time(1-2)\nA=1\n#ifs\n#if you like\nB=2\n", "12"}, /* comments */
        {"#if time(1-2)\nA=1 \\\n#endif\nB=2\n", "2"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        conf_init(&conf, &arena);
        conf.clock = at(1, 12, 0);
        assert_string_equal(values(rows[i].text), rows[i].values);
        assert_int_equal(conf.n_errors, 0);
    }
}

static void a_change_is_noticed_at_its_minute(void **state)
{
    conf.clock = at(1, 17, 58);
    values("#if time(8-18)\nA=1\n#endif\n#if time(1-2)\nB=2\n#endif\n");
    struct conf_clock before = at(1, 17, 59), after = at(1, 18, 0);
    assert_false(conf_if_has_changed(&conf, &before));
    assert_true(conf_if_has_changed(&conf, &after));
    after = at(2, 1, 0);
    assert_true(conf_if_has_changed(&conf, &after));
}

static const char *give(struct conf *of, const char *path, size_t *length,
                        struct err *err)
{
    static const struct {
        const char *path, *text;
    } files[] = {
        {"/etc/b", "B=2\n#INCLUDE \"/opt/c\"\nB2=3"},
        {"/opt/c", "C=4\n"},
        {"/etc/loop", "D=5\n#INCLUDE loop\nE=6\n"},
        {"/etc/open", "#if time(8-18)\nF=7\n"},
        {"/etc/deep", "#INCLUDE \"deep/deep\"\n"},
    };
    (void)of;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strcmp(files[i].path, path) == 0) {
            *length = strlen(files[i].text);
            return files[i].text;
        }
    }
    err_set(err, ERR_STATE, "no such file as %s", path);
    return NULL;
}

static void files_are_included_at_their_place(void **state)
{
    static const struct {
        const char *text, *values, *error;
    } rows[] = {
        {"A=1\n#INCLUDE \"b\"\nZ=9\n", "12439", ""},
        {"#include b\n", "243", ""},
        {"#if time(1-2)\n#INCLUDE \"b\"\n#endif\nZ=9\n", "9", ""},
        {"#INCLUDE \"loop\"\nZ=9\n", "569", "being read"},
        {"#INCLUDE \"open\"\nZ=9\n", "79", "#if is not ended"},
        {"#INCLUDE \"none\"\nZ=9\n", "9", "no such file as /etc/none"},
        {"#INCLUDE\nZ=9\n", "9", "expected #INCLUDE"},
        {"#INCLUDE \"a\" \"b\"\nZ=9\n", "9", "expected #INCLUDE"},
        {"A=1\n#endif\nZ=9\n", "19", "#endif without #if"},
        {"#else\nZ=9\n", "9", "without #if"},
        {"#if time(8-18)\n#else\n#else\n#endif\nZ=9\n", "9", "behind #else"},
        {"#if time(8-18)\nZ=9\n", "9", "#if is not ended"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        conf_init(&conf, &arena);
        conf.clock = at(1, 12, 0);
        conf.include = give;
        assert_string_equal(values(rows[i].text), rows[i].values);
        assert_int_equal(conf.n_errors, rows[i].error[0] != '\0');
        if (conf.n_errors > 0 && strstr(conf.diags->text, rows[i].error) == NULL) {
            fail_msg("%s: %s", rows[i].text, conf.diags->text);
        }
    }
}

static void an_error_names_the_included_file(void **state)
{
    conf.include = give;
    values("Begin Parameters\n#INCLUDE \"b\"\nEnd Parameters\n");
    conf_check(&conf);
    assert_string_equal(conf.diags->file, "/etc/b");
    assert_int_equal(conf.diags->line, 1);
    assert_string_equal(conf.diags->key, "B");
}

static void nothing_is_included_without_a_reader(void **state)
{
    assert_string_equal(values("#INCLUDE \"b\"\nZ=9\n"), "9");
    assert_int_equal(conf.n_errors, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_conf, close_conf)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(conditions),
        TEST(malformed_conditions),
        TEST(lines_that_do_not_count_are_left_out),
        TEST(a_change_is_noticed_at_its_minute),
        TEST(files_are_included_at_their_place),
        TEST(an_error_names_the_included_file),
        TEST(nothing_is_included_without_a_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
