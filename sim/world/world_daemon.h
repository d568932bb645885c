/* SPDX-License-Identifier: Apache-2.0 */
/* world_daemon.h: the batch of a daemon, its start, crash and reload.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_WORLD_WORLD_DAEMON_H
#define SUBLET_SIM_WORLD_WORLD_DAEMON_H

#include "sim/world/world_state.h"

/* Adds an event to the daemon's batch, and ends the batch if it is full. No effect if
 * the daemon is down. */
void world_daemon_take(struct world *world, int daemon, const struct event *event);
/* The two halves of world_daemon_take. */
void world_daemon_step(struct world *world, int daemon, const struct event *event);
void world_daemon_bound_batch(struct world *world, int daemon);
/* Ends the batch: a tick if `with_tick`, then commit and send. A crash loses all of it.
 */
void world_daemon_end_batch(struct world *world, int daemon, bool with_tick);

void world_daemon_start(struct world *world, int daemon);
void world_daemon_stop(struct world *world, int daemon);
void world_daemon_crash(struct world *world, int daemon, int64_t down_ms);
/* Passes the configuration to the daemon, in one batch, if it is up. */
void world_daemon_reload(struct world *world, int daemon);

/* A message of a client with all permissions. */
struct event world_daemon_client_event(struct world *world, const char *user,
                                       const struct msg *msg);

#endif
