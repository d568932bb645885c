/* SPDX-License-Identifier: Apache-2.0 */
/* run_dir.h: the directory of a run, and the life of a run in it.
 *
 *     SPOOL/lock              held (flock) by the one sublet-host of this spool
 *     SPOOL/runs/SITE.ATTEMPT the run's directory; its guard holds flock on it
 *         spec      what to run: sublet-host writes it, the guard reads it
 *         state     the run as it is: a record (guard_record.h), only its guard writes
 *         socket    where the guard answers (SOCK_SEQPACKET), while no agent is
 *                   connected to it, or since one was not
 *         resize    other slots, of a run that is resized (resize_command.h):
 *                   sublet-host writes it, the guard reads it
 *         stream    of an interactive run: where its terminal is to be had
 *                   (SOCK_SEQPACKET, stream_packet.h)
 *         stdout    output, where no file was named for it
 *         stderr    likewise, where the run keeps it apart
 *         work      working directory, where the job has none; owned by its account
 *     SPOOL/trash             directories of forgotten runs that were not empty enough
 *
 * Directories are 0711 (the account must reach work), files 0600, output files belong
 * to the account, so that a job may open /dev/stdout.
 *
 * Life. sublet-host makes the directory, writes spec and has its nursery fork a guard
 * (forkserver.h), or starts the program, which comes to the same. The guard
 * locks the directory, writes state WAITING with a random token and waits. Only a go
 * with that token lets it fork the job, which stands before its first instruction
 * until state RUNNING is on disk. When the job's main process ends, the guard kills
 * what that left behind, writes state ENDED, says so and ends too. So whoever finds
 * the directory knows:
 *
 *     state     lock   the run
 *     ENDED     -      has ended, as the record says
 *     WAITING   held   waits; ask the guard
 *     RUNNING   held   runs (or is suspended); ask the guard
 *     WAITING   free   never began and never will: the directory goes
 *     none      free   likewise
 *     RUNNING   free   the guard was killed: bury it (guard_reap.h), then ENDED, LOST
 *     any but ENDED, of an earlier boot: nothing of it lives: ENDED, LOST
 *
 * The lock, not the process id, says that a guard lives: a lock is never recycled. A
 * guard that finds the directory locked ends without a word, so there is one at most.
 *
 * Nothing here is fsynced: the record guards against processes that are killed, for
 * which the page cache is enough. A power cut takes the job with the record, and the
 * boot id tells that it happened.
 *
 * Talk. Agent to guard: struct guard_request, one a packet. Guard to agent: its record
 * as text, on connecting, after each order and on each change: level, not edge. The
 * agent that starts a guard is connected to it from the beginning (descriptor 3). Only
 * when no agent is connected does the guard make the socket; whoever comes before that
 * finds the lock held and nobody who listens, and tries again.
 *
 * Layer: host (libc only: the guard links it). */
#ifndef SUBLET_HOST_RUN_DIR_RUN_DIR_H
#define SUBLET_HOST_RUN_DIR_RUN_DIR_H

#include <stdint.h>

#define RUN_DIR_SPEC "spec"
#define RUN_DIR_RESIZE "resize"
#define RUN_DIR_RESIZE_HEAD "sublet-resize 1"
#define RUN_DIR_STATE "state"
#define RUN_DIR_SOCKET "socket"
#define RUN_DIR_STREAM "stream"
#define RUN_DIR_STDOUT "stdout"
#define RUN_DIR_STDERR "stderr"
#define RUN_DIR_WORK "work"

enum {
    RUN_DIR_AGENT_FD_AT_START =
        3, /* a guard's connection to the agent that starts it */
    /* In a guard this one is put above the directory: descriptors are closed from the
     * lowest when a process dies, so that the lock is mostly gone when the agent hears
     * of it. Not always (guard_reap.c waits for it). */
    RUN_DIR_AGENT_FD = 16,
};

/* GUARD_REQUEST_GO carries the token, GUARD_REQUEST_CONTROL number, action and signal.
 * GUARD_REQUEST_END: end without having begun. GUARD_REQUEST_STATUS: only answer.
 * GUARD_REQUEST_RESIZE: the number is that of the file; a guard that knows it says so
 * in its record. */
enum guard_request_kind {
    GUARD_REQUEST_STATUS = 1,
    GUARD_REQUEST_GO,
    GUARD_REQUEST_CONTROL,
    GUARD_REQUEST_END,
    GUARD_REQUEST_RESIZE,
};

/* Guards of an older version outlive an upgrade: this layout does not change. */
struct guard_request {
    uint32_t kind;
    uint32_t action; /* enum control_action */
    int32_t signal;
    uint32_t reasons; /* enum halt_cause, added up; older agents send 0 */
    uint64_t number;
    uint64_t token;
};

#endif
