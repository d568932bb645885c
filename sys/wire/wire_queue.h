/* SPDX-License-Identifier: Apache-2.0 */
/* wire_queue.h: received messages that wait for their turn: one queue for each sender,
 * one message of each sender in turn, within its rate limit (base/rate_limit.h).
 *
 * A sender is known by a text: the key of a member, the number of a host's connection,
 * the site that a relayed message comes from.
 *
 * Bounds: QUEUE_BYTES_MAX and QUEUE_MESSAGES_MAX for a sender, TOTAL_BYTES_MAX for all
 * of them, equally divided if that is less. One message of each sender always fits.
 * Units: bytes, milliseconds of daemon_now_ms, microseconds of work. Ownership: bytes
 * are copied; an entry lives until `deliver` returns. Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_QUEUE_H
#define SUBLET_SYS_WIRE_WIRE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"
#include "base/rate_limit.h"
#include "model/effect.h"

enum { WIRE_QUEUE_SENDER_SIZE = NAME_SIZE };

struct wire_queue;
struct wire_queue *wire_queue_new(void);
void wire_queue_free(struct wire_queue *queue); /* NULL is fine */

struct wire_queue_entry {
    struct peer from; /* without a name */
    const char *sender;
    struct wire_queue_entry *next; /* of the same sender */
    size_t n_bytes;
    uint8_t bytes[];
};

/* False if it does not fit, or the sender is out: it is dropped, and counted as
 * refused. A sender that `is_trusted` may use all the time and all the room. */
bool wire_queue_put(struct wire_queue *queue, const char *sender, bool is_trusted,
                    const struct peer *from, const void *bytes, size_t n_bytes,
                    int64_t now_ms);

/* Delivers messages in turn, until `max` of them, BATCH_US of work or BATCH_BYTES are
 * reached, or no sender has time left. Each sender is charged for the processor time of
 * its messages, and more than that for long ones (base/rate_limit.h). If none of those
 * that wait has time left, they are served all the same, for IDLE_US, and not charged:
 * time that nobody else wants is free, and a message that comes meanwhile waits no
 * longer than that. A sender whose last message was long waits until it has time again.
 * Returns the number of messages. */
typedef void (*wire_queue_deliver_fn)(void *arg, const struct wire_queue_entry *entry);
int wire_queue_serve(struct wire_queue *queue, int max, wire_queue_deliver_fn deliver,
                     void *arg);
/* From within `deliver`: the message causes more work in this batch. */
void wire_queue_charge(struct wire_queue *queue, int64_t work_us);
/* Later: it has caused more work. */
void wire_queue_charge_late(struct wire_queue *queue, const char *sender,
                            int64_t work_us);
/* When a message that waits can be delivered: 0 now, INT64_MAX if none waits. */
int64_t wire_queue_ready_ms(struct wire_queue *queue, int64_t now_ms);

/* Drops what the sender has sent, with its rate limit. */
void wire_queue_remove(struct wire_queue *queue, const char *sender);

/* Counts a refusal; true if the sender is out from now on. */
bool wire_queue_refuse(struct wire_queue *queue, const char *sender, int64_t now_ms);
/* A sender that has become out since the last call; NULL: none. Borrowed until the
 * queue changes. */
const char *wire_queue_take_out(struct wire_queue *queue);
bool wire_queue_is_out(struct wire_queue *queue, const char *sender, int64_t now_ms);

/* NULL: nothing is known of it. */
const struct rate_limit *wire_queue_rate_limit(const struct wire_queue *queue,
                                               const char *sender);
uint64_t wire_queue_count_dropped(const struct wire_queue *queue, const char *sender);
size_t wire_queue_count_bytes(const struct wire_queue *queue);

#endif
