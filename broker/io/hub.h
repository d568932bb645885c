/* SPDX-License-Identifier: Apache-2.0 */
/* hub.h: the members' connections to the broker, and the broker in its shell
 * (sys/shell.h).
 *
 * Ownership: door, broker, store and loop are borrowed and outlive the hub; a setup
 * until the call returns. Source: docs/design/architecture.md "The shell". Layer:
 * broker/io. */
#ifndef SUBLET_BROKER_IO_HUB_H
#define SUBLET_BROKER_IO_HUB_H

#include <czmq.h>

#include "broker/broker_config.h"
#include "broker/io/door.h"
#include "broker/io/metrics.h"
#include "broker/io/overviews.h"
#include "broker/io/snapshot.h"
#include "broker/io/store/store.h"
#include "broker/io/usage_gather.h"
#include "sys/shell.h"

struct hub;
/* Nothing is answered before hub_start. */
struct hub *hub_new(zloop_t *loop, struct door *door, struct broker *broker,
                    struct store *store);
void hub_free(struct hub *hub); /* NULL is fine */

/* Answers SNAPSHOT; borrowed. Without it such requests are refused. */
void hub_set_snapshot(struct hub *hub, struct snapshot *snapshot);
/* For what reads the configuration again: on success it has called hub_reload. */
struct shell *hub_shell(struct hub *hub);
/* Takes other members and parameters, as `who` ordered. Keys that are gone are not
 * accepted any more. The leases are updated by the next batch, at once. If a key file
 * is bad nothing changes. */
int hub_reload(struct hub *hub, const struct broker_setup *setup, const char *who,
               struct err *err) MUST_CHECK;
/* Lives as long as the hub. */
const struct metrics *hub_metrics(const struct hub *hub);

/* Executes the request of the administrator `who`, which did not come through a
 * member's socket, as a batch of its own, which is committed when this returns.
 * `answer` is the broker's sentence, in the arena. */
int hub_ask(struct hub *hub, struct msg *msg, const char *who, struct arena *arena,
            const char **answer, struct err *err) MUST_CHECK;

/* The ledgers of the sites; lives as long as the hub. */
struct usage_gather *hub_usage(struct hub *hub);
/* What the sites tell of themselves; lives as long as the hub. */
struct overviews *hub_overviews(struct hub *hub);

/* An administrator has ordered it to step down: the loop ends soon, and this broker is
 * to become a standby. */
bool hub_steps_down(const struct hub *hub);

/* Starts the loaded broker: its first batch. */
void hub_start(struct hub *hub);

#endif
