/* SPDX-License-Identifier: Apache-2.0 */
/* codec_memory.c: see codec_memory.h. */
#include "proto/codec_memory.h"

#include <string.h>

static void *allocate(void *data, size_t size)
{
    struct codec_memory *memory = data;
    if (memory->allocs >= memory->max_allocs ||
        size > memory->max_bytes - memory->bytes) {
        memory->is_spent = true;
        return NULL;
    }
    memory->allocs++;
    memory->bytes += size;
    return arena_alloc(&memory->arena, size, 1);
}

static void release(void *data, void *block)
{
    (void)data, (void)block;
}

void codec_memory_init(struct codec_memory *memory, size_t max_bytes, int max_allocs)
{
    memset(memory, 0, sizeof(*memory));
    memory->allocator.alloc = allocate;
    memory->allocator.free = release;
    memory->allocator.allocator_data = memory;
    memory->max_bytes = max_bytes;
    memory->max_allocs = max_allocs;
    arena_init(&memory->arena);
}

void codec_memory_release(struct codec_memory *memory)
{
    arena_release(&memory->arena);
}
