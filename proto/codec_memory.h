/* SPDX-License-Identifier: Apache-2.0 */
/* codec_memory.h: the allocator for unpacking a message. It fails at a bound, and
 * protobuf-c then fails cleanly. Without it a frame of empty members takes 64 times its
 * size (docs/design/architecture.md "Network"). All is freed at once, at the end.
 *
 * Units: bytes. Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_MEMORY_H
#define SUBLET_PROTO_CODEC_MEMORY_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct codec_memory {
    ProtobufCAllocator allocator;
    size_t bytes, max_bytes;
    int allocs, max_allocs;
    bool is_spent; /* an allocation was refused */
    struct arena arena;
};

void codec_memory_init(struct codec_memory *memory, size_t max_bytes, int max_allocs);
void codec_memory_release(struct codec_memory *memory);

#endif
