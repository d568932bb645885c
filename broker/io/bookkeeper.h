/* SPDX-License-Identifier: Apache-2.0 */
/* bookkeeper.h: the broker's books (store/books.h) while it runs: contracts that have
 * none are entered at the start, and what is old is summed between the loop's other
 * work.
 *
 * A commit that fails ends the process, as any of the broker's does.
 * Ownership: broker and store are borrowed and outlive it. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_BOOKKEEPER_H
#define SUBLET_BROKER_IO_BOOKKEEPER_H

#include <czmq.h>

#include "broker/broker.h"
#include "broker/io/store/books.h"

struct bookkeeper;
int bookkeeper_new(zloop_t *loop, const struct broker *broker, struct store *store,
                   int64_t n_bytes_max, struct bookkeeper **keeper,
                   struct err *err) MUST_CHECK;
void bookkeeper_free(struct bookkeeper *keeper); /* NULL is fine */

#endif
