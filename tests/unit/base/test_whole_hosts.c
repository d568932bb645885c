/* SPDX-License-Identifier: Apache-2.0 */
/* test_whole_hosts.c: which whole hosts make up a number of slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "base/whole_hosts.h"

enum { HOSTS_MAX = 10 };

static void what_is_picked(void **state)
{
    (void)state;
    static const struct {
        int hosts[4][2]; /* slots, of these in use */
        int n_slots, sum;
        const char *picked; /* a digit each */
        const char *why;
    } rows[] = {
        {{{4, 1}, {8, 3}, {4, 0}}, 8, 8, "1010", "the pair ends 1, the one host 3"},
        {{{4, 1}, {8, 3}, {4, 0}}, 6, 4, "0010", "no more than asked for"},
        {{{4, 1}, {8, 0}, {4, 0}}, 8, 8, "0100", "one that is idle"},
        {{{4, 0}, {4, 0}, {4, 0}}, 4, 4, "0010", "of equal ones the last"},
        {{{8, 0}, {12, 0}}, 7, 0, "0000", "nothing fits"},
        {{{8, 8}, {12, 12}}, 99, 20, "1100", "all"},
        {{{6, 6}, {5, 0}, {5, 0}}, 10, 10, "0110", "both smaller ones, not 6"},
        {{{6, 0}, {5, 5}, {5, 5}}, 10, 10, "0110", "as many slots as can be, though"},
        {{{0, 0}, {4, 2}}, 4, 4, "0100", "a host that is gone"},
        {{{4, 2}}, 0, 0, "0000", "nothing is asked for"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct whole_host hosts[4];
        char picked[5] = "";
        for (int k = 0; k < 4; k++) {
            hosts[k] =
                (struct whole_host){rows[i].hosts[k][0], rows[i].hosts[k][1], false};
        }
        arena_init(&arena);
        int sum = whole_hosts_pick(hosts, 4, rows[i].n_slots, &arena);
        for (int k = 0; k < 4; k++) {
            picked[k] = hosts[k].is_picked ? '1' : '0';
        }
        arena_release(&arena);
        if (sum != rows[i].sum || strcmp(picked, rows[i].picked) != 0) {
            fail_msg("%s: %d slots, %s", rows[i].why, sum, picked);
        }
    }
}

/* Against all subsets. */
static void nothing_else_is_better(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 29);
    for (int world = 0; world < 3000; world++) {
        struct whole_host hosts[HOSTS_MAX];
        struct arena arena;
        int n_hosts = 1 + (int)rng_below(&rng, HOSTS_MAX), best = 0, least = 0;
        for (int i = 0; i < n_hosts; i++) {
            int n_slots = (int)rng_below(&rng, 9);
            hosts[i] =
                (struct whole_host){n_slots, (int)rng_below(&rng, n_slots + 1), false};
        }
        int asked = (int)rng_below(&rng, 40);
        for (int set = 0; set < 1 << n_hosts; set++) {
            int sum = 0, used = 0;
            for (int i = 0; i < n_hosts; i++) {
                sum += (set >> i & 1) != 0 ? hosts[i].n_slots : 0;
                used += (set >> i & 1) != 0 ? hosts[i].n_used : 0;
            }
            if (sum <= asked && (sum > best || (sum == best && used < least))) {
                best = sum;
                least = used;
            }
        }
        arena_init(&arena);
        int sum = whole_hosts_pick(hosts, n_hosts, asked, &arena), used = 0, made = 0;
        arena_release(&arena);
        for (int i = 0; i < n_hosts; i++) {
            used += hosts[i].is_picked ? hosts[i].n_used : 0;
            made += hosts[i].is_picked ? hosts[i].n_slots : 0;
        }
        assert_int_equal(sum, best);
        assert_int_equal(made, best);
        assert_int_equal(used, least);
    }
}

/* Without a table: still whole hosts, and not too many. */
static void many_hosts_are_picked_one_by_one(void **state)
{
    (void)state;
    enum { N = 3000 };
    static struct whole_host hosts[N];
    struct arena arena;
    int asked = 0, made = 0;
    for (int i = 0; i < N; i++) {
        hosts[i] = (struct whole_host){7 + i % 4, i % 3, false};
        asked += i % 2 == 0 ? hosts[i].n_slots : 0;
    }
    arena_init(&arena);
    int sum = whole_hosts_pick(hosts, N, asked, &arena);
    arena_release(&arena);
    for (int i = 0; i < N; i++) {
        made += hosts[i].is_picked ? hosts[i].n_slots : 0;
    }
    assert_int_equal(sum, made);
    assert_true(made <= asked && made > asked - 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_picked),
        cmocka_unit_test(nothing_else_is_better),
        cmocka_unit_test(many_hosts_are_picked_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
