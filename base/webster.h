/* SPDX-License-Identifier: Apache-2.0 */
/* webster.h: divides seats by highest averages (Webster, Sainte-Lague).
 *
 * Each seat goes to the party with the highest weight / (2 * seats + 1). Used for slots
 * of an export among consumers with shares.
 *
 * Order: equal quotients go to the earlier party.
 * Source: docs/design/leases.md "Decided".
 * Layer: base. */
#ifndef SUBLET_BASE_WEBSTER_H
#define SUBLET_BASE_WEBSTER_H

#include <stdint.h>

/* weights >= 0, not all 0; fills seats[i], which add up to n_seats (all 0 without
 * parties). */
void webster_share(int64_t n_seats, const int64_t *weights, int n_parties,
                   int64_t *seats);

#endif
