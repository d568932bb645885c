/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard_memory.c: a run's memory where the kernel keeps it, by the controller of
 * either version: a job beyond its limit is ended for that and no other is, its peak
 * is told, and no cgroup is left. `make vm` runs this with version 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/guard/launch.h"
#include "tests/io/guard_trial.h"

enum { LIMIT_KIB = 50000, PEAK_LEAST_KIB = 45000, PEAK_MOST_KIB = 60000 };

/* tail keeps what it is to show: 200 MB. Nobody else of the job grows. */
#define GROW "head -c 300000000 /dev/zero | tail -c 200000000"

static const char *const limit[] = {"mem=50000"};

static struct msg_run_start limited(const struct guard_trial *trial,
                                    const char *command)
{
    struct msg_run_start start = guard_trial_job(trial, command);
    start.spec.limits = limit;
    start.spec.n_limits = 1;
    return start;
}

/* Where the memory of the run is counted. */
static const char *counted_in(const struct guard_trial *trial)
{
    return trial->record.memory[0] != '\0' ? trial->record.memory
                                           : trial->record.cgroup;
}

static void assert_at_limit(const struct guard_trial *trial, const char *why)
{
    if (trial->record.end != RUN_END_LIMIT ||
        trial->record.cause != RUN_CAUSE_MEM_LIMIT) {
        fail_msg("%s: end %d, cause %d, code %d, \"%s\"", why, (int)trial->record.end,
                 (int)trial->record.cause, (int)trial->record.code, trial->record.text);
    }
    assert_in_range(trial->record.mem_kib, PEAK_LEAST_KIB, PEAK_MOST_KIB);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    guard_trial_assert_recorded(trial);
}

/* Whoever of the job it is that grows. */
static void test_ended_at_limit(void **state)
{
    static const struct {
        const char *why, *command;
    } rows[] = {
        {"a child, and the job would go on", GROW " >/dev/null; sleep 60"},
        {"its own process", "exec dd if=/dev/zero of=/dev/null bs=200M count=1"},
        {"one that has left its session", "setsid sh -c '" GROW " | sleep 60' & wait"},
        {"one whose job ends at once for that", GROW " >/dev/null; exit 3"},
    };
    guard_trial_need_memory(*state);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *own = NULL;
        guard_trial_begin(&own);
        struct guard_trial *trial = own;
        struct msg_run_start start = limited(trial, rows[i].command);
        guard_trial_run_to_end(trial, &start);
        assert_at_limit(trial, rows[i].why);
        guard_trial_finish(&own);
    }
}

static void test_others_live_on(void **state)
{
    struct guard_trial *trial = *state;
    void *other = NULL;
    guard_trial_need_memory(trial);
    guard_trial_begin(&other);
    struct guard_trial *neighbour = other;
    struct msg_run_start start = limited(neighbour, "sleep 60 & sleep 60");
    guard_trial_start(neighbour, &start);
    guard_trial_go(neighbour);
    guard_trial_receive_until(neighbour, RUN_RUNNING);
    start = limited(trial, GROW " | sleep 60");
    guard_trial_run_to_end(trial, &start);
    assert_at_limit(trial, "beside another");
    assert_true(run_fixture_wait(run_fixture_count(&neighbour->fixture) == 3));
    guard_trial_control(neighbour, 1, CONTROL_KILL, SIGTERM);
    guard_trial_receive_until(neighbour, RUN_ENDED);
    assert_int_equal(neighbour->record.end, RUN_END_SIGNALLED);
    guard_trial_finish(&other);
}

/* Files that it reads and writes fill its memory too, but make room for others. */
static void test_files_do_no_harm(void **state)
{
    struct guard_trial *trial = *state;
    struct statfs disk;
    guard_trial_need_memory(trial);
    assert_int_equal(statfs(trial->fixture.dir, &disk), 0);
    if (disk.f_type == TMPFS_MAGIC || disk.f_type == RAMFS_MAGIC) {
        print_message("files are memory in %s: left out\n", trial->fixture.dir);
        skip();
    }
    struct msg_run_start start = limited(
        trial, "head -c 150000000 /dev/zero > big && cat big > /dev/null && rm big");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    assert_int_equal(trial->record.code, 0);
}

/* The processes of a job together, without any limit. */
static void test_peak(void **state)
{
    struct guard_trial *trial = *state;
    guard_trial_need_memory(trial);
    struct msg_run_start start = guard_trial_job(
        trial, "for i in 1 2 3; do head -c 20000000 /dev/zero | tail -c 20000000 | "
               "(head -c 1; touch $i; until [ -e 1 ] && [ -e 2 ] && [ -e 3 ]; "
               "do sleep 0.05; done; cat) > /dev/null & done; wait");
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    assert_in_range(trial->record.mem_kib, 55000, 90000);
}

/* The commands around a job have cgroups of their own, one after the other; none is
 * left. */
static void test_leaves_nothing(void **state)
{
    static const char *const around[] = {"true"};
    struct guard_trial *trial = *state;
    char path[GUARD_RECORD_PATH_SIZE];
    guard_trial_need_memory(trial);
    struct msg_run_start start = limited(trial, "until [ -e on ]; do sleep 0.02; done");
    start.spec.cwd = trial->fixture.dir;
    start.spec.pre_execs = start.spec.post_execs = around;
    start.spec.n_pre_execs = start.spec.n_post_execs = 1;
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    snprintf(path, sizeof(path), "%s", counted_in(trial));
    assert_true(run_fixture_exists(path));
    close(open(run_fixture_path(&trial->fixture, "on"), O_CREAT | O_WRONLY, 0600));
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    assert_string_equal(trial->record.memory, "");
    assert_false(run_fixture_exists(path));
}

static void test_reaping_leaves_nothing(void **state)
{
    struct guard_trial *trial = *state;
    char path[GUARD_RECORD_PATH_SIZE];
    guard_trial_need_memory(trial);
    struct msg_run_start start = limited(trial, "sleep 60 & sleep 60");
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    snprintf(path, sizeof(path), "%s", counted_in(trial));
    assert_true(run_fixture_exists(path));
    kill((pid_t)trial->record.guard_pid, SIGKILL);
    guard_trial_receive_nothing(trial);
    guard_trial_spawn(trial, "--bury");
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LOST);
    assert_false(run_fixture_exists(path));
}

/* A job that would not be counted does not begin. `tasks` is a directory here, so that
 * no process can write its number to it. */
static void test_a_job_that_cannot_enter_does_not_begin(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "");
    struct launch_command command = {.text = "touch begun", .is_job = true};
    struct account own = {0};
    struct cgroup none = {.dir = -1};
    struct memcg memcg;
    struct launched launched;
    struct run_spec spec;
    const char *env[2] = {NULL, NULL};
    char why[512];
    struct err err;
    int status;
    start.spec.cwd = trial->fixture.dir;
    assert_int_equal(run_spec_from_start(&spec, &start, &err), 0);
    command.env = env;
    assert_int_equal(mkdir(run_fixture_path(&trial->fixture, "tasks"), 0700), 0);
    int dir = open(trial->fixture.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    memcg = (struct memcg){.dir = dir, .path = trial->fixture.dir};
    assert_int_equal(
        launch_fork(&launched, dir, &spec, &command, &own, &none, &memcg, &err), 0);
    launch_release(&launched);
    assert_int_equal(waitpid(launched.pid, &status, 0), launched.pid);
    assert_true(launch_has_failed(&launched, why, sizeof(why)));
    assert_non_null(strstr(why, "cannot enter the cgroup of its memory"));
    assert_false(run_fixture_exists(run_fixture_path(&trial->fixture, "begun")));
    close(dir);
}

int main(void)
{
    if (!guard_trial_find_program()) {
        return 1;
    }
#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin, guard_trial_finish)
    const struct CMUnitTest tests[] = {
        TRIAL(test_ended_at_limit),
        TRIAL(test_others_live_on),
        TRIAL(test_files_do_no_harm),
        TRIAL(test_peak),
        TRIAL(test_leaves_nothing),
        TRIAL(test_reaping_leaves_nothing),
        TRIAL(test_a_job_that_cannot_enter_does_not_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
