/* SPDX-License-Identifier: Apache-2.0 */
/* guard_link.h: the guard's connections to its agent.
 *
 * A connection that does not read, or sends anything but requests, is closed. The agent
 * then connects again to the socket in the run's directory, and gets the record anew.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_LINK_H
#define SUBLET_HOST_GUARD_GUARD_LINK_H

#include <poll.h>

#include "host/run_dir/run_dir.h"

enum { GUARD_LINK_PEERS = 4 }; /* an agent, its successor, and observers */

struct guard_link {
    int listener; /* -1: none */
    int peers[GUARD_LINK_PEERS];
    int n_peers;
};

void guard_link_init(struct guard_link *link);
void guard_link_release(struct guard_link *link);
/* Adds an open connection. */
void guard_link_add(struct guard_link *link, int peer);
/* Listens in the working directory, which must be the run's. */
int guard_link_listen(struct guard_link *link, struct err *err) MUST_CHECK;

/* Sends the record to all agents. */
void guard_link_push(struct guard_link *link, const struct guard_record *record);

/* For poll: fills at most 1 + GUARD_LINK_PEERS places, returns how many. */
int guard_link_polls(const struct guard_link *link, struct pollfd *polls);
/* After poll, with the same places: accepts a connection, and passes on one request of
 * each connection that has any. */
typedef void (*guard_link_request_fn)(void *arg, const struct guard_request *request);
void guard_link_serve(struct guard_link *link, const struct pollfd *polls, int n_polls,
                      const struct guard_record *record,
                      guard_link_request_fn on_request, void *arg);

#endif
