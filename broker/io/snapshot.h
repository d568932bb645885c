/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h: consistent copies of the store while the broker works: a regular one to a
 * file, and one for an administrator, piece by piece.
 *
 * There is one copy at a time, made some pages at a time between the loop's other work.
 * Before its last step, what only the running broker knows is committed to the store,
 * so that the copy's views say what the listings say at that instant.
 *
 * An administrator's copy is a file without a name, open until the last piece is read
 * or no piece was requested for a while. There is one at a time. A copy that fails (no
 * space) is reported or logged, and affects nothing else; but if that last commit
 * fails, the process ends as for any other.
 *
 * Ownership: store, broker and loop are borrowed and outlive it.
 * Source: docs/design/interfaces.md "HTTP". Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_SNAPSHOT_H
#define SUBLET_BROKER_IO_SNAPSHOT_H

#include <czmq.h>

#include "broker/broker_config.h"
#include "broker/io/store/store.h"

struct snapshot;
struct snapshot *snapshot_new(zloop_t *loop, const struct broker_setup *setup,
                              const struct broker *broker, struct store *store);
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

/* Fills the reply except its request; its pointers are valid until the next call.
 * ERR_FULL while a copy is made for another administrator. */
void snapshot_answer(struct snapshot *snapshot, const struct msg_snapshot *ask,
                     struct msg_reply *reply);

#endif
