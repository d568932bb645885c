/* SPDX-License-Identifier: Apache-2.0 */
/* guard_loop.h: the main loop of a guard, from waiting for its GO to the end of its run
 * on disk.
 *
 * WAITING -GO-> RUNNING <-> SUSPENDED, and from each of them to ENDED. Each change of
 * state is in the record on disk before it is reported. A command ends when its main
 * process ends; the run ends with the last of its commands (exec.h). Processes that the
 * job left behind are killed before post-exec commands begin, and again at the end, so
 * that none of them still uses a slot. The result of the job is in the record before
 * the first post-exec command begins.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_LOOP_H
#define SUBLET_HOST_GUARD_GUARD_LOOP_H

struct guard_record;

/* Guards the run in `path` to its end; returns the exit status of the process. `agent`
 * is an open connection, or -1. Changes the session, the working directory and the
 * signals of the process. */
int guard_loop_main(const char *path, int agent);

/* For a run whose guard is gone and whose job has no process left: executes the
 * post-exec commands. `record` is on disk and says how the job ended; `dir` is the
 * locked directory, whose ownership passes. */
int guard_loop_post_exec(const char *path, int dir, int agent,
                         const struct guard_record *record);

#endif
