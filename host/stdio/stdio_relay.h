/* SPDX-License-Identifier: Apache-2.0 */
/* stdio_relay.h: what goes to and fro between an interactive job and its user.
 *
 * The guard holds the job's terminal or pipes (job_stdio.h), so that these outlive the
 * agent, the site and the user's connection. Of each stream it keeps at most
 * STREAM_WINDOW bytes: of output those that the user's side has not said to have, of
 * input those that the job has not read. When no more fits it reads no more, and the
 * job waits, as it would with a slow terminal.
 *
 * What the user's side says comes by way of the agent, over a socket in the run's
 * directory (stream_packet.h); the newest connection counts. Anything may be lost on
 * the way: the user's side notices, and asks again.
 *
 * Once the job's processes are gone, what is left of the output waits for the user:
 * until all of it has arrived, or nobody has asked for a while.
 *
 * Units: milliseconds of the monotonic clock; bytes. Layer: host (guard). */
#ifndef SUBLET_HOST_STDIO_STDIO_RELAY_H
#define SUBLET_HOST_STDIO_STDIO_RELAY_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/stdio/job_stdio.h"

enum {
    STDIO_RELAY_POLLS = 5,
    STDIO_RELAY_USER_WAIT_MS =
        5000, /* the job's first instruction waits for its user */
    /* And its end for who does not ask: a site may be away; of a job that was ended it
     * is more likely that nobody is there. */
    STDIO_RELAY_DRAIN_MS = 30000,
    STDIO_RELAY_DRAIN_KILLED_MS = 3000,
};

struct stdio_relay;

/* Listens in the directory, which must be the working directory. `is_relayed`: a broker
 * is on the way to its user, and gets no more than STREAM_RELAYED_PER_S. */
int stdio_relay_new(struct stdio_relay **stream, bool is_relayed,
                    struct err *err) MUST_CHECK;
void stdio_relay_free(struct stdio_relay *stream); /* NULL is fine */

/* The job is about to begin, with these: taken over. */
void stdio_relay_begin(struct stdio_relay *stream, const struct job_stdio *ends,
                       int64_t now_ms);
/* Somebody is there at the other end, or the time for that is over. */
bool stdio_relay_is_user_there(const struct stdio_relay *stream, int64_t now_ms);
/* The job's processes are gone. What is left waits for somebody to ask so long. */
void stdio_relay_end(struct stdio_relay *stream, int64_t patience_ms, int64_t now_ms);
/* After that: nothing is owed to anybody. */
bool stdio_relay_is_drained(const struct stdio_relay *stream, int64_t now_ms);
/* When one of the two comes true by itself; INT64_MAX: it does not. */
int64_t stdio_relay_deadline_ms(const struct stdio_relay *stream);
/* When what waits for its turn may go; INT64_MAX: nothing does. */
int64_t stdio_relay_retry_ms(const struct stdio_relay *stream);

/* For poll: fills at most STDIO_RELAY_POLLS places, returns how many. */
int stdio_relay_polls(const struct stdio_relay *stream, struct pollfd *polls);
/* After poll, with the same places. */
void stdio_relay_serve(struct stdio_relay *stream, const struct pollfd *polls,
                       int n_polls, int64_t now_ms);

#endif
