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
 * It does not belong to the job, and is not stopped or signalled with it.
 *
 * Source: docs/design/scheduling.md "Resizable jobs". Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RESIZE_COMMAND_H
#define SUBLET_HOST_GUARD_RESIZE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/exec/exec.h"

struct resize_command {
    struct resize_request request; /* the last one */
    struct resize_request applied; /* the accepted one, whose variables the job has */
};

struct guard_run;

/* Reads the request with that number; false if the file has another one. */
bool resize_command_read(struct guard_run *run, uint64_t number);
/* Launches its notification command. Errors: ERR_FULL no process can be made. */
int resize_command_launch(struct guard_run *run, pid_t *pid,
                          struct err *err) MUST_CHECK;
/* The run has the slots of the request from now on, also for post-exec commands. */
void resize_command_accept(struct guard_run *run);
/* For a run whose guard is gone: applies the resize that was accepted last. */
void resize_command_reload(struct guard_run *run);

#endif
