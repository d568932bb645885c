/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h: memory that is given back all at once.
 *
 * Messages, effects and parsed files live in an arena: whoever owns the arena
 * owns everything in it, nothing in it is freed alone. All memory is zeroed.
 *
 * Ownership: `arena_release` frees all; `arena_clear` keeps one block for reuse.
 * Errors: none; out of memory aborts (all state worth keeping is on disk). Sizes
 * that come from outside are bounded before they get here.
 * Layer: base. */
#ifndef SUBLET_BASE_ARENA_H
#define SUBLET_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *first; /* newest block first */
    size_t least;              /* size of its first block; 0: the usual one */
};

void arena_init(struct arena *arena);
/* For one of thousands, each with a few hundred bytes in it. */
void arena_init_small(struct arena *arena);
void arena_clear(struct arena *arena);
void arena_release(struct arena *arena);

/* Zeroed memory for `count` things of `size` bytes, aligned for any type. */
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

/* Heap memory outside any arena, for state that grows and shrinks: zeroed,
 * aborts when there is none. Freed with free(). What mem_grow adds at the end is
 * not zeroed: it does not know the old size. */
void *mem_alloc(size_t count, size_t size);
void *mem_grow(void *old, size_t count, size_t size);

#endif
