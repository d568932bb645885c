/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard.c: the guard with real processes: how jobs begin, with what, and how they
 * end.
 *
 * Each test has a directory of its own and starts guards as sublet-host does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    assert_false(guard_trial_receive(trial)); /* the guard is gone */
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
        assert_true(guard_trial_receive(trial));
        if (trial->record.phase == RUN_WAITING) {
            guard_trial_send(trial,
                             (struct guard_request){.kind = GUARD_REQUEST_GO,
                                                    .token = trial->record.token});
            guard_trial_receive_until(trial, RUN_ENDED);
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
    start.spec.name = "a name[1-5,3-9:2]%4";
    if (geteuid() != 0) {
        start.lease = "north/1/south";
    }
    guard_trial_run_to_end(trial, &start);
    char expected[2048];
    snprintf(expected, sizeof(expected),
             "LSB_BATCH_JID=12[3]\nLSB_DJOB_HOSTFILE=/spool/runs/north.1/hosts\n"
             "LSB_DJOB_NUMPROC=3\nLSB_DJOB_RANKFILE=/spool/runs/north.1/hosts\n"
             "LSB_EXIT_PRE_ABORT=99\n"
             "LSB_HOSTS=n1 n1 n2\nLSB_JOBID=12\nLSB_JOBINDEX=3\n"
             "LSB_JOBINDEX_END=9\nLSB_JOBINDEX_STEP=2\n"
             "LSB_JOBNAME=a name[3]\nLSB_JOB_EXECUSER=ana\n"
             "LSB_MCPU_HOSTS=n1 2 n2 1\nLSB_QUEUE=normal\nLSB_SUB_USER=ana\n"
             "LSFUSER=ana\nMINE=two words\n"
             "PATH=/usr/local/bin:/usr/bin:/bin\n%sSUBLET_RUN=north.1.%016llx\n%s\n",
             geteuid() != 0 ? "SUBLET_LEASE=north/1/south\n" : "",
             (unsigned long long)trial->record.mark, trial->fixture.mark);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), expected);
    /* What mpirun --hostfile reads: readable for the job, a line for each slot. */
    struct stat status;
    guard_trial_assert_text(guard_trial_path(trial, "/hosts"), "n1\nn1\nn2\n");
    assert_int_equal(stat(guard_trial_path(trial, "/hosts"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
}

/* A script is run by the interpreter that it names. */
static void test_script(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start =
        guard_trial_job(trial, "#!/usr/bin/tail -n1\nthe last line\n");
    guard_trial_run_to_end(trial, &start);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "the last line\n");
}

static void test_script_without_interpreter(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "#!/no/such/program\necho x\n");
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_FAILED);
    assert_non_null(strstr(trial->record.text, "#!/no/such/program"));
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

/* LSB_OUTDIR is made as the job's account before its files are opened. A leased job has
 * none here. */
static void test_output_directory(void **state)
{
    struct guard_trial *trial = *state;
    char directory[256], variable[300], file[300];
    struct msg_run_start start = guard_trial_job(trial, "echo $LSB_OUTDIR");
    snprintf(directory, sizeof(directory), "%s",
             run_fixture_path(&trial->fixture, "x"));
    snprintf(variable, sizeof(variable), "LSB_OUTDIR=%s/%%J/%%I", directory);
    snprintf(file, sizeof(file), "%s/12/3/out", directory);
    trial->fixture.env[trial->fixture.n_env++] = variable;
    start.spec.n_env = trial->fixture.n_env;
    start.spec.out_file = file;
    if (geteuid() != 0) {
        skip(); /* a job of its own account needs root */
    }
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.end, RUN_END_EXITED);
    char expected[300];
    snprintf(expected, sizeof(expected), "%s/12/3\n", directory);
    guard_trial_assert_text(file, expected);
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
    guard_trial_receive_until(trial, RUN_WAITING);
    /* With an agent it waits on ... */
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_STATUS});
    guard_trial_receive_until(trial, RUN_WAITING);
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
    guard_trial_receive_until(trial, RUN_WAITING);
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_GO,
                                                   .token = trial->record.token ^ 2});
    assert_true(guard_trial_receive(trial));
    assert_int_equal(trial->record.phase, RUN_WAITING);
    guard_trial_send(trial,
                     (struct guard_request){.kind = GUARD_REQUEST_GO, .token = 0});
    assert_true(guard_trial_receive(trial));
    assert_int_equal(trial->record.phase, RUN_WAITING);
    guard_trial_assert_recorded(trial);
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_END});
    guard_trial_receive_nothing(trial);
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
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_GO,
                                                   .token = trial->record.token});
    guard_trial_send(trial, (struct guard_request){
                                .kind = GUARD_REQUEST_END}); /* not while it runs */
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_true(guard_trial_receive(trial));
    assert_true(guard_trial_receive(trial));
    assert_int_equal(trial->record.phase, RUN_RUNNING);
    int fifo = open(run_fixture_path(&trial->fixture, "fifo"), O_WRONLY);
    assert_int_equal(write(fifo, "x\n", 2), 2);
    close(fifo);
    guard_trial_receive_until(trial, RUN_ENDED);
    guard_trial_assert_text(guard_trial_path(trial, "/stdout"), "once\n");
}

static void test_one_guard(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(trial, "true");
    guard_trial_start(trial, &start);
    guard_trial_receive_until(trial, RUN_WAITING);
    uint64_t token = trial->record.token;
    int first = trial->link;
    trial->link = -1;
    guard_trial_spawn(trial, NULL);
    assert_false(guard_trial_receive(trial)); /* the second one ends without a word */
    close(trial->link);
    trial->link = first;
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_STATUS});
    assert_true(guard_trial_receive(trial));
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
    guard_trial_receive_until(trial, RUN_RUNNING);
    close(trial->link);
    int dir = open(guard_trial_path(trial, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* It listens as soon as it has seen that nobody is connected. */
    assert_true(
        run_fixture_wait((trial->link = run_socket_connect(dir, RUN_DIR_SOCKET)) >= 0));
    close(dir);
    assert_true(guard_trial_receive(trial)); /* unasked */
    assert_int_equal(trial->record.phase, RUN_RUNNING);
    int fifo = open(run_fixture_path(&trial->fixture, "fifo"), O_WRONLY);
    close(fifo);
    guard_trial_receive_until(trial, RUN_ENDED);
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
        TRIAL(test_exit_status),
        TRIAL(test_output_directory),
        TRIAL(test_cpu_time),
        TRIAL_WITHOUT(test_cpu_time),
        TRIAL(test_signalled),
        cmocka_unit_test(test_failures),
        TRIAL(test_environment),
        TRIAL(test_script),
        TRIAL(test_script_without_interpreter),
        cmocka_unit_test(test_plain_command),
        TRIAL(test_clean_process),
        TRIAL(test_output_files),
        TRIAL(test_leased),
        TRIAL(test_no_go),
        TRIAL(test_wrong_token),
        TRIAL(test_go_twice),
        TRIAL(test_one_guard),
        TRIAL(test_found_again),
    };
    if (!guard_trial_find_program()) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
