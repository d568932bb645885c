/* SPDX-License-Identifier: Apache-2.0 */
/* test_ended_timers.c: timers that the loop calls once more in the turn in which they
 * were ended (sys/wake.h): the look at an elim's output, the start of a host.
 *
 * Each test keeps its loop until both, who ends the timer and the timer itself, are
 * overdue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "host/load/elim.h"
#include "site/io/children.h"

enum {
    TURN_MS = 10,
    OVERDUE_MS = 50,
    ANSWER_MS = 20000, /* a test that waits so long has failed */
    PAUSE_MS = 1000,   /* before a host is started again */
};

static char directory[64];

static const char *in_directory(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static int open_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/sublet-timers-XXXXXX");
    assert_non_null(mkdtemp(directory));
    return 0;
}

static int remove_directory(void **state)
{
    static const char *const names[] = {"elim",    "started", "hosts/a",
                                        "hosts/b", "hosts",   ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        remove(in_directory(names[i]));
    }
    return 0;
}

static int end_loop(zloop_t *loop, int timer_id, void *arg)
{
    return -1;
}

/* ---------------------------------------------------------------- an elim */

static const char script[] = "#!/bin/sh\n"
                             "echo x >> %s\n"
                             "echo 1 seats 3\n";

struct measuring {
    struct elim *elim;
    bool was_kept, was_reaped;
};

static long count_starts(void)
{
    struct stat status;
    return stat(in_directory("started"), &status) == 0 ? status.st_size / 2 : 0;
}

/* Its first line is read, and the next look is set: after this one in the loop. Late as
 * it is, the elim is seen to have ended, which ends the look. */
static int watch_elim(zloop_t *loop, int timer_id, void *arg)
{
    struct measuring *measuring = arg;
    siginfo_t info;
    if (!measuring->was_kept) {
        measuring->was_kept = elim_has_changed(measuring->elim);
        if (measuring->was_kept) {
            zclock_sleep(ELIM_READ_MS + OVERDUE_MS);
        }
    } else if (!measuring->was_reaped) {
        waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
        elim_reap(measuring->elim);
        measuring->was_reaped = true;
    }
    return count_starts() == 2 ? -1 : 0;
}

static void test_an_elim_that_ends_before_its_next_look(void **state)
{
    struct measuring measuring = {.was_kept = false};
    struct err err;
    FILE *file = fopen(in_directory("elim"), "w");
    assert_non_null(file);
    fprintf(file, script, in_directory("started"));
    fclose(file);
    assert_int_equal(chmod(in_directory("elim"), 0700), 0);
    zloop_t *loop = zloop_new();
    assert_int_equal(elim_new(loop, in_directory("elim"), &measuring.elim, &err), 0);
    zloop_timer(loop, TURN_MS, 0, watch_elim, &measuring);
    zloop_timer(loop, ANSWER_MS, 1, end_loop, NULL);
    elim_start(measuring.elim);
    zloop_start(loop);
    assert_int_equal(count_starts(), 2);
    elim_free(measuring.elim);
    zloop_destroy(&loop);
}

/* ---------------------------------------------------------------- hosts */

static bool say_no(void *arg, const char *host)
{
    return false;
}

static bool say_yes(void *arg, const char *host)
{
    return true;
}

/* A loop with as many timers as it may have takes none. */
static int count_timers(zloop_t *loop)
{
    for (int n = 1; n < 10; n++) {
        zloop_set_max_timers(loop, (size_t)n);
        int timer_id = zloop_timer(loop, ANSWER_MS, 1, end_loop, NULL);
        if (timer_id == -1) {
            return n;
        }
        zloop_timer_end(loop, timer_id);
    }
    return 0;
}

/* There is no sublet-host beside this program, so that each start fails and is set
 * anew. The second of two hosts waits for that behind the look that lets it go. */
static void test_a_host_that_is_let_go_as_its_pause_ends(void **state)
{
    struct site_setup setup = {.spool = directory};
    struct children_site site = {.is_needed = say_no, .is_leaving = say_yes};
    struct children *children;
    struct err err;
    zloop_t *loop = zloop_new();
    assert_int_equal(children_new(loop, &setup, &children, &err), 0);
    assert_int_equal(mkdir(in_directory("hosts/a"), 0700), 0);
    assert_int_equal(mkdir(in_directory("hosts/b"), 0700), 0);
    children_start(children, &site);
    zloop_timer(loop, 1, 1, end_loop, NULL);
    zclock_sleep(PAUSE_MS + OVERDUE_MS);
    zloop_start(loop);
    assert_int_equal(count_timers(loop), 0); /* nobody is to be started */
    children_free(children);
    zloop_destroy(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_elim_that_ends_before_its_next_look,
                                        open_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_a_host_that_is_let_go_as_its_pause_ends,
                                        open_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
