/* SPDX-License-Identifier: Apache-2.0 */
/* host_stdio.h: standard input, output and errors of an interactive job, and the relay
 * that carries them between the job and its user.
 *
 * Units: milliseconds of the monotonic clock; bytes. Layer: host (guard). */
#ifndef SUBLET_HOST_STDIO_HOST_STDIO_H
#define SUBLET_HOST_STDIO_HOST_STDIO_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/exec/exec.h"
#include "host/kernel/kernel.h"

/* ---- pipes or a pseudo-terminal
 *
 * A stream for which the job names a file (-i -o -e) is that file and has no other end.
 * A pseudo-terminal is one descriptor for the guard, to write to and to read from.
 * Descriptors are -1 if the stream is a file, or there is none. */
struct job_stdio {
    bool is_terminal;
    int job_in, job_out, job_err; /* the job's side; of a terminal all the same one */
    int in, out, err;             /* the guard's side, non-blocking */
};

void job_stdio_init(struct job_stdio *stdio);
int job_stdio_open(struct job_stdio *stdio, const struct run_spec *spec,
                   const struct account *account, struct err *err) MUST_CHECK;
/* After the fork of the job: otherwise the guard would never see its side closed. */
void job_stdio_close_job_side(struct job_stdio *stdio);
void job_stdio_close(struct job_stdio *stdio);

/* ---- the relay
 *
 * The guard holds the job's terminal or pipes, so that they outlive the agent, the site
 * and the user's connection. Of each stream it stores at most STREAM_WINDOW bytes:
 * output that the user's side has not acknowledged, and input that the job has not
 * read. When a buffer is full, the guard stops reading, and the job waits, as it would
 * with a slow terminal.
 *
 * The user's side talks to the guard through the agent, over a socket in the run's
 * directory (struct stream_packet); the newest connection counts. Packets may be lost:
 * the user's side notices that and asks again.
 *
 * After the end of the job's processes the remaining output waits for the user, until
 * all of it has arrived or the user's side has been silent for a while. */
enum {
    STDIO_RELAY_POLLS = 5,
    STDIO_RELAY_USER_WAIT_MS =
        5000, /* the job's first instruction waits for its user */
    /* How long remaining output waits for a user's side that is silent: a site may be
     * away. After a kill it is more likely that no user is there. */
    STDIO_RELAY_DRAIN_MS = 30000,
    STDIO_RELAY_DRAIN_KILLED_MS = 3000,
};

struct stdio_relay;

/* Listens in the working directory, which must be the run's. `is_relayed`: the stream
 * passes through a broker, and is limited to STREAM_RELAYED_PER_S. */
int stdio_relay_new(struct stdio_relay **relay, bool is_relayed,
                    struct err *err) MUST_CHECK;
void stdio_relay_free(struct stdio_relay *relay); /* NULL is fine */

/* The job is about to begin with `stdio`, which the relay takes over. */
void stdio_relay_begin(struct stdio_relay *relay, const struct job_stdio *stdio,
                       int64_t now_ms);
/* The user's side has connected, or the time for that is over. */
bool stdio_relay_is_user_there(const struct stdio_relay *relay, int64_t now_ms);
/* The job's processes have ended. Remaining output waits at most `drain_ms` after the
 * last packet of the user's side. */
void stdio_relay_end(struct stdio_relay *relay, int64_t drain_ms, int64_t now_ms);
/* After stdio_relay_end: nothing remains to be sent, or that time is over. */
bool stdio_relay_is_drained(const struct stdio_relay *relay, int64_t now_ms);
/* When one of the two becomes true by time alone; INT64_MAX: it does not. */
int64_t stdio_relay_deadline_ms(const struct stdio_relay *relay);
/* When the rate limit lets more bytes pass; INT64_MAX: none are waiting. */
int64_t stdio_relay_retry_ms(const struct stdio_relay *relay);

/* For poll: fills at most STDIO_RELAY_POLLS places, returns how many. */
int stdio_relay_polls(const struct stdio_relay *relay, struct pollfd *polls);
/* After poll, with the same places. */
void stdio_relay_serve(struct stdio_relay *relay, const struct pollfd *polls,
                       int n_polls, int64_t now_ms);

#endif
