/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c: see arena.h. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So that AddressSanitizer reports what reads or writes behind the end of an
 * allocation, or after the arena was cleared. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(memory, bytes) ASAN_POISON_MEMORY_REGION(memory, bytes)
#define UNPOISON(memory, bytes) ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#else
#define POISON(memory, bytes) ((void)(memory), (void)(bytes))
#define UNPOISON(memory, bytes) ((void)(memory), (void)(bytes))
#endif

enum {
    ALIGNMENT = 16,
    BLOCK_FIRST = 1024, /* a site has dozens of arenas, a world thousands of sites */
    BLOCK_SMALL = 256,
    BLOCK_MAX =
        1024 * 1024, /* blocks double up to here; larger requests get their own block */
    SMALL_TEXT = 256,
    FIRST_CAPACITY = 8,
};

struct arena_block {
    struct arena_block *next;
    size_t size, used; /* of data */
    alignas(ALIGNMENT) unsigned char data[];
};

void arena_init(struct arena *arena)
{
    *arena = (struct arena){.first = NULL};
}

void arena_init_small(struct arena *arena)
{
    *arena = (struct arena){.least = BLOCK_SMALL};
}

static void free_blocks(struct arena_block *block)
{
    while (block != NULL) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void arena_clear(struct arena *arena)
{
    struct arena_block *kept = arena->first;
    if (kept == NULL) {
        return;
    }
    free_blocks(kept->next);
    kept->next = NULL;
    kept->used = 0;
    POISON(kept->data, kept->size);
    if (kept->size > BLOCK_MAX) { /* the block of one huge message is not reused */
        arena_release(arena);
    }
}

void arena_release(struct arena *arena)
{
    free_blocks(arena->first);
    arena->first = NULL;
}

/* `count` * `size`; aborts on overflow. */
static size_t bytes_of(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX / 2) {
        abort();
    }
    return bytes;
}

static struct arena_block *block_new(size_t size)
{
    struct arena_block *block = malloc(sizeof(*block) + size);
    if (block == NULL) {
        abort();
    }
    block->next = NULL;
    block->size = size;
    block->used = 0;
    POISON(block->data, size);
    return block;
}

/* Adds a block with at least `bytes` free. */
static struct arena_block *add_block(struct arena *arena, size_t bytes)
{
    struct arena_block *first = arena->first;
    size_t size = arena->least != 0 ? arena->least : BLOCK_FIRST;
    if (first != NULL) {
        size = first->size < BLOCK_MAX / 2 ? first->size * 2 : BLOCK_MAX;
    }
    if (first != NULL && bytes > size / 4) {
        /* A large block goes behind the first block, whose rest stays in use. */
        struct arena_block *alone = block_new(bytes);
        alone->next = first->next;
        first->next = alone;
        return alone;
    }
    struct arena_block *block = block_new(bytes > size ? bytes : size);
    block->next = first;
    arena->first = block;
    return block;
}

/* The last ALIGNMENT bytes are zeroed, of which at least one is behind `bytes`. Their
 * number is constant, so that this is one instruction. */
static void *take(struct arena *arena, size_t bytes)
{
    size_t rounded = (bytes + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);
    struct arena_block *block = arena->first;
    if (block == NULL || block->size - block->used < rounded) {
        block = add_block(arena, rounded);
    }
    unsigned char *memory = block->data + block->used;
    block->used += rounded;
    UNPOISON(memory, rounded);
    memset(memory + rounded - ALIGNMENT, 0, ALIGNMENT);
    POISON(memory + bytes + 1, rounded - bytes - 1);
    return memory;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    void *memory = memset(take(arena, bytes), 0, bytes);
    POISON((unsigned char *)memory + bytes, 1);
    return memory;
}

char *arena_str(struct arena *arena, const char *text)
{
    return text == NULL ? NULL : arena_strn(arena, text, strlen(text));
}

char *arena_strn(struct arena *arena, const char *text, size_t length)
{
    if (text == NULL) {
        return NULL;
    }
    return memcpy(take(arena, bytes_of(length, 1)), text, length);
}

void *arena_copy(struct arena *arena, const void *data, size_t size)
{
    if (data == NULL) {
        return NULL;
    }
    return memcpy(take(arena, bytes_of(size, 1)), data, size);
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    char small[SMALL_TEXT]; /* most texts fit, and are formatted only once */
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(small, sizeof(small), format, again);
    va_end(again);
    if (length < 0) {
        abort();
    }
    if ((size_t)length < sizeof(small)) {
        return arena_strn(arena, small, (size_t)length);
    }
    size_t size = (size_t)length + 1;
    char *text = arena_alloc(arena, size, 1);
    vsnprintf(text, size, format, args);
    return text;
}

void *mem_alloc(size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void *mem_grow(void *old, size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    void *memory = realloc(old, bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void *mem_room(void *items, int count, int *capacity, size_t size)
{
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
    return mem_grow(items, (size_t)*capacity, size);
}
