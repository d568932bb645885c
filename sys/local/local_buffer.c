/* SPDX-License-Identifier: Apache-2.0 */
/* local_buffer.c: see local_buffer.h. */
#include "sys/local/local_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bounds.h"

enum { FIRST_CAPACITY = 4096 };

size_t local_buffer_size(const struct local_buffer *buffer)
{
    return buffer->end - buffer->start;
}

const uint8_t *local_buffer_data(const struct local_buffer *buffer)
{
    return buffer->bytes + buffer->start;
}

uint8_t *local_buffer_room(struct local_buffer *buffer, size_t size)
{
    size_t used = local_buffer_size(buffer);
    if (buffer->capacity - buffer->end < size && buffer->start > 0) {
        memmove(buffer->bytes, buffer->bytes + buffer->start, used);
        buffer->start = 0;
        buffer->end = used;
    }
    if (buffer->capacity - buffer->end < size) {
        size_t wanted = buffer->capacity > 0 ? buffer->capacity * 2 : FIRST_CAPACITY;
        buffer->capacity = wanted >= used + size ? wanted : used + size;
        buffer->bytes = mem_grow(buffer->bytes, buffer->capacity, 1);
    }
    return buffer->bytes + buffer->end;
}

void local_buffer_grow(struct local_buffer *buffer, size_t size)
{
    buffer->end += size;
}

void local_buffer_append(struct local_buffer *buffer, const uint8_t *bytes, size_t size)
{
    uint8_t *room = local_buffer_room(buffer, LOCAL_HEADER + size);
    for (int i = 0; i < LOCAL_HEADER; i++) {
        room[i] = (uint8_t)(size >> (8 * (LOCAL_HEADER - 1 - i)));
    }
    memcpy(room + LOCAL_HEADER, bytes, size);
    local_buffer_grow(buffer, LOCAL_HEADER + size);
}

void local_buffer_take(struct local_buffer *buffer, size_t size)
{
    buffer->start += size;
    if (buffer->start == buffer->end) {
        local_buffer_free(buffer);
    }
}

void local_buffer_free(struct local_buffer *buffer)
{
    free(buffer->bytes);
    memset(buffer, 0, sizeof(*buffer));
}

enum local_message_state local_buffer_message(const struct local_buffer *buffer,
                                              const uint8_t **bytes, size_t *size)
{
    if (local_buffer_size(buffer) < LOCAL_HEADER) {
        return LOCAL_PARTIAL;
    }
    const uint8_t *data = local_buffer_data(buffer);
    size_t length = 0;
    for (int i = 0; i < LOCAL_HEADER; i++) {
        length = length << 8 | data[i];
    }
    if (length > FRAME_MAX) {
        return LOCAL_TOO_LONG;
    }
    if (local_buffer_size(buffer) < LOCAL_HEADER + length) {
        return LOCAL_PARTIAL;
    }
    *bytes = data + LOCAL_HEADER;
    *size = length;
    return LOCAL_WHOLE;
}
