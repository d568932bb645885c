/* SPDX-License-Identifier: Apache-2.0 */
/* resize_command.h: notifies a run of other slots, by its resize notification command,
 * and reports whether that accepts them.
 *
 * sublet-host writes the resize file (run_dir.h), then sends a request with its number.
 * The command runs as the job's user in /tmp, without input and output, with the
 * environment of the job. Variables with hosts are as they are after the resize. It
 * also has
 *
 *     LSB_RESIZE_EVENT        grow, shrink
 *     LSB_RESIZE_HOSTS        the hosts that are added or released: "h1 2 h2 1"
 *     LSB_RESIZE_NOTIFY_OK    the exit code that accepts (0) ...
 *     LSB_RESIZE_NOTIFY_FAIL  ... and one that refuses (as any other does)
 *
 * It does not belong to the job, and is not stopped or signalled with it. After ten
 * minutes it is killed, which counts as a refusal. While it runs the job is not
 * suspended; if the job ends, or is to be terminated, that happens at once. A job that
 * is suspended, has not begun or is over is not notified: RESIZE_NOT_NOW.
 *
 * Units: milliseconds of the monotonic clock. Source: docs/design/scheduling.md
 * "Resizable jobs". Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RESIZE_COMMAND_H
#define SUBLET_HOST_GUARD_RESIZE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/exec/exec.h"

struct resize_command {
    pid_t pid;                     /* 0: none runs */
    int64_t until_ms;              /* it is killed then; INT64_MAX: none runs */
    struct resize_request request; /* the last one */
    struct resize_request applied; /* the accepted one, whose variables the job has */
};

struct guard_run;
struct guard_request;

bool resize_command_is_running(const struct resize_command *resize);
/* Begins the resize with that number, or answers. */
void resize_command_request(struct guard_run *run, const struct guard_request *request);
/* A child has ended: returns true if it was this command, which is answered then. */
bool resize_command_ended(struct guard_run *run, pid_t pid, int status);
/* Its time is over. */
void resize_command_expire(struct guard_run *run, int64_t now);
/* The job ends, or is to be terminated: the command is killed. */
void resize_command_abandon(struct guard_run *run);
/* For a run whose guard is gone: applies the resize that was accepted last. */
void resize_command_reload(struct guard_run *run);

#endif
