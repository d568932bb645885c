/* SPDX-License-Identifier: Apache-2.0 */
/* codec_memory.h: the allocator that a message is unpacked with: it counts, and says
 * no at a bound, which makes protobuf-c give up cleanly. Without it a frame of empty
 * members takes 64 times its size (PITFALLS 4).
 *
 * Units: bytes; what is freed does not come back to the budget. Layer: proto. */
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
