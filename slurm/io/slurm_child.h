/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_child.h: runs a command of Slurm as a child and reads what it prints.
 *
 * There is no shell. The child has PATH, LC_ALL=C, SLURM_TIME_FORMAT=%s (times are
 * seconds since 1970) and SLURM_CONF, and nothing else of the environment, because
 * variables like SINFO_FORMAT would change what it prints. Its input is /dev/null. It
 * leads a process group, which is killed at the deadline, or when it prints too much.
 *
 * A caller with a loop waits for slurm_child_fds() and calls slurm_child_step(), which
 * never blocks. slurm_child_run() does both and waits.
 *
 * Units: milliseconds of a monotonic clock, bytes. Ownership: the caller frees the
 * child; its output is the child's until then. Errors: ERR_IO if the program cannot be
 * started, ends with another status than 0, or prints a byte 0; ERR_FULL for too much
 * output; ERR_AWAY at the deadline. The sentence has the last line of its standard
 * error. Layer: slurm/io. */
#ifndef SUBLET_SLURM_IO_SLURM_CHILD_H
#define SUBLET_SLURM_IO_SLURM_CHILD_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum {
    SLURM_CHILD_OUTPUT_MAX = 128 << 20, /* 200,000 jobs take some 110 MiB */
    SLURM_CHILD_FDS = 3,
};

/* How the commands of a cluster are run. */
struct slurm_child_place {
    const char *bin;   /* SLURM_BIN, the directory of the commands; "": PATH */
    const char *conf;  /* SLURM_CONF; "": as in the environment, or Slurm's default */
    int64_t within_ms; /* the time that a command may take */
};

struct slurm_child;

/* `words` is the command and its arguments, ended by NULL. */
int slurm_child_new(const struct slurm_child_place *place, const char *const *words,
                    int64_t now_ms, struct slurm_child **child,
                    struct err *err) MUST_CHECK;
/* Ends it if it still runs. NULL is fine. */
void slurm_child_free(struct slurm_child *child);

/* What to wait for: descriptors (-1: none) that become readable, and the deadline. */
void slurm_child_fds(const struct slurm_child *child,
                     struct pollfd fds[SLURM_CHILD_FDS]);
int64_t slurm_child_deadline_ms(const struct slurm_child *child);
/* Reads what there is. True once the command has ended, or was ended. */
bool slurm_child_step(struct slurm_child *child, int64_t now_ms);
/* After its end: 0 and all that it printed, ended by a NUL, or the error. */
int slurm_child_output(const struct slurm_child *child, const char **text,
                       struct err *err) MUST_CHECK;

/* Runs the command to its end; the output is in the arena. */
int slurm_child_run(const struct slurm_child_place *place, const char *const *words,
                    struct arena *arena, const char **text, struct err *err) MUST_CHECK;

#endif
