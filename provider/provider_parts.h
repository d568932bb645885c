/* SPDX-License-Identifier: Apache-2.0 */
/* provider_parts.h: the provider's state, and what its files share.
 *
 * provider.c has the reports of the site and decides when STATE is sent;
 * provider_broker.c handles the broker's requests, provider_run.c those of consumers;
 * provider_export.c applies the export policies. ledger.c, admitted.c and reconcile.c
 * have the state, and what the provider changes on its own.
 *
 * Layer: provider. */
#ifndef SUBLET_PROVIDER_PROVIDER_PARTS_H
#define SUBLET_PROVIDER_PROVIDER_PARTS_H

#include "provider/admitted.h"
#include "provider/ledger.h"
#include "provider/provider.h"

enum {
    PROVIDER_STATE_GAP_MS = 100,    /* between unasked STATEs of one lease ... */
    PROVIDER_STATE_BURST = 20,      /* ... after so many without a gap */
    PROVIDER_STATE_EVERY_MS = 5000, /* until it is repeated; doubles each time ... */
    PROVIDER_STATE_CALM_MS = 60000, /* ... up to this */
};

struct provider {
    char *site;
    int64_t freeze_timeout_ms;
    int64_t patience;
    int64_t hour_ms;              /* of simulated worlds; 0: an hour */
    const struct user_map *users; /* NULL: everybody may run here */
    const char *withheld;         /* why nothing is lent; NULL: it is */
    bool prepares;                /* provider_set_prepares */
    uint64_t session;             /* with the broker; 0: none, nothing is sent */
    int n_waiting_slots, n_foreign_waiting;
    const struct export_plan *plan; /* of the last provider_export; NULL: not known */
    struct ledger ledger;
    struct admitted admitted;
    struct arena *shown; /* of provider_find_lease */
    int64_t now_ms;      /* of the last call that had it */
};

/* Sends STATE now; it is not sent again before it changes or is due. */
void provider_send_state(struct provider *provider, struct ledger_lease *lease,
                         int64_t now_ms, struct effects *effects);
/* STATE with epoch 0, of a lease that the ledger does not have. */
void provider_send_unknown(struct provider *provider, const char *lease,
                           struct effects *effects);
/* DRAIN. The lease continues above the epoch in the order, if that is set: the broker
 * knows the lease, and this site does not any more. The lease is withdrawn until it is
 * resumed; then it is exported again if a policy still does. An order that is not above
 * the last one changes nothing. */
void provider_export_drain(struct provider *provider, const struct msg_drain *drain,
                           int64_t now_ms, struct effects *effects);
/* provider_quota.c: HOURS. Counts what is used; a lease whose quota is used up, or has
 * begun anew, is withheld, or is not any more. */
void provider_quota_load(struct provider *provider, const struct row_quota *row);
void provider_quota_count(struct provider *provider, struct ledger_lease *lease,
                          int64_t now_ms, struct effects *effects); /* of one lease */
void provider_quota_tick(struct provider *provider, int64_t now_ms,
                         struct effects *effects);
/* Whether the lease is withheld, by provider_withhold or its quota, has changed: its
 * hosts have to be reconciled. */
bool provider_quota_withhold(const struct provider *provider,
                             struct ledger_lease *lease);
/* HOURS of the policy; 0: none. True if it has changed. */
bool provider_quota_set(const struct provider *provider, struct ledger_lease *lease,
                        int64_t n_hours, int64_t now_ms, struct effects *effects);
/* Its slot hours are added up, with or without a bound. */
bool provider_quota_is_counted(const struct ledger_lease *lease);
/* PRICE of the leaf, as the broker tells it; of other leases it is the policy's. */
void provider_quota_set_price(struct ledger_lease *lease, int price, int64_t now_ms,
                              struct effects *effects);
/* Why a lease whose quota is used up is withheld. */
const char *provider_quota_reason(const struct ledger_lease *lease,
                                  struct arena *arena);
/* Ends freezes that have timed out, counts quotas, and reconciles. Call it before any
 * decision. */
void provider_refresh(struct provider *provider, int64_t now_ms,
                      struct effects *effects);

#endif
