/* SPDX-License-Identifier: Apache-2.0 */
/* test_leader.c: when a standby tries to take the lead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/leader/leader.h"

static void test_a_lead_is_taken_when_it_is_not_renewed(void **state)
{
    static const struct {
        const char *why;
        struct leader_row row;
        bool may_take;
    } cases[] = {
        {"renewed just now", {1, 0, true, false, false}, false},
        {"a renewal is late", {1, 2999, true, false, false}, false},
        {"three seconds old", {1, 3000, true, false, false}, true},
        {"its session has ended, but it may connect again",
         {1, 500, false, false, false},
         false},
        {"its session has ended for longer", {1, 1500, false, false, false}, true},
        {"it has left", {1, 0, true, true, false}, true},
        {"another broker has stepped down", {1, 0, true, true, false}, true},
        {"this broker has stepped down", {1, 0, false, true, true}, false},
        {"it waits for another one", {1, 9999, false, true, true}, false},
        {"no other broker has come", {1, 10000, false, true, true}, true},
        {"nobody ever led", {0, 0, false, true, false}, true},
        {"the server's clock was set back", {1, -5000, true, false, false}, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (leader_may_take(&cases[i].row) != cases[i].may_take) {
            fail_msg("%s: %d", cases[i].why, !cases[i].may_take);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lead_is_taken_when_it_is_not_renewed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
