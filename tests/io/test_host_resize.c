/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_resize.c: sublet-host with real guards and jobs that are resized, and a
 * site that is not real, and asks again: what a guard was told once only the guard
 * answers, and what its command leaves behind goes with the job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/io/host_trial.h"

/* ---- what the site asks */

/* Two slots more; the command begins where the trial has its files. */
static void resize(struct host_trial *trial, const char *command)
{
    static const struct host_slots more[] = {{"n3", 2}};
    char whole[RUN_FIXTURE_PATH + 256];
    snprintf(whole, sizeof(whole), "cd %s && %s", trial->fixture.dir, command);
    struct msg msg = {.kind = MSG_RUN_RESIZE};
    msg.run_resize = (struct msg_run_resize){
        .run = {.site = "north", .attempt = 1},
        .number = 1,
        .event = RESIZE_GROW,
        .hosts = more,
        .n_hosts = 1,
        .all = trial->fixture.hosts,
        .n_all = 2,
        .command = whole,
    };
    fake_site_send(&trial->site, &msg);
}

static const struct msg_run_state *state_of(struct host_trial *trial)
{
    return &fake_site_run(&trial->site, 1)->state;
}

/* The same once more; until it is answered. */
static void resize_again(struct host_trial *trial, const char *command)
{
    int n_states = fake_site_run(&trial->site, 1)->n_states;
    resize(trial, command);
    assert_true(fake_site_wait(&trial->site,
                               fake_site_run(&trial->site, 1)->n_states > n_states));
}

static bool has(const struct host_trial *trial, const char *name)
{
    return run_fixture_exists(host_trial_path(trial, name));
}

/* A run whose command is being told of resize 1, and waits for the file "go". */
static const char waiting[] = "touch told; until [ -e go ]; do sleep 0.02; done";

static void begin(struct host_trial *trial)
{
    host_trial_begin_run(trial, 1, HOST_TRIAL_UNTIL_TOLD);
    host_trial_wait_phase(trial, 1, RUN_RUNNING);
    resize(trial, waiting);
    assert_true(fake_site_wait(&trial->site, has(trial, "told")));
}

static void agree(struct host_trial *trial)
{
    host_trial_touch(trial, "go");
    assert_true(fake_site_wait(&trial->site, state_of(trial)->resize_done == 1));
    assert_int_equal(state_of(trial)->resize_code, 0);
}

/* From then on nothing can be written where the file was. */
static void block(struct host_trial *trial)
{
    assert_int_equal(
        mkdir(host_trial_path(trial, "spool/runs/north.1/resize.new"), 0700), 0);
}

/* ---- what it answers */

/* Else the site has its slots back, and gives them to others, of a job that agrees. */
static void test_asked_again_with_a_full_disk(void **state)
{
    struct host_trial *trial = *state;
    begin(trial);
    block(trial);
    resize_again(trial, waiting);
    assert_int_equal(state_of(trial)->resize_done, 0);
    agree(trial);
}

/* Likewise of one that was told before the agent was started. */
static void test_asked_again_by_another_agent(void **state)
{
    struct host_trial *trial = *state;
    begin(trial);
    block(trial);
    host_trial_end_host(trial, SIGKILL);
    host_trial_start_host(trial);
    assert_true(fake_site_wait(&trial->site, state_of(trial)->token != 0));
    resize_again(trial, waiting);
    assert_int_equal(state_of(trial)->resize_done, 0);
    agree(trial);
}

static void test_never_told_with_a_full_disk(void **state)
{
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, HOST_TRIAL_UNTIL_TOLD);
    host_trial_wait_phase(trial, 1, RUN_RUNNING);
    block(trial);
    resize(trial, waiting);
    assert_true(fake_site_wait(&trial->site, state_of(trial)->resize_done == 1));
    assert_int_equal(state_of(trial)->resize_code, RESIZE_NOT_NOW);
    assert_false(has(trial, "told"));
}

/* A command that leaves a process in a session of its own has answered all the same;
 * the process is no reason for the job to go on, and is not left when it ends. */
static void test_left_behind(void **state)
{
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, HOST_TRIAL_UNTIL_TOLD);
    host_trial_wait_phase(trial, 1, RUN_RUNNING);
    resize(trial, "(setsid sleep 1011 &); exit 3");
    assert_true(fake_site_wait(&trial->site, state_of(trial)->resize_done == 1));
    assert_int_equal(state_of(trial)->resize_code, 3);
    assert_true(run_fixture_wait(run_fixture_find(&trial->fixture, "sleep 1011") != 0));
    host_trial_touch(trial, "on");
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->code, 4);
    assert_true(run_fixture_wait(run_fixture_count(&trial->fixture) == 0));
}

/* The guard dies: neither the job nor who was being told of slots outlives it. */
static void test_guard_killed(void **state)
{
    struct host_trial *trial = *state;
    begin(trial);
    kill(host_trial_guard(trial, 1), SIGKILL);
    host_trial_wait_phase(trial, 1, RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->end, RUN_END_LOST);
    assert_true(run_fixture_wait(run_fixture_count(&trial->fixture) == 0));
}

#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, host_trial_begin, host_trial_finish)
#define TRIAL_WITHOUT(name)                                                            \
    cmocka_unit_test_setup_teardown(name, host_trial_begin_without_cgroups,            \
                                    host_trial_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(test_asked_again_with_a_full_disk),
        TRIAL(test_asked_again_by_another_agent),
        TRIAL(test_never_told_with_a_full_disk),
        TRIAL(test_left_behind),
        TRIAL_WITHOUT(test_left_behind),
        TRIAL(test_guard_killed),
        TRIAL_WITHOUT(test_guard_killed),
    };
    if (!host_trial_find_program()) {
        return 1;
    }
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    zsys_shutdown();
    return n_failed;
}
