/* SPDX-License-Identifier: Apache-2.0 */
/* run_fixture.h: what tests of real runs share: a temporary directory, jobs that can be
 * found among the machine's processes, and waiting for conditions.
 *
 * Each fixture gives its jobs a variable that no other process has, so that "none of
 * its processes is left" can be asked of /proc. */
#ifndef SUBLET_TESTS_IO_RUN_FIXTURE_H
#define SUBLET_TESTS_IO_RUN_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "model/msg.h"

enum { RUN_FIXTURE_PATH = 512 };

/* Long enough for a loaded machine; a test that passes does not wait for it. */
enum { RUN_FIXTURE_PATIENCE_MS = 120000 };

struct run_fixture {
    char dir[RUN_FIXTURE_PATH]; /* others may enter it */
    char mark[64];              /* "SUBLET_TEST=..." in every job's environment */
    const char *env[8];
    int n_env;
    struct host_slots hosts[2];
};

void run_fixture_init(struct run_fixture *fixture);
/* Kills what is left of its jobs and deletes the directory. */
void run_fixture_release(struct run_fixture *fixture);

/* The program under test: in $SUBLET_BIN, else of this build, else in build/bin. */
const char *run_fixture_program(const char *name, char *path, size_t size);

/* A RUN_START with everything needed filled in. */
struct msg_run_start run_fixture_start(const struct run_fixture *fixture,
                                       uint64_t attempt, const char *command);

/* Processes that carry the mark; of those, how many neither run nor could: stopped, or
 * in a frozen cgroup. */
int run_fixture_count(const struct run_fixture *fixture);
int run_fixture_count_still(const struct run_fixture *fixture);
/* One whose command line is exactly that; 0: none. */
pid_t run_fixture_find(const struct run_fixture *fixture, const char *command);

/* A job with a child of its own session and one that was orphaned: a command, how many
 * processes it comes to, and whether all of them are there. */
#define RUN_FIXTURE_FAMILY_COMMAND                                                     \
    "setsid sleep 1001 & (setsid sh -c 'sleep 1002 & :' &) ; sleep 1003 & wait"
enum { RUN_FIXTURE_FAMILY = 4 };
bool run_fixture_is_family(const struct run_fixture *fixture);

/* Waits until the expression is true; false when patience is at an end. */
#define run_fixture_wait(condition)                                                    \
    __extension__({                                                                    \
        long long until_ = run_fixture_clock_ms() + RUN_FIXTURE_PATIENCE_MS;           \
        bool is_true_;                                                                 \
        while (!(is_true_ = (condition)) && run_fixture_clock_ms() < until_) {         \
            run_fixture_pause();                                                       \
        }                                                                              \
        is_true_;                                                                      \
    })
long long run_fixture_clock_ms(void);
void run_fixture_pause(void);

/* A file's text, "" where there is none; heap. */
char *run_fixture_read(const char *path);
bool run_fixture_exists(const char *path);
/* Path below the fixture's directory, in one of a few buffers that take turns. */
const char *run_fixture_path(const struct run_fixture *fixture, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
