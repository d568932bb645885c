/* SPDX-License-Identifier: Apache-2.0 */
/* test_event_index.c: the index of events by their lease finds what a list of all
 * events has: with events of sites, gaps between ids, transactions that were taken
 * back, and the oldest events forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "base/rng.h"
#include "broker/io/store/event_index.h"

enum { LEASES = 5, IDS = 100000, FIRST = 7 };

static const char *const names[LEASES] = {"", "a/0/b", "a/1/b", "b/0/a", "p:x/y"};

/* The lease of each id, -1: no event has it. */
static int model[IDS];
static int oldest, last;

static int64_t model_next(int lease, int64_t id)
{
    for (int64_t at = id < oldest ? oldest : id + 1; at <= last; at++) {
        if (model[at] == lease) {
            return at;
        }
    }
    return 0;
}

static int64_t model_previous(int lease, int64_t id)
{
    for (int64_t at = id > last ? last : id - 1; at >= oldest; at--) {
        if (model[at] == lease) {
            return at;
        }
    }
    return 0;
}

static void compare(const struct event_index *index, struct rng *rng)
{
    int64_t id = (int64_t)rng_below(rng, (uint64_t)last + 10);
    int lease = 1 + (int)rng_below(rng, LEASES - 1);
    assert_int_equal(event_index_next(index, names[lease], id), model_next(lease, id));
    assert_int_equal(event_index_next(index, names[lease], 0), model_next(lease, 0));
    assert_int_equal(event_index_previous(index, names[lease], id),
                     model_previous(lease, id));
    assert_int_equal(event_index_previous(index, names[lease], INT64_MAX),
                     model_previous(lease, last + 1));
    assert_int_equal(event_index_next(index, "a/2/b", 0), 0);
}

static void add(struct event_index *index, int id, int lease)
{
    for (int at = last + 1; at < id; at++) {
        model[at] = -1;
    }
    model[id] = lease;
    last = id;
    event_index_add(index, id, names[lease]);
}

static void test_it_finds_what_a_list_has(void **state)
{
    struct event_index index = {0};
    struct rng rng;
    (void)state;
    rng_init(&rng, 1);
    oldest = FIRST;
    last = FIRST - 1;
    compare(&index, &rng);
    while (last < IDS - 20) {
        bool is_gap = rng_percent(&rng, 1);
        int id = last + 1 + (is_gap ? (int)rng_below(&rng, 9) : 0);
        bool is_taken_back = rng_percent(&rng, 1) && last > oldest + 20;
        add(&index, is_taken_back ? last - (int)rng_below(&rng, 9) : id,
            (int)rng_below(&rng, LEASES));
        if (last - oldest > 2000 && last % 256 == 0) {
            oldest = last - 1000;
            event_index_forget(&index, oldest - 1);
        }
        if (rng_percent(&rng, 5)) {
            compare(&index, &rng);
        }
    }
    event_index_forget(&index, last);
    assert_int_equal(event_index_next(&index, names[1], 0), 0);
    add(&index, last + 1, 1);
    assert_int_equal(event_index_next(&index, names[1], 0), last);
    assert_true(index.capacity < IDS); /* what is forgotten takes no memory */
    event_index_release(&index);
}

static void test_a_gap_that_no_store_keeps_begins_anew(void **state)
{
    struct event_index index = {0};
    const int64_t far = INT64_C(1) << 40;
    (void)state;
    event_index_add(&index, 1, "a/0/b");
    event_index_add(&index, far, "a/1/b");
    assert_int_equal(event_index_next(&index, "a/0/b", 0), 0);
    assert_int_equal(event_index_next(&index, "a/1/b", 0), far);
    event_index_add(&index, 3, "a/0/b"); /* the table was emptied */
    assert_int_equal(event_index_next(&index, "a/0/b", 0), 3);
    assert_int_equal(event_index_previous(&index, "a/1/b", INT64_MAX), 0);
    event_index_release(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_finds_what_a_list_has),
        cmocka_unit_test(test_a_gap_that_no_store_keeps_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
