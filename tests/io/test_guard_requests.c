/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard_requests.c: orders to a guard and its run, and limits of its time, with
 * real processes: suspension, termination, and what is left.
 *
 * What holds with and without a cgroup is tried both ways; without writable cgroups
 * that half is left out, and said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/agent/guard_client.h"
#include "tests/io/guard_trial.h"

static bool has_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

static void check_suspend(struct guard_trial *trial)
{
    guard_trial_start_family(trial);
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    guard_trial_receive_until(trial, RUN_SUSPENDED);
    assert_int_equal(trial->record.control_done, 1);
    guard_trial_assert_recorded(trial);
    assert_int_equal(run_fixture_count_still(&trial->fixture), RUN_FIXTURE_FAMILY);
    guard_trial_control(trial, 2, CONTROL_RESUME, 0);
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_count_still(&trial->fixture) == 0));
    /* Suspended again, and killed: it is let hear the signals. */
    guard_trial_control(trial, 3, CONTROL_SUSPEND, 0);
    guard_trial_receive_until(trial, RUN_SUSPENDED);
    guard_trial_control(trial, 4, CONTROL_KILL, 0);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_SIGNALLED);
    assert_int_equal(trial->record.code, SIGINT);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_suspend_in_cgroup(void **state)
{
    struct guard_trial *trial = *state;
    guard_trial_need_cgroup(trial);
    check_suspend(trial);
    assert_true(trial->record.control_done == 4);
}

static void test_suspend_in_session(void **state)
{
    check_suspend(*state);
}

/* Of a job whose slots are others' nothing runs again, not even to end. */
static void test_killed_where_it_stands(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial, "trap 'echo woken' INT TERM; sleep 1007 & while :; do wait; done");
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_find(&trial->fixture, "sleep 1007") > 0));
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    guard_trial_receive_until(trial, RUN_SUSPENDED);
    guard_trial_control(trial, 2, CONTROL_KILL, SIGKILL);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_SIGNALLED);
    assert_int_equal(trial->record.code, SIGKILL);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "");
}

/* A parallel job gets SIGTSTP first, and is stopped completely a moment later. */
static void test_parallel_is_asked_first(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial, "trap 'echo asked' TSTP; sleep 1008 & while :; do wait; done; exit");
    start.spec.n_slots = 2;
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_find(&trial->fixture, "sleep 1008") > 0));
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    guard_trial_receive_until(trial, RUN_SUSPENDED);
    assert_int_equal(trial->record.control_done, 1);
    assert_int_equal(run_fixture_count_still(&trial->fixture),
                     run_fixture_count(&trial->fixture));
    guard_trial_control(trial, 2, CONTROL_RESUME, 0);
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_count_still(&trial->fixture) == 0));
    /* On a busy machine it finds the time to say so only now. */
    assert_true(run_fixture_wait(has_bytes(guard_trial_path(trial, "/stdout"))));
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "asked\n");
    /* Told to go on while it is only asked: it never counts as suspended. */
    guard_trial_control(trial, 3, CONTROL_SUSPEND, 0);
    guard_trial_control(trial, 4, CONTROL_RESUME, 0);
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_int_equal(trial->record.control_done, 4);
    assert_true(run_fixture_wait(run_fixture_count_still(&trial->fixture) == 0));
    guard_trial_control(trial, 5, CONTROL_KILL, 0);
    guard_trial_receive_until(trial, RUN_ENDED);
}

static void test_leaves_no_cgroup(void **state)
{
    struct guard_trial *trial = *state;
    guard_trial_need_cgroup(trial);
    guard_trial_start_family(trial);
    char path[GUARD_RECORD_PATH_SIZE];
    snprintf(path, sizeof(path), "%s", trial->record.cgroup);
    assert_true(run_fixture_exists(path));
    guard_trial_control(trial, 1, CONTROL_KILL, 0);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_false(run_fixture_exists(path));
}

static void check_left_behind(struct guard_trial *trial)
{
    struct msg_run_start start = guard_trial_job(
        trial, "setsid sleep 1001 & (setsid sh -c 'trap \"\" TERM HUP; sleep 1002 & "
               "sleep 1004' &) ; nohup sleep 1003 >/dev/null 2>&1 & exit 5");
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    assert_int_equal(trial->record.code, 5);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_left_behind_in_cgroup(void **state)
{
    guard_trial_need_cgroup(*state);
    check_left_behind(*state);
}

static void test_left_behind_in_session(void **state)
{
    check_left_behind(*state);
}

static void check_grace(struct guard_trial *trial)
{
    struct msg_run_start start = guard_trial_job(
        trial,
        "trap 'echo int' INT; trap 'echo term' TERM; touch set; while :; do sleep "
        "0.05; done");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_true(
        run_fixture_wait(run_fixture_exists(run_fixture_path(&trial->fixture, "set"))));
    long long before = run_fixture_clock_ms();
    guard_trial_control(trial, 1, CONTROL_KILL, 0);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_true(run_fixture_clock_ms() - before >= 2 * GUARD_TRIAL_GRACE_MS);
    assert_int_equal(trial->record.end, RUN_END_SIGNALLED);
    assert_int_equal(trial->record.code, SIGKILL);
    char *text = run_fixture_read(guard_trial_path(trial, "/stdout"));
    assert_non_null(strstr(text, "int\n"));
    assert_non_null(strstr(strstr(text, "int\n"), "term\n"));
    free(text);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_grace_in_cgroup(void **state)
{
    guard_trial_need_cgroup(*state);
    check_grace(*state);
}

static void test_grace_in_session(void **state)
{
    check_grace(*state);
}

static void test_signal_once(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial, "trap 'echo usr1' USR1; : >set; until [ -e done ]; do :; done");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_true(
        run_fixture_wait(run_fixture_exists(run_fixture_path(&trial->fixture, "set"))));
    guard_trial_control(trial, 5, CONTROL_SIGNAL, SIGUSR1);
    assert_true(guard_trial_receive(trial));
    assert_int_equal(trial->record.control_done, 5);
    assert_true(run_fixture_wait(has_bytes(guard_trial_path(trial, "/stdout"))));
    guard_trial_control(trial, 5, CONTROL_SIGNAL, SIGUSR1); /* repeated */
    assert_true(guard_trial_receive(trial));
    guard_trial_control(trial, 4, CONTROL_KILL, 0); /* late */
    assert_true(guard_trial_receive(trial));
    guard_trial_control(trial, 6, (enum control_action)77, 0); /* unknown */
    assert_true(guard_trial_receive(trial));
    guard_trial_control(trial, 6, CONTROL_SIGNAL, 4711);
    assert_true(guard_trial_receive(trial));
    assert_int_equal(trial->record.control_done, 5);
    close(open(run_fixture_path(&trial->fixture, "done"), O_CREAT | O_WRONLY, 0600));
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "usr1\n");
}

static void test_orders_before_the_go(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "sleep 1006");
    guard_trial_start(trial, &start);
    guard_trial_receive_until(trial, RUN_WAITING);
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    assert_true(guard_trial_receive(trial));
    assert_int_equal(trial->record.control_done, 0); /* kept, not done */
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_GO,
                                                   .token = trial->record.token});
    guard_trial_receive_until(trial, RUN_SUSPENDED);
    assert_int_equal(trial->record.control_done, 1);
    guard_trial_control(trial, 2, CONTROL_KILL, 0);
    guard_trial_receive_until(trial, RUN_ENDED);
}

static void test_kill_before_the_go(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "touch ran");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_receive_until(trial, RUN_WAITING);
    uint64_t token = trial->record.token;
    guard_trial_control(trial, 1, CONTROL_KILL, 0);
    guard_client_send(
        trial->link, &(struct guard_request){.kind = GUARD_REQUEST_GO, .token = token});
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_SIGNALLED);
    assert_int_equal(trial->record.start_ms, 0);
    guard_trial_receive_nothing(trial);
    assert_false(run_fixture_exists(run_fixture_path(&trial->fixture, "ran")));
}

/* The limit counts time in RUN only. */
static void test_run_limit(void **state)
{
    enum { LIMIT_MS = 2000 };
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "sleep 1007");
    start.spec.run_limit_ms = LIMIT_MS;
    start.spec.n_slots = 1; /* stopped at once */
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    guard_trial_receive_until(trial, RUN_SUSPENDED);
    /* That nothing happens can only be waited for. */
    usleep(LIMIT_MS * 1000);
    guard_trial_control(trial, 2, CONTROL_RESUME, 0);
    guard_trial_receive_until(trial, RUN_RUNNING);
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LIMIT);
    assert_int_equal(trial->record.code, 128 + SIGINT);
    assert_true(trial->record.end_ms - trial->record.start_ms >= 2 * LIMIT_MS - 50);
    guard_trial_assert_recorded(trial);
}

/* Who hears of a limit may end as it likes: that is its exit code, and no signal. */
static void test_run_limit_heard(void **state)
{
    struct guard_trial *trial = *state;
    trial->setting.grace_ms = RUN_FIXTURE_PATIENCE_MS;
    struct msg_run_start start =
        guard_trial_job(trial, "trap 'exit 3' INT; while :; do sleep 0.05; done");
    start.spec.run_limit_ms = 2000; /* by then it listens */
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_LIMIT);
    assert_int_equal(trial->record.code, 3);
}

#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin, guard_trial_finish)
#define TRIAL_WITHOUT(name)                                                            \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin_without_cgroup,            \
                                    guard_trial_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(test_killed_where_it_stands),
        TRIAL_WITHOUT(test_killed_where_it_stands),
        TRIAL(test_parallel_is_asked_first),
        TRIAL_WITHOUT(test_parallel_is_asked_first),
        TRIAL(test_suspend_in_cgroup),
        TRIAL_WITHOUT(test_suspend_in_session),
        TRIAL(test_leaves_no_cgroup),
        TRIAL(test_left_behind_in_cgroup),
        TRIAL_WITHOUT(test_left_behind_in_session),
        TRIAL(test_grace_in_cgroup),
        TRIAL_WITHOUT(test_grace_in_session),
        TRIAL(test_signal_once),
        TRIAL(test_orders_before_the_go),
        TRIAL(test_kill_before_the_go),
        TRIAL(test_run_limit),
        TRIAL(test_run_limit_heard),
    };
    if (!guard_trial_find_program()) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
