/* SPDX-License-Identifier: Apache-2.0 */
/* guard_trial.c: see guard_trial.h. */
#include "tests/io/guard_trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/agent/guard_client.h"

enum { WAIT_MS = 60000 };

static char program[4096];

bool guard_trial_find_program(void)
{
    run_fixture_program("sublet-guard", program, sizeof(program));
    if (access(program, X_OK) != 0) {
        fprintf(stderr, "no %s: is it built, is SUBLET_BIN set?\n", program);
        return false;
    }
    return true;
}

const char *guard_trial_program(void)
{
    return program;
}

int guard_trial_begin(void **state)
{
    struct guard_trial *trial = calloc(1, sizeof(*trial));
    run_fixture_init(&trial->fixture);
    cgroup_root_find("/proc/self", &trial->cgroup);
    trial->setting = (struct spec_writer_setting){.cgroup = trial->cgroup.path,
                                                  .memory = trial->cgroup.memory,
                                                  .spool = "/spool",
                                                  .wait_ms = WAIT_MS,
                                                  .grace_ms = GUARD_TRIAL_GRACE_MS};
    trial->link = -1;
    *state = trial;
    return 0;
}

int guard_trial_begin_without_cgroup(void **state)
{
    guard_trial_begin(state);
    struct guard_trial *trial = *state;
    trial->setting.cgroup = trial->setting.memory = "";
    return 0;
}

int guard_trial_finish(void **state)
{
    struct guard_trial *trial = *state;
    if (trial->record.guard_pid > 0 && trial->record.phase != RUN_ENDED) {
        kill((pid_t)trial->record.guard_pid, SIGKILL);
    }
    run_fixture_release(&trial->fixture);
    if (trial->link >= 0) {
        close(trial->link);
    }
    free(trial);
    guard_client_reap();
    return 0;
}

void guard_trial_need_cgroup(const struct guard_trial *trial)
{
    if (trial->cgroup.path[0] == '\0') {
        print_message("no writable cgroup here: this half is left out\n");
        skip();
    }
}

void guard_trial_need_memory(const struct guard_trial *trial)
{
    if (!trial->cgroup.has_memory && trial->cgroup.memory[0] == '\0') {
        print_message("no memory controller here: this half is left out\n");
        skip();
    }
}

/* ---- starting, telling, hearing */

const char *guard_trial_path(const struct guard_trial *trial, const char *part)
{
    return run_fixture_path(&trial->fixture, "north.1%s", part);
}

void guard_trial_spawn(struct guard_trial *trial, const char *option)
{
    struct err err;
    if (trial->link >= 0) {
        close(trial->link);
    }
    assert_int_equal(guard_client_spawn(program, option, guard_trial_path(trial, ""),
                                        &trial->link, &err),
                     0);
}

void guard_trial_start(struct guard_trial *trial, const struct msg_run_start *start)
{
    struct err err = {0};
    assert_int_equal(mkdir(guard_trial_path(trial, ""), 0711), 0);
    int dir = open(guard_trial_path(trial, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(spec_writer_write(dir, "north.1", start, &trial->setting, &err),
                     0);
    close(dir);
    guard_trial_spawn(trial, NULL);
}

/* Receives a record; false at the end of the connection. */
bool guard_trial_receive(struct guard_trial *trial)
{
    for (;;) {
        struct pollfd polls = {.fd = trial->link, .events = POLLIN};
        assert_int_equal(poll(&polls, 1, RUN_FIXTURE_PATIENCE_MS), 1);
        switch (guard_client_receive(trial->link, &trial->record)) {
        case GUARD_CLIENT_RECORD:
            return true;
        case GUARD_CLIENT_GONE:
            return false;
        case GUARD_CLIENT_NOTHING:
            break;
        }
    }
}

void guard_trial_receive_until(struct guard_trial *trial, enum run_phase phase)
{
    do {
        assert_true(guard_trial_receive(trial));
    } while (trial->record.phase != phase);
}

void guard_trial_receive_nothing(struct guard_trial *trial)
{
    while (guard_trial_receive(trial)) {
    }
}

void guard_trial_send(struct guard_trial *trial, struct guard_request order)
{
    assert_true(guard_client_send(trial->link, &order));
}

void guard_trial_go(struct guard_trial *trial)
{
    guard_trial_receive_until(trial, RUN_WAITING);
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_GO,
                                                   .token = trial->record.token});
}

void guard_trial_control(struct guard_trial *trial, uint64_t number,
                         enum control_action action, int signal)
{
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_CONTROL,
                                                   .action = action,
                                                   .signal = signal,
                                                   .number = number});
}

/* Starts a run, sends the GO, and receives records until the end. */
void guard_trial_run_to_end(struct guard_trial *trial,
                            const struct msg_run_start *start)
{
    guard_trial_start(trial, start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_ENDED);
}

struct msg_run_start guard_trial_job(const struct guard_trial *trial,
                                     const char *command)
{
    return run_fixture_start(&trial->fixture, 1, command);
}

void guard_trial_assert_text(const char *path, const char *expected)
{
    char *text = run_fixture_read(path);
    assert_string_equal(text, expected);
    free(text);
}

/* The record on disk is the one that was received. */
void guard_trial_assert_recorded(const struct guard_trial *trial)
{
    struct guard_record record;
    struct err err;
    int dir = open(guard_trial_path(trial, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(record_file_read(dir, &record, &err), 0);
    close(dir);
    assert_int_equal(record.phase, trial->record.phase);
    assert_int_equal(record.end, trial->record.end);
    assert_int_equal(record.code, trial->record.code);
    assert_string_equal(record.text, trial->record.text);
}

void guard_trial_start_family(struct guard_trial *trial)
{
    struct msg_run_start start = guard_trial_job(trial, RUN_FIXTURE_FAMILY_COMMAND);
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    assert_true(run_fixture_wait(run_fixture_is_family(&trial->fixture)));
}
