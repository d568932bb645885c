/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_window.c: eight bytes are an instant, the rest is the text of time windows.
 * Accepted windows do not change until the next change reported, and repeat weekly;
 * refused ones have an error text and leave nothing. */
#include <string.h>

#include "base/window.h"
#include "tests/fuzz/input.h"

enum { STEPS = 50, TEXT_MAX_READ = 4096 };

static const int64_t minute_ms = 60000, week_ms = WINDOW_WEEK_MIN * INT64_C(60000);

static void check_items(const struct window_list *list)
{
    for (int i = 0; i < list->n_items; i++) {
        const struct window *window = &list->items[i];
        if (window->from < 0 || window->from >= WINDOW_WEEK_MIN || window->to < 0 ||
            window->to > WINDOW_WEEK_MIN) {
            input_fail("a window from %d to %d", window->from, window->to);
        }
    }
}

static void check_until_next(const struct window_list *list, int64_t now_ms)
{
    int64_t next_ms = window_next_ms(list, now_ms);
    bool is_open = window_is_open(list, now_ms);
    if (list->n_items == 0) {
        if (next_ms != INT64_MAX || !is_open) {
            input_fail("without a window it is not open for ever");
        }
        return;
    }
    if (next_ms <= now_ms || next_ms > now_ms + week_ms || next_ms % minute_ms != 0) {
        input_fail("the next change is %lld ms away", (long long)(next_ms - now_ms));
    }
    for (int i = 1; i <= STEPS; i++) {
        int64_t at_ms = now_ms + (next_ms - 1 - now_ms) / STEPS * i;
        if (window_is_open(list, at_ms) != is_open) {
            input_fail("it changes %lld ms before it does",
                       (long long)(next_ms - at_ms));
        }
    }
    if (window_is_open(list, next_ms - 1) != is_open ||
        window_is_open(list, now_ms + week_ms) != is_open) {
        input_fail("it is not the same up to the change, or a week later");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    /* Some 2,900 years around 1970. */
    int64_t now_ms = (int64_t)(input_number(&input, 8) >> 17) - (INT64_C(1) << 46);
    struct window_list list = {.n_items = -1};
    struct err err = {.text = ""};
    struct arena arena;
    if (input.left > TEXT_MAX_READ) {
        return 0;
    }
    arena_init(&arena);
    const char *text = arena_strn(&arena, (const char *)input.at, input.left);
    if (window_read(&arena, text, &list, &err) != 0) {
        if (list.n_items != -1 || err.text[0] == '\0') {
            input_fail("it is refused without a word, or half taken");
        }
    } else {
        check_items(&list);
        check_until_next(&list, now_ms);
    }
    arena_release(&arena);
    return 0;
}
