/* SPDX-License-Identifier: Apache-2.0 */
/* guard_resize.h: a run that is told of other slots: its resize notification command,
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
#ifndef SUBLET_HOST_GUARD_RESIZE_H
#define SUBLET_HOST_GUARD_RESIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { GUARD_RESIZE_ENV_MAX = 8 };

struct guard_resize_file {
    char *bytes; /* of all texts; NULL: none */
    int64_t number, n_slots;
    const char *command;
    const char *env[GUARD_RESIZE_ENV_MAX], *told[GUARD_RESIZE_ENV_MAX];
    int n_env, n_told;
};

struct guard_resize {
    pid_t pid;                      /* of the command; 0: none runs */
    int64_t until_ms;               /* it is ended then; INT64_MAX: none runs */
    struct guard_resize_file asked; /* what it is told of */
    struct guard_resize_file kept;  /* whose variables are the job's */
};

struct guard_life;
struct guard_order;

void guard_resize_init(struct guard_resize *resize);
void guard_resize_release(struct guard_resize *resize);

bool guard_resize_is_on(const struct guard_resize *resize);
/* By number: begun, or answered. */
void guard_resize_order(struct guard_life *life, const struct guard_order *order);
/* A child has ended like that: true where it was this command, which is answered. */
bool guard_resize_ended(struct guard_life *life, pid_t pid, int status);
/* It has had its time. */
void guard_resize_expire(struct guard_life *life, int64_t now);
/* The job ends, or is to: nobody waits for the command. */
void guard_resize_give_up(struct guard_life *life);
/* Of a run whose guard is gone: what was agreed last counts. */
void guard_resize_recall(struct guard_life *life);

#endif
