/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard_record.c: a run's files: the spec that a guard reads, the record that it
 * writes, also where the disk is full, and how its directory goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/agent/guard_client.h"
#include "host/run_dir/run_dir.h"
#include "tests/io/guard_trial.h"

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
        guard_trial_receive_until(trial, RUN_ENDED);
        if (trial->record.end != RUN_END_FAILED) {
            fail_msg("%s: not refused", rows[i].why);
        }
        guard_trial_receive_nothing(trial);
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
        assert_int_equal(record_file_write(dir, &record, &err), 0);
        assert_int_equal(record_file_read(dir, &again, &err), 0);
        assert_int_equal(again.code, code);
        assert_string_equal(again.text, record.text);
    }
    int file = openat(dir, "state", O_RDWR | O_CLOEXEC);
    for (off_t at = 0; at < 60; at++) { /* the fourth lies first */
        char before;
        assert_int_equal(pread(file, &before, 1, at), 1);
        assert_int_equal(pwrite(file, "\0", 1, at), 1);
        assert_int_equal(record_file_read(dir, &again, &err), 0);
        assert_int_equal(again.code, 3);
        assert_int_equal(pwrite(file, &before, 1, at), 1);
    }
    assert_int_equal(ftruncate(file, 100), 0);
    assert_int_equal(record_file_read(dir, &again, &err), ERR_PARSE);
    close(file);
    close(dir);
}

static void make_deep(int dir)
{
    for (int i = 0; i < 600 && dir >= 0; i++) {
        static const char name[] = "deep-enough-to-pass-any-path-limit";
        assert_int_equal(mkdirat(dir, name, 0700), 0);
        close(openat(dir, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        int below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(dir);
        dir = below;
    }
    assert_true(dir >= 0);
    close(dir);
}

/* Deep, full, without rights, with links out of it. */
/* The file of another run may be there, with a record that has a higher number. */
static void test_first_record_is_the_only_one(void **state)
{
    struct guard_trial *trial = *state;
    struct err err;
    struct guard_record record = {.phase = RUN_WAITING, .token = 5}, read;
    snprintf(record.boot_id, sizeof(record.boot_id), "this-boot");
    assert_int_equal(mkdir(guard_trial_path(trial, ""), 0711), 0);
    int dir = open(guard_trial_path(trial, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(record_file_write(dir, &record, &err), 0);
    }
    assert_int_equal(renameat(dir, "state", dir, "state.new"), 0);
    assert_int_equal(record_file_read(dir, &read, &err), ERR_NOT_FOUND);
    record.seq = 0;
    record.token = 6;
    assert_int_equal(record_file_write(dir, &record, &err), 0);
    assert_int_equal(record_file_read(dir, &read, &err), 0);
    assert_int_equal(read.token, 6);
    close(dir);
}

static void test_remove(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start = guard_trial_job(
        trial, "ln -s \"$T/keep\" link; mkdir a b; touch a/1 b/1 .hidden; "
               "ln -s \"$T/keep\" a/link; chmod 0 a b");
    char variable[RUN_FIXTURE_PATH + 8];
    snprintf(variable, sizeof(variable), "T=%s", trial->fixture.dir);
    trial->fixture.env[trial->fixture.n_env++] = variable;
    start.spec.n_env = trial->fixture.n_env;
    assert_int_equal(mkdir(run_fixture_path(&trial->fixture, "keep"), 0700), 0);
    fclose(fopen(run_fixture_path(&trial->fixture, "keep/it"), "w"));
    guard_trial_run_to_end(trial, &start);
    assert_int_equal(trial->record.code, 0);
    make_deep(
        open(guard_trial_path(trial, "/work"), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct err err;
    assert_int_equal(guard_client_spawn(guard_trial_program(), "--remove",
                                        guard_trial_path(trial, ""), NULL, &err),
                     0);
    assert_true(run_fixture_wait(!run_fixture_exists(guard_trial_path(trial, ""))));
    assert_true(run_fixture_exists(run_fixture_path(&trial->fixture, "keep/it")));
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
    guard_trial_receive_until(trial, RUN_WAITING);
    bar_record(trial);
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_GO,
                                                   .token = trial->record.token});
    guard_trial_receive_until(trial, RUN_ENDED);
    assert_int_equal(trial->record.end, RUN_END_FAILED);
    assert_non_null(strstr(trial->record.text, "cannot create a run's record"));
    assert_int_equal(trial->record.start_ms, 0);
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_END});
    guard_trial_receive_nothing(trial);
    assert_false(run_fixture_exists(run_fixture_path(&trial->fixture, "ran")));
    assert_int_equal(run_fixture_count(&trial->fixture), 0);
    unbar_record(trial); /* whoever reaps the run tries until the record is written */
}

static void test_record_fails_at_the_end(void **state)
{
    struct guard_trial *trial = *state;
    struct msg_run_start start =
        guard_trial_job(trial, "until [ -e on ]; do sleep 0.02; done");
    start.spec.cwd = trial->fixture.dir;
    guard_trial_start(trial, &start);
    guard_trial_go(trial);
    guard_trial_receive_until(trial, RUN_RUNNING);
    bar_record(trial);
    close(open(run_fixture_path(&trial->fixture, "on"), O_CREAT | O_WRONLY, 0600));
    guard_trial_receive_until(trial, RUN_ENDED);
    /* It stays, for whoever asks, until the end is on disk. */
    guard_trial_send(trial, (struct guard_request){.kind = GUARD_REQUEST_STATUS});
    assert_true(guard_trial_receive(trial));
    assert_int_equal(trial->record.phase, RUN_ENDED);
    unbar_record(trial);
    guard_trial_receive_nothing(trial);
    guard_trial_assert_recorded(trial);
}

#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, guard_trial_begin, guard_trial_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(test_record_fails_at_the_go),
        TRIAL(test_record_fails_at_the_end),
        TRIAL(test_damaged_spec),
        cmocka_unit_test(test_record_text),
        TRIAL(test_record_cut),
        TRIAL(test_remove),
        TRIAL(test_first_record_is_the_only_one),
    };
    if (!guard_trial_find_program()) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
