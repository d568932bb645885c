/* SPDX-License-Identifier: Apache-2.0 */
/* recall_book.h: slots of a pool that a leaf of its plan gives back: a RECALL, and what
 * of it is home.
 *
 * A RECALL says how many slots the contract holds at most, and after which time;
 * several follow one another by deadline. From the moment it is on record
 *
 *   - a slot of the leaf that falls idle goes to the pool, under the next epoch, until
 *     the contract holds no more than the last of them says;
 *   - a proposal that would give it more is refused;
 *   - at each deadline, by this site's clock and without leeway, whatever the leaf's
 * site has done, what it still uses beyond is to be ended: recall_book_overdue says how
 * much.
 *
 * Where `is_whole`, only whole hosts go, when they are wholly idle: which, is chosen
 * with the order (base/whole_hosts.h), and stays so while it can; what is in use on
 * them is what is to be ended. Slots that no whole hosts make up stay; where
 * none can go any more the order is done.
 *
 * Units: slots, milliseconds. Order: of what is idle the last host gives first.
 * Source: seed document 001 "Reclaim"; docs/adr/0013, 0023.
 * Layer: provider (base only). */
#ifndef SUBLET_PROVIDER_RECALL_BOOK_H
#define SUBLET_PROVIDER_RECALL_BOOK_H

#include "provider/ledger.h"

/* A RECALL whose number is above the last: on record. Others change nothing. */
void recall_book_accept(struct ledger_lease *book, const struct msg_recall *msg,
                        int64_t now_ms, struct effects *effects);

/* What is idle goes home, of the hosts picked where these go whole; hosts that it frees
 * want settling. What is done is struck off. The book is marked changed, or stored. */
void recall_book_reconcile(struct ledger_lease *book, struct effects *effects);

/* Looks at the clock. */
void recall_book_tick(struct ledger_lease *book, int64_t now_ms);
/* Slots in use that are to be ended now; where hosts go whole, also which: on them all
 * is to be ended. The list is the arena's. */
int recall_book_overdue(const struct ledger_lease *book, struct arena *arena,
                        const struct host_slots **hosts, int *n_hosts);
/* When the next deadline comes; INT64_MAX: none will. */
int64_t recall_book_wake_ms(const struct ledger_lease *book);

/* It holds no more than so many; INT_MAX: as many as it gets. */
int recall_book_limit(const struct ledger_lease *book);

#endif
