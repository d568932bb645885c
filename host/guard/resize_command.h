/* SPDX-License-Identifier: Apache-2.0 */
/* resize_command.h: a run that is told of other slots: its resize notification command,
 * and what it says to them.
 *
 * sublet-host writes the file (run_dir.h), then orders by its number. The command runs
 * as the job's user in /tmp, without input and output, with the job's variables, those
 * of hosts as they are after the resize, and
 *
 *     LSB_RESIZE_EVENT        grow, shrink
 *     LSB_RESIZE_HOSTS        what comes or goes: "h1 2 h2 1"
 *     LSB_RESIZE_NOTIFY_OK    the code with which it agrees (0) ...
 *     LSB_RESIZE_NOTIFY_FAIL  ... and one with which it does not (any other)
 *
 * It is not of the job, and not stopped or signalled with it. One that has not ended
 * after ten minutes is ended, and has not agreed. While it runs the job is not stopped;
 * one that ends, or is to end, does so at once. A job that stands still, has not begun
 * or is over is not told: RESIZE_NOT_NOW.
 *
 * The file: RUN_DIR_RESIZE_HEAD, then "number=", "command=", "n_slots=", "env=..." for
 * variables of the job from then on, "told=..." for those of the command alone, then
 * "end=": all ended by a NUL.
 *
 * Units: milliseconds of the monotonic clock. Source: lsf.md 6.1; ADR 0034.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RESIZE_COMMAND_H
#define SUBLET_HOST_GUARD_RESIZE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { RESIZE_REQUEST_ENV_MAX = 8 };

struct resize_request {
    char *bytes; /* of all texts; NULL: none */
    int64_t number, n_slots;
    const char *command;
    const char *env[RESIZE_REQUEST_ENV_MAX], *told[RESIZE_REQUEST_ENV_MAX];
    int n_env, n_told;
};

struct resize_command {
    pid_t pid;                   /* of the command; 0: none runs */
    int64_t until_ms;            /* it is ended then; INT64_MAX: none runs */
    struct resize_request asked; /* what it is told of */
    struct resize_request kept;  /* whose variables are the job's */
};

struct guard_run;
struct guard_request;

void resize_command_init(struct resize_command *resize);
void resize_command_release(struct resize_command *resize);

bool resize_command_is_running(const struct resize_command *resize);
/* By number: begun, or answered. */
void resize_command_request(struct guard_run *life, const struct guard_request *order);
/* A child has ended like that: true where it was this command, which is answered. */
bool resize_command_ended(struct guard_run *life, pid_t pid, int status);
/* It has had its time. */
void resize_command_expire(struct guard_run *life, int64_t now);
/* The job ends, or is to: nobody waits for the command. */
void resize_command_abandon(struct guard_run *life);
/* Of a run whose guard is gone: what was agreed last counts. */
void resize_command_reload(struct guard_run *life);

#endif
