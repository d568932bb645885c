/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h: consistent copies of the store while the broker works: a regular one to a
 * file, and one for an administrator, piece by piece.
 *
 * A copy is made some pages at a time, one at a time, between the loop's other work. In
 * the turn that ends it, what only the running broker knows is committed to the store
 * and so is in the copy: its views say what the listings say at that instant.
 *
 * An administrator's copy is a file without a name, open until the last piece was asked
 * for or nobody has asked for a while; there is one at a time. One that fails (no
 * space) is told or logged, and hurts nothing else; but where that last commit fails,
 * the process ends as for any other.
 *
 * Ownership: store, broker and loop are borrowed and outlive it.
 * Source: INTERFACES 5. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_SNAPSHOT_H
#define SUBLET_BROKER_IO_SNAPSHOT_H

#include <czmq.h>

#include "broker/broker_config.h"
#include "broker/io/store.h"

struct snapshot;
struct snapshot *snapshot_new(zloop_t *loop, const struct broker_setup *setup,
                              const struct broker *broker, struct store *store);
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

/* Fills the reply but for its request; what it points to lives until the next call.
 * ERR_FULL while another's copy is under way. */
void snapshot_answer(struct snapshot *snapshot, const struct msg_snapshot *ask,
                     struct msg_reply *reply);

#endif
