/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a job, host by host, when they become more or fewer; of as many hosts as
 * a site may have, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bounds.h"
#include "site/run/allocation.h"

#define COUNT(hosts) (int)(sizeof(hosts) / sizeof((hosts)[0]))

static const struct host_slots had[] = {{"n1", 2}, {"n2", 1}, {"n3", 4}};

static void assert_text(struct arena *arena, struct allocation found,
                        const char *expected)
{
    assert_string_equal(allocation_text(arena, found.hosts, found.n_hosts), expected);
}

static void what_comes_stands_behind(void **state)
{
    static const struct host_slots more[] = {{"n4", 1}, {"n2", 2}, {"n4", 3}};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    assert_text(&arena, allocation_add(&arena, had, COUNT(had), more, COUNT(more)),
                "n1 2 n2 3 n3 4 n4 4");
    assert_text(&arena, allocation_add(&arena, NULL, 0, NULL, 0), "");
    arena_release(&arena);
}

static void what_goes_is_not_missed(void **state)
{
    static const struct host_slots gone[] = {{"n2", 1}, {"n3", 3}, {"n9", 1}};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    assert_text(&arena, allocation_take(&arena, had, COUNT(had), gone, COUNT(gone)),
                "n1 2 n3 1");
    arena_release(&arena);
}

static void the_last_ones(void **state)
{
    static const struct {
        int n_slots;
        const char *tail;
    } rows[] = {{0, ""},          {3, "n3 3"},           {4, "n3 4"},
                {5, "n2 1 n3 4"}, {6, "n1 1 n2 1 n3 4"}, {7, "n1 2 n2 1 n3 4"}};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_text(&arena, allocation_tail(&arena, had, COUNT(had), rows[i].n_slots),
                    rows[i].tail);
    }
    arena_release(&arena);
}

static void of_all_hosts(void **state)
{
    struct host_slots *hosts = calloc(HOSTS_MAX, sizeof(*hosts));
    struct arena arena;
    size_t length = 0;
    (void)state;
    assert_non_null(hosts);
    arena_init(&arena);
    for (int i = 0; i < HOSTS_MAX; i++) {
        hosts[i].host = arena_printf(&arena, "n%d.example.org", i);
        hosts[i].n_slots = SLOTS_MAX;
        length += strlen(hosts[i].host) + strlen("  100000");
    }
    const char *text = allocation_text(&arena, hosts, HOSTS_MAX);
    assert_int_equal(strlen(text), length - 1);
    assert_non_null(strstr(text, "n0.example.org 100000 n1.example.org 100000 n2."));
    arena_release(&arena);
    free(hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_stands_behind),
        cmocka_unit_test(what_goes_is_not_missed),
        cmocka_unit_test(the_last_ones),
        cmocka_unit_test(of_all_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
