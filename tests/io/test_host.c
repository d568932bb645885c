/* SPDX-License-Identifier: Apache-2.0 */
/* test_host.c: sublet-host with real guards and jobs, and a site that is not real: the
 * life of a run, what is told of it, what is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/io/host_trial.h"

/* ---- a life */

static void test_hello(void **state)
{
    struct host_trial *trial = *state;
    char *boot_id = run_fixture_read("/proc/sys/kernel/random/boot_id");
    boot_id[strcspn(boot_id, "\n")] = '\0';
    assert_string_equal(trial->site.name, "n1");
    assert_string_equal(trial->site.boot_id, boot_id);
    assert_in_range(trial->site.n_cpus, 1, 100000);
    assert_int_equal(trial->site.n_runs, 0);
    free(boot_id);
    char *log = run_fixture_read(host_trial_path(trial, "log"));
    assert_true(strncmp(log, "ready\n", 6) == 0 || strstr(log, "\nready\n") != NULL);
    free(log);
}

static void test_run_to_end(void **state)
{
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, "echo out; echo err >&2; exit 7");
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    const struct run_exit *exit = host_trial_exit(trial, 1);
    assert_int_equal(exit->end, RUN_END_EXITED);
    assert_int_equal(exit->code, 7);
    assert_int_equal(exit->out_bytes, 8);
    assert_true(exit->start_ms > 0 && exit->end_ms >= exit->start_ms);

    fake_site_ask(&trial->site, 1, OUTPUT_OUT, 0, OUTPUT_CHUNK_MAX);
    assert_true(fake_site_wait(&trial->site, trial->site.n_outputs == 1));
    assert_string_equal(trial->site.bytes, "out\nerr\n");
    assert_true(trial->site.output.is_end);
    assert_false(trial->site.output.is_gone);
    assert_int_equal(trial->site.output.request, 7);
    fake_site_ask(&trial->site, 1, OUTPUT_OUT, 2, 3);
    assert_true(fake_site_wait(&trial->site, trial->site.n_outputs == 2));
    assert_string_equal(trial->site.bytes, "t\ne");
    assert_false(trial->site.output.is_end);
    fake_site_ask(&trial->site, 1, OUTPUT_ERR, 0, 10); /* not kept apart */
    assert_true(fake_site_wait(&trial->site, trial->site.n_outputs == 3));
    assert_true(trial->site.output.is_gone);

    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !host_trial_has_run(trial, 1)));
    fake_site_go(&trial->site, 1, 1);
    host_trial_wait_phase(trial, 1, RUN_UNKNOWN);
}

static bool is_empty(const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, NULL);
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    return count == 2; /* "." and ".." */
}

/* What the job left in its work directory goes too. */
static void test_forget_what_was_left(void **state)
{
    struct host_trial *trial = *state;
    struct msg_run_start start = run_fixture_start(
        &trial->fixture, 1, "mkdir -p a/b/c; echo x >a/b/x; echo y >y; pwd");
    fake_site_start(&trial->site, &start);
    host_trial_wait_phase(trial, 1, RUN_WAITING);
    fake_site_go(&trial->site, 1, fake_site_run(&trial->site, 1)->state.token);
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    assert_true(
        run_fixture_exists(host_trial_path(trial, "spool/runs/north.1/work/a/b/x")));
    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !host_trial_has_run(trial, 1)));
    assert_true(run_fixture_wait(is_empty(host_trial_path(trial, "spool/trash"))));
}

/* ---- without a go */

static void test_no_go(void **state)
{
    struct host_trial *trial = *state;
    host_trial_start_run(trial, 1, "touch ran");
    host_trial_wait_phase(trial, 1, RUN_WAITING);
    uint64_t token = fake_site_run(&trial->site, 1)->state.token;
    int n_states = fake_site_run(&trial->site, 1)->n_states;
    fake_site_go(&trial->site, 1, token ^ 4); /* not its own */
    assert_true(fake_site_wait(&trial->site,
                               fake_site_run(&trial->site, 1)->n_states > n_states));
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_WAITING);
    /* Its host is killed: it waits on, and can be given the go later. */
    host_trial_end_host(trial, SIGKILL);
    host_trial_start_host(trial);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_WAITING);
    assert_true(fake_site_run(&trial->site, 1)->state.token == token);
    /* Given up: the guard ends, the directory goes. */
    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !host_trial_has_run(trial, 1)));
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    assert_false(run_fixture_exists(host_trial_path(trial, "ran")));
}

static void test_waiting_guard_killed(void **state)
{
    struct host_trial *trial = *state;
    host_trial_start_run(trial, 1, "touch ran");
    host_trial_start_run(trial, 2, "touch ran");
    host_trial_wait_phase(trial, 1, RUN_WAITING);
    host_trial_wait_phase(trial, 2, RUN_WAITING);
    kill(host_trial_guard(trial, 1), SIGKILL);
    host_trial_wait_phase(trial, 1, RUN_UNKNOWN);
    assert_false(host_trial_has_run(trial, 1));
    /* And while no agent is there: it is not listed. */
    host_trial_end_host(trial, SIGKILL);
    kill(host_trial_guard(trial, 2), SIGKILL);
    host_trial_start_host(trial);
    assert_int_equal(fake_site_run(&trial->site, 2)->n_states, 0);
    assert_false(host_trial_has_run(trial, 2));
    assert_false(run_fixture_exists(host_trial_path(trial, "ran")));
}

static void test_start_twice(void **state)
{
    struct host_trial *trial = *state;
    host_trial_start_run(
        trial, 1, "echo once >>log-of-job; until [ -e on ]; do sleep 0.02; done");
    host_trial_start_run(trial, 1, "echo twice >>log-of-job");
    host_trial_wait_phase(trial, 1, RUN_WAITING);
    uint64_t token = fake_site_run(&trial->site, 1)->state.token;
    host_trial_start_run(trial, 1, "echo thrice >>log-of-job");
    fake_site_go(&trial->site, 1, token);
    host_trial_wait_phase(trial, 1, RUN_RUNNING);
    fake_site_go(&trial->site, 1, token);
    host_trial_start_run(trial, 1, "echo again >>log-of-job");
    host_trial_touch(trial, "on");
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    host_trial_start_run(trial, 1, "echo after >>log-of-job");
    fake_site_go(&trial->site, 1, token);
    assert_true(
        fake_site_wait(&trial->site, fake_site_run(&trial->site, 1)->n_ends >= 3));
    char *text = run_fixture_read(host_trial_path(trial, "log-of-job"));
    assert_string_equal(text, "once\n");
    free(text);
}

static void test_cannot_start(void **state)
{
    struct host_trial *trial = *state;
    struct msg_run_start start = run_fixture_start(&trial->fixture, 1, "true");
    start.account = "no-such-account";
    fake_site_start(&trial->site, &start);
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->end, RUN_END_FAILED);
    assert_string_equal(host_trial_exit(trial, 1)->text,
                        "no account \"no-such-account\" on this host");
    /* Nor where its directory cannot be made. */
    char runs[2 * RUN_FIXTURE_PATH];
    snprintf(runs, sizeof(runs), "%s", host_trial_path(trial, "spool/runs"));
    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !host_trial_has_run(trial, 1)));
    assert_int_equal(rmdir(runs), 0);
    host_trial_start_run(trial, 2, "true");
    host_trial_wait_phase(trial, 2, RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 2)->end, RUN_END_FAILED);
    assert_non_null(
        strstr(host_trial_exit(trial, 2)->text, "cannot make the run's directory"));
    int n_states = fake_site_run(&trial->site, 2)->n_states;
    host_trial_start_run(trial, 2, "true"); /* as it is */
    assert_true(fake_site_wait(&trial->site,
                               fake_site_run(&trial->site, 2)->n_states > n_states));
    assert_int_equal(host_trial_exit(trial, 2)->end, RUN_END_FAILED);
}

/* ---- orders */

static void test_suspend(void **state)
{
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, RUN_FIXTURE_FAMILY_COMMAND);
    assert_true(run_fixture_wait(run_fixture_is_family(&trial->fixture)));
    fake_site_control(&trial->site, 1, 1, CONTROL_SUSPEND);
    host_trial_wait_phase(trial, 1, RUN_SUSPENDED);
    assert_int_equal(fake_site_run(&trial->site, 1)->state.control_done, 1);
    assert_int_equal(run_fixture_count_still(&trial->fixture), RUN_FIXTURE_FAMILY);
    /* It stays so whatever becomes of the host, and so does what was carried out. */
    host_trial_end_host(trial, SIGKILL);
    assert_int_equal(run_fixture_count_still(&trial->fixture), RUN_FIXTURE_FAMILY);
    host_trial_start_host(trial);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_SUSPENDED);
    assert_int_equal(fake_site_run(&trial->site, 1)->state.control_done, 1);
    fake_site_control(&trial->site, 1, 2, CONTROL_RESUME);
    host_trial_wait_phase(trial, 1, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_count_still(&trial->fixture) == 0));
    fake_site_forget(&trial->site, 1); /* not while it runs */
    fake_site_control(&trial->site, 1, INT64_MAX, CONTROL_KILL);
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->end, RUN_END_SIGNALLED);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_end_is_told_until_forgotten(void **state)
{
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, "true");
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    int n_ends = fake_site_run(&trial->site, 1)->n_ends;
    assert_true(
        fake_site_wait(&trial->site, fake_site_run(&trial->site, 1)->n_ends > n_ends));
    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !host_trial_has_run(trial, 1)));
}

static void test_usage(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[6];
        int status;
        const char *why;
    } rows[] = {
        {{"--version"}, 0, "version"},
        {{"--help"}, 0, "help"},
        {{NULL}, 2, "nothing"},
        {{"-n", "n1"}, 2, "no site"},
        {{"--site", "ipc:///tmp/x"}, 2, "no name"},
        {{"-n", "n1", "--site", "tcp://127.0.0.1:1"}, 2, "tcp without keys"},
        {{"-n", "n1", "--site", "ipc:///tmp/x", "more"}, 2, "more"},
        {{"--nonsense"}, 2, "an unknown option"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pid_t pid = fork();
        if (pid == 0) {
            int null = open("/dev/null", O_RDWR);
            dup2(null, STDOUT_FILENO);
            dup2(null, STDERR_FILENO);
            const char *const *a = rows[i].arguments;
            execl(host_trial_program(), "sublet-host", a[0], a[1], a[2], a[3], a[4],
                  a[5], (char *)NULL);
            _exit(99);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != rows[i].status) {
            fail_msg("%s: status %x", rows[i].why, (unsigned)status);
        }
    }
}

/* ---- directories that are taken over */

static void forget_ended(struct host_trial *trial, uint64_t attempt)
{
    host_trial_wait_phase(trial, attempt, RUN_ENDED);
    /* Its guard has gone, and so has its lock. */
    int dir =
        open(run_fixture_path(&trial->fixture, "spool/runs/north.%d", (int)attempt),
             O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(run_fixture_wait(flock(dir, LOCK_EX | LOCK_NB) == 0));
    close(dir);
    fake_site_forget(&trial->site, attempt);
    assert_true(fake_site_wait(&trial->site, !host_trial_has_run(trial, attempt)));
}

static void run_and_forget_command(struct host_trial *trial, uint64_t attempt,
                                   const char *command)
{
    host_trial_begin_run(trial, attempt, command);
    forget_ended(trial, attempt);
}

static void run_and_forget(struct host_trial *trial, uint64_t attempt)
{
    run_and_forget_command(trial, attempt, "echo of the first; exit 7");
}

static bool has_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "re");
    char bytes[65536];
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    return memmem(bytes, length, text, strlen(text)) != NULL;
}

/* Its environment may have passwords. */
static void test_nothing_of_an_ended_job_is_left(void **state)
{
    enum { LARGE = 60000 };
    struct host_trial *trial = *state;
    static char large[LARGE] = "exit 7 #";
    run_and_forget(trial, 1);
    assert_false(
        has_text(host_trial_path(trial, "spool/spare/0/spec"), "of the first"));
    assert_false(has_text(host_trial_path(trial, "spool/spare/0/spec"), "LSB_"));

    memset(large + strlen(large), 'x', LARGE - 1 - strlen(large));
    run_and_forget_command(trial, 2, large);
    assert_true(is_empty(host_trial_path(trial, "spool/spare")));
}

static void test_directory_is_taken_over(void **state)
{
    struct host_trial *trial = *state;
    struct guard_record record;
    run_and_forget(trial, 1);
    assert_true(run_fixture_exists(host_trial_path(trial, "spool/spare/0/spec")));
    assert_false(run_fixture_exists(host_trial_path(trial, "spool/spare/0/state")));
    assert_false(
        has_text(host_trial_path(trial, "spool/spare/0/stdout"), "of the first"));
    assert_false(run_fixture_exists(host_trial_path(trial, "spool/spare/0/hosts")));

    host_trial_start_run(trial, 2, "exit 5"); /* has less to say than the first */
    host_trial_wait_phase(trial, 2, RUN_WAITING);
    assert_false(run_fixture_exists(host_trial_path(trial, "spool/spare/0")));
    assert_true(host_trial_read_record(trial, 2, &record));
    assert_int_equal(record.phase, RUN_WAITING);
    assert_false(
        has_text(host_trial_path(trial, "spool/runs/north.2/spec"), "of the first"));
    fake_site_go(&trial->site, 2, fake_site_run(&trial->site, 2)->state.token);
    host_trial_wait_phase(trial, 2, RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 2)->code, 5);
    assert_int_equal(host_trial_exit(trial, 2)->out_bytes, 0);
}

/* What else reaches the output of an ended job would write into that of the next one,
 * or read it: a process that outlived the job, another name of the file, an attribute
 * such as an access control list. Permissions that the job has given away are taken
 * back. */
static void test_output_that_others_reach_is_not_taken_over(void **state)
{
    enum reach { BY_NOTHING, BY_MODE, BY_PROCESS, BY_NAME, BY_ATTRIBUTE, REACHES };
    struct host_trial *trial = *state;
    for (int i = BY_NOTHING; i < REACHES; i++) {
        uint64_t attempt = (uint64_t)i + 1;
        struct stat status;
        int held = -1;
        const char *output =
            run_fixture_path(&trial->fixture, "spool/runs/north.%d/stdout", i + 1);
        unlink(host_trial_path(trial, "on"));
        host_trial_begin_run(trial, attempt, "echo text;" HOST_TRIAL_UNTIL_TOLD);
        host_trial_wait_phase(trial, attempt, RUN_RUNNING);
        if (i == BY_MODE) {
            assert_int_equal(chmod(output, 0666), 0);
        } else if (i == BY_PROCESS) {
            held = open(output, O_WRONLY | O_APPEND | O_CLOEXEC);
        } else if (i == BY_NAME) {
            assert_int_equal(link(output, host_trial_path(trial, "name")), 0);
        } else if (i == BY_ATTRIBUTE &&
                   setxattr(output, "user.of", "the first", 9, 0) != 0) {
            print_message("skipped: no attributes here: %s\n", strerror(errno));
            break;
        }
        host_trial_touch(trial, "on");
        forget_ended(trial, attempt);
        const char *kept = host_trial_path(trial, "spool/spare/0/stdout");
        assert_int_equal(stat(kept, &status), i <= BY_MODE ? 0 : -1);
        if (i <= BY_MODE) {
            assert_int_equal(status.st_size, 0);
            assert_int_equal(status.st_mode & 07777, 0600);
        }
        if (held >= 0) {
            close(held);
        }
    }
}

static void test_spare_directories_go_at_a_start(void **state)
{
    struct host_trial *trial = *state;
    run_and_forget(trial, 1);
    assert_true(run_fixture_exists(host_trial_path(trial, "spool/spare/0")));
    host_trial_end_host(trial, SIGKILL);
    host_trial_start_host(trial);
    assert_true(is_empty(host_trial_path(trial, "spool/spare")));
    run_and_forget(trial, 2);
    assert_true(run_fixture_exists(host_trial_path(trial, "spool/spare/0")));
}

/* Of something that cannot be deleted: runs are made anew. */
static void test_without_spare_directories(void **state)
{
    struct host_trial *trial = *state;
    host_trial_end_host(trial, SIGTERM);
    assert_int_equal(mkdir(host_trial_path(trial, "spool/spare/0"), 0700), 0);
    host_trial_touch(trial, "spool/spare/0/of someone else");
    host_trial_start_host(trial);
    run_and_forget(trial, 1);
    run_and_forget(trial, 2);
    assert_true(
        run_fixture_exists(host_trial_path(trial, "spool/spare/0/of someone else")));
}

/* A lock that someone holds would keep the next guard from its run. */
static void test_locked_directory_is_not_taken_over(void **state)
{
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, "exit 7");
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    int dir = open(host_trial_path(trial, "spool/runs/north.1"),
                   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(run_fixture_wait(flock(dir, LOCK_EX | LOCK_NB) == 0));
    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !host_trial_has_run(trial, 1)));
    assert_true(is_empty(host_trial_path(trial, "spool/spare")));
    close(dir);
}

/* Many at once: each begins once and is told once ended. */
static void test_many(void **state)
{
    enum { MANY = 150 };
    struct host_trial *trial = *state;
    for (uint64_t i = 1; i <= MANY; i++) {
        char command[64];
        snprintf(command, sizeof(command), "echo x >>many.%d; exit %d", (int)i,
                 (int)i % 7);
        host_trial_start_run(trial, i, command);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        host_trial_wait_phase(trial, i, RUN_WAITING);
        fake_site_go(&trial->site, i, fake_site_run(&trial->site, i)->state.token);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        host_trial_wait_phase(trial, i, RUN_ENDED);
        assert_int_equal(host_trial_exit(trial, i)->end, RUN_END_EXITED);
        assert_int_equal(host_trial_exit(trial, i)->code, i % 7);
        char *text =
            run_fixture_read(run_fixture_path(&trial->fixture, "many.%d", (int)i));
        assert_string_equal(text, "x\n");
        free(text);
        fake_site_forget(&trial->site, i);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        assert_true(fake_site_wait(&trial->site, !host_trial_has_run(trial, i)));
    }
}

#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, host_trial_begin, host_trial_finish)
#define TRIAL_WITHOUT(name)                                                            \
    cmocka_unit_test_setup_teardown(name, host_trial_begin_without_cgroups,            \
                                    host_trial_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(test_hello),
        TRIAL(test_run_to_end),
        TRIAL(test_forget_what_was_left),
        TRIAL(test_no_go),
        TRIAL(test_waiting_guard_killed),
        TRIAL(test_start_twice),
        TRIAL(test_cannot_start),
        TRIAL(test_suspend),
        TRIAL_WITHOUT(test_suspend),
        TRIAL(test_end_is_told_until_forgotten),
        cmocka_unit_test(test_usage),
        TRIAL(test_many),
        TRIAL(test_directory_is_taken_over),
        TRIAL(test_output_that_others_reach_is_not_taken_over),
        TRIAL(test_nothing_of_an_ended_job_is_left),
        TRIAL(test_spare_directories_go_at_a_start),
        TRIAL(test_without_spare_directories),
        TRIAL(test_locked_directory_is_not_taken_over),
    };
    if (!host_trial_find_program()) {
        return 1;
    }
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    zsys_shutdown();
    return n_failed;
}
