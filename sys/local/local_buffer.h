/* SPDX-License-Identifier: Apache-2.0 */
/* local_buffer.h: bytes that came or wait to go on a stream, and where one message in
 * them ends. Part of local.h.
 *
 * Layer: sys. */
#ifndef SUBLET_SYS_LOCAL_LOCAL_BUFFER_H
#define SUBLET_SYS_LOCAL_LOCAL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

enum { LOCAL_HEADER = 4 }; /* the length before each message, big endian */

struct local_buffer {
    uint8_t *bytes;
    size_t start, end, capacity; /* what counts is [start, end) */
};

size_t local_buffer_size(const struct local_buffer *buffer);
const uint8_t *local_buffer_data(const struct local_buffer *buffer);
/* Room for `size` more bytes behind the end; say with grow how many were put there. */
uint8_t *local_buffer_room(struct local_buffer *buffer, size_t size);
void local_buffer_grow(struct local_buffer *buffer, size_t size);
/* A message with its length before it. */
void local_buffer_append(struct local_buffer *buffer, const uint8_t *bytes,
                         size_t size);
/* Takes `size` bytes from the start; an empty buffer gives its memory back. */
void local_buffer_take(struct local_buffer *buffer, size_t size);
void local_buffer_free(struct local_buffer *buffer);

/* How the message at the start stands. */
enum local_message_state { LOCAL_PARTIAL, LOCAL_WHOLE, LOCAL_TOO_LONG };
enum local_message_state local_buffer_message(const struct local_buffer *buffer,
                                              const uint8_t **bytes, size_t *size);

#endif
