/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what a run executes is what its job's user submitted: then it stands in the
 * journal once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "site/job/submission.h"

static const char *const env[] = {"A=1", "B=2"};
static const char *const limits[] = {"mem=7"};
static const char *const commands[] = {"prepare"};

static int64_t of_user;

static struct submission *submit(void)
{
    struct row_job row = {.spec = {.name = "",
                                   .user = "ana",
                                   .queue = "local",
                                   .command = "work",
                                   .cwd = "/",
                                   .in_file = "",
                                   .out_file = "",
                                   .err_file = "",
                                   .app = "",
                                   .n_slots = 1,
                                   .env = env,
                                   .n_env = 2,
                                   .limits = limits,
                                   .n_limits = 1,
                                   .pre_execs = commands,
                                   .n_pre_execs = 1,
                                   .post_execs = commands,
                                   .n_post_execs = 1}};
    struct submission *submission = submission_new(&row, &of_user);
    submission_join(submission);
    return submission;
}

/* The specification once, and each job. */
static void test_memory_of_the_user(void **state)
{
    (void)state;
    of_user = 0;
    struct submission *submission = submit();
    int64_t of_one = of_user;
    assert_true(of_one > SUBMISSION_JOB_BYTES + (int64_t)sizeof(struct row_job));
    submission_join(submission);
    assert_int_equal(of_user, of_one + SUBMISSION_JOB_BYTES);
    submission_add_run(submission);
    submission_leave(submission);
    submission_leave(submission);
    assert_int_equal(of_user, 0);
    submission_remove_run(submission);
    assert_int_equal(of_user, 0);
}

static void test_lists_made_anew_are_the_same(void **state)
{
    static const char *const none[] = {NULL};
    struct submission *submission = submit();
    struct job_spec spec;
    char command[] = "work";
    (void)state;
    memcpy(&spec, &submission->row->spec, sizeof(spec));
    assert_true(submission_is_same_spec(submission, &spec));
    spec.command = command;
    spec.env = env;
    spec.limits = limits;
    spec.pre_execs = spec.post_execs = commands;
    spec.controls = none; /* none, in a list of its own */
    assert_true(submission_is_same_spec(submission, &spec));
    submission_leave(submission);
}

static void test_any_difference_counts(void **state)
{
    static const char *const other_env[] = {"A=1", "B=3"};
    static const char *const longer[] = {"A=1", "B=2", "C=3"};
    static const char *const other[] = {"mem=8"};
    struct submission *submission = submit();
    struct job_spec as_it_is;
    (void)state;
    memcpy(&as_it_is, &submission->row->spec, sizeof(as_it_is));
    struct job_spec specs[11];
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        memcpy(&specs[i], &as_it_is, sizeof(as_it_is));
    }
    specs[0].command = "start work";
    specs[1].env = other_env;
    specs[2].env = longer;
    specs[2].n_env = 3;
    specs[3].n_env = 1; /* the same list, shorter */
    specs[4].limits = other;
    specs[5].n_limits = 0;
    specs[6].pre_execs = other;
    specs[7].n_post_execs = 0;
    specs[8].controls = other;
    specs[8].n_controls = 1;
    specs[9].run_limit_ms = 1;
    specs[10].is_exclusive = true;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        if (submission_is_same_spec(submission, &specs[i])) {
            fail_msg("difference %zu is not seen", i);
        }
    }
    submission_leave(submission);
}

/* A run may outlive the last job by a moment: under ASan this reads freed memory
 * otherwise. */
static void test_it_goes_with_the_last_that_has_it(void **state)
{
    struct submission *submission = submit();
    (void)state;
    submission_add_run(submission);
    submission_leave(submission);
    assert_string_equal(submission->row->spec.command, "work");
    submission_remove_run(submission);
    submission = submit();
    submission_add_run(submission);
    submission_remove_run(submission);
    assert_string_equal(submission->row->spec.command, "work");
    submission_leave(submission);
    submission_leave(NULL);
    submission_remove_run(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_the_user),
        cmocka_unit_test(test_lists_made_anew_are_the_same),
        cmocka_unit_test(test_any_difference_counts),
        cmocka_unit_test(test_it_goes_with_the_last_that_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
