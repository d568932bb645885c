/* SPDX-License-Identifier: Apache-2.0 */
/* guard_link.h: the guard's side of the talk with its agent.
 *
 * A connection that does not read, or says what is no order, is closed: the agent comes
 * back by the socket in the run's directory and gets the record anew. Only root and the
 * guard's own account may connect.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_LINK_H
#define SUBLET_HOST_GUARD_GUARD_LINK_H

#include <poll.h>
#include <stdbool.h>

#include "base/err.h"
#include "host/exec/guard_record.h"
#include "host/run_dir/run_dir.h"

enum { GUARD_LINK_PEERS = 4 }; /* an agent, its successor, and who looks */

struct guard_link {
    int listener; /* -1: none */
    int peers[GUARD_LINK_PEERS];
    int n_peers;
};

void guard_link_init(struct guard_link *link);
void guard_link_release(struct guard_link *link);
/* A connection that is there already. */
void guard_link_add(struct guard_link *link, int peer);
/* Listens in the directory, which must be the working directory. */
int guard_link_listen(struct guard_link *link, struct err *err) MUST_CHECK;

void guard_link_push(struct guard_link *link, const struct guard_record *record);

/* For poll: fills at most 1 + GUARD_LINK_PEERS places, returns how many. */
int guard_link_polls(const struct guard_link *link, struct pollfd *polls);
/* After poll, with the same places: takes a newcomer in and hands over one order of
 * each who has one. */
typedef void (*guard_link_request_fn)(void *arg, const struct guard_request *order);
void guard_link_serve(struct guard_link *link, const struct pollfd *polls, int n_polls,
                      const struct guard_record *record, guard_link_request_fn on_order,
                      void *arg);

#endif
