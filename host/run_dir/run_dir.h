/* SPDX-License-Identifier: Apache-2.0 */
/* run_dir.h: the directory of a run: its files, its lock, and how agent and guard talk
 * to each other through it.
 *
 *     SPOOL/lock              locked (flock) by the one sublet-host of this spool
 *     SPOOL/runs/SITE.ATTEMPT the run's directory; its guard holds flock on it
 *         spec      what to run (run_spec); sublet-host writes it, the guard reads it.
 *                   Behind it stands RUN_START as it came, and its sum (start_file.h),
 *                   which sublet-host alone uses
 *         state     the record of the run (guard_record); only its guard writes it
 *         socket    where the guard listens (SOCK_SEQPACKET) while no agent is
 *                   connected to it, or once that has happened
 *         start     the RUN_START that counts instead, of a run that was resized or
 *                   that a sublet-host of an earlier version started
 *         resize    the other slots of a run that is resized (run_spec); sublet-host
 *                   writes it, the guard reads it
 *         stream    interactive runs: the socket for their terminal (SOCK_SEQPACKET,
 *                   struct stream_packet)
 *         hosts     of a parallel run: a line with the host of each of its slots, for
 *                   its job (LSB_DJOB_HOSTFILE), as it was at the start; 0644
 *         stdout    output, if no file was named for it
 *         stderr    errors, likewise, if the run has them apart from the output
 *         work      working directory, if the job has none; owned by its account, 0700
 *         tmp, var-tmp  what a leased job sees as /tmp and /var/tmp (private_view)
 *     SPOOL/mark              how far the site's journal was (mark_file.h)
 *     SPOOL/spare             directories of forgotten runs that new runs take over
 *                             with their files (host_spool.h)
 *     SPOOL/trash             directories of forgotten runs that could not be deleted
 *                             at once
 *
 * Directories are 0711, because the account must reach work; files are 0600. Output
 * files belong to the account, so that a job may open /dev/stdout.
 *
 * Life of a run. sublet-host makes the directory, writes spec and has its fork server
 * fork a guard, or starts the guard's program, with the same result. The guard locks
 * the directory, writes state WAITING with a random token, and waits. Only a GO with
 * that token lets it fork the job, which is held before its first instruction until
 * state RUNNING is on disk. When the job's main process ends, the guard kills the
 * processes that it left behind, writes state ENDED, reports that and exits. The state
 * of a run can always be told from its directory:
 *
 *     state     lock   the run
 *     ENDED     -      has ended, as the record says
 *     WAITING   held   waits; ask the guard
 *     RUNNING   held   runs (or is suspended); ask the guard
 *     WAITING   free   never began and never will: the directory is deleted
 *     none      free   likewise
 *     RUNNING   free   the guard was killed: reap it (guard.h), then ENDED, LOST
 *     any but ENDED, of an earlier boot: no process of it lives: ENDED, LOST
 *
 * The lock proves that a guard lives; a process id may be reused, a lock is not. A
 * guard that finds the directory locked exits at once, so there is one guard at most.
 *
 * Nothing is fsynced. The record protects against killed processes, for which the page
 * cache is enough. A power cut ends the job along with the record, and the boot id
 * shows that it happened.
 *
 * Protocol. The agent sends struct guard_request, one a packet. The guard sends its
 * record as text when an agent connects, after each request and on each change. An
 * agent that starts a guard is connected to it from the beginning (descriptor 3). The
 * guard makes the socket only once no agent is connected. An agent that comes before
 * that finds the lock held and no socket, and tries again.
 *
 * Layer: host (libc only: the guard links it). */
#ifndef SUBLET_HOST_RUN_DIR_RUN_DIR_H
#define SUBLET_HOST_RUN_DIR_RUN_DIR_H

#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"
#include "base/err.h"
#include "host/exec/exec.h"

#define RUN_DIR_NEW ".new" /* behind the name of a file until it is complete */
#define RUN_DIR_SPEC "spec"
#define RUN_DIR_START "start"
#define RUN_DIR_RESIZE "resize"
#define RUN_DIR_STATE "state"
#define RUN_DIR_SOCKET "socket"
#define RUN_DIR_STREAM "stream"
#define RUN_DIR_HOSTS "hosts"
#define RUN_DIR_STDOUT "stdout"
#define RUN_DIR_STDERR "stderr"
#define RUN_DIR_WORK "work"
#define RUN_DIR_TMP "tmp"
#define RUN_DIR_VAR_TMP "var-tmp"

enum {
    RUN_DIR_AGENT_FD_AT_START =
        3, /* a guard's connection to the agent that starts it */
    /* The guard moves that descriptor above the one of the directory. A dying process
     * closes its descriptors from the lowest, so the lock is mostly free when the agent
     * sees the end of the connection. Not always: guard_reap.c waits for it. */
    RUN_DIR_AGENT_FD = 16,
};

/* ---- requests of the agent */

/* GO carries the token; CONTROL carries number, action, signal and reasons. END: exit
 * without having begun. STATUS: only answer. RESIZE: the number is that of the file; a
 * guard that knows this request says so in its record. */
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
    uint32_t reasons; /* enum suspend_cause, added up; older agents send 0 */
    uint64_t number;
    uint64_t token;
    int64_t run_limit_ms, mem_limit_kib; /* only sent if one is not 0 */
};
/* The length of a request without limits: guards of earlier versions know no other. */
enum { GUARD_REQUEST_PLAIN = offsetof(struct guard_request, run_limit_ms) };

/* ---- the directory */

/* Opens the directory, makes it the working directory and locks it for the life of the
 * process. Returns -1 if it is gone or (errno EWOULDBLOCK) locked by another process.
 */
int run_dir_enter(const char *path);
/* Reads a whole file; the caller frees *bytes, which have a free byte behind them.
 * Errors: ERR_NOT_FOUND, ERR_IO, ERR_BOUNDS above RUN_SPEC_MAX. */
int run_dir_read_file(int dir, const char *name, char **bytes, size_t *length,
                      struct err *err) MUST_CHECK;
/* Errors: as above, ERR_PARSE. */
int run_dir_read_spec(int dir, struct run_spec *spec, struct err *err) MUST_CHECK;
/* Reads the resize file if it has that number; the caller frees request->bytes. */
bool run_dir_read_resize(int dir, uint64_t number, struct resize_request *request);
/* Deletes the files that guard and sublet-host made in it, and its directories if they
 * are empty. */
void run_dir_empty(int dir);
/* Puts the sizes of the output files into the record. */
void run_dir_measure_output(int dir, struct guard_record *record);

/* ---- the record on disk
 *
 * A read returns the last record that was written completely, even if the writer was
 * killed or a write was cut short: the first record is renamed into place, and later
 * ones are written in turn to one of two places in the file.
 *
 * Errors: ERR_NOT_FOUND no record, ERR_PARSE damaged, ERR_IO the system's words. */
int record_file_read(int dir, struct guard_record *record, struct err *err) MUST_CHECK;
/* Counts record->seq up. A record that continues that of another guard must begin with
 * what was read. */
int record_file_write(int dir, struct guard_record *record, struct err *err) MUST_CHECK;

/* ---- the sockets: packets; only root and the guard's own account may connect */

/* Listens under that name in the working directory, which must be the run's. */
int run_socket_listen(const char *name, int backlog, int *listener,
                      struct err *err) MUST_CHECK;
/* Returns -1 if there is no connection that is allowed. Does not wait. */
int run_socket_accept(int listener);
/* Connects to the guard of the run whose directory is `dir`; -1 if nothing listens.
 * Does not wait. */
int run_socket_connect(int dir, const char *name);

/* ---- packets of the socket `stream`
 *
 * The agent passes on what the user's side sends (STREAM_DOWN of model/msg.h) and what
 * the guard sends (STREAM_UP). Offsets count the bytes of a stream since the run began,
 * so a packet that is lost or repeated does no harm. Guards of an older version outlive
 * an upgrade: this layout does not change. */
enum stream_flag {
    STREAM_END = 1,   /* down: no input follows these bytes */
    STREAM_AGAIN = 2, /* down: nothing has arrived for a while, send it again */
    STREAM_OVER = 4,  /* up: the job's processes have ended */
};

struct stream_head {
    uint32_t flags;
    uint32_t stream; /* up: enum output_stream */
    uint32_t n_bytes;
    uint16_t n_rows, n_columns; /* down; 0: no terminal */
    int64_t offset;             /* of the bytes in their stream */
    int64_t got[2]; /* down: received of the output, by stream; up: [0] of the input */
};

struct stream_packet {
    struct stream_head head;
    uint8_t bytes[STREAM_CHUNK_MAX];
};

#endif
