/* SPDX-License-Identifier: Apache-2.0 */
/* local_buffer.h: bytes received from a stream, or waiting to be sent, and the messages
 * in them. Layer: sys. */
#ifndef SUBLET_SYS_LOCAL_LOCAL_BUFFER_H
#define SUBLET_SYS_LOCAL_LOCAL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

enum { LOCAL_HEADER = 4 }; /* the length before each message, big endian */

struct local_buffer {
    uint8_t *bytes;
    size_t start, end, capacity; /* the bytes are [start, end) */
};

size_t local_buffer_size(const struct local_buffer *buffer);
const uint8_t *local_buffer_data(const struct local_buffer *buffer);
/* Reserves `size` bytes behind the end; local_buffer_grow says how many were filled. */
uint8_t *local_buffer_room(struct local_buffer *buffer, size_t size);
void local_buffer_grow(struct local_buffer *buffer, size_t size);
/* Appends a message with its length. */
void local_buffer_append(struct local_buffer *buffer, const uint8_t *bytes,
                         size_t size);
/* Removes `size` bytes from the start; an empty buffer frees its memory. */
void local_buffer_take(struct local_buffer *buffer, size_t size);
void local_buffer_free(struct local_buffer *buffer);

/* The state of the message at the start. */
enum local_message_state { LOCAL_PARTIAL, LOCAL_WHOLE, LOCAL_TOO_LONG };
enum local_message_state local_buffer_message(const struct local_buffer *buffer,
                                              const uint8_t **bytes, size_t *size);

#endif
