/* SPDX-License-Identifier: Apache-2.0 */
/* guard_loop.h: the life of one run, from waiting for its go to its end on disk.
 *
 * WAITING -go-> RUNNING <-> SUSPENDED, and from each to ENDED. Each move is in the
 * record before anybody hears of it. A command ends when its main process ends; the run
 * with the last of its commands (stages.h), what the job left behind is killed
 * before those after it begin, and once more at the end, so that no slot is used by it.
 * How the job ended is in the record before the first command after it begins.
 *
 * Orders: one whose number was carried out is answered and not repeated. One that comes
 * before the go is kept and carried out after it, but a kill ends the run then and
 * there. A kill, and a limit, are signals to all (escalation.h), after a resume; they
 * end the command that runs: one before the job leaves the job unbegun, one after it
 * does not change how it ended. The run limit counts the job's time in RUNNING.
 *
 * Units: milliseconds; of the monotonic clock inside, of the wall clock in the record.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_LOOP_H
#define SUBLET_HOST_GUARD_GUARD_LOOP_H

/* Guards the run in `path` to its end; returns the exit status of the process. `agent`
 * is a connection that is there already, or -1. Takes the process over: session,
 * working directory, signals. */
int guard_loop_main(const char *path, int agent);

struct guard_record;

/* Of a run whose guard is gone, and nothing of whose job is left: executes what is to
 * be executed after it. `record` is on disk and says how the job ended; `dir` is the
 * locked directory, which it takes over. */
int guard_loop_post_exec(const char *path, int dir, int agent,
                         const struct guard_record *record);

#endif
