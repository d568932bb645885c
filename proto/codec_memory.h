/* SPDX-License-Identifier: Apache-2.0 */
/* codec_memory.h: the allocator for unpacking a message. It fails at a bound, and
 * protobuf-c then fails cleanly. Without it a frame of empty members takes 64 times its
 * size (docs/design/architecture.md "Network").
 *
 * Units: bytes; freed memory does not return to the budget. Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_MEMORY_H
#define SUBLET_PROTO_CODEC_MEMORY_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

struct codec_memory {
    ProtobufCAllocator allocator;
    size_t bytes, max_bytes;
    int allocs, max_allocs;
    bool is_spent; /* an allocation was refused */
};

void codec_memory_init(struct codec_memory *memory, size_t max_bytes, int max_allocs);

#endif
