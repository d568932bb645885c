/* SPDX-License-Identifier: Apache-2.0 */
/* provider_parts.h: what the provider's files share: its state, and how a book is told.
 *
 * provider.c keeps the clockwork and the site's side, provider_broker.c judges what the
 * broker asks, provider_run_start.c what consumers ask, provider_export.c brings ledger
 * in line with the policies; ledger.c, admitted.c and reconcile.c hold the state and
 * what the provider changes by itself.
 *
 * Layer: provider (base only). */
#ifndef SUBLET_PROVIDER_PROVIDER_PARTS_H
#define SUBLET_PROVIDER_PROVIDER_PARTS_H

#include "provider/admitted.h"
#include "provider/ledger.h"
#include "provider/provider.h"

enum {
    PROVIDER_TELL_GAP_MS = 100, /* at most so often for one lease, where unasked ... */
    PROVIDER_TELL_BURST = 20,   /* ... but for so many in a row */
    PROVIDER_TELL_EVERY_MS = 5000, /* again so long after a change, and then ... */
    PROVIDER_TELL_CALM_MS = 60000, /* ... after twice as long each time, up to this: it
                                      may have been lost, but not time and again */
};

struct provider {
    char *site;
    int64_t freeze_timeout_ms;
    int64_t patience;
    const struct user_map *users; /* NULL: everybody may run here */
    uint64_t session;             /* with the broker; 0: none, nothing is sent */
    int n_waiting_slots;
    const struct export_plan *plan; /* of the last provider_export; NULL: not known */
    struct ledger ledger;
    struct admitted admitted;
    struct arena *shown; /* of provider_find_book */
    int64_t now_ms;      /* of the latest look at the clock */
};

/* The book as a message body in the arena. */
void provider_fill_state(const struct provider *provider,
                         const struct ledger_lease *book, struct arena *arena,
                         struct msg_state *state);
/* Sends it now; what is told is not told again before it changes or is due. */
void provider_tell(struct provider *provider, struct ledger_lease *book, int64_t now_ms,
                   struct effects *effects);
/* Of a lease that has no book: STATE with epoch 0. */
void provider_tell_unknown(struct provider *provider, const char *lease,
                           struct effects *effects);
/* DRAIN: the book goes on above the epoch that it names, if any (the broker knows of
 * it, and this site does not any more); the lease is withdrawn until it is resumed, and
 * then exported again if a policy still does. An order that is not above the last
 * changes nothing. */
void provider_export_drain(struct provider *provider, const struct msg_drain *drain,
                           int64_t now_ms, struct effects *effects);
/* Lapsed freezes and settling: before anything is judged. */
void provider_refresh(struct provider *provider, int64_t now_ms,
                      struct effects *effects);

#endif
