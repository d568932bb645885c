/* SPDX-License-Identifier: Apache-2.0 */
/* Time windows: texts, and when they are open. 1970-01-01 was a Thursday, day 4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/window.h"

#define AT(day, hour, minute)                                                          \
    ((((int64_t)((day)-4 + 7) * 24 + (hour)) * 60 + (minute)) * INT64_C(60000))

static void test_open(void **state)
{
    static const struct {
        const char *why, *text;
        int64_t at_ms;
        bool is_open;
        int64_t next_ms;
    } rows[] = {
        {"in the day", "8:00-17:30", AT(1, 12, 0), true, AT(1, 17, 30)},
        {"its first minute", "8:00-17:30", AT(1, 8, 0), true, AT(1, 17, 30)},
        {"its last minute is not in it", "8:00-17:30", AT(1, 17, 30), false,
         AT(2, 8, 0)},
        {"before it", "8:00-17:30", AT(1, 7, 59), false, AT(1, 8, 0)},
        {"hours alone", "8-17", AT(1, 16, 59), true, AT(1, 17, 0)},
        {"over midnight, before", "20:00-8:30", AT(1, 23, 0), true, AT(2, 8, 30)},
        {"over midnight, after", "20:00-8:30", AT(2, 8, 29), true, AT(2, 8, 30)},
        {"over midnight, by day", "20:00-8:30", AT(2, 12, 0), false, AT(2, 20, 0)},
        {"over midnight and the week", "20:00-8:30", AT(6, 23, 0), true, AT(7, 8, 30)},
        {"a weekend", "5:18:30-1:8:30", AT(6, 12, 0), true, AT(8, 8, 30)},
        {"a weekend, on Sunday", "5:18:30-1:8:30", AT(0, 12, 0), true, AT(1, 8, 30)},
        {"a weekend, on Monday", "5:18:30-1:8:30", AT(1, 8, 30), false, AT(5, 18, 30)},
        {"7 is Sunday", "7:8:00-7:9:00", AT(0, 8, 30), true, AT(0, 9, 0)},
        {"two a day, between", "8-12 13-17", AT(3, 12, 30), false, AT(3, 13, 0)},
        {"two a day, the second", "8-12 13-17", AT(3, 13, 30), true, AT(3, 17, 0)},
        {"up to midnight", "22-24", AT(3, 23, 59), true, AT(4, 0, 0)},
        {"from midnight", "0-6", AT(3, 0, 0), true, AT(3, 6, 0)},
        {"within a minute", "8:00-17:30", AT(1, 7, 59) + 59999, false, AT(1, 8, 0)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct window_list list;
        struct err err;
        arena_init(&arena);
        if (window_read(&arena, rows[i].text, &list, &err) != 0) {
            fail_msg("%s: %s", rows[i].why, err.text);
        }
        if (window_is_open(&list, rows[i].at_ms) != rows[i].is_open) {
            fail_msg("%s: is %sopen", rows[i].why, rows[i].is_open ? "not " : "");
        }
        int64_t next_ms = window_next_ms(&list, rows[i].at_ms);
        if (next_ms != rows[i].next_ms) {
            fail_msg("%s: changes in %lld minutes, expected %lld", rows[i].why,
                     (long long)((next_ms - rows[i].at_ms) / 60000),
                     (long long)((rows[i].next_ms - rows[i].at_ms) / 60000));
        }
        arena_release(&arena);
    }
}

static void test_none(void **state)
{
    const struct window_list none = {0};
    (void)state;
    assert_true(window_is_open(&none, 0));
    assert_true(window_next_ms(&none, 0) == INT64_MAX);
}

/* What is said of every minute of a week agrees with the next change. */
static void test_next_is_next(void **state)
{
    struct arena arena;
    struct window_list list;
    struct err err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(window_read(&arena, "22:15-3 5:18:30-1:8:30 12-13", &list, &err),
                     0);
    for (int64_t at = 0; at < WINDOW_WEEK_MIN; at++) {
        int64_t next = window_next_ms(&list, at * 60000);
        for (int64_t k = at; k * 60000 < next; k++) {
            if (window_is_open(&list, k * 60000) != window_is_open(&list, at * 60000)) {
                fail_msg("minute %lld: changes at %lld", (long long)at, (long long)k);
            }
        }
    }
    arena_release(&arena);
}

static void test_bad(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"8", "is not a time window"},
        {"8-", "is not a time window"},
        {"-8", "is not a time window"},
        {"8:00-17:30x", "is not a time window"},
        {"8:0:0:0-9:0:0:0", "is not a time window"},
        {"108-109", "is not a time window"},
        {"8-25", "no such time"},
        {"8:60-9", "no such time"},
        {"8:8:00-9:9:00", "no such time"},
        {"24:30-3", "no such time"},
        {"1:8:00-9:00", "a day at one end"},
        {"8-8:00", "\" ends when it begins"},
        {"", "0 time windows"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct window_list list = {.n_items = -1};
        struct err err = {.text = ""};
        arena_init(&arena);
        if (window_read(&arena, rows[i].text, &list, &err) != ERR_PARSE ||
            strstr(err.text, rows[i].says) == NULL || list.n_items != -1) {
            fail_msg("\"%s\": \"%s\", expected \"%s\"", rows[i].text, err.text,
                     rows[i].says);
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_next_is_next),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
