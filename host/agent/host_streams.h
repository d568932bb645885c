/* SPDX-License-Identifier: Apache-2.0 */
/* host_streams.h: passes packets of interactive runs between the site and guards:
 * STREAM_DOWN to the guard, STREAM_UP to the site.
 *
 * The connection to a guard is made when the site first sends a packet for its run. It
 * ends with the guard or the agent. Nothing is stored here: a packet that cannot be
 * passed on at once is dropped, and the user's side asks again (host_stdio.h).
 *
 * Ownership: loop and runs are borrowed. Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_STREAMS_H
#define SUBLET_HOST_AGENT_HOST_STREAMS_H

#include <czmq.h>

#include "host/agent/host_runs.h"
#include "model/msg.h"

/* A packet for the site, valid until the call returns. */
typedef void (*host_streams_up_fn)(void *arg, const struct msg_stream_up *up);

struct host_streams;
struct host_streams *host_streams_new(zloop_t *loop, const struct host_runs *runs,
                                      host_streams_up_fn on_up, void *arg);
void host_streams_free(struct host_streams *streams);

void host_streams_down(struct host_streams *streams, const struct host_run *run,
                       const struct msg_stream_down *down);

#endif
