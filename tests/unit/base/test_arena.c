/* SPDX-License-Identifier: Apache-2.0 */
/* test_arena.c: memory of an arena is zeroed, aligned, and does not overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static struct arena arena;

static int open_arena(void **state)
{
    arena_init(&arena);
    return 0;
}

static int close_arena(void **state)
{
    arena_release(&arena);
    return 0;
}

static void assert_filled(const unsigned char *memory, size_t size, int byte)
{
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(memory[i], byte);
    }
}

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    enum { N = 300 };
    unsigned char *parts[N];
    size_t sizes[N];
    for (int round = 0; round < 2; round++) { /* the second in memory used before */
        for (size_t i = 0; i < N; i++) {
            sizes[i] = i % 50 == 49 ? 40000 : i * 7 % 301;
            parts[i] = arena_alloc(&arena, sizes[i], 1);
            assert_int_equal((uintptr_t)parts[i] % 16, 0);
            assert_filled(parts[i], sizes[i], 0);
            memset(parts[i], (int)(i % 251), sizes[i]);
        }
        for (size_t i = 0; i < N; i++) {
            assert_filled(parts[i], sizes[i], (int)(i % 251));
        }
        arena_clear(&arena);
    }
}

static void a_huge_thing_fits_and_goes(void **state)
{
    unsigned char *memory = arena_alloc(&arena, 5, 1 << 20);
    assert_filled(memory, 5 << 20, 0);
    arena_clear(&arena);
    assert_null(arena.first);
    assert_non_null(arena_alloc(&arena, 0, 0));
}

static void copies_are_copies(void **state)
{
    char text[] = "north";
    char *copy = arena_str(&arena, text);
    char *part = arena_strn(&arena, text, 2);
    int *numbers = arena_copy(&arena, (const int[]){1, 2, 3}, 3 * sizeof(int));
    text[0] = 'X';
    assert_string_equal(copy, "north");
    assert_string_equal(part, "no");
    assert_int_equal(numbers[2], 3);
    assert_string_equal(arena_printf(&arena, "%s/%d", copy, 1), "north/1");
    assert_null(arena_str(&arena, NULL));
    assert_null(arena_strn(&arena, NULL, 3));
    assert_null(arena_copy(&arena, NULL, 3));
}

static void long_texts_are_formatted_whole(void **state)
{
    char *text = arena_printf(&arena, "%0*d", 70000, 7);
    assert_int_equal(strlen(text), 70000);
    assert_int_equal(text[69999], '7');
}

static void an_empty_arena_can_be_cleared(void **state)
{
    arena_clear(&arena);
    arena_release(&arena);
    arena_clear(&arena);
    assert_null(arena.first);
}

static void heap_memory_is_zeroed_and_grows(void **state)
{
    unsigned char *memory = mem_alloc(10, 10);
    assert_filled(memory, 100, 0);
    memset(memory, 1, 100);
    memory = mem_grow(memory, 1000, 10);
    assert_filled(memory, 100, 1);
    free(memory);
    free(mem_alloc(0, 8));
    free(mem_grow(NULL, 3, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_zeroed_aligned_and_apart, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(a_huge_thing_fits_and_goes, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(copies_are_copies, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(long_texts_are_formatted_whole, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(an_empty_arena_can_be_cleared, open_arena,
                                        close_arena),
        cmocka_unit_test(heap_memory_is_zeroed_and_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
