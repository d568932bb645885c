/* SPDX-License-Identifier: Apache-2.0 */
/* test_recall_victims.c: which jobs give up slots that are wanted back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "site/exchange/recall_victims.h"

enum { MANY = 5000, FEW = 10 };

static struct arena arena;
static struct recall_victim items[MANY];

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* Each job as "PRIORITY:SLOTS", with "!" behind if it was chosen before; the oldest
 * first, so that the last is the youngest. Its number is its place, from 1. */
static struct recall_victims make(const char *text)
{
    struct recall_victims victims = {.items = items};
    char *rest = arena_str(&arena, text);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        struct recall_victim *victim = &items[victims.count++];
        int priority = 0, n_slots = 0;
        char mark = ' ';
        assert_true(sscanf(word, "%d:%d%c", &priority, &n_slots, &mark) >= 2);
        *victim = (struct recall_victim){.priority = priority,
                                         .start_ms = victims.count,
                                         .number = (uint64_t)victims.count,
                                         .n_slots = n_slots,
                                         .is_chosen = mark == '!'};
    }
    recall_victims_sort(&victims);
    return victims;
}

/* "1 3": the numbers of those of the round, ascending. */
static const char *taken(const struct recall_victims *victims, int round)
{
    const char *text = "";
    for (uint64_t number = 1; number <= (uint64_t)victims->count; number++) {
        for (int i = 0; i < victims->count; i++) {
            if (victims->items[i].number == number &&
                victims->items[i].round == round) {
                text = arena_printf(&arena, "%s%s%d", text, text[0] ? " " : "",
                                    (int)number);
            }
        }
    }
    return text;
}

static void who_is_taken(void **state)
{
    (void)state;
    static const struct {
        const char *jobs;
        int n_slots;
        const char *taken, *why;
    } rows[] = {
        {"5:1 5:1 5:1", 2, "2 3", "the youngest"},
        {"5:1 9:1 5:1", 2, "1 3", "the least important, however old"},
        {"5:1 9:1 5:1", 3, "1 2 3", "then the next queue"},
        {"5:1 5:1 5:8", 1, "2", "not 8 slots for one"},
        {"5:2 5:1 5:1 5:4", 2, "2 3", "the header's example"},
        {"5:2 5:1 5:1 5:4", 3, "1 3", "and its second one"},
        {"5:8 5:8", 1, "2", "whole, where there is no other"},
        {"5:2 5:2 5:3", 4, "1 2", "exactly, not 5 with the youngest"},
        {"5:4 9:1", 1, "1", "a less important job goes, though it is too large"},
        {"5:1 5:1! 5:1", 1, "2", "who was chosen before stays so"},
        {"5:1 9:3! 5:1", 4, "2 3", "and counts"},
        {"5:1", 7, "1", "all there is"},
        {"5:1 5:1", 0, "", "nothing"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct recall_victims victims = make(rows[i].jobs);
        recall_victims_take(&victims, rows[i].n_slots, &arena);
        const char *text = taken(&victims, 1);
        if (strcmp(text, rows[i].taken) != 0) {
            fail_msg("%s: takes \"%s\", expected \"%s\"", rows[i].why, text,
                     rows[i].taken);
        }
    }
}

static void rounds_take_from_who_is_left(void **state)
{
    (void)state;
    struct recall_victims victims = make("5:1 5:2 5:1");
    assert_int_equal(recall_victims_take(&victims, 1, &arena), 1);
    assert_int_equal(recall_victims_take(&victims, 1, &arena), 1);
    assert_int_equal(recall_victims_take(&victims, 9, &arena), 2);
    assert_int_equal(recall_victims_take(&victims, 9, &arena), 0);
    assert_string_equal(taken(&victims, 1), "3");
    assert_string_equal(taken(&victims, 2), "1");
    assert_string_equal(taken(&victims, 3), "2");
}

static void all_of_a_host_goes(void **state)
{
    (void)state;
    static const struct host_slots a[] = {{"n1", 2}}, b[] = {{"n2", 1}, {"n1", 1}};
    struct recall_victims victims = make("9:2 5:2 1:1");
    victims.items[0].hosts = NULL; /* the youngest, of another host */
    victims.items[1].hosts = a;
    victims.items[1].n_hosts = 1;
    victims.items[2].hosts = b;
    victims.items[2].n_hosts = 2;
    recall_victims_take_on_host(&victims, "n1");
    assert_string_equal(taken(&victims, 1), "1 2");
}

/* Against all subsets: enough, and no fewer slots would be. */
static void no_set_ends_fewer_slots(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 5);
    for (int world = 0; world < 2000; world++) {
        struct recall_victims victims = {.items = items, .count = FEW};
        int all = 0, best = 1000;
        for (int i = 0; i < FEW; i++) {
            items[i] = (struct recall_victim){.start_ms = i + 1,
                                              .number = (uint64_t)i + 1,
                                              .n_slots = 1 + (int)rng_below(&rng, 7)};
            all += items[i].n_slots;
        }
        int asked = 1 + (int)rng_below(&rng, all);
        for (int set = 0; set < 1 << FEW; set++) {
            int sum = 0;
            for (int i = 0; i < FEW; i++) {
                sum += (set >> i & 1) != 0 ? items[i].n_slots : 0;
            }
            best = sum >= asked && sum < best ? sum : best;
        }
        recall_victims_sort(&victims);
        assert_int_equal(recall_victims_take(&victims, asked, &arena), best);
        arena_clear(&arena);
    }
}

/* More than are weighed against one another: enough, and none in vain. */
static void of_many_nobody_goes_in_vain(void **state)
{
    (void)state;
    struct recall_victims victims = {.items = items, .count = MANY};
    int sum = 0, asked = 7001;
    for (int i = 0; i < MANY; i++) {
        items[i] = (struct recall_victim){
            .start_ms = i + 1, .number = (uint64_t)i + 1, .n_slots = 1 + i % 5};
    }
    recall_victims_sort(&victims);
    int made = recall_victims_take(&victims, asked, &arena);
    for (int i = 0; i < MANY; i++) {
        sum += items[i].round != 0 ? items[i].n_slots : 0;
    }
    assert_int_equal(made, sum);
    for (int i = 0; i < MANY; i++) {
        assert_true(items[i].round == 0 || sum - items[i].n_slots < asked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(who_is_taken),
        TEST(rounds_take_from_who_is_left),
        TEST(all_of_a_host_goes),
        TEST(no_set_ends_fewer_slots),
        TEST(of_many_nobody_goes_in_vain),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
