/* SPDX-License-Identifier: Apache-2.0 */
/* test_host.c: sublet-host with real guards and jobs, and a site that is not real: what
 * is found again after kill -9 of anything, what is told, what is left. */
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/guard_record.h"
#include "host/host_cgroup.h"
#include "host/run_dir.h"
#include "tests/io/fake_site.h"

struct trial {
    struct run_fixture fixture;
    struct fake_site site;
    pid_t host;
    bool without_cgroups;
};

static char host_program[4096];

static const char *path_of(const struct trial *trial, const char *name)
{
    return run_fixture_path(&trial->fixture, "%s", name);
}

/* ---- the daemon */

static _Noreturn void become_host(const struct trial *trial)
{
    char spool[2 * RUN_FIXTURE_PATH];
    int log = open(path_of(trial, "log"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    snprintf(spool, sizeof(spool), "%s/spool", trial->fixture.dir);
    dup2(log, STDERR_FILENO);
    execl(host_program, "sublet-host", "-n", "n1", "--site", trial->site.endpoint,
          "--spool", spool, trial->without_cgroups ? "--no-cgroups" : (char *)NULL,
          (char *)NULL);
    _exit(99);
}

static pid_t spawn_host(const struct trial *trial)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        become_host(trial);
    }
    return pid;
}

static void start_host(struct trial *trial)
{
    fake_site_forget_all(&trial->site);
    trial->host = spawn_host(trial);
    if (!fake_site_wait(&trial->site, trial->site.n_synced > 0)) {
        char *log = run_fixture_read(path_of(trial, "log"));
        fail_msg("no SYNCED after %d HELLOs; its log:\n%s", trial->site.n_hellos, log);
    }
}

static int end_host(struct trial *trial, int signal_number)
{
    int status = 0;
    kill(trial->host, signal_number);
    assert_int_equal(waitpid(trial->host, &status, 0), trial->host);
    trial->host = 0;
    return status;
}

static int begin(void **state)
{
    struct trial *trial = calloc(1, sizeof(*trial));
    run_fixture_init(&trial->fixture);
    fake_site_init(&trial->site, &trial->fixture);
    *state = trial;
    start_host(trial);
    return 0;
}

static int begin_without_cgroups(void **state)
{
    struct trial *trial = calloc(1, sizeof(*trial));
    trial->without_cgroups = true;
    run_fixture_init(&trial->fixture);
    fake_site_init(&trial->site, &trial->fixture);
    *state = trial;
    start_host(trial);
    return 0;
}

static bool read_record(const struct trial *trial, uint64_t attempt,
                        struct guard_record *record)
{
    struct err err;
    int dir =
        open(run_fixture_path(&trial->fixture, "spool/runs/north.%d", (int)attempt),
             O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = dir < 0 ? ERR_NOT_FOUND : guard_record_read(dir, record, &err);
    if (dir >= 0) {
        close(dir);
    }
    return code == 0;
}

static pid_t guard_of(const struct trial *trial, uint64_t attempt)
{
    struct guard_record record;
    assert_true(read_record(trial, attempt, &record));
    return (pid_t)record.guard_pid;
}

static void kill_guards(struct trial *trial)
{
    for (int i = 0; i < trial->site.n_runs; i++) {
        struct guard_record record;
        if (read_record(trial, trial->site.runs[i].attempt, &record) &&
            record.phase != RUN_ENDED && record.guard_pid > 0) {
            kill((pid_t)record.guard_pid, SIGKILL);
        }
    }
}

static int finish(void **state)
{
    struct trial *trial = *state;
    kill_guards(trial);
    if (trial->host > 0) {
        end_host(trial, SIGKILL);
    }
    fake_site_release(&trial->site);
    run_fixture_release(&trial->fixture);
    free(trial);
    return 0;
}

/* ---- runs */

static void start_run(struct trial *trial, uint64_t attempt, const char *command)
{
    struct msg_run_start start = run_fixture_start(&trial->fixture, attempt, command);
    start.spec.cwd = trial->fixture.dir;
    fake_site_start(&trial->site, &start);
}

static void wait_phase(struct trial *trial, uint64_t attempt, enum run_phase phase)
{
    if (!fake_site_wait(&trial->site,
                        fake_site_phase(&trial->site, attempt) == phase)) {
        fail_msg("attempt %d is in phase %d, expected %d", (int)attempt,
                 (int)fake_site_phase(&trial->site, attempt), (int)phase);
    }
}

/* A short one may have ended by the time it is heard of. */
static void wait_begun(struct trial *trial, uint64_t attempt)
{
    assert_true(fake_site_wait(&trial->site,
                               fake_site_phase(&trial->site, attempt) >= RUN_RUNNING));
}

static void begin_run(struct trial *trial, uint64_t attempt, const char *command)
{
    start_run(trial, attempt, command);
    wait_phase(trial, attempt, RUN_WAITING);
    fake_site_go(&trial->site, attempt,
                 fake_site_run(&trial->site, attempt)->state.token);
    wait_begun(trial, attempt);
}

static bool has_run_directory(const struct trial *trial, uint64_t attempt)
{
    return run_fixture_exists(
        run_fixture_path(&trial->fixture, "spool/runs/north.%d", (int)attempt));
}

static void touch(const struct trial *trial, const char *name)
{
    close(open(path_of(trial, name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

/* Waits for a file, so that a test decides when it goes on. */
static const char until_told[] = "until [ -e on ]; do sleep 0.02; done; exit 4";
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

static const struct run_exit *exit_of(struct trial *trial, uint64_t attempt)
{
    return &fake_site_run(&trial->site, attempt)->state.exit;
}

/* ---- a life */

static void test_hello(void **state)
{
    struct trial *trial = *state;
    char *boot_id = run_fixture_read("/proc/sys/kernel/random/boot_id");
    boot_id[strcspn(boot_id, "\n")] = '\0';
    assert_string_equal(trial->site.name, "n1");
    assert_string_equal(trial->site.boot_id, boot_id);
    assert_in_range(trial->site.n_cpus, 1, 100000);
    assert_int_equal(trial->site.n_runs, 0);
    free(boot_id);
    char *log = run_fixture_read(path_of(trial, "log"));
    assert_true(strncmp(log, "ready\n", 6) == 0 || strstr(log, "\nready\n") != NULL);
    free(log);
}

static void test_run_to_end(void **state)
{
    struct trial *trial = *state;
    begin_run(trial, 1, "echo out; echo err >&2; exit 7");
    wait_phase(trial, 1, RUN_ENDED);
    const struct run_exit *exit = exit_of(trial, 1);
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
    assert_true(fake_site_wait(&trial->site, !has_run_directory(trial, 1)));
    fake_site_go(&trial->site, 1, 1);
    wait_phase(trial, 1, RUN_UNKNOWN);
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
    struct trial *trial = *state;
    struct msg_run_start start = run_fixture_start(
        &trial->fixture, 1, "mkdir -p a/b/c; echo x >a/b/x; echo y >y; pwd");
    fake_site_start(&trial->site, &start);
    wait_phase(trial, 1, RUN_WAITING);
    fake_site_go(&trial->site, 1, fake_site_run(&trial->site, 1)->state.token);
    wait_phase(trial, 1, RUN_ENDED);
    assert_true(run_fixture_exists(path_of(trial, "spool/runs/north.1/work/a/b/x")));
    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !has_run_directory(trial, 1)));
    assert_true(run_fixture_wait(is_empty(path_of(trial, "spool/trash"))));
}

/* ---- without a go */

static void test_no_go(void **state)
{
    struct trial *trial = *state;
    start_run(trial, 1, "touch ran");
    wait_phase(trial, 1, RUN_WAITING);
    uint64_t token = fake_site_run(&trial->site, 1)->state.token;
    int n_states = fake_site_run(&trial->site, 1)->n_states;
    fake_site_go(&trial->site, 1, token ^ 4); /* not its own */
    assert_true(fake_site_wait(&trial->site,
                               fake_site_run(&trial->site, 1)->n_states > n_states));
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_WAITING);
    /* Its host is killed: it waits on, and can be given the go later. */
    end_host(trial, SIGKILL);
    start_host(trial);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_WAITING);
    assert_true(fake_site_run(&trial->site, 1)->state.token == token);
    /* Given up: the guard ends, the directory goes. */
    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !has_run_directory(trial, 1)));
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    assert_false(run_fixture_exists(path_of(trial, "ran")));
}

static void test_waiting_guard_killed(void **state)
{
    struct trial *trial = *state;
    start_run(trial, 1, "touch ran");
    start_run(trial, 2, "touch ran");
    wait_phase(trial, 1, RUN_WAITING);
    wait_phase(trial, 2, RUN_WAITING);
    kill(guard_of(trial, 1), SIGKILL);
    wait_phase(trial, 1, RUN_UNKNOWN);
    assert_false(has_run_directory(trial, 1));
    /* And while no agent is there: it is not listed. */
    end_host(trial, SIGKILL);
    kill(guard_of(trial, 2), SIGKILL);
    start_host(trial);
    assert_int_equal(fake_site_run(&trial->site, 2)->n_states, 0);
    assert_false(has_run_directory(trial, 2));
    assert_false(run_fixture_exists(path_of(trial, "ran")));
}

static void test_start_twice(void **state)
{
    struct trial *trial = *state;
    start_run(trial, 1, "echo once >>log-of-job; until [ -e on ]; do sleep 0.02; done");
    start_run(trial, 1, "echo twice >>log-of-job");
    wait_phase(trial, 1, RUN_WAITING);
    uint64_t token = fake_site_run(&trial->site, 1)->state.token;
    start_run(trial, 1, "echo thrice >>log-of-job");
    fake_site_go(&trial->site, 1, token);
    wait_phase(trial, 1, RUN_RUNNING);
    fake_site_go(&trial->site, 1, token);
    start_run(trial, 1, "echo again >>log-of-job");
    touch(trial, "on");
    wait_phase(trial, 1, RUN_ENDED);
    start_run(trial, 1, "echo after >>log-of-job");
    fake_site_go(&trial->site, 1, token);
    assert_true(
        fake_site_wait(&trial->site, fake_site_run(&trial->site, 1)->n_ends >= 3));
    char *text = run_fixture_read(path_of(trial, "log-of-job"));
    assert_string_equal(text, "once\n");
    free(text);
}

static void test_cannot_start(void **state)
{
    struct trial *trial = *state;
    struct msg_run_start start = run_fixture_start(&trial->fixture, 1, "true");
    start.account = "no-such-account";
    fake_site_start(&trial->site, &start);
    wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(exit_of(trial, 1)->end, RUN_END_FAILED);
    assert_string_equal(exit_of(trial, 1)->text,
                        "no account \"no-such-account\" on this host");
    /* Nor where its directory cannot be made. */
    char runs[2 * RUN_FIXTURE_PATH];
    snprintf(runs, sizeof(runs), "%s", path_of(trial, "spool/runs"));
    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !has_run_directory(trial, 1)));
    assert_int_equal(rmdir(runs), 0);
    start_run(trial, 2, "true");
    wait_phase(trial, 2, RUN_ENDED);
    assert_int_equal(exit_of(trial, 2)->end, RUN_END_FAILED);
    assert_non_null(strstr(exit_of(trial, 2)->text, "cannot make the run's directory"));
    int n_states = fake_site_run(&trial->site, 2)->n_states;
    start_run(trial, 2, "true"); /* as it is */
    assert_true(fake_site_wait(&trial->site,
                               fake_site_run(&trial->site, 2)->n_states > n_states));
    assert_int_equal(exit_of(trial, 2)->end, RUN_END_FAILED);
}

/* ---- killed and found again */

static void test_found_again(void **state)
{
    struct trial *trial = *state;
    begin_run(trial, 1, until_told);
    uint64_t token = fake_site_run(&trial->site, 1)->state.token;
    int64_t start_ms = fake_site_run(&trial->site, 1)->state.start_ms;
    assert_true(run_fixture_wait(run_fixture_count(&trial->fixture) > 0));
    end_host(trial, SIGKILL);
    assert_true(run_fixture_count(&trial->fixture) > 0);
    start_host(trial);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_RUNNING);
    assert_true(fake_site_run(&trial->site, 1)->state.token == token);
    assert_true(fake_site_run(&trial->site, 1)->state.start_ms == start_ms);
    touch(trial, "on");
    wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(exit_of(trial, 1)->end, RUN_END_EXITED);
    assert_int_equal(exit_of(trial, 1)->code, 4);
}

static void test_end_while_away(void **state)
{
    struct trial *trial = *state;
    struct guard_record record;
    begin_run(trial, 1, until_told);
    assert_true(run_fixture_wait(run_fixture_count(&trial->fixture) > 0));
    int status = end_host(trial, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(run_fixture_count(&trial->fixture) > 0); /* jobs live on */
    touch(trial, "on");
    assert_true(
        run_fixture_wait(read_record(trial, 1, &record) && record.phase == RUN_ENDED));
    start_host(trial);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_ENDED);
    assert_int_equal(exit_of(trial, 1)->end, RUN_END_EXITED);
    assert_int_equal(exit_of(trial, 1)->code, 4);
}

static void test_guard_killed(void **state)
{
    struct trial *trial = *state;
    begin_run(trial, 1, family);
    assert_true(run_fixture_wait(is_family_complete(&trial->fixture)));
    kill(guard_of(trial, 1), SIGKILL);
    wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(exit_of(trial, 1)->end, RUN_END_LOST);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_guard_killed_while_away(void **state)
{
    struct trial *trial = *state;
    begin_run(trial, 1, family);
    assert_true(run_fixture_wait(is_family_complete(&trial->fixture)));
    end_host(trial, SIGKILL);
    kill(guard_of(trial, 1), SIGKILL);
    assert_int_equal(run_fixture_count(&trial->fixture), FAMILY);
    start_host(trial); /* SYNCED comes after the burial */
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_ENDED);
    assert_int_equal(exit_of(trial, 1)->end, RUN_END_LOST);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_earlier_boot(void **state)
{
    struct trial *trial = *state;
    static const struct {
        uint64_t attempt;
        struct guard_record record;
        enum run_end end;
        const char *why;
    } rows[] = {
        {1, {.phase = RUN_RUNNING, .start_ms = 5, .mark = 1}, RUN_END_LOST, "ran"},
        {2,
         {.phase = RUN_WAITING, .mark = 1},
         RUN_END_LOST,
         "waited, as far as the disk got to know"},
        {3,
         {.phase = RUN_ENDED, .end = RUN_END_EXITED, .code = 3},
         RUN_END_EXITED,
         "had ended"},
    };
    end_host(trial, SIGTERM);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct guard_record record = rows[i].record;
        struct err err;
        snprintf(record.boot_id, sizeof(record.boot_id), "of-an-earlier-boot");
        const char *path = run_fixture_path(&trial->fixture, "spool/runs/north.%d",
                                            (int)rows[i].attempt);
        assert_int_equal(mkdir(path, 0711), 0);
        int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_int_equal(guard_record_write(dir, &record, &err), 0);
        close(dir);
    }
    /* One whose record is damaged may have begun; one without never did. */
    assert_int_equal(mkdir(path_of(trial, "spool/runs/north.4"), 0711), 0);
    touch(trial, "spool/runs/north.4/state");
    assert_int_equal(mkdir(path_of(trial, "spool/runs/north.5"), 0711), 0);
    assert_int_equal(mkdir(path_of(trial, "spool/runs/rubbish"), 0711), 0);
    start_host(trial);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (exit_of(trial, rows[i].attempt)->end != rows[i].end) {
            fail_msg("%s: end %d", rows[i].why,
                     (int)exit_of(trial, rows[i].attempt)->end);
        }
    }
    assert_int_equal(exit_of(trial, 3)->code, 3);
    assert_int_equal(exit_of(trial, 4)->end, RUN_END_LOST);
    assert_int_equal(fake_site_run(&trial->site, 5)->n_states, 0);
    assert_false(has_run_directory(trial, 5));
    assert_true(run_fixture_exists(path_of(trial, "spool/runs/rubbish")));
}

/* ---- orders */

static void test_suspend(void **state)
{
    struct trial *trial = *state;
    begin_run(trial, 1, family);
    assert_true(run_fixture_wait(is_family_complete(&trial->fixture)));
    fake_site_control(&trial->site, 1, 1, CONTROL_SUSPEND);
    wait_phase(trial, 1, RUN_SUSPENDED);
    assert_int_equal(fake_site_run(&trial->site, 1)->state.control_done, 1);
    assert_int_equal(run_fixture_count_still(&trial->fixture), FAMILY);
    /* It stays so whatever becomes of the host, and so does what was carried out. */
    end_host(trial, SIGKILL);
    assert_int_equal(run_fixture_count_still(&trial->fixture), FAMILY);
    start_host(trial);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_SUSPENDED);
    assert_int_equal(fake_site_run(&trial->site, 1)->state.control_done, 1);
    fake_site_control(&trial->site, 1, 2, CONTROL_RESUME);
    wait_phase(trial, 1, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_count_still(&trial->fixture) == 0));
    fake_site_forget(&trial->site, 1); /* not while it runs */
    fake_site_control(&trial->site, 1, INT64_MAX, CONTROL_KILL);
    wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(exit_of(trial, 1)->end, RUN_END_SIGNALLED);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_end_is_told_until_forgotten(void **state)
{
    struct trial *trial = *state;
    begin_run(trial, 1, "true");
    wait_phase(trial, 1, RUN_ENDED);
    int n_ends = fake_site_run(&trial->site, 1)->n_ends;
    assert_true(
        fake_site_wait(&trial->site, fake_site_run(&trial->site, 1)->n_ends > n_ends));
    fake_site_forget(&trial->site, 1);
    assert_true(fake_site_wait(&trial->site, !has_run_directory(trial, 1)));
}

/* ---- sessions */

static void test_other_session(void **state)
{
    struct trial *trial = *state;
    uint64_t session = trial->site.session;
    /* What belongs to another session does nothing: the answer to the next one shows
     * that it was read. */
    trial->site.session = session - 1;
    start_run(trial, 1, "true");
    trial->site.session = session;
    start_run(trial, 2, "true");
    wait_phase(trial, 2, RUN_WAITING);
    assert_int_equal(fake_site_run(&trial->site, 1)->n_states, 0);
    assert_false(has_run_directory(trial, 1));
    /* A site that knows no such session any more is greeted anew, with a higher one. */
    trial->site.session = 0;
    trial->site.n_synced = 0;
    assert_true(fake_site_wait(&trial->site, trial->site.n_synced > 0));
    assert_true(trial->site.session > session);
    assert_int_equal(fake_site_phase(&trial->site, 2), RUN_WAITING);
}

static void test_silent_site(void **state)
{
    struct trial *trial = *state;
    uint64_t session = trial->site.session;
    struct peer before = trial->site.host;
    start_run(trial, 1, "true");
    wait_phase(trial, 1, RUN_WAITING);
    trial->site.is_silent = true;
    assert_true(fake_site_wait(&trial->site, trial->site.session > session));
    assert_true(trial->site.host.link != before.link); /* another connection */
    fake_site_forget_all(&trial->site);
    trial->site.is_silent = false;
    assert_true(fake_site_wait(&trial->site, trial->site.n_synced > 0));
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_WAITING);
}

/* The site comes back on the same address; nothing is lost meanwhile. */
static void test_site_restarts(void **state)
{
    struct trial *trial = *state;
    begin_run(trial, 1, until_told);
    fake_site_release(&trial->site);
    touch(trial, "on");
    struct guard_record record;
    assert_true(
        run_fixture_wait(read_record(trial, 1, &record) && record.phase == RUN_ENDED));
    fake_site_init(&trial->site, &trial->fixture);
    assert_true(fake_site_wait(&trial->site, trial->site.n_synced > 0));
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_ENDED);
    assert_int_equal(exit_of(trial, 1)->code, 4);
}

static void test_second_host(void **state)
{
    struct trial *trial = *state;
    pid_t second = spawn_host(trial);
    int status = 0;
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 75);
    char *log = run_fixture_read(path_of(trial, "log"));
    assert_non_null(strstr(log, "another sublet-host serves"));
    free(log);
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
            execl(host_program, "sublet-host", a[0], a[1], a[2], a[3], a[4], a[5],
                  (char *)NULL);
            _exit(99);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != rows[i].status) {
            fail_msg("%s: status %x", rows[i].why, (unsigned)status);
        }
    }
}

/* Many at once: each begins once and is told once ended. */
static void test_many(void **state)
{
    enum { MANY = 150 };
    struct trial *trial = *state;
    for (uint64_t i = 1; i <= MANY; i++) {
        char command[64];
        snprintf(command, sizeof(command), "echo x >>many.%d; exit %d", (int)i,
                 (int)i % 7);
        start_run(trial, i, command);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        wait_phase(trial, i, RUN_WAITING);
        fake_site_go(&trial->site, i, fake_site_run(&trial->site, i)->state.token);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        wait_phase(trial, i, RUN_ENDED);
        assert_int_equal(exit_of(trial, i)->end, RUN_END_EXITED);
        assert_int_equal(exit_of(trial, i)->code, i % 7);
        char *text =
            run_fixture_read(run_fixture_path(&trial->fixture, "many.%d", (int)i));
        assert_string_equal(text, "x\n");
        free(text);
        fake_site_forget(&trial->site, i);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        assert_true(fake_site_wait(&trial->site, !has_run_directory(trial, i)));
    }
}

/* ---- the nursery that forks the guards */

/* The child of `host` that was started with --nursery; 0: none. */
static pid_t find_nursery(pid_t host)
{
    struct dirent **entries = NULL;
    pid_t found = 0;
    int count = scandir("/proc", &entries, NULL, NULL);
    for (int i = 0; i < count; i++) {
        pid_t pid = (pid_t)strtol(entries[i]->d_name, NULL, 10);
        char path[64], line[4096] = "";
        int parent = 0;
        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        FILE *file = pid > 0 ? fopen(path, "re") : NULL;
        if (file != NULL) {
            bool is_read = fgets(line, sizeof(line), file) != NULL;
            const char *behind = is_read ? strrchr(line, ')') : NULL;
            fclose(file);
            if (behind != NULL && sscanf(behind, ") %*c %d", &parent) == 1 &&
                parent == (int)host && strstr(line, "(sublet-guard)") != NULL) {
                found = pid;
            }
        }
        free(entries[i]);
    }
    free(entries);
    return found;
}

/* Guards outlive it, what it had not begun is begun by another, and nothing twice. */
static void test_nursery_killed(void **state)
{
    enum { FIRST = 2, LAST = 9 };
    struct trial *trial = *state;
    begin_run(trial, 1, until_told);
    pid_t nursery = find_nursery(trial->host);
    assert_true(nursery > 0);
    kill(nursery, SIGSTOP);
    for (uint64_t i = FIRST; i <= LAST; i++) {
        char command[64];
        snprintf(command, sizeof(command), "echo x >>nursed.%d", (int)i);
        start_run(trial, i, command);
    }
    assert_true(fake_site_wait(&trial->site, has_run_directory(trial, LAST)));
    kill(nursery, SIGKILL);
    for (uint64_t i = FIRST; i <= LAST; i++) {
        wait_phase(trial, i, RUN_WAITING);
        fake_site_go(&trial->site, i, fake_site_run(&trial->site, i)->state.token);
    }
    for (uint64_t i = FIRST; i <= LAST; i++) {
        wait_phase(trial, i, RUN_ENDED);
        assert_int_equal(exit_of(trial, i)->end, RUN_END_EXITED);
        char *text =
            run_fixture_read(run_fixture_path(&trial->fixture, "nursed.%d", (int)i));
        assert_string_equal(text, "x\n");
        free(text);
    }
    assert_true(run_fixture_wait(find_nursery(trial->host) > 0));
    assert_true(find_nursery(trial->host) != nursery);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_RUNNING);
    touch(trial, "on");
    wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(exit_of(trial, 1)->code, 4);
}

int main(void)
{
#define TRIAL(name) cmocka_unit_test_setup_teardown(name, begin, finish)
#define TRIAL_WITHOUT(name)                                                            \
    cmocka_unit_test_setup_teardown(name, begin_without_cgroups, finish)
    const struct CMUnitTest tests[] = {
        TRIAL(test_hello),
        TRIAL(test_run_to_end),
        TRIAL(test_forget_what_was_left),
        TRIAL(test_no_go),
        TRIAL(test_waiting_guard_killed),
        TRIAL(test_start_twice),
        TRIAL(test_cannot_start),
        TRIAL(test_found_again),
        TRIAL(test_end_while_away),
        TRIAL(test_guard_killed),
        TRIAL_WITHOUT(test_guard_killed),
        TRIAL(test_guard_killed_while_away),
        TRIAL_WITHOUT(test_guard_killed_while_away),
        TRIAL(test_earlier_boot),
        TRIAL(test_suspend),
        TRIAL_WITHOUT(test_suspend),
        TRIAL(test_end_is_told_until_forgotten),
        TRIAL(test_other_session),
        TRIAL(test_silent_site),
        TRIAL(test_site_restarts),
        TRIAL(test_second_host),
        cmocka_unit_test(test_usage),
        TRIAL(test_many),
        TRIAL(test_nursery_killed),
    };
    run_fixture_program("sublet-host", host_program, sizeof(host_program));
    if (access(host_program, X_OK) != 0) {
        fprintf(stderr, "no %s: is it built, is SUBLET_BIN set?\n", host_program);
        return 1;
    }
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    zsys_shutdown();
    return n_failed;
}
