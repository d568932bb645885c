/* SPDX-License-Identifier: Apache-2.0 */
/* test_swf.c: parsing of traces, and errors. Real traces are read too if they exist
 * ($SUBLET_DATA, else ../shared/data). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario/swf.h"

static struct arena arena;
static struct swf swf;
static struct err err;

static int open_arena(void **state)
{
    arena_init(&arena);
    memset(&swf, 0, sizeof swf);
    memset(&err, 0, sizeof err);
    return 0;
}

static int close_arena(void **state)
{
    arena_release(&arena);
    return 0;
}

static int read_with(const char *text, int limit_jobs, int64_t scale_millionths)
{
    struct swf_options options = {scale_millionths, limit_jobs};

    return swf_read("t.swf", text, strlen(text), &options, &arena, &swf, &err);
}

static int read_text(const char *text)
{
    return read_with(text, 0, SWF_SCALE_ONE);
}

/* ---- one line */

static void lines_become_jobs(void **state)
{
    static const struct {
        const char *why, *line;
        int64_t run_ms, limit_ms;
        int n_slots;
        const char *user, *group, *queue;
    } rows[] = {
        {"all is known", "7 100 5 60 4 60 -1 8 120 -1 1 12 3 -1 2 -1 -1 -1", 60000,
         120000, 4, "u12", "g3", "q2"},
        {"requested where allocated are unknown",
         "7 100 5 60 -1 60 -1 8 120 -1 1 12 3 -1 2 -1 -1 -1", 60000, 120000, 8, "u12",
         "g3", "q2"},
        {"nobody allocates 0", "7 100 5 60 0 60 -1 8 120 -1 1 12 3 -1 2 -1 -1 -1",
         60000, 120000, 8, "u12", "g3", "q2"},
        {"no requested time is no limit",
         "7 100 5 60 4 60 -1 8 -1 -1 1 12 3 -1 2 -1 -1 -1", 60000, 0, 4, "u12", "g3",
         "q2"},
        {"nor is 0", "7 100 5 60 4 60 -1 8 0 -1 1 12 3 -1 2 -1 -1 -1", 60000, 0, 4,
         "u12", "g3", "q2"},
        {"unknown ids", "7 100 5 60 4 60 -1 8 9 -1 1 -1 -1 -1 -1 -1 -1 -1", 60000, 9000,
         4, "unknown", "unknown", "unknown"},
        {"queue 0 is the archive's word for interactive",
         "7 100 5 60 4 60 -1 8 9 -1 1 0 0 -1 0 -1 -1 -1", 60000, 9000, 4, "u0", "g0",
         "q0"},
        {"fractions", "7 100.25 5 0.5 4 552.21 -1 8 9 -1 1 1 1 -1 1 -1 -1 -1", 500,
         9000, 4, "u1", "g1", "q1"},
        {"a fraction without digits behind the point",
         "7 100. 5 1.0009 4 -1 -1 8 9 -1 1 1 1 -1 1 -1 -1 -1", 1000, 9000, 4, "u1",
         "g1", "q1"},
        {"status unknown, and it ran", "7 1 5 60 4 60 -1 8 9 -1 -1 1 1 -1 1 -1 -1 -1",
         60000, 9000, 4, "u1", "g1", "q1"},
        {"it failed after a while", "7 1 5 60 4 60 -1 8 9 -1 0 1 1 -1 1 -1 -1 -1",
         60000, 9000, 4, "u1", "g1", "q1"},
        {"it was cancelled while it ran", "7 1 5 60 4 60 -1 8 9 -1 5 1 1 -1 1 -1 -1 -1",
         60000, 9000, 4, "u1", "g1", "q1"},
        {"it completed in less than a second",
         "7 1 5 0 4 60 -1 8 9 -1 1 1 1 -1 1 -1 -1 -1", 0, 9000, 4, "u1", "g1", "q1"},
        {"tabs, and a file from elsewhere",
         "\t7\t1\t5\t60\t4\t60\t-1\t8\t9\t-1\t1\t1\t1\t-1\t1\t-1\t-1\t-1 \r", 60000,
         9000, 4, "u1", "g1", "q1"},
        {"memory in bytes is larger than any time",
         "7 1 5 60 4 60 99999999999999999999 8 9 68719476736000 1 1 1 -1 1 -1 -1 -1",
         60000, 9000, 4, "u1", "g1", "q1"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (read_text(rows[i].line)) {
            fail_msg("%s: %s", rows[i].why, err.text);
        }
        const struct swf_job *job = swf.jobs;
        if (swf.n_jobs != 1 || job->number != 7 || job->at_ms != 0 ||
            job->run_ms != rows[i].run_ms || job->limit_ms != rows[i].limit_ms ||
            job->n_slots != rows[i].n_slots || strcmp(job->user, rows[i].user) != 0 ||
            strcmp(job->group, rows[i].group) != 0 ||
            strcmp(job->queue, rows[i].queue) != 0) {
            fail_msg("%s: %d jobs, run %lld limit %lld slots %d %s %s %s", rows[i].why,
                     swf.n_jobs, (long long)job->run_ms, (long long)job->limit_ms,
                     job->n_slots, job->user, job->group, job->queue);
        }
    }
}

static void what_never_ran_is_left_out(void **state)
{
    static const struct {
        const char *why, *line;
        int never_ran, sizeless, parts;
    } rows[] = {
        {"run time unknown", "1 0 -1 -1 4 -1 -1 4 9 -1 1 1 1 -1 1 -1 -1 -1", 1, 0, 0},
        {"an end that is unknown, less a start",
         "1 0 -1 -1359981026 4 -1 -1 4 9 -1 1 1 1 -1 1 -1 -1 -1", 1, 0, 0},
        {"cancelled before it ran", "1 0 9 0 4 -1 -1 4 9 -1 5 1 1 -1 1 -1 -1 -1", 1, 0,
         0},
        {"failed before it ran", "1 0 9 0 4 -1 -1 4 9 -1 0 1 1 -1 1 -1 -1 -1", 1, 0, 0},
        {"nobody knows on how many", "1 0 9 9 -1 -1 -1 -1 9 -1 1 1 1 -1 1 -1 -1 -1", 0,
         1, 0},
        {"a part of one", "1 0 9 9 4 -1 -1 4 9 -1 2 1 1 -1 1 -1 -1 -1", 0, 0, 1},
        {"the last part, done", "1 0 9 9 4 -1 -1 4 9 -1 3 1 1 -1 1 -1 -1 -1", 0, 0, 1},
        {"the last part, failed", "1 0 9 9 4 -1 -1 4 9 -1 4 1 1 -1 1 -1 -1 -1", 0, 0,
         1},
        {"nothing but air", " \t", 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (read_text(rows[i].line)) {
            fail_msg("%s: %s", rows[i].why, err.text);
        }
        if (swf.n_jobs != 0 || swf.n_never_ran != rows[i].never_ran ||
            swf.n_sizeless != rows[i].sizeless || swf.n_parts != rows[i].parts) {
            fail_msg("%s: %d jobs, %d %d %d left out", rows[i].why, swf.n_jobs,
                     swf.n_never_ran, swf.n_sizeless, swf.n_parts);
        }
    }
}

static void what_is_no_trace_is_refused(void **state)
{
    static const struct {
        const char *why, *text, *says;
    } rows[] = {
        {"17 fields", "; x\n1 0 9 9 4 -1 -1 4 9 -1 1 1 1 -1 1 -1 -1\n",
         "t.swf:2: a job of 17 fields, expected 18"},
        {"19 fields", "1 0 9 9 4 -1 -1 4 9 -1 1 1 1 -1 1 -1 -1 -1 5\n",
         "t.swf:1: a job of 19 fields, expected 18"},
        {"a word", "\n\n1 0 9 9 four -1 -1 4 9 -1 1 1 1 -1 1 -1 -1 -1\n",
         "t.swf:3: field 5 is \"four\", expected a number"},
        {"a number with a tail", "1 0 9 9 4x -1 -1 4 9 -1 1 1 1 -1 1 -1 -1 -1\n",
         "t.swf:1: field 5 is \"4x\", expected a number"},
        {"a sign alone", "1 0 9 9 - -1 -1 4 9 -1 1 1 1 -1 1 -1 -1 -1\n",
         "t.swf:1: field 5 is \"-\", expected a number"},
        {"no submit time", "1 -1 9 9 4 -1 -1 4 9 -1 1 1 1 -1 1 -1 -1 -1\n",
         "t.swf:1: no submit time (field 2), expected seconds"},
        {"a time that is none",
         "1 0 9 1000000000001 4 -1 -1 4 9 -1 1 1 1 -1 1 -1 -1 -1\n",
         "t.swf:1: run time (field 4) is out of bounds, expected at most "
         "1000000000000"},
        {"more processors than there are",
         "1 0 9 9 1000000001 -1 -1 4 9 -1 1 1 1 -1 1 -1 -1 -1\n",
         "t.swf:1: allocated processors (field 5) is out of bounds, expected at most "
         "1000000000"},
        {"a configuration file", "Begin Host\n",
         "t.swf:1: field 1 is \"Begin\", expected a number"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        swf.n_jobs = 77;
        int code = read_text(rows[i].text);
        if (code == 0 || swf.n_jobs != 77 ||
            strncmp(err.text, rows[i].says, strlen(rows[i].says)) != 0) {
            fail_msg("%s: %d %s", rows[i].why, code, err.text);
        }
    }
}

static void bytes_that_are_no_text_are_refused(void **state)
{
    enum { SIZE = 3 * SWF_LINE_MAX };
    struct swf_options options = {SWF_SCALE_ONE, 0};
    char *bytes = malloc(SIZE);

    assert_non_null(bytes);
    memset(bytes, '1', SIZE);
    assert_int_equal(swf_read("b", bytes, SIZE, &options, &arena, &swf, &err),
                     ERR_PARSE);
    assert_string_equal(err.text,
                        "b:1: a line of more than 4096 bytes, expected a trace "
                        "in the Standard Workload Format");
    bytes[0] = ';';
    bytes[1] = '\0';
    bytes[2] = '\n';
    assert_int_equal(swf_read("b", bytes, 3, &options, &arena, &swf, &err), ERR_PARSE);
    assert_string_equal(err.text, "b:1: a NUL byte, expected text");
    free(bytes);
}

/* ---- whole traces */

/* The second job of the file is the first in time. */
static const char three_jobs[] = "; Version: 2.2\n"
                                 ";MaxProcs: 240\n"
                                 "; Note: MaxProcs: 7 are for tests\n"
                                 "5 1300 5 60 4 60 -1 8 50 -1 1 1 1 -1 1 -1 -1 -1\n"
                                 "6 1000 5 60 2 60 -1 8 60 -1 1 1 1 -1 1 -1 -1 -1\n"
                                 "7 1200 -1 -1 2 60 -1 8 60 -1 5 1 1 -1 1 -1 -1 -1\n"
                                 "8 1300 5 60 3 60 -1 8 60 -1 1 1 1 -1 1 -1 -1 -1";

static void times_begin_with_the_first_job(void **state)
{
    assert_int_equal(read_text(three_jobs), 0);
    assert_int_equal(swf.n_jobs, 3);
    assert_int_equal(swf.jobs[0].number, 6);
    assert_int_equal(swf.jobs[0].at_ms, 0);
    assert_int_equal(swf.jobs[1].number, 5); /* as in the file where the time is one */
    assert_int_equal(swf.jobs[1].at_ms, 300000);
    assert_int_equal(swf.jobs[1].line, 4);
    assert_int_equal(swf.jobs[2].number, 8);
    assert_int_equal(swf.jobs[2].at_ms, 300000);
    assert_int_equal(swf.n_never_ran, 1);
    assert_int_equal(swf.n_over_limit, 1);
    assert_int_equal(swf.n_slots_max, 4);
    assert_int_equal(swf.max_procs, 240);
}

static void scale_stretches_the_gaps(void **state)
{
    assert_int_equal(read_with(three_jobs, 0, SWF_SCALE_ONE / 2), 0);
    assert_int_equal(swf.jobs[2].at_ms, 150000);
    assert_int_equal(swf.jobs[2].run_ms, 60000); /* the work does not change */
    assert_int_equal(read_with(three_jobs, 0, 3 * SWF_SCALE_ONE), 0);
    assert_int_equal(swf.jobs[2].at_ms, 900000);
    assert_int_equal(read_with(three_jobs, 0, 0), 0);
    assert_int_equal(swf.jobs[2].at_ms, 0); /* all at once */
    /* the longest gap there can be, with the largest scale */
    assert_int_equal(read_with("1 0 0 1 1 1 -1 1 1 -1 1 1 1 -1 1 -1 -1 -1\n"
                               "2 1000000000000 0 1 1 1 -1 1 1 -1 1 1 1 -1 1 -1 -1 -1",
                               0, SWF_SCALE_MAX),
                     0);
    assert_true(swf.jobs[1].at_ms == INT64_C(1000000000000000000));
}

static void the_first_jobs_that_ran_are_taken(void **state)
{
    assert_int_equal(read_with(three_jobs, 2, SWF_SCALE_ONE), 0);
    assert_int_equal(swf.n_jobs, 2);
    assert_int_equal(swf.jobs[0].number, 6);
    assert_int_equal(swf.jobs[1].number, 5);
    /* lines after the limit are not read */
    assert_int_equal(read_with("1 0 0 1 1 1 -1 1 1 -1 1 1 1 -1 1 -1 -1 -1\nrubbish\n",
                               1, SWF_SCALE_ONE),
                     0);
}

static void an_empty_trace_has_no_jobs(void **state)
{
    assert_int_equal(read_text(""), 0);
    assert_int_equal(swf.n_jobs, 0);
    assert_int_equal(read_text("; nothing\n\n"), 0);
    assert_int_equal(swf.n_jobs, 0);
}

/* ---- real traces */

static char *read_trace(const char *name, size_t *length)
{
    enum { SIZE = 4 << 20 };
    const char *directory = getenv("SUBLET_DATA");
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", directory ? directory : "../shared/data",
             name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        print_message("no %s (SUBLET_DATA names its directory)\n", path);
        skip();
    }
    char *text = malloc(SIZE);
    assert_non_null(text);
    *length = fread(text, 1, SIZE, file);
    fclose(file);
    return text;
}

static void read_real(const char *name)
{
    struct swf_options options = {SWF_SCALE_ONE, 0};
    size_t length;
    char *text = read_trace(name, &length);

    if (swf_read(name, text, length, &options, &arena, &swf, &err)) {
        fail_msg("%s", err.text);
    }
    free(text);
}

static void hpc2n_is_read(void **state)
{
    read_real("hpc2n.swf");
    assert_int_equal(swf.n_jobs, 3145);
    assert_int_equal(swf.n_never_ran, 25);
    assert_int_equal(swf.max_procs, 240);
    assert_int_equal(swf.n_slots_max, 128);
    assert_int_equal(swf.jobs[0].at_ms, 0);
    assert_int_equal(swf.jobs[swf.n_jobs - 1].at_ms, INT64_C(4950011000));
    assert_int_equal(swf.jobs[0].limit_ms, 37980000);
    assert_string_equal(swf.jobs[3].user, "u3");
}

static void metacentrum_is_read(void **state)
{
    read_real("metacentrum-2013.swf");
    assert_int_equal(swf.n_jobs, 17898);
    assert_int_equal(swf.n_never_ran, 2); /* whose end is unknown */
    assert_int_equal(swf.max_procs, 2176);
    assert_int_equal(swf.n_slots_max, 256);
    /* 1356996147 is zero here */
    assert_int_equal(swf.jobs[0].at_ms, 0);
    assert_int_equal(swf.jobs[1].at_ms, 548000);
    assert_string_equal(swf.jobs[1].user, "u101");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_become_jobs),
        TEST(what_never_ran_is_left_out),
        TEST(what_is_no_trace_is_refused),
        TEST(bytes_that_are_no_text_are_refused),
        TEST(times_begin_with_the_first_job),
        TEST(scale_stretches_the_gaps),
        TEST(the_first_jobs_that_ran_are_taken),
        TEST(an_empty_trace_has_no_jobs),
        TEST(hpc2n_is_read),
        TEST(metacentrum_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
