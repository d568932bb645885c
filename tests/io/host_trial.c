/* SPDX-License-Identifier: Apache-2.0 */
/* host_trial.c: see host_trial.h. */
#include "tests/io/host_trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/run_dir/run_dir.h"

static char program[4096];

bool host_trial_find_program(void)
{
    run_fixture_program("sublet-host", program, sizeof(program));
    if (access(program, X_OK) != 0) {
        fprintf(stderr, "no %s: is it built, is SUBLET_BIN set?\n", program);
        return false;
    }
    return true;
}

const char *host_trial_program(void)
{
    return program;
}

/* ---- the daemon */

static _Noreturn void become_host(const struct host_trial *trial)
{
    char spool[2 * RUN_FIXTURE_PATH];
    int log = open(host_trial_path(trial, "log"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    snprintf(spool, sizeof(spool), "%s/spool", trial->fixture.dir);
    dup2(log, STDERR_FILENO);
    execl(program, "sublet-host", "-n", "n1", "--site", trial->site.endpoint, "--spool",
          spool, trial->without_cgroups ? "--no-cgroups" : (char *)NULL, (char *)NULL);
    _exit(99);
}

pid_t host_trial_spawn(const struct host_trial *trial)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        become_host(trial);
    }
    return pid;
}

void host_trial_start_host(struct host_trial *trial)
{
    fake_site_forget_all(&trial->site);
    trial->host = host_trial_spawn(trial);
    if (!fake_site_wait(&trial->site, trial->site.n_synced > 0)) {
        char *log = run_fixture_read(host_trial_path(trial, "log"));
        fail_msg("no SYNCED after %d HELLOs; its log:\n%s", trial->site.n_hellos, log);
    }
}

int host_trial_end_host(struct host_trial *trial, int signal_number)
{
    int status = 0;
    kill(trial->host, signal_number);
    assert_int_equal(waitpid(trial->host, &status, 0), trial->host);
    trial->host = 0;
    return status;
}

static int begin(void **state, bool without_cgroups)
{
    struct host_trial *trial = calloc(1, sizeof(*trial));
    trial->without_cgroups = without_cgroups;
    run_fixture_init(&trial->fixture);
    fake_site_init(&trial->site, &trial->fixture);
    *state = trial;
    host_trial_start_host(trial);
    return 0;
}

int host_trial_begin(void **state)
{
    return begin(state, false);
}

int host_trial_begin_without_cgroups(void **state)
{
    return begin(state, true);
}

static void kill_guards(struct host_trial *trial)
{
    for (int i = 0; i < trial->site.n_runs; i++) {
        struct guard_record record;
        if (host_trial_read_record(trial, trial->site.runs[i].attempt, &record) &&
            record.phase != RUN_ENDED && record.guard_pid > 0) {
            kill((pid_t)record.guard_pid, SIGKILL);
        }
    }
}

int host_trial_finish(void **state)
{
    struct host_trial *trial = *state;
    kill_guards(trial);
    if (trial->host > 0) {
        host_trial_end_host(trial, SIGKILL);
    }
    fake_site_release(&trial->site);
    run_fixture_release(&trial->fixture);
    free(trial);
    return 0;
}

/* ---- runs */

void host_trial_start_run(struct host_trial *trial, uint64_t attempt,
                          const char *command)
{
    struct msg_run_start start = run_fixture_start(&trial->fixture, attempt, command);
    start.spec.cwd = trial->fixture.dir;
    fake_site_start(&trial->site, &start);
}

void host_trial_begin_run(struct host_trial *trial, uint64_t attempt,
                          const char *command)
{
    host_trial_start_run(trial, attempt, command);
    host_trial_wait_phase(trial, attempt, RUN_WAITING);
    fake_site_go(&trial->site, attempt,
                 fake_site_run(&trial->site, attempt)->state.token);
    assert_true(fake_site_wait(&trial->site,
                               fake_site_phase(&trial->site, attempt) >= RUN_RUNNING));
}

void host_trial_wait_phase(struct host_trial *trial, uint64_t attempt,
                           enum run_phase phase)
{
    if (!fake_site_wait(&trial->site,
                        fake_site_phase(&trial->site, attempt) == phase)) {
        fail_msg("attempt %d is in phase %d, expected %d", (int)attempt,
                 (int)fake_site_phase(&trial->site, attempt), (int)phase);
    }
}

const struct run_exit *host_trial_exit(struct host_trial *trial, uint64_t attempt)
{
    return &fake_site_run(&trial->site, attempt)->state.exit;
}

/* ---- files */

const char *host_trial_path(const struct host_trial *trial, const char *name)
{
    return run_fixture_path(&trial->fixture, "%s", name);
}

void host_trial_touch(const struct host_trial *trial, const char *name)
{
    close(open(host_trial_path(trial, name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

bool host_trial_has_run(const struct host_trial *trial, uint64_t attempt)
{
    return run_fixture_exists(
        run_fixture_path(&trial->fixture, "spool/runs/north.%d", (int)attempt));
}

bool host_trial_read_record(const struct host_trial *trial, uint64_t attempt,
                            struct guard_record *record)
{
    struct err err;
    int dir =
        open(run_fixture_path(&trial->fixture, "spool/runs/north.%d", (int)attempt),
             O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = dir < 0 ? ERR_NOT_FOUND : record_file_read(dir, record, &err);
    if (dir >= 0) {
        close(dir);
    }
    return code == 0;
}

pid_t host_trial_guard(const struct host_trial *trial, uint64_t attempt)
{
    struct guard_record record;
    assert_true(host_trial_read_record(trial, attempt, &record));
    return (pid_t)record.guard_pid;
}
