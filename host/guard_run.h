/* SPDX-License-Identifier: Apache-2.0 */
/* guard_run.h: the life of one run, from waiting for its go to its end on disk.
 *
 * WAITING -go-> RUNNING <-> SUSPENDED, and from each to ENDED. Each move is in the
 * record before anybody hears of it. The run ends when the job's main process ends;
 * what that left behind is killed first, so that no slot is used by it.
 *
 * Orders: one whose number was carried out is answered and not repeated. One that comes
 * before the go is kept and carried out after it, but a kill ends the run then and
 * there. A kill, and the run limit, are SIGTERM to all (after a resume), and after the
 * grace SIGKILL to all. The limit counts time in RUNNING.
 *
 * Units: milliseconds; of the monotonic clock inside, of the wall clock in the record.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RUN_H
#define SUBLET_HOST_GUARD_RUN_H

/* Guards the run in `path` to its end; returns the exit status of the process. `agent`
 * is a connection that is there already, or -1. Takes the process over: session,
 * working directory, signals. */
int guard_run_main(const char *path, int agent);

#endif
