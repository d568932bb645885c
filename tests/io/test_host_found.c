/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_found.c: what a sublet-host finds again after kill -9 of anything: itself,
 * a guard, the forkserver that forks guards, the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/agent/start_file.h"
#include "host/exec/exec.h"
#include "host/run_dir/run_dir.h"
#include "tests/io/host_trial.h"

/* ---- killed and found again */

static void test_found_again(void **state)
{
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, HOST_TRIAL_UNTIL_TOLD);
    uint64_t token = fake_site_run(&trial->site, 1)->state.token;
    int64_t start_ms = fake_site_run(&trial->site, 1)->state.start_ms;
    assert_true(run_fixture_wait(run_fixture_count(&trial->fixture) > 0));
    host_trial_end_host(trial, SIGKILL);
    assert_true(run_fixture_count(&trial->fixture) > 0);
    host_trial_start_host(trial);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_RUNNING);
    assert_true(fake_site_run(&trial->site, 1)->state.token == token);
    assert_true(fake_site_run(&trial->site, 1)->state.start_ms == start_ms);
    host_trial_touch(trial, "on");
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->end, RUN_END_EXITED);
    assert_int_equal(host_trial_exit(trial, 1)->code, 4);
}

static void test_end_while_away(void **state)
{
    struct host_trial *trial = *state;
    struct guard_record record;
    host_trial_begin_run(trial, 1, HOST_TRIAL_UNTIL_TOLD);
    assert_true(run_fixture_wait(run_fixture_count(&trial->fixture) > 0));
    int status = host_trial_end_host(trial, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(run_fixture_count(&trial->fixture) > 0); /* jobs live on */
    host_trial_touch(trial, "on");
    assert_true(run_fixture_wait(host_trial_read_record(trial, 1, &record) &&
                                 record.phase == RUN_ENDED));
    host_trial_start_host(trial);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->end, RUN_END_EXITED);
    assert_int_equal(host_trial_exit(trial, 1)->code, 4);
}

static void test_guard_killed(void **state)
{
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, RUN_FIXTURE_FAMILY_COMMAND);
    assert_true(run_fixture_wait(run_fixture_is_family(&trial->fixture)));
    kill(host_trial_guard(trial, 1), SIGKILL);
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->end, RUN_END_LOST);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_guard_killed_while_away(void **state)
{
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, RUN_FIXTURE_FAMILY_COMMAND);
    assert_true(run_fixture_wait(run_fixture_is_family(&trial->fixture)));
    host_trial_end_host(trial, SIGKILL);
    kill(host_trial_guard(trial, 1), SIGKILL);
    assert_int_equal(run_fixture_count(&trial->fixture), RUN_FIXTURE_FAMILY);
    host_trial_start_host(trial); /* SYNCED comes after the reaping */
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->end, RUN_END_LOST);
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
}

static void test_earlier_boot(void **state)
{
    struct host_trial *trial = *state;
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
    host_trial_end_host(trial, SIGTERM);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct guard_record record = rows[i].record;
        struct err err;
        snprintf(record.boot_id, sizeof(record.boot_id), "of-an-earlier-boot");
        const char *path = run_fixture_path(&trial->fixture, "spool/runs/north.%d",
                                            (int)rows[i].attempt);
        assert_int_equal(mkdir(path, 0711), 0);
        int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_int_equal(record_file_write(dir, &record, &err), 0);
        close(dir);
    }
    /* One whose record is damaged may have begun; one without never did. */
    assert_int_equal(mkdir(host_trial_path(trial, "spool/runs/north.4"), 0711), 0);
    host_trial_touch(trial, "spool/runs/north.4/state");
    assert_int_equal(mkdir(host_trial_path(trial, "spool/runs/north.5"), 0711), 0);
    assert_int_equal(mkdir(host_trial_path(trial, "spool/runs/rubbish"), 0711), 0);
    host_trial_start_host(trial);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (host_trial_exit(trial, rows[i].attempt)->end != rows[i].end) {
            fail_msg("%s: end %d", rows[i].why,
                     (int)host_trial_exit(trial, rows[i].attempt)->end);
        }
    }
    assert_int_equal(host_trial_exit(trial, 3)->code, 3);
    assert_int_equal(host_trial_exit(trial, 4)->end, RUN_END_LOST);
    assert_int_equal(fake_site_run(&trial->site, 5)->n_states, 0);
    assert_false(host_trial_has_run(trial, 5));
    assert_true(run_fixture_exists(host_trial_path(trial, "spool/runs/rubbish")));
}

/* ---- the forkserver that forks the guards */

/* The child of `host` that was started with --forkserver; 0: none. */
static pid_t find_forkserver(pid_t host)
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
static void test_forkserver_killed(void **state)
{
    enum { FIRST = 2, LAST = 9 };
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, HOST_TRIAL_UNTIL_TOLD);
    pid_t forkserver = find_forkserver(trial->host);
    assert_true(forkserver > 0);
    kill(forkserver, SIGSTOP);
    for (uint64_t i = FIRST; i <= LAST; i++) {
        char command[64];
        snprintf(command, sizeof(command), "echo x >>nursed.%d", (int)i);
        host_trial_start_run(trial, i, command);
    }
    assert_true(fake_site_wait(&trial->site, host_trial_has_run(trial, LAST)));
    kill(forkserver, SIGKILL);
    for (uint64_t i = FIRST; i <= LAST; i++) {
        host_trial_wait_phase(trial, i, RUN_WAITING);
        fake_site_go(&trial->site, i, fake_site_run(&trial->site, i)->state.token);
    }
    for (uint64_t i = FIRST; i <= LAST; i++) {
        host_trial_wait_phase(trial, i, RUN_ENDED);
        assert_int_equal(host_trial_exit(trial, i)->end, RUN_END_EXITED);
        char *text =
            run_fixture_read(run_fixture_path(&trial->fixture, "nursed.%d", (int)i));
        assert_string_equal(text, "x\n");
        free(text);
    }
    assert_true(run_fixture_wait(find_forkserver(trial->host) > 0));
    assert_true(find_forkserver(trial->host) != forkserver);
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_RUNNING);
    host_trial_touch(trial, "on");
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->code, 4);
}

#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, host_trial_begin, host_trial_finish)
#define TRIAL_WITHOUT(name)                                                            \
    cmocka_unit_test_setup_teardown(name, host_trial_begin_without_cgroups,            \
                                    host_trial_finish)

/* ---- what a site with an older journal is told */

enum { OLD = 900, FRESH = 901 };

static void start_as(struct host_trial *trial, uint64_t attempt, uint64_t nonce,
                     const char *lease)
{
    struct msg_run_start start =
        run_fixture_start(&trial->fixture, attempt, HOST_TRIAL_UNTIL_TOLD);
    start.run.nonce = nonce;
    start.lease = lease;
    start.account = lease[0] != '\0' && geteuid() == 0 ? "nobody" : "";
    start.spec.cwd = lease[0] == '\0' ? trial->fixture.dir : "";
    fake_site_start(&trial->site, &start);
}

static void test_another_run_has_the_number(void **state)
{
    struct host_trial *trial = *state;
    start_as(trial, 7, OLD, "");
    host_trial_wait_phase(trial, 7, RUN_WAITING);
    host_trial_end_host(trial, SIGKILL);
    host_trial_start_host(trial); /* it knows the nonce from the run's directory */
    assert_int_equal(fake_site_run(&trial->site, 7)->state.run.nonce, OLD);
    start_as(trial, 7, FRESH, "");
    assert_true(
        fake_site_wait(&trial->site, fake_site_run(&trial->site, 7)->state.is_refused));
    assert_int_equal(fake_site_run(&trial->site, 7)->state.run.nonce, FRESH);
    /* A control of the new run does not reach the old one. */
    struct msg forget = {.kind = MSG_RUN_FORGET, .run.run = {"north", 7, FRESH}};
    fake_site_send(&trial->site, &forget);
    start_as(trial, 7, OLD, "");
    assert_true(fake_site_wait(&trial->site,
                               fake_site_run(&trial->site, 7)->state.run.nonce == OLD));
    assert_int_equal(fake_site_phase(&trial->site, 7), RUN_WAITING);
    assert_true(host_trial_has_run(trial, 7));
}

static void test_own_runs_above_the_mark_are_described(void **state)
{
    struct host_trial *trial = *state;
    start_as(trial, 5, OLD, "");
    start_as(trial, 9, OLD, "");
    start_as(trial, 8, OLD, "north/1/south");
    host_trial_wait_phase(trial, 9, RUN_WAITING);
    host_trial_wait_phase(trial, 8, RUN_WAITING);
    host_trial_end_host(trial, SIGKILL);
    trial->site.lists_runs = true;
    trial->site.known = 5;
    host_trial_start_host(trial);
    assert_int_equal(trial->site.n_found, 1);
    assert_int_equal(trial->site.found_attempt, 9);
    assert_int_equal(trial->site.found_nonce, OLD);
    assert_string_equal(trial->site.found_command, HOST_TRIAL_UNTIL_TOLD);
    /* The mark has the highest attempt and job that were started here for the site. */
    assert_int_equal(trial->site.mark.attempt, 9);
    assert_int_equal(trial->site.mark.job, 12);
}

/* As a sublet-host of an earlier version left its runs: RUN_START in a file of its own,
 * and before that nowhere. */
static void test_runs_of_earlier_versions(void **state)
{
    struct host_trial *trial = *state;
    start_as(trial, 8, OLD, "");
    start_as(trial, 9, OLD, "");
    host_trial_wait_phase(trial, 8, RUN_WAITING);
    host_trial_wait_phase(trial, 9, RUN_WAITING);
    host_trial_end_host(trial, SIGKILL);
    for (int attempt = 8; attempt <= 9; attempt++) {
        struct arena arena;
        struct msg_run_start start;
        struct err err;
        char *bytes;
        size_t length;
        int dir =
            open(run_fixture_path(&trial->fixture, "spool/runs/north.%d", attempt),
                 O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        arena_init(&arena);
        assert_int_equal(start_file_read(dir, &arena, &start, &err), 0);
        assert_int_equal(start.run.attempt, attempt);
        assert_int_equal(run_dir_read_file(dir, "spec", &bytes, &length, &err), 0);
        size_t spec = run_spec_length(bytes, length);
        assert_in_range(spec, 1, length - 1);
        int file = openat(dir, "spec", O_WRONLY | O_CLOEXEC);
        assert_int_equal(ftruncate(file, (off_t)spec), 0);
        close(file);
        free(bytes);
        if (attempt == 8) {
            assert_int_equal(start_file_write(dir, &start, &err), 0);
        } else {
            assert_int_equal(start_file_read(dir, &arena, &start, &err), ERR_NOT_FOUND);
        }
        arena_release(&arena);
        close(dir);
    }
    trial->site.lists_runs = true;
    trial->site.known = 5;
    host_trial_start_host(trial);
    assert_int_equal(trial->site.n_found, 1);
    assert_int_equal(trial->site.found_attempt, 8);
    assert_string_equal(trial->site.found_command, HOST_TRIAL_UNTIL_TOLD);
    host_trial_wait_phase(trial, 8, RUN_WAITING);
    host_trial_wait_phase(trial, 9, RUN_WAITING);
    assert_int_equal(fake_site_run(&trial->site, 8)->state.run.nonce, OLD);
    assert_int_equal(fake_site_run(&trial->site, 9)->state.run.nonce, 0);
}

static void test_a_damaged_mark_is_written_anew(void **state)
{
    struct host_trial *trial = *state;
    start_as(trial, 5, OLD, "");
    host_trial_wait_phase(trial, 5, RUN_WAITING);
    host_trial_end_host(trial, SIGKILL);
    FILE *file = fopen(host_trial_path(trial, "spool/mark"), "w");
    assert_non_null(file);
    fputs("1 99999999999999999999999 x", file);
    fclose(file);
    host_trial_start_host(trial);
    assert_int_equal(trial->site.mark.attempt, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(test_found_again),
        TRIAL(test_end_while_away),
        TRIAL(test_guard_killed),
        TRIAL_WITHOUT(test_guard_killed),
        TRIAL(test_guard_killed_while_away),
        TRIAL_WITHOUT(test_guard_killed_while_away),
        TRIAL(test_earlier_boot),
        TRIAL(test_forkserver_killed),
        TRIAL(test_another_run_has_the_number),
        TRIAL(test_own_runs_above_the_mark_are_described),
        TRIAL(test_runs_of_earlier_versions),
        TRIAL(test_a_damaged_mark_is_written_anew),
    };
    if (!host_trial_find_program()) {
        return 1;
    }
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    zsys_shutdown();
    return n_failed;
}
