/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_fit.c: what the waiting jobs of a leaf can start with, by their sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "broker/pool/pool_fit.h"

/* Three jobs of 8 slots and ten of 1 in queue a; b is of a site that tells no sizes. */
static const struct queue_demand demands[] = {
    {.queue = "a", .n_waiting = 24, .job_size = 8, .needs = 5},
    {.queue = "a", .n_waiting = 10, .job_size = 1, .needs = 5},
    {.queue = "b", .n_waiting = 6, .job_size = 0},
    {.queue = "c", .n_waiting = 12, .job_size = 4, .needs = 7},
};

static void the_room_is_filled_by_whole_jobs(void **state)
{
    static const char *const a[] = {"a"}, *const b[] = {"b"}, *const c[] = {"c"};
    static const char *const both[] = {"c", "b", "c"};
    static const struct {
        const char *const *queues;
        int n_queues;
        int64_t room, usable;
        const char *why;
    } rows[] = {
        {a, 1, 7, 7, "the small jobs"},
        {a, 1, 8, 8, "a large one"},
        {a, 1, 13, 13, "a large one, and small ones"},
        {a, 1, 20, 20, "two large ones"},
        {a, 1, 100, 34, "all"},
        {a, 1, 0, 0, "no room"},
        {a, 1, -3, 0, "less than what it uses"},
        {b, 1, 4, 4, "unknown sizes fit"},
        {c, 1, 3, 0, "too small for each job"},
        {c, 1, 11, 8, "two of three"},
        {both, 3, 11, 11, "two of c, and three slots of b; c counts once"},
        {NULL, 0, 3, 3, "all queues of the site"},
        {NULL, 0, 100, 52, "all queues, all jobs"},
    };
    struct member member = {0};
    struct msg_usage usage = {.queues = demands, .n_queues = 4};
    (void)state;
    member_set_demand(&member, &usage);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct plan_node leaf = {.queues = rows[i].queues,
                                       .n_queues = rows[i].n_queues};
        int64_t usable = pool_fit_usable(&member, &leaf, rows[i].room);
        if (usable != rows[i].usable) {
            fail_msg("%s: expected %lld, got %lld", rows[i].why,
                     (long long)rows[i].usable, (long long)usable);
        }
    }
    free(member.queues);
    free(member.uses);
}

static void needs_are_those_of_its_queues(void **state)
{
    static const char *const a[] = {"a"}, *const c[] = {"c"};
    struct member member = {0};
    struct msg_usage usage = {.queues = demands, .n_queues = 4};
    struct plan_node leaf = {.queues = a, .n_queues = 1};
    (void)state;
    member_set_demand(&member, &usage);
    uint64_t of_a = pool_fit_needs(&member, &leaf);
    leaf.queues = c;
    assert_int_not_equal(pool_fit_needs(&member, &leaf), of_a);
    free(member.queues);
    free(member.uses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_room_is_filled_by_whole_jobs),
        cmocka_unit_test(needs_are_those_of_its_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
