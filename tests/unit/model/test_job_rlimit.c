/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_rlimit.c: limits of jobs, as users write them and as texts in messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/job_rlimit.h"

static void test_values(void **state)
{
    static const struct {
        enum job_rlimit limit;
        const char *text;
        int64_t unit_kib;
        int64_t value; /* -1000: refused */
        bool is_bare;
    } rows[] = {
        {JOB_RLIMIT_CPU, "90", 1, 5400000, false},
        {JOB_RLIMIT_CPU, "1:30", 1, 5400000, false},
        {JOB_RLIMIT_CPU, "10s", 1, 10000, false},
        {JOB_RLIMIT_CPU, "0", 1, -1000, false},
        {JOB_RLIMIT_CPU, "x:1", 1, -1000, false},
        {JOB_RLIMIT_CPU, "99999999999999999999:1", 1, -1000, false},
        {JOB_RLIMIT_MEM, "100", 1, 100, true},
        {JOB_RLIMIT_MEM, "100", 1024, 102400, true},
        {JOB_RLIMIT_MEM, "100KB", 1024, 100, false},
        {JOB_RLIMIT_MEM, "4G", 1, 4 << 20, false},
        {JOB_RLIMIT_MEM, "4gb", 1, 4 << 20, false},
        {JOB_RLIMIT_MEM, "2T", 1, INT64_C(2) << 30, false},
        {JOB_RLIMIT_MEM, "4EB", 1, INT64_C(1) << 52, false},
        {JOB_RLIMIT_MEM, "5EB", 1, -1000, false},
        {JOB_RLIMIT_MEM, "99999999999999999999999", 1, -1000, false},
        {JOB_RLIMIT_MEM, "4X", 1, -1000, false},
        {JOB_RLIMIT_MEM, "4GBx", 1, -1000, false},
        {JOB_RLIMIT_MEM, "-4", 1, -1000, false},
        {JOB_RLIMIT_MEM, "", 1, -1000, false},
        {JOB_RLIMIT_CPU, "60/EPYC7", 1, 3600000, false},
        {JOB_RLIMIT_CPU, "1:30/n1.site", 1, 5400000, false},
        {JOB_RLIMIT_CPU, "60/", 1, -1000, false},
        {JOB_RLIMIT_CPU, "60/a/b", 1, -1000, false},
        {JOB_RLIMIT_CPU, "/a", 1, -1000, false},
        {JOB_RLIMIT_MEM, "4/EPYC7", 1, -1000, false},
        {JOB_RLIMIT_WARNING, "4/EPYC7", 1, -1000, false},
        {JOB_RLIMIT_CORE, "0", 1, 0, true},
        {JOB_RLIMIT_PROCESSES, "7", 1024, 7, false},
        {JOB_RLIMIT_PROCESSES, "0", 1, -1000, false},
        {JOB_RLIMIT_NICE, "-20", 1, -20, false},
        {JOB_RLIMIT_NICE, "20", 1, 19, false},
        {JOB_RLIMIT_NICE, "21", 1, -1000, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t value = -1000;
        bool is_bare = false;
        struct err err = {.text = ""};
        int code = job_rlimit_parse(rows[i].limit, rows[i].text, rows[i].unit_kib,
                                    &value, &is_bare, &err);
        if ((code != 0) != (rows[i].value == -1000) ||
            (code == 0 && (value != rows[i].value || is_bare != rows[i].is_bare))) {
            fail_msg("\"%s\": %d %lld %s", rows[i].text, code, (long long)value,
                     err.text);
        }
        assert_true(code == 0 || strstr(err.text, "expected") != NULL ||
                    strstr(err.text, "ten years") != NULL);
    }
}

static void test_travel(void **state)
{
    static const char *const of_host[] = {"cpu=60000/EPYC7"};
    static const char *const bad[] = {"mem=0000000000000000000000000000001x",
                                      "mem=1/a",
                                      "cpu=/a",
                                      "mem",
                                      "mem=",
                                      "mem=x",
                                      "mem=-1",
                                      "cpu=0",
                                      "nice=20",
                                      "what=1",
                                      "=1",
                                      "mem=9999999999999999999"};
    struct arena arena;
    struct job_rlimits limits = job_rlimits_none(), back;
    const char *const *texts;
    struct err err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(job_rlimits_write(&arena, &limits, &texts), 0);
    limits.values[JOB_RLIMIT_CPU] = 60000;
    limits.values[JOB_RLIMIT_CORE] = 0;
    limits.values[JOB_RLIMIT_NICE] = -5;
    int count = job_rlimits_write(&arena, &limits, &texts);
    assert_int_equal(count, 3);
    assert_string_equal(texts[0], "cpu=60000");
    assert_int_equal(job_rlimits_read(texts, count, &back, &err), 0);
    assert_memory_equal(&limits, &back, sizeof(limits));
    assert_int_equal(job_rlimits_read(of_host, 1, &back, &err), 0);
    assert_string_equal(back.cpu_host, "EPYC7");
    assert_int_equal(job_rlimits_write(&arena, &back, &texts), 1);
    assert_string_equal(texts[0], of_host[0]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (job_rlimits_read(&bad[i], 1, &back, &err) == 0) {
            fail_msg("\"%s\" was taken", bad[i]);
        }
    }
    assert_string_equal(job_rlimit_text(&arena, JOB_RLIMIT_CPU, 90000), "90 s");
    assert_string_equal(job_rlimit_text(&arena, JOB_RLIMIT_CPU, 120000), "2 min");
    assert_string_equal(job_rlimit_text(&arena, JOB_RLIMIT_MEM, 7), "7 KB");
    assert_true(job_rlimit_scale(INT64_C(1) << 52, 1024) == INT64_C(1) << 52);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_travel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
