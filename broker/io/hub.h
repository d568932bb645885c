/* SPDX-License-Identifier: Apache-2.0 */
/* hub.h: the broker's reactor: what the members say goes into broker_step, what comes
 * out is committed and then sent.
 *
 * A batch is: collect what has arrived, up to a bound; step each event; commit all
 * store effects in one transaction; then send and log in order. A commit that fails
 * ends the process at once, with exit status 1 and nothing of the batch sent: it starts
 * again from what is on disk.
 *
 * Ownership: broker, store and loop are borrowed and outlive the hub; the setup until
 * hub_new returns.
 * Errors: ERR_IO the socket cannot be bound; ERR_PARSE, ERR_DENIED, ERR_EXISTS a key
 * file is bad, readable by others, or two members' at once.
 * Source: STYLE, "Step and shell". Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HUB_H
#define SUBLET_BROKER_IO_HUB_H

#include <czmq.h>

#include "broker/broker_config.h"
#include "broker/io/metrics.h"
#include "broker/io/snapshot.h"
#include "broker/io/store.h"

struct hub;
/* Binds, and lets the members' keys in. Nothing is answered before hub_start. */
int hub_new(zloop_t *loop, const struct broker_setup *setup, struct broker *broker,
            struct store *store, struct hub **hub, struct err *err) MUST_CHECK;
void hub_free(struct hub *hub); /* NULL is fine */

/* Who answers SNAPSHOT; borrowed. Without it they are refused. */
void hub_set_snapshot(struct hub *hub, struct snapshot *snapshot);
/* Who reads the configuration anew when an administrator asks: on success it has handed
 * it in by hub_reload, and `text` (in the arena) says so. */
typedef int (*hub_reload_fn)(void *part, struct arena *arena, const char **text,
                             struct err *err);
void hub_set_reload(struct hub *hub, hub_reload_fn reload, void *part);
/* What hub_set_reload gave, for who asks otherwise than by a message. */
int hub_run_reload(struct hub *hub, struct arena *arena, const char **text,
                   struct err *err) MUST_CHECK;
/* Other members and parameters: keys that are gone are let in no more; what follows for
 * leases is done by the next batch, at once. Where a key file is bad nothing is
 * changed. */
int hub_reload(struct hub *hub, const struct broker_setup *setup,
               struct err *err) MUST_CHECK;
/* What was counted; lives as long as the hub. */
const struct metrics *hub_metrics(const struct hub *hub);

/* Does what an administrator asks by other ways than a member's socket, as a batch of
 * its own: when it returns, all of it is committed. `said` is the broker's sentence, in
 * the arena; where it refuses, its code and `err`. */
int hub_ask(struct hub *hub, struct msg *msg, struct arena *arena, const char **said,
            struct err *err) MUST_CHECK;

/* Starts the loaded broker: its first batch. */
void hub_start(struct hub *hub);

#endif
