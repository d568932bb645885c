/* SPDX-License-Identifier: Apache-2.0 */
/* host_streams.h: what passes between the site and the guards of interactive runs here:
 * STREAM_DOWN to them, STREAM_UP from them.
 *
 * A connection to a guard is made when the site first has something for its run, and
 * goes with either of them. Nothing is kept here: what cannot go on at once is dropped,
 * and the user's side asks again (stdio_relay.h).
 *
 * Ownership: loop and runs are borrowed. Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_STREAMS_H
#define SUBLET_HOST_AGENT_HOST_STREAMS_H

#include <czmq.h>

#include "host/agent/host_runs.h"
#include "model/msg.h"

/* A guard has something for the site. It lives until the call returns. */
typedef void (*host_streams_up_fn)(void *arg, const struct msg_stream_up *up);

struct host_streams;
struct host_streams *host_streams_new(zloop_t *loop, const struct host_runs *runs,
                                      host_streams_up_fn on_up, void *arg);
void host_streams_free(struct host_streams *streams);

void host_streams_down(struct host_streams *streams,
                       const struct msg_stream_down *down);

#endif
