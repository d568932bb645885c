/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h: what the program sublet-guard does, by its options (guard_main.c).
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_H
#define SUBLET_HOST_GUARD_GUARD_H

struct guard_record;

/* ---- guard_loop.c
 *
 * The main loop of a guard, from waiting for its GO to the end of its run on disk.
 *
 * WAITING -GO-> RUNNING <-> SUSPENDED, and from each of them to ENDED. Each change of
 * state is in the record on disk before it is reported. A command ends when its main
 * process ends; the run ends with the last of its commands (exec.h). Processes that the
 * job left behind are killed before post-exec commands begin, and again at the end, so
 * that none of them still uses a slot. The result of the job is in the record before
 * the first post-exec command begins. */

/* Guards the run in `path` to its end; returns the exit status of the process. `agent`
 * is an open connection, or -1. Changes the session, the working directory and the
 * signals of the process. */
int guard_loop_main(const char *path, int agent);

/* Reaps a run, as exec_run_load says. `record` is on disk; `dir` is the locked
 * directory, whose ownership passes. */
int guard_loop_reap(const char *path, int dir, int agent,
                    const struct guard_record *record);

/* ---- guard_reap.c
 *
 * Reaps a run whose guard was killed, or whose machine went down: kills its processes,
 * and writes ENDED, LOST to its record.
 *
 * If the machine did not go down and no post-exec command had begun, they run all the
 * same. The record says that they have begun before they do, so none runs twice. If
 * they had begun, the record says how the job ended, and that stays.
 *
 * The lock of the directory lets only one process reap. */

/* As guard_loop_main. */
int guard_reap_main(const char *path, int agent);

/* ---- guard_remove.c
 *
 * Deletes the directory of a forgotten run with all that its job left in it.
 *
 * The job may have made it deep and large, and processes of its account may change it
 * meanwhile. So no path of more than one name is used, no link is followed, and no
 * stack grows with the depth. */

int guard_remove_main(const char *path);

/* ---- forkserver.c
 *
 * A small process that forks guards, which costs a third of starting the program for
 * each.
 *
 * sublet-host sends one packet for each guard: the run's directory, and with it the
 * guard's end of their connection. A guard does not depend on the fork server after its
 * fork. The fork server lives as long as its sublet-host. If a guard cannot be forked,
 * the fork server reports a run that FAILED. */

/* `host` is the connection to sublet-host, which no other process may hold. Returns the
 * exit status: in the fork server at its end, and in each guard at its own. */
int forkserver_main(int host);

#endif
