/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard.c: the guard with real processes: what begins, what runs, what is left.
 *
 * Each test has a directory of its own and starts guards as sublet-host does. What
 * holds with and without a cgroup is tried both ways; without writable cgroups that
 * half is left out, and said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/host_spawn.h"
#include "host/host_talk.h"
#include "tests/io/guard_trial.h"

/* ---- ends */

static void test_exit_status(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start =
        guard_trial_job(trial, "echo out; echo err >&2; exit 7");
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    assert_int_equal(trial->record.code, 7);
    assert_true(trial->record.start_ms > 0);
    assert_true(trial->record.end_ms >= trial->record.start_ms);
    assert_true(trial->record.mem_kib > 0);
    assert_int_equal(trial->record.out_bytes, 8);
    assert_int_equal(trial->record.err_bytes, 0);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "out\nerr\n");
    guard_trial_assert_recorded(trial);
    assert_false(guard_trial_hear(trial)); /* the guard is gone */
}

static void test_cpu_time(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial,
        "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; (i=0; while [ $i -lt "
        "100000 ]; do i=$((i+1)); done)");
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    assert_in_range(trial->record.cpu_ms, 5, 60000);
}

static void test_signalled(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "kill -11 $$");
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_SIGNALLED);
    assert_int_equal(trial->record.code, SIGSEGV);
    guard_trial_assert_recorded(trial);
}

static void test_failures(void **state)
{
    static const struct {
        const char *cwd, *in_file, *out_file, *account, *lease;
        const char *text;
        const char *why;
        bool as_root;
    } rows[] = {
        {"/no/where", "", "", "", "", "cannot enter \"/no/where\": No such", "cwd",
         false},
        {"", "/no/in", "", "", "", "cannot read \"/no/in\": No such", "input", false},
        {"", "", "/no/%J.%I/x", "", "", "cannot write \"/no/12.3/x\": No such",
         "output", false},
        {"", "", "", "no-such-account", "", "no account \"no-such-account\"",
         "an account that is not there", false},
        {"", "", "", "", "north/1/south", "a leased run may not run as root",
         "no account named", true},
        {"", "", "", "root", "north/1/south", "a leased run may not run as root",
         "root by name", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].as_root && geteuid() != 0) {
            continue;
        }
        void *own = NULL;
        guard_trial_begin(&own);
        struct guard_trial *trial = own;
        struct msg_run_start start = guard_trial_job(trial, "true");
        start.spec.cwd = rows[i].cwd;
        start.spec.in_file = rows[i].in_file;
        start.spec.out_file = rows[i].out_file;
        start.account = rows[i].account;
        start.lease = rows[i].lease;
        guard_trial_start(trial, &start);
        assert_true(guard_trial_hear(trial));
        if (trial->record.phase == RUN_WAITING) {
            guard_trial_tell(trial, (struct guard_order){.kind = ORDER_GO,
                                                         .token = trial->record.token});
            guard_trial_hear_until(trial, RUN_ENDED);
        }
        if (trial->record.end != RUN_END_FAILED ||
            strstr(trial->record.text, rows[i].text) == NULL) {
            fail_msg("%s: end %d, \"%s\", expected \"%s\"", rows[i].why,
                     (int)trial->record.end, trial->record.text, rows[i].text);
        }
        guard_trial_assert_recorded(trial);
        guard_trial_finish(&own);
    }
    (void)state;
}

/* ---- what it runs with */

static void test_environment(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start =
        guard_trial_job(trial, "/usr/bin/env | grep -v ^PWD= | sort");
    trial->fixture.env[trial->fixture.n_env++] = "LSB_JOBID=99";
    trial->fixture.env[trial->fixture.n_env++] = "MINE=two words";
    start.spec.n_env = trial->fixture.n_env;
    if (geteuid() != 0) {
        start.lease = "north/1/south";
    }
    guard_trial_run_to_end(trial, &start);
    char expected[2048];
    snprintf(expected, sizeof(expected),
             "LSB_HOSTS=n1 n1 n2\nLSB_JOBID=12\nLSB_JOBINDEX=3\n"
             "LSB_JOBNAME=a name[3]\n"
             "LSB_MCPU_HOSTS=n1 2 n2 1\nLSB_QUEUE=normal\nMINE=two words\n"
             "PATH=/usr/local/bin:/usr/bin:/bin\n%sSUBLET_RUN=north.1.%016llx\n%s\n",
             geteuid() != 0 ? "SUBLET_LEASE=north/1/south\n" : "",
             (unsigned long long)trial->record.mark, trial->fixture.mark);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), expected);
}

/* Nothing for a shell in it: the job is the program itself, with what a shell would
 * have given it, and the shell has its say where there is no such program. */
static void test_plain_command(void **state)
{
    static const struct {
        const char *command;
        const char *out; /* "": anything */
        int code;
    } rows[] = {
        {"/bin/echo a b-c=d", "a b-c=d\n", 0}, {"/bin/echo a  b", "a b\n", 0},
        {"/bin/echo $((1+1))", "2\n", 0},      {"/bin/sh -c pwd", "/\n", 0},
        {"/usr/bin/printenv PWD", "/\n", 0},   {"/bin/false", "", 1},
        {"/no/such-program", "", 127},         {"/etc", "", 126},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *own = NULL;
        guard_trial_begin(&own);
        struct guard_trial *trial = own;
        trial->fixture.env[trial->fixture.n_env++] = "PWD=/tmp";
        struct msg_run_start start = guard_trial_job(trial, rows[i].command);
        start.spec.n_env = trial->fixture.n_env;
        start.spec.cwd = "/";
        guard_trial_run_to_end(trial, &start);
        assert_int_equal(trial->record.end, RUN_END_EXITED);
        assert_int_equal(trial->record.code, rows[i].code);
        if (rows[i].out[0] != '\0') {
            guard_trial_assert_text(guard_trial_path(trial, "/stdout"), rows[i].out);
        }
        guard_trial_finish(&own);
    }
}

static void test_clean_process(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial,
        "grep -E '^(SigBlk|SigIgn)' /proc/self/status; ls /proc/self/fd | wc -l; "
        "umask; pwd; cut -d' ' -f5,6 /proc/$$/stat; echo $$ $$");
    start.spec.umask = 027;
    guard_trial_run_to_end(trial, &start);
    char *text = run_fixture_read(guard_trial_path(trial, "/stdout"));
    char expected[2048];
    snprintf(expected, sizeof(expected),
             "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n4\n0027\n%s\n"
             "%d %d\n%d %d\n",
             guard_trial_path(trial, "/work"), (int)trial->record.job_pid,
             (int)trial->record.job_pid, (int)trial->record.job_pid,
             (int)trial->record.job_pid);
    assert_string_equal(text, expected);
    free(text);
}

static void test_output_files(void **state)
{
    struct guard_trial *trial = *state;
    char out[RUN_FIXTURE_PATH + 16];
    char err[RUN_FIXTURE_PATH + 16];
    snprintf(out, sizeof(out), "%s/out.%%J.%%I", trial->fixture.dir);
    snprintf(err, sizeof(err), "%s/err.%%J", trial->fixture.dir);
    struct msg_run_start start =
        guard_trial_job(trial, "echo out; echo err >&2; echo in: $(cat)");
    start.spec.cwd = trial->fixture.dir;
    start.spec.in_file = "in";
    start.spec.out_file = out;
    FILE *in = fopen(run_fixture_path(&trial->fixture, "in"), "w");
    fputs("given", in);
    fclose(in);
    /* -o alone: errors go there too, behind what is there */
    FILE *old = fopen(run_fixture_path(&trial->fixture, "out.12.3"), "w");
    fputs("old\n", old);
    fclose(old);
    guard_trial_run_to_end(trial, &start);
    guard_trial_assert_text(run_fixture_path(&trial->fixture, "out.12.3"),
                            "old\nout\nerr\nin: given\n");
    assert_false(run_fixture_exists(guard_trial_path(trial, "/stdout")));
    assert_int_equal(trial->record.out_bytes, 0);

    /* -o and -e, relative to the working directory */
    assert_int_equal(
        rename(guard_trial_path(trial, ""), run_fixture_path(&trial->fixture, "x")), 0);
    start.spec.out_file = "o";
    start.spec.err_file = err;
    guard_trial_run_to_end(trial, &start);
    guard_trial_assert_text(run_fixture_path(&trial->fixture, "o"), "out\nin: given\n");
    guard_trial_assert_text(run_fixture_path(&trial->fixture, "err.12"), "err\n");
}

static const char *account_for_lease(void)
{
    return geteuid() == 0 && getpwnam("nobody") != NULL ? "nobody" : "";
}

static void test_leased(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial, "echo out; echo err >/dev/stderr; cat; id -u; id -G; echo x >mine; "
               "grep NoNewPrivs /proc/self/status; cat ../state ../spec");
    start.lease = "north/1/south";
    start.account = account_for_lease();
    start.spec.cwd = "/home/of/someone/elsewhere";
    start.spec.in_file = "/etc/passwd";
    start.spec.out_file = run_fixture_path(&trial->fixture, "never");
    start.spec.err_file = "/never/never";
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    char *text = run_fixture_read(guard_trial_path(trial, "/stdout"));
    char expected[256] = "";
    if (start.account[0] != '\0') {
        const struct passwd *nobody = getpwnam("nobody");
        snprintf(expected, sizeof(expected), "out\n%d\n%d\nNoNewPrivs:\t1\n",
                 (int)nobody->pw_uid, (int)nobody->pw_gid);
        assert_string_equal(text, expected);
        assert_int_not_equal(trial->record.code,
                             0); /* our records are not its to read */
    } else {
        assert_memory_equal(text, "out\n", 4);
    }
    free(text);
    char *errors = run_fixture_read(guard_trial_path(trial, "/stderr"));
    assert_memory_equal(errors, "err\n", 4);
    free(errors);
    assert_true(trial->record.err_bytes >= 4);
    assert_false(run_fixture_exists(run_fixture_path(&trial->fixture, "never")));
    guard_trial_assert_text(guard_trial_path(trial, "/work/mine"), "x\n");
}

/* ---- the go */

static void test_no_go(void **state)
{
    struct guard_trial *trial = *state;
    trial->setting.wait_ms = 50;
    struct msg_run_start start = guard_trial_job(trial, "touch ran");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_hear_until(trial, RUN_WAITING);
    /* With an agent it waits on ... */
    guard_trial_tell(trial, (struct guard_order){.kind = ORDER_STATUS});
    guard_trial_hear_until(trial, RUN_WAITING);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    /* ... without one it ends, and takes its directory along. */
    close(trial->link);
    trial->link = -1;
    assert_true(run_fixture_wait(!run_fixture_exists(guard_trial_path(trial, ""))));
    assert_false(run_fixture_exists(run_fixture_path(&trial->fixture, "ran")));
    trial->record.guard_pid = 0;
}

static void test_wrong_token(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "touch ran");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_hear_until(trial, RUN_WAITING);
    guard_trial_tell(trial, (struct guard_order){.kind = ORDER_GO,
                                                 .token = trial->record.token ^ 2});
    assert_true(guard_trial_hear(trial));
    assert_int_equal(trial->record.phase, RUN_WAITING);
    guard_trial_tell(trial, (struct guard_order){.kind = ORDER_GO, .token = 0});
    assert_true(guard_trial_hear(trial));
    assert_int_equal(trial->record.phase, RUN_WAITING);
    guard_trial_assert_recorded(trial);
    guard_trial_tell(trial, (struct guard_order){.kind = ORDER_END});
    guard_trial_hear_silence(trial);
    assert_false(run_fixture_exists(run_fixture_path(&trial->fixture, "ran")));
    trial->record.guard_pid = 0;
}

static void test_go_twice(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "echo once; read x <fifo");
    start.spec.cwd = trial->fixture.dir;
    mkfifo(run_fixture_path(&trial->fixture, "fifo"), 0600);
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_tell(
        trial, (struct guard_order){.kind = ORDER_GO, .token = trial->record.token});
    guard_trial_tell(trial,
                     (struct guard_order){.kind = ORDER_END}); /* not while it runs */
    guard_trial_hear_until(trial, RUN_RUNNING);
    assert_true(guard_trial_hear(trial));
    assert_true(guard_trial_hear(trial));
    assert_int_equal(trial->record.phase, RUN_RUNNING);
    int fifo = open(run_fixture_path(&trial->fixture, "fifo"), O_WRONLY);
    assert_int_equal(write(fifo, "x\n", 2), 2);
    close(fifo);
    guard_trial_hear_until(trial, RUN_ENDED);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "once\n");
}

static void test_one_guard(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "true");
    guard_trial_start(trial, &start);
    guard_trial_hear_until(trial, RUN_WAITING);
    uint64_t token = trial->record.token;
    int first = trial->link;
    trial->link = -1;
    guard_trial_spawn(trial, NULL);
    assert_false(guard_trial_hear(trial)); /* the second one ends without a word */
    close(trial->link);
    trial->link = first;
    guard_trial_tell(trial, (struct guard_order){.kind = ORDER_STATUS});
    assert_true(guard_trial_hear(trial));
    assert_int_equal(trial->record.token, token);
}

/* A second agent, by the socket in the directory. */
static void test_found_again(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "read x <fifo; exit 3");
    start.spec.cwd = trial->fixture.dir;
    mkfifo(run_fixture_path(&trial->fixture, "fifo"), 0600);
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_hear_until(trial, RUN_RUNNING);
    close(trial->link);
    int dir = open(guard_trial_path(trial, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* It listens as soon as it has seen that nobody is connected. */
    assert_true(
        run_fixture_wait((trial->link = host_talk_connect(dir, RUN_DIR_SOCKET)) >= 0));
    close(dir);
    assert_true(guard_trial_hear(trial)); /* unasked */
    assert_int_equal(trial->record.phase, RUN_RUNNING);
    int fifo = open(run_fixture_path(&trial->fixture, "fifo"), O_WRONLY);
    close(fifo);
    guard_trial_hear_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.code, 3);
}

/* ---- orders */

/* A job with a child of its own session and one that was orphaned. */
static const char family[] =
    "setsid sleep 1001 & (setsid sh -c 'sleep 1002 & :' &) ; sleep 1003 & wait";
enum { FAMILY = 4 };

static bool is_family_complete(const struct run_fixture *fixture)
{
    return run_fixture_find(fixture, "sleep 1001") > 0 &&
           run_fixture_find(fixture, "sleep 1002") > 0 &&
           run_fixture_find(fixture, "sleep 1003") > 0 &&
           run_fixture_count(fixture) == FAMILY;
}

static void start_family(struct guard_trial *trial)
{
    struct msg_run_start start = guard_trial_job(trial, family);
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_hear_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(is_family_complete(&trial->fixture)));
}

static void check_suspend(struct guard_trial *trial)
{
    start_family(trial);
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    guard_trial_hear_until(trial, RUN_SUSPENDED);
    assert_int_equal(trial->record.control_done, 1);
    guard_trial_assert_recorded(trial);
    assert_int_equal(run_fixture_count_still(&trial->fixture), FAMILY);
    guard_trial_control(trial, 2, CONTROL_RESUME, 0);
    guard_trial_hear_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_count_still(&trial->fixture) == 0));
    /* Suspended again, and killed: it is let hear the signals. */
    guard_trial_control(trial, 3, CONTROL_SUSPEND, 0);
    guard_trial_hear_until(trial, RUN_SUSPENDED);
    guard_trial_control(trial, 4, CONTROL_KILL, 0);
    guard_trial_hear_until(trial, RUN_ENDED);
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
    guard_trial_hear_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_find(&trial->fixture, "sleep 1007") > 0));
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    guard_trial_hear_until(trial, RUN_SUSPENDED);
    guard_trial_control(trial, 2, CONTROL_KILL, SIGKILL);
    guard_trial_hear_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_SIGNALLED);
    assert_int_equal(trial->record.code, SIGKILL);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "");
}

/* A parallel job hears SIGTSTP first, and a moment later all of it stands still. */
static void test_parallel_is_asked_first(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial, "trap 'echo asked' TSTP; sleep 1008 & while :; do wait; done; exit");
    start.spec.n_slots = 2;
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_hear_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_find(&trial->fixture, "sleep 1008") > 0));
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    guard_trial_hear_until(trial, RUN_SUSPENDED);
    assert_int_equal(trial->record.control_done, 1);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "asked\n");
    assert_int_equal(run_fixture_count_still(&trial->fixture),
                     run_fixture_count(&trial->fixture));
    guard_trial_control(trial, 2, CONTROL_RESUME, 0);
    guard_trial_hear_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_count_still(&trial->fixture) == 0));
    /* Told to go on while it is only asked: it never counts as suspended. */
    guard_trial_control(trial, 3, CONTROL_SUSPEND, 0);
    guard_trial_control(trial, 4, CONTROL_RESUME, 0);
    guard_trial_hear_until(trial, RUN_RUNNING);
    assert_int_equal(trial->record.control_done, 4);
    assert_true(run_fixture_wait(run_fixture_count_still(&trial->fixture) == 0));
    guard_trial_control(trial, 5, CONTROL_KILL, 0);
    guard_trial_hear_until(trial, RUN_ENDED);
}

static void test_leaves_no_cgroup(void **state)
{
    struct guard_trial *trial = *state;
    guard_trial_need_cgroup(trial);
    start_family(trial);
    char path[GUARD_RECORD_PATH_SIZE];
    snprintf(path, sizeof(path), "%s", trial->record.cgroup);
    assert_true(run_fixture_exists(path));
    guard_trial_control(trial, 1, CONTROL_KILL, 0);
    guard_trial_hear_until(trial, RUN_ENDED);
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
    guard_trial_hear_until(trial, RUN_RUNNING);
    assert_true(
        run_fixture_wait(run_fixture_exists(run_fixture_path(&trial->fixture, "set"))));
    long long before = run_fixture_clock_ms();
    guard_trial_control(trial, 1, CONTROL_KILL, 0);
    guard_trial_hear_until(trial, RUN_ENDED);
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

static bool has_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

static void test_signal_once(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial, "trap 'echo usr1' USR1; touch set; until [ -e done ]; do :; done");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_hear_until(trial, RUN_RUNNING);
    assert_true(
        run_fixture_wait(run_fixture_exists(run_fixture_path(&trial->fixture, "set"))));
    guard_trial_control(trial, 5, CONTROL_SIGNAL, SIGUSR1);
    assert_true(guard_trial_hear(trial));
    assert_int_equal(trial->record.control_done, 5);
    assert_true(run_fixture_wait(has_bytes(guard_trial_path(trial, "/stdout"))));
    guard_trial_control(trial, 5, CONTROL_SIGNAL, SIGUSR1); /* repeated */
    assert_true(guard_trial_hear(trial));
    guard_trial_control(trial, 4, CONTROL_KILL, 0); /* late */
    assert_true(guard_trial_hear(trial));
    guard_trial_control(trial, 6, (enum control_action)77, 0); /* unknown */
    assert_true(guard_trial_hear(trial));
    guard_trial_control(trial, 6, CONTROL_SIGNAL, 4711);
    assert_true(guard_trial_hear(trial));
    assert_int_equal(trial->record.control_done, 5);
    close(open(run_fixture_path(&trial->fixture, "done"), O_CREAT | O_WRONLY, 0600));
    guard_trial_hear_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "usr1\n");
}

static void test_orders_before_the_go(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "sleep 1006");
    guard_trial_start(trial, &start);
    guard_trial_hear_until(trial, RUN_WAITING);
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    assert_true(guard_trial_hear(trial));
    assert_int_equal(trial->record.control_done, 0); /* kept, not done */
    guard_trial_tell(
        trial, (struct guard_order){.kind = ORDER_GO, .token = trial->record.token});
    guard_trial_hear_until(trial, RUN_SUSPENDED);
    assert_int_equal(trial->record.control_done, 1);
    guard_trial_control(trial, 2, CONTROL_KILL, 0);
    guard_trial_hear_until(trial, RUN_ENDED);
}

static void test_kill_before_the_go(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "touch ran");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_hear_until(trial, RUN_WAITING);
    uint64_t token = trial->record.token;
    guard_trial_control(trial, 1, CONTROL_KILL, 0);
    host_talk_send(trial->link,
                   &(struct guard_order){.kind = ORDER_GO, .token = token});
    guard_trial_hear_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_SIGNALLED);
    assert_int_equal(trial->record.start_ms, 0);
    guard_trial_hear_silence(trial);
    assert_false(run_fixture_exists(run_fixture_path(&trial->fixture, "ran")));
}

/* The limit counts time in RUN only. */
static void test_run_limit(void **state)
{
    enum { LIMIT_MS = 600 };
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "sleep 1007");
    start.spec.run_limit_ms = LIMIT_MS;
    start.spec.n_slots = 1; /* stopped at once */
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_hear_until(trial, RUN_RUNNING);
    guard_trial_control(trial, 1, CONTROL_SUSPEND, 0);
    guard_trial_hear_until(trial, RUN_SUSPENDED);
    /* That nothing happens can only be waited for. */
    usleep(2 * LIMIT_MS * 1000);
    guard_trial_control(trial, 2, CONTROL_RESUME, 0);
    guard_trial_hear_until(trial, RUN_RUNNING);
    guard_trial_hear_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LIMIT);
    assert_int_equal(trial->record.code, 128 + SIGINT);
    assert_true(trial->record.end_ms - trial->record.start_ms >= 3 * LIMIT_MS - 50);
    guard_trial_assert_recorded(trial);
}

/* Who hears of a limit may end as it likes: that is its exit code, and no signal. */
static void test_run_limit_heard(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start =
        guard_trial_job(trial, "trap 'exit 3' INT; while :; do sleep 0.05; done");
    start.spec.run_limit_ms = 300;
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_LIMIT);
    assert_int_equal(trial->record.code, 3);
}

/* ---- a full disk: here, a directory in the way of the record */

static void bar_record(const struct guard_trial *trial)
{
    char state[RUN_FIXTURE_PATH];
    snprintf(state, sizeof(state), "%s", guard_trial_path(trial, "/state"));
    assert_int_equal(rename(state, guard_trial_path(trial, "/kept")), 0);
    assert_int_equal(mkdir(state, 0700), 0);
}

static void unbar_record(const struct guard_trial *trial)
{
    char state[RUN_FIXTURE_PATH];
    snprintf(state, sizeof(state), "%s", guard_trial_path(trial, "/state"));
    assert_int_equal(rmdir(state), 0);
    assert_int_equal(rename(guard_trial_path(trial, "/kept"), state), 0);
}

static void test_record_fails_at_the_go(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "touch ran");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_hear_until(trial, RUN_WAITING);
    bar_record(trial);
    guard_trial_tell(
        trial, (struct guard_order){.kind = ORDER_GO, .token = trial->record.token});
    guard_trial_hear_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_FAILED);
    assert_non_null(strstr(trial->record.text, "cannot create a run's record"));
    assert_int_equal(trial->record.start_ms, 0);
    guard_trial_tell(trial, (struct guard_order){.kind = ORDER_END});
    guard_trial_hear_silence(trial);
    assert_false(run_fixture_exists(run_fixture_path(&trial->fixture, "ran")));
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_record_fails_at_the_end(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start =
        guard_trial_job(trial, "until [ -e on ]; do sleep 0.02; done");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_hear_until(trial, RUN_RUNNING);
    bar_record(trial);
    close(open(run_fixture_path(&trial->fixture, "on"), O_CREAT | O_WRONLY, 0600));
    guard_trial_hear_until(trial, RUN_ENDED);
    /* It stays, for whoever asks, until the end is on disk. */
    guard_trial_tell(trial, (struct guard_order){.kind = ORDER_STATUS});
    assert_true(guard_trial_hear(trial));
    assert_int_equal(trial->record.phase, RUN_ENDED);
    unbar_record(trial);
    guard_trial_hear_silence(trial);
    guard_trial_assert_recorded(trial);
}

/* ---- a guard that is killed */

static void check_burial(struct guard_trial *trial)
{
    start_family(trial);
    kill((pid_t)trial->record.guard_pid, SIGKILL);
    guard_trial_hear_silence(trial);
    assert_int_equal(run_fixture_count(&trial->fixture), FAMILY);
    guard_trial_spawn(trial, "--bury");
    guard_trial_hear_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LOST);
    assert_true(trial->record.start_ms > 0);
    assert_string_equal(trial->record.text, "its guard is gone without an exit record");
    guard_trial_assert_recorded(trial);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    guard_trial_hear_silence(trial);
    guard_trial_spawn(trial, "--bury"); /* again: as it is */
    guard_trial_hear_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LOST);
}

static void test_burial_in_cgroup(void **state)
{
    guard_trial_need_cgroup(*state);
    check_burial(*state);
}

static void test_burial_in_session(void **state)
{
    check_burial(*state);
}

static void test_no_burial_alive(void **state)
{
    struct guard_trial *trial = *state;
    start_family(trial);
    int guard = trial->link;
    trial->link = -1;
    guard_trial_spawn(trial, "--bury");
    assert_false(guard_trial_hear(trial));
    close(trial->link);
    trial->link = guard;
    guard_trial_tell(trial, (struct guard_order){.kind = ORDER_STATUS});
    assert_true(guard_trial_hear(trial));
    assert_int_equal(trial->record.phase, RUN_RUNNING);
}

/* A record of an earlier boot: its numbers mean other processes now. */
static void test_burial_of_an_earlier_boot(void **state)
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
    assert_int_equal(guard_record_write(dir, &record, &err), 0);
    close(dir);
    guard_trial_spawn(trial, "--bury");
    guard_trial_hear_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_LOST);
    assert_int_equal(trial->record.start_ms, 1000);
    assert_int_equal(waitpid(bystander, NULL, WNOHANG), 0); /* it lives */
    kill(bystander, SIGKILL);
    waitpid(bystander, NULL, 0);
}

/* ---- files */

static void test_damaged_spec(void **state)
{
    struct guard_trial *trial = *state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *why;
    } rows[] = {
        {"", 0, "empty"},
        {"sublet-spec 1", 13, "no NUL"},
        {"sublet-spec 2\0end=", 19, "another version"},
        {"sublet-spec 1\0command=true", 27, "no end"},
        {"sublet-spec 1\0command=true\0end=\0more=", 38, "behind the end"},
        {"sublet-spec 1\0umask=x\0end=", 27, "no number"},
        {"sublet-spec 1\0umask=-1\0end=", 28, "negative"},
        {"sublet-spec 1\0rubbish\0end=", 27, "no equals sign"},
        {"sublet-spec 1\0unknown=1\0end=", 29, "unknown field"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(mkdir(guard_trial_path(trial, ""), 0711), 0);
        FILE *file = fopen(guard_trial_path(trial, "/spec"), "w");
        fwrite(rows[i].bytes, 1, rows[i].length, file);
        fclose(file);
        guard_trial_spawn(trial, NULL);
        guard_trial_hear_until(trial, RUN_ENDED);
        if (trial->record.end != RUN_END_FAILED) {
            fail_msg("%s: not refused", rows[i].why);
        }
        guard_trial_hear_silence(trial);
        assert_int_equal(rename(guard_trial_path(trial, ""),
                                run_fixture_path(&trial->fixture, "was%d", (int)i)),
                         0);
    }
}

static void test_record_text(void **state)
{
    (void)state;
    struct guard_record record = {.phase = RUN_ENDED,
                                  .end = RUN_END_LIMIT,
                                  .token = INT64_MAX,
                                  .code = 9,
                                  .cgroup = "/a/b=c",
                                  .memory = "/d",
                                  .control_done = UINT64_MAX};
    struct guard_record again;
    char text[GUARD_RECORD_MAX];
    struct err err;
    guard_record_set_text(&record, "two\nlines \xc3");
    assert_string_equal(record.text, "two?lines ?");
    size_t length = guard_record_format(&record, text);
    assert_int_equal(guard_record_parse(text, length, &again, &err), 0);
    assert_memory_equal(&again, &record, sizeof(record));
    static const char *const bad[] = {"",
                                      "phase=ended",
                                      "phase=odd\n",
                                      "end=exited\n",
                                      "phase=ended\ncode=1x\n",
                                      "phase=ended\ncode=-1\n",
                                      "phase=ended\ncode=99999999999999999999\n",
                                      "phase=ended\nnonsense\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(guard_record_parse(bad[i], strlen(bad[i]), &again, &err),
                         ERR_PARSE);
    }
    assert_int_equal(guard_record_parse("phase=ended\nlater=1\n", 20, &again, &err), 0);
}

/* Whatever became of the writing of a record, the one before it is read. */
static void test_record_cut(void **state)
{
    struct guard_trial *trial = *state;
    struct guard_record record = {.phase = RUN_WAITING, .token = 7};
    struct guard_record again;
    struct err err;
    assert_int_equal(mkdir(guard_trial_path(trial, ""), 0711), 0);
    int dir = open(guard_trial_path(trial, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (uint64_t code = 1; code <= 4; code++) {
        record.code = code;
        guard_record_set_text(&record, code % 3 == 0 ? "a longer one" : "");
        assert_int_equal(guard_record_write(dir, &record, &err), 0);
        assert_int_equal(guard_record_read(dir, &again, &err), 0);
        assert_int_equal(again.code, code);
        assert_string_equal(again.text, record.text);
    }
    int file = openat(dir, "state", O_RDWR | O_CLOEXEC);
    for (off_t at = 0; at < 60; at++) { /* the fourth lies first */
        char before;
        assert_int_equal(pread(file, &before, 1, at), 1);
        assert_int_equal(pwrite(file, "\0", 1, at), 1);
        assert_int_equal(guard_record_read(dir, &again, &err), 0);
        assert_int_equal(again.code, 3);
        assert_int_equal(pwrite(file, &before, 1, at), 1);
    }
    assert_int_equal(ftruncate(file, 100), 0);
    assert_int_equal(guard_record_read(dir, &again, &err), ERR_PARSE);
    close(file);
    close(dir);
}

/* Deep, full, without rights, with links out of it. */
static void test_remove(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial, "for i in $(seq 600); do mkdir deep-enough-to-pass-any-path-limit && "
               "echo x >file && cd -P deep-enough-to-pass-any-path-limit; done; cd "
               "\"$T/north.1/work\"; ln -s \"$T/keep\" link; mkdir a b; touch a/1 "
               "b/1 .hidden; ln -s \"$T/keep\" a/link; chmod 0 a b");
    char variable[RUN_FIXTURE_PATH + 8];
    snprintf(variable, sizeof(variable), "T=%s", trial->fixture.dir);
    trial->fixture.env[trial->fixture.n_env++] = variable;
    start.spec.n_env = trial->fixture.n_env;
    assert_int_equal(mkdir(run_fixture_path(&trial->fixture, "keep"), 0700), 0);
    fclose(fopen(run_fixture_path(&trial->fixture, "keep/it"), "w"));
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.code, 0);
    struct err err;
    assert_int_equal(host_spawn_guard(guard_trial_program(), "--remove",
                                      guard_trial_path(trial, ""), NULL, &err),
                     0);
    assert_true(run_fixture_wait(!run_fixture_exists(guard_trial_path(trial, ""))));
    assert_true(run_fixture_exists(run_fixture_path(&trial->fixture, "keep/it")));
}

int main(void)
{
#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin, guard_trial_finish)
#define TRIAL_WITHOUT(name)                                                            \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin_without_cgroup,            \
                                    guard_trial_finish)
    const struct CMUnitTest tests[] = {
        TRIAL(test_exit_status),
        TRIAL(test_cpu_time),
        TRIAL_WITHOUT(test_cpu_time),
        TRIAL(test_signalled),
        cmocka_unit_test(test_failures),
        TRIAL(test_environment),
        cmocka_unit_test(test_plain_command),
        TRIAL(test_clean_process),
        TRIAL(test_output_files),
        TRIAL(test_leased),
        TRIAL(test_no_go),
        TRIAL(test_wrong_token),
        TRIAL(test_go_twice),
        TRIAL(test_one_guard),
        TRIAL(test_found_again),
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
        TRIAL(test_record_fails_at_the_go),
        TRIAL(test_record_fails_at_the_end),
        TRIAL(test_burial_in_cgroup),
        TRIAL_WITHOUT(test_burial_in_session),
        TRIAL(test_no_burial_alive),
        TRIAL(test_burial_of_an_earlier_boot),
        TRIAL(test_damaged_spec),
        cmocka_unit_test(test_record_text),
        TRIAL(test_record_cut),
        TRIAL(test_remove),
    };
    if (!guard_trial_find_program()) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
