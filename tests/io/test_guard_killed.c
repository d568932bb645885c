/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard_killed.c: a guard that is killed: what ran under it is buried by another,
 * once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/run_dir/run_dir.h"
#include "tests/io/guard_trial.h"

static void check_reaping(struct guard_trial *trial)
{
    guard_trial_start_family(trial);
    kill((pid_t)trial->record.guard_pid, SIGKILL);
    guard_trial_receive_nothing(trial);
    assert_int_equal(run_fixture_count(&trial->fixture), RUN_FIXTURE_FAMILY);
    guard_trial_spawn(trial, "--bury");
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LOST);
    assert_true(trial->record.start_ms > 0);
    assert_string_equal(trial->record.text, "its guard died without an exit record");
    guard_trial_assert_recorded(trial);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    guard_trial_receive_nothing(trial);
    guard_trial_spawn(trial, "--bury"); /* again: as it is */
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LOST);
}

static void test_reaping_in_cgroup(void **state)
{
    guard_trial_need_cgroup(*state);
    check_reaping(*state);
}

static void test_reaping_in_session(void **state)
{
    check_reaping(*state);
}

static void test_live_run_is_not_reaped(void **state)
{
    struct guard_trial *trial = *state;
    guard_trial_start_family(trial);
    int guard = trial->link;
    trial->link = -1;
    guard_trial_spawn(trial, "--bury");
    assert_false(guard_trial_receive(trial));
    close(trial->link);
    trial->link = guard;
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_STATUS});
    assert_true(guard_trial_receive(trial));
    assert_int_equal(trial->record.phase, RUN_RUNNING);
}

/* A record of an earlier boot: its numbers mean other processes now. */
static void test_reaping_of_an_earlier_boot(void **state)
{
    struct guard_trial *trial = *state;
    pid_t bystander = fork();
    if (bystander == 0) {
        setsid();
        pause();
        _exit(0);
    }
    struct guard_record record = {.phase = RUN_RUNNING,
                                  .boot_id = "00000000-0000-0000-0000-000000000000",
                                  .job_pid = (uint64_t)bystander,
                                  .start_ms = 1000,
                                  .mark = 1};
    struct err err;
    assert_int_equal(mkdir(guard_trial_path(trial, ""), 0711), 0);
    int dir = open(guard_trial_path(trial, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(record_file_write(dir, &record, &err), 0);
    close(dir);
    guard_trial_spawn(trial, "--bury");
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LOST);
    assert_int_equal(trial->record.start_ms, 1000);
    assert_int_equal(waitpid(bystander, NULL, WNOHANG), 0); /* it lives */
    kill(bystander, SIGKILL);
    waitpid(bystander, NULL, 0);
}

#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin, guard_trial_finish)
#define TRIAL_WITHOUT(name)                                                            \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin_without_cgroup,            \
                                    guard_trial_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(test_reaping_in_cgroup),
        TRIAL_WITHOUT(test_reaping_in_session),
        TRIAL(test_live_run_is_not_reaped),
        TRIAL(test_reaping_of_an_earlier_boot),
    };
    if (!guard_trial_find_program()) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
