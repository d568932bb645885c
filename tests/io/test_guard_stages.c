/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard_stages.c: limits of a run and the commands before and after it, with real
 * processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/guard_trial.h"

static struct msg_run_start job_with(const struct guard_trial *trial,
                                     const char *command, const char *const *limits,
                                     int n_limits)
{
    struct msg_run_start start = guard_trial_job(trial, command);
    start.spec.limits = limits;
    start.spec.n_limits = n_limits;
    start.spec.cwd = trial->fixture.dir;
    return start;
}

/* ---- limits */

#define BURN "while :; do :; done"

/* What a job is that a limit ends, and how that is told. */
static void check_limits(bool in_cgroup)
{
    static const struct {
        const char *why, *command, *limit;
        enum run_cause cause;
        int code; /* 0: any */
    } rows[] = {
        {"CPU time of one process", BURN, "cpu=300", RUN_CAUSE_CPU_LIMIT, SIGXCPU},
        {"CPU time of children together", BURN " & " BURN " & " BURN " & wait",
         "cpu=900", RUN_CAUSE_CPU_LIMIT, SIGXCPU},
        {"SIGXCPU is caught, SIGINT ends it", "trap 'touch xcpu' XCPU; " BURN,
         "cpu=500", RUN_CAUSE_CPU_LIMIT, SIGINT},
        {"memory", "head -c 300000000 /dev/zero | tail -c 200000000 | sleep 60",
         "mem=50000", RUN_CAUSE_MEM_LIMIT, 0},
        /* At once, so that a shell could get the signal before it has a child. */
        {"virtual memory", "exec sleep 60", "swap=10", RUN_CAUSE_SWAP_LIMIT, SIGINT},
        {"processes", "sleep 60 & sleep 60 & sleep 60 & wait", "processes=3",
         RUN_CAUSE_PROCESS_LIMIT, SIGINT},
        {"threads", "sleep 60 & sleep 60 & sleep 60 & wait", "threads=3",
         RUN_CAUSE_THREAD_LIMIT, SIGINT},
    };
    enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };
    void *trials[N_ROWS];
    for (size_t i = 0; i < N_ROWS; i++) { /* all at once */
        (in_cgroup ? guard_trial_begin : guard_trial_begin_without_cgroup)(&trials[i]);
        struct guard_trial *trial = trials[i];
        struct msg_run_start start =
            job_with(trial, rows[i].command, &rows[i].limit, 1);
        guard_trial_start(trial, &start);
        guard_trial_go(trial);
    }
    for (size_t i = 0; i < N_ROWS; i++) {
        struct guard_trial *trial = trials[i];
        guard_trial_receive_until(trial, RUN_ENDED);
        if (trial->record.end != RUN_END_LIMIT ||
            trial->record.cause != rows[i].cause ||
            (rows[i].code != 0 && trial->record.code != 128 + (uint64_t)rows[i].code)) {
            fail_msg("%s: end %d, cause %d, code %d, \"%s\"", rows[i].why,
                     (int)trial->record.end, (int)trial->record.cause,
                     (int)trial->record.code, trial->record.text);
        }
        assert_int_equal(run_fixture_count(&trial->fixture), 0);
        guard_trial_assert_recorded(trial);
        guard_trial_finish(&trials[i]);
    }
}

static void test_limits_in_cgroup(void **state)
{
    guard_trial_need_cgroup(*state);
    check_limits(true);
}

static void test_limits_in_session(void **state)
{
    (void)state;
    check_limits(false);
}

/* Below its limits a job does not notice them; those of processes are the kernel's. */
static void test_imposed(void **state)
{
    static const char *const limits[] = {"cpu=61000",  "mem=100000000", "file=7",
                                         "data=50000", "stack=4096",    "core=0",
                                         "nice=5",     "processes=50",  "threads=50"};
    struct guard_trial *trial = *state;
    struct msg_run_start start =
        job_with(trial, "ulimit -t; ulimit -d; ulimit -s; ulimit -c; nice; ulimit -f",
                 limits, 9);
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    /* dash counts files in blocks of 512 bytes */
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"),
                            "61\n50000\n4096\n0\n5\n14\n");
}

static void test_file_limit(void **state)
{
    static const char *const limits[] = {"file=4"};
    struct guard_trial *trial = *state;
    struct msg_run_start start = job_with(
        trial, "head -c 100000 /dev/zero > big 2>&-; kill -l $?; stat -c %s big",
        limits, 1);
    guard_trial_run_to_end(trial, &start);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "XFSZ\n4096\n");
}

/* ---- before and after */

/* What is executed leaves a word in a file; each row is one course of commands. */
static void test_course(void **state)
{
    static const struct {
        const char *why;
        const char *before[2], *command, *after[2];
        const char *trace;
        enum run_end end;
        enum run_cause cause;
        int code;
        const char *text;
    } rows[] = {
        {"all in turn",
         {"echo a >> $D/t", "echo b >> $D/t"},
         "echo c >> t",
         {"echo d >> $D/t", "echo e >> $D/t"},
         "a\nb\nc\nd\ne\n",
         RUN_END_EXITED,
         RUN_CAUSE_NONE,
         0,
         ""},
        {"the job's exit counts, not that of what comes after",
         {NULL},
         "exit 3",
         {"echo $LSB_JOBEXIT_STAT $LSB_JOBPEND >> $D/t; exit 9", "echo on >> $D/t"},
         "768\non\n",
         RUN_END_EXITED,
         RUN_CAUSE_NONE,
         3,
         ""},
        {"a job that was ended by a signal is told as wait(2) has it",
         {NULL},
         "kill -9 $$",
         {"echo $LSB_JOBEXIT_STAT >> $D/t"},
         "9\n",
         RUN_END_SIGNALLED,
         RUN_CAUSE_NONE,
         SIGKILL,
         ""},
        {"what fails before leaves the job unbegun, and the rest before it",
         {"exit 4", "echo b >> $D/t"},
         "echo c >> t",
         {"echo $LSB_JOBEXIT_STAT $LSB_JOBPEND >> $D/t"},
         "0 1\n",
         RUN_END_FAILED,
         RUN_CAUSE_PRE_EXEC,
         4,
         "\"exit 4\" exited with code 4"},
        {"also what is not there",
         {"/no/such/program"},
         "echo c >> t",
         {NULL},
         "",
         RUN_END_FAILED,
         RUN_CAUSE_PRE_EXEC,
         127,
         "\"/no/such/program\" exited with code 127"},
        {"a job that cannot be begun is cleaned up after",
         {"echo a >> $D/t"},
         "",
         {"echo d $LSB_JOBEXIT_STAT >> $D/t"},
         "a\nd 0\n",
         RUN_END_FAILED,
         RUN_CAUSE_NONE,
         127,
         "cannot read"},
        {"where it stands, and with what",
         {"pwd >> $D/t; echo $PATH $LSB_JOBID >> $D/t; cat; echo lost"},
         "true",
         {NULL},
         "/tmp\n/bin:/usr/bin:/sbin:/usr/sbin 12\n",
         RUN_END_EXITED,
         RUN_CAUSE_NONE,
         0,
         ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *own = NULL;
        char variable[RUN_FIXTURE_PATH + 2];
        guard_trial_begin(&own);
        struct guard_trial *trial = own;
        snprintf(variable, sizeof(variable), "D=%s", trial->fixture.dir);
        trial->fixture.env[trial->fixture.n_env++] = variable;
        struct msg_run_start start = job_with(trial, rows[i].command, NULL, 0);
        start.spec.pre_execs = rows[i].before;
        start.spec.post_execs = rows[i].after;
        for (int k = 0; k < 2; k++) {
            start.spec.n_pre_execs += rows[i].before[k] != NULL;
            start.spec.n_post_execs += rows[i].after[k] != NULL;
        }
        if (rows[i].command[0] == '\0') {
            start.spec.command = "true";
            start.spec.in_file = "/no/in";
        }
        guard_trial_run_to_end(trial, &start);
        char *trace = run_fixture_read(run_fixture_path(&trial->fixture, "t"));
        if (trial->record.end != rows[i].end || trial->record.cause != rows[i].cause ||
            (int)trial->record.code != rows[i].code ||
            strstr(trial->record.text, rows[i].text) == NULL ||
            strcmp(trace, rows[i].trace) != 0) {
            fail_msg("%s: end %d, cause %d, code %d, \"%s\", trace \"%s\"", rows[i].why,
                     (int)trial->record.end, (int)trial->record.cause,
                     (int)trial->record.code, trial->record.text, trace);
        }
        free(trace);
        guard_trial_assert_recorded(trial);
        guard_trial_finish(&own);
    }
}

static bool has_begun(const struct guard_trial *trial, const char *name)
{
    return run_fixture_exists(run_fixture_path(&trial->fixture, "%s", name));
}

/* The file is there before the shell has written to it. */
static bool has_written(const struct guard_trial *trial, const char *name)
{
    struct stat file;
    return stat(run_fixture_path(&trial->fixture, "%s", name), &file) == 0 &&
           file.st_size > 0;
}

static void start_with(struct guard_trial *trial, const char *before,
                       const char *command, const char *after,
                       const char *const *limits, int n_limits)
{
    static const char *pre[1], *post[1];
    char variable[RUN_FIXTURE_PATH + 2];
    snprintf(variable, sizeof(variable), "D=%s", trial->fixture.dir);
    trial->fixture.env[trial->fixture.n_env++] = variable;
    struct msg_run_start start = job_with(trial, command, limits, n_limits);
    pre[0] = before;
    post[0] = after;
    start.spec.pre_execs = pre;
    start.spec.n_pre_execs = before != NULL;
    start.spec.post_execs = post;
    start.spec.n_post_execs = after != NULL;
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    trial->fixture.n_env--;
}

static void test_killed_before_the_job(void **state)
{
    struct guard_trial *trial = *state;
    start_with(trial, "trap 'exit 0' INT; touch $D/begun; sleep 60 & wait", "touch ran",
               "touch $D/after", NULL, 0);
    assert_true(run_fixture_wait(has_begun(trial, "begun")));
    guard_trial_control(trial, 1, CONTROL_KILL, 0);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_SIGNALLED);
    assert_int_equal(trial->record.cause, RUN_CAUSE_NONE);
    assert_string_equal(trial->record.text, "killed before it started");
    assert_false(has_begun(trial, "ran"));
    assert_true(has_begun(trial, "after"));
}

/* The job is over; an order ends what cleans up, and does not change how it ended. */
static void test_killed_after_the_job(void **state)
{
    struct guard_trial *trial = *state;
    start_with(trial, NULL, "sleep 1001 & exit 5",
               "touch $D/after; sleep 60; touch $D/slept", NULL, 0);
    assert_true(run_fixture_wait(has_begun(trial, "after")));
    assert_int_equal(run_fixture_find(&trial->fixture, "sleep 1001"), 0);
    guard_trial_control(trial, 1, CONTROL_KILL, 0);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    assert_int_equal(trial->record.code, 5);
    assert_false(has_begun(trial, "slept"));
}

static void test_late_before_the_job(void **state)
{
    static const char *const limits[] = {"pre_time=200"};
    struct guard_trial *trial = *state;
    start_with(trial, "sleep 60", "touch ran", NULL, limits, 1);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_FAILED);
    assert_int_equal(trial->record.cause, RUN_CAUSE_PRE_EXEC);
    assert_non_null(strstr(trial->record.text, "JOB_PREPROC_TIMEOUT"));
    assert_false(has_begun(trial, "ran"));
}

static void test_late_after_the_job(void **state)
{
    static const char *const limits[] = {"post_time=200"};
    struct guard_trial *trial = *state;
    start_with(trial, NULL, "true", "sleep 60", limits, 1);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    assert_int_equal(trial->record.code, 0);
}

/* The run limit is the job's: a command before it may take longer. */
static void test_run_limit_is_the_jobs(void **state)
{
    struct guard_trial *trial = *state;
    static const char *const before[] = {"sleep 0.5"};
    struct msg_run_start start = job_with(trial, "sleep 60", NULL, 0);
    start.spec.run_limit_ms = 400;
    start.spec.pre_execs = before;
    start.spec.n_pre_execs = 1;
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_LIMIT);
    assert_int_equal(trial->record.cause, RUN_CAUSE_RUN_LIMIT);
    assert_true(trial->record.end_ms - trial->record.start_ms >= 850);
}

/* ---- others need its slots at a time */

static struct msg_run_start job_until(const struct guard_trial *trial,
                                      const char *const *before, int64_t end_within_ms)
{
    struct msg_run_start start = job_with(trial, "touch ran; sleep 60", NULL, 0);
    start.spec.run_limit_ms = 3600000;
    start.spec.pre_execs = before;
    start.spec.n_pre_execs = before != NULL;
    start.end_within_ms = end_within_ms;
    return start;
}

static bool has_run(const struct guard_trial *trial)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/ran", trial->fixture.dir);
    return access(path, F_OK) == 0;
}

/* From the guard's begin, so a command before the job takes of that time. */
static void test_ends_in_time(void **state)
{
    static const char *const before[] = {"true"};
    struct guard_trial *trial = *state;
    struct msg_run_start start = job_until(trial, before, 1500);
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_LIMIT);
    assert_int_equal(trial->record.cause, RUN_CAUSE_RUN_LIMIT);
    assert_true(has_run(trial));
}

static void test_command_before_takes_it_all(void **state)
{
    static const char *const before[] = {"sleep 60"};
    struct guard_trial *trial = *state;
    struct msg_run_start start = job_until(trial, before, 200);
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_FAILED);
    assert_int_equal(trial->record.cause, RUN_CAUSE_PRE_EXEC);
    assert_false(has_run(trial));
}

/* The go is late. */
static void test_never_begins(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = job_until(trial, NULL, 1);
    guard_trial_start(trial, &start);
    guard_trial_receive_until(trial, RUN_WAITING);
    usleep(5000); /* that time is over */
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_GO,
                                                   .token = trial->record.token});
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_FAILED);
    assert_int_equal(trial->record.cause, RUN_CAUSE_PRE_EXEC);
    assert_string_equal(trial->record.text,
                        "it could not start before another job needs its slots");
    assert_false(has_run(trial));
}

/* ---- the guard is killed */

static void kill_guard(struct guard_trial *trial)
{
    kill((pid_t)trial->record.guard_pid, SIGKILL);
    guard_trial_receive_nothing(trial);
    guard_trial_spawn(trial, "--bury");
}

/* While the job runs: it is lost, and the commands after it run once. */
static void test_reaping_cleans_up(void **state)
{
    struct guard_trial *trial = *state;
    start_with(trial, NULL, "touch began; sleep 1002",
               "echo $LSB_JOBEXIT_STAT >> $D/after", NULL, 0);
    assert_true(run_fixture_wait(has_begun(trial, "began")));
    kill_guard(trial);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LOST);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    guard_trial_assert_text(run_fixture_path(&trial->fixture, "after"), "0\n");
}

/* While they run: the job's end stays as it was, and nothing runs again. */
static void test_reaping_runs_nothing_twice(void **state)
{
    struct guard_trial *trial = *state;
    start_with(trial, NULL, "exit 6", "echo once >> $D/after; sleep 1003", NULL, 0);
    assert_true(run_fixture_wait(has_written(trial, "after")));
    kill_guard(trial);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    assert_int_equal(trial->record.code, 6);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    guard_trial_assert_text(run_fixture_path(&trial->fixture, "after"), "once\n");
}

/* The reaping's own commands, and it is killed too. */
static void test_reaping_is_killed_too(void **state)
{
    struct guard_trial *trial = *state;
    start_with(trial, NULL, "touch began; sleep 1002",
               "echo once >> $D/after; sleep 1003", NULL, 0);
    assert_true(run_fixture_wait(has_begun(trial, "began")));
    kill_guard(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(has_written(trial, "after")));
    kill_guard(trial);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LOST);
    guard_trial_assert_text(run_fixture_path(&trial->fixture, "after"), "once\n");
}

#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin, guard_trial_finish)
#define TRIAL_WITHOUT(name)                                                            \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin_without_cgroup,            \
                                    guard_trial_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(test_limits_in_cgroup),
        TRIAL_WITHOUT(test_limits_in_session),
        TRIAL(test_imposed),
        TRIAL(test_file_limit),
        TRIAL(test_course),
        TRIAL(test_killed_before_the_job),
        TRIAL(test_killed_after_the_job),
        TRIAL(test_late_before_the_job),
        TRIAL(test_late_after_the_job),
        TRIAL(test_run_limit_is_the_jobs),
        TRIAL(test_ends_in_time),
        TRIAL(test_command_before_takes_it_all),
        TRIAL(test_never_begins),
        TRIAL(test_reaping_cleans_up),
        TRIAL_WITHOUT(test_reaping_cleans_up),
        TRIAL(test_reaping_runs_nothing_twice),
        TRIAL_WITHOUT(test_reaping_runs_nothing_twice),
        TRIAL(test_reaping_is_killed_too),
    };
    if (!guard_trial_find_program()) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
