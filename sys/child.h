/* SPDX-License-Identifier: Apache-2.0 */
/* child.h: runs a program as a child and reads what it prints.
 *
 * There is no shell. The child has PATH, LC_ALL=C and the variables of its setting, and
 * nothing else of the environment. Its input is /dev/null. It leads a process group,
 * which is killed at the deadline, or when it prints too much.
 *
 * A caller with a loop waits for child_fds() and calls child_step(), which never
 * blocks. child_run() does both and waits.
 *
 * Units: milliseconds of a monotonic clock, bytes. Ownership: the caller frees the
 * child; its output is the child's until then. Errors: ERR_IO if the program cannot be
 * started, ends with another status than 0, or prints a byte 0; ERR_FULL for too much
 * output; ERR_AWAY at the deadline. The sentence has the last line of its standard
 * error. Layer: sys. */
#ifndef SUBLET_SYS_CHILD_H
#define SUBLET_SYS_CHILD_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum {
    CHILD_OUTPUT_MAX = 128 << 20, /* 200,000 jobs take some 110 MiB */
    CHILD_FDS = 3,
};

struct child_setting {
    const char *const *variables; /* NAME=VALUE, at most eight; NULL ends them */
    int64_t within_ms;            /* the time that the program may take */
};

struct child;

/* `words` is the program, a path or a name that PATH is searched for, and its
 * arguments, ended by NULL. */
int child_new(const struct child_setting *setting, const char *const *words,
              int64_t now_ms, struct child **child, struct err *err) MUST_CHECK;
/* Ends it if it still runs. NULL is fine. */
void child_free(struct child *child);

/* What to wait for: descriptors (-1: none) that become readable, and the deadline. */
void child_fds(const struct child *child, struct pollfd fds[CHILD_FDS]);
int64_t child_deadline_ms(const struct child *child);
/* Reads what there is. True once the program has ended, or was ended. */
bool child_step(struct child *child, int64_t now_ms);
/* After its end: 0 and all that it printed, ended by a NUL, or the error. */
int child_output(const struct child *child, const char **text,
                 struct err *err) MUST_CHECK;

/* Runs the program to its end; the output is in the arena. */
int child_run(const struct child_setting *setting, const char *const *words,
              struct arena *arena, const char **text, struct err *err) MUST_CHECK;

#endif
