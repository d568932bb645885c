/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h: memory that is freed all at once.
 *
 * Messages, effects and parsed files live in an arena: the owner of the arena owns
 * everything in it, and nothing in it is freed individually. All memory is zeroed.
 *
 * Ownership: `arena_release` frees all; `arena_clear` keeps one block for reuse.
 * Errors: none; out of memory aborts (all important state is on disk). Callers bound
 * sizes that come from outside. Layer: base. */
#ifndef SUBLET_BASE_ARENA_H
#define SUBLET_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *first; /* newest block first */
    size_t least;              /* size of its first block; 0: the default */
};

void arena_init(struct arena *arena);
/* For thousands of arenas that hold a few hundred bytes each. */
void arena_init_small(struct arena *arena);
void arena_clear(struct arena *arena);
void arena_release(struct arena *arena);

/* Zeroed memory for `count` objects of `size` bytes, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* Copies; NULL stays NULL. */
char *arena_str(struct arena *arena, const char *text);
char *arena_strn(struct arena *arena, const char *text, size_t length);
void *arena_copy(struct arena *arena, const void *data, size_t size);

/* A formatted string. */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Zeroed heap memory outside any arena, freed with free(); aborts if there is none.
 * mem_grow does not zero the memory it adds. */
void *mem_alloc(size_t count, size_t size);
void *mem_grow(void *old, size_t count, size_t size);
/* Makes room for one more item of `size` bytes. Returns the array, which may have
 * moved. */
void *mem_room(void *items, int count, int *capacity, size_t size);

#endif
