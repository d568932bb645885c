/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_sessions.c: a sublet-host and its site: sessions, silence, a site that
 * comes back, and two hosts of one name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/io/host_trial.h"

/* ---- sessions */

static void test_other_session(void **state)
{
    struct host_trial *trial = *state;
    uint64_t session = trial->site.session;
    /* What belongs to another session does nothing: the answer to the next one shows
     * that it was read. */
    trial->site.session = session - 1;
    host_trial_start_run(trial, 1, "true");
    trial->site.session = session;
    host_trial_start_run(trial, 2, "true");
    host_trial_wait_phase(trial, 2, RUN_WAITING);
    assert_int_equal(fake_site_run(&trial->site, 1)->n_states, 0);
    assert_false(host_trial_has_run(trial, 1));
    /* A site that knows no such session any more is greeted anew, with a higher one. */
    trial->site.session = 0;
    trial->site.n_synced = 0;
    assert_true(fake_site_wait(&trial->site, trial->site.n_synced > 0));
    assert_true(trial->site.session > session);
    assert_int_equal(fake_site_phase(&trial->site, 2), RUN_WAITING);
}

static void test_silent_site(void **state)
{
    struct host_trial *trial = *state;
    uint64_t session = trial->site.session;
    struct peer before = trial->site.host;
    host_trial_start_run(trial, 1, "true");
    host_trial_wait_phase(trial, 1, RUN_WAITING);
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
    struct host_trial *trial = *state;
    host_trial_begin_run(trial, 1, HOST_TRIAL_UNTIL_TOLD);
    fake_site_release(&trial->site);
    host_trial_touch(trial, "on");
    struct guard_record record;
    assert_true(run_fixture_wait(host_trial_read_record(trial, 1, &record) &&
                                 record.phase == RUN_ENDED));
    fake_site_init(&trial->site, &trial->fixture);
    assert_true(fake_site_wait(&trial->site, trial->site.n_synced > 0));
    assert_int_equal(fake_site_phase(&trial->site, 1), RUN_ENDED);
    assert_int_equal(host_trial_exit(trial, 1)->code, 4);
}

static void test_second_host(void **state)
{
    struct host_trial *trial = *state;
    pid_t second = host_trial_spawn(trial);
    int status = 0;
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 75);
    char *log = run_fixture_read(host_trial_path(trial, "log"));
    assert_non_null(strstr(log, "another sublet-host serves"));
    free(log);
}

#define TRIAL(name)                                                                    \
    cmocka_unit_test_setup_teardown(name, host_trial_begin, host_trial_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(test_other_session),
        TRIAL(test_silent_site),
        TRIAL(test_site_restarts),
        TRIAL(test_second_host),
    };
    if (!host_trial_find_program()) {
        return 1;
    }
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    zsys_shutdown();
    return n_failed;
}
