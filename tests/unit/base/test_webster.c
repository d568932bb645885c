/* SPDX-License-Identifier: Apache-2.0 */
/* test_webster.c: seats by highest averages, rows with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/webster.h"

enum { PARTIES_MAX = 6 };

static const struct {
    int64_t n_seats;
    int n_parties;
    int64_t weights[PARTIES_MAX];
    int64_t seats[PARTIES_MAX];
    const char *why;
} rows[] = {
    {4, 2, {1, 3}, {1, 3}, "HostExport sample: shares 1 and 3 of 4 slots"},
    {10, 2, {30, 70}, {3, 7}, "SharedResourceExport sample: 30 and 70 of 10"},
    {2, 2, {1, 1}, {1, 1}, "equal shares"},
    {3, 2, {1, 1}, {2, 1}, "equal quotients go to the earlier party"},
    {1, 3, {5, 5, 5}, {1, 0, 0}, "fewer seats than parties"},
    {0, 2, {1, 1}, {0, 0}, "no seats"},
    {5, 1, {7}, {5}, "one party has all"},
    {1, 2, {1, 2}, {0, 1}, "only the larger one gets the one seat"},
    {2, 2, {1, 3}, {1, 1}, "1 : 3/3 is a tie for the second seat: the earlier party"},
    {10, 3, {53, 24, 23}, {6, 2, 2}, "not by the largest remainders, 5 3 2"},
    {100000, 2, {1, 1}, {50000, 50000}, "many seats"},
    {7, 2, {INT32_MAX, 1}, {7, 0}, "a weight that dwarfs the other"},
    {3, 2, {INT64_MAX, INT64_MAX}, {2, 1}, "largest weights do not overflow"},
};

static void rows_hold(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t seats[PARTIES_MAX] = {-1, -1, -1, -1, -1, -1};
        webster_share(rows[i].n_seats, rows[i].weights, rows[i].n_parties, seats);
        for (int k = 0; k < rows[i].n_parties; k++) {
            if (seats[k] != rows[i].seats[k]) {
                fail_msg("%s: party %d has %lld, expected %lld", rows[i].why, k,
                         (long long)seats[k], (long long)rows[i].seats[k]);
            }
        }
    }
}

static void nobody_to_share(void **state)
{
    webster_share(5, NULL, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold),
        cmocka_unit_test(nobody_to_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
