/* SPDX-License-Identifier: Apache-2.0 */
/* webster.c: see webster.h.
 *
 * One seat at a time would take seats * parties steps, and an export may have 100,000
 * slots. Therefore most seats are given at once: with n seats, k parties and all
 * weights W together, the divisor d = W / (n - k/2) gives round(w / d) seats, which add
 * up to n at most; they are the ones with the highest averages, so only the remaining
 * seats (about k) are given one by one.
 *
 * Example: 10 seats, weights 30 and 70: d = 100 / 9; 30 / d = 2.7 -> 3, 70 / d = 6.3
 * -> 6; the tenth seat: 30 / 7 = 4.3 against 70 / 13 = 5.4. Seats 3 and 7. */
#include "base/webster.h"

/* Weight times seats may exceed 64 bits. */
__extension__ typedef __int128 wide;

/* Returns the number of seats given. */
static int64_t give_certain_seats(int64_t n_seats, const int64_t *weights,
                                  int n_parties, int64_t *seats)
{
    wide sum = 0;
    for (int i = 0; i < n_parties; i++) {
        sum += weights[i];
    }
    wide twice = 2 * (wide)n_seats - n_parties; /* 2 * (n - k/2) */
    int64_t given = 0;
    for (int i = 0; i < n_parties; i++) {
        /* round(w * twice / (2 * sum)): the half goes up */
        seats[i] = twice > 0 ? (int64_t)((weights[i] * twice + sum) / (2 * sum)) : 0;
        given += seats[i];
    }
    return given;
}

void webster_share(int64_t n_seats, const int64_t *weights, int n_parties,
                   int64_t *seats)
{
    if (n_parties <= 0) {
        return;
    }
    int64_t given = give_certain_seats(n_seats, weights, n_parties, seats);
    for (; given < n_seats; given++) {
        int best = 0;
        for (int i = 1; i < n_parties; i++) {
            /* weights[i] / (2 seats[i] + 1) > weights[best] / (2 seats[best] + 1) */
            if ((wide)weights[i] * (2 * seats[best] + 1) >
                (wide)weights[best] * (2 * seats[i] + 1)) {
                best = i;
            }
        }
        seats[best]++;
    }
}
