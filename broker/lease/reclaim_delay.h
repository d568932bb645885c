/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim_delay.h: the reclaim delay of each lease, and which setting decides it.
 *
 * An administrator's override for a lease goes before one for its provider, then one
 * for all, then the provider's configuration (from HELLO), then LSF's default.
 * Overrides are on disk.
 *
 * Units: milliseconds. Ownership: names are copied.
 * Source: docs/design/leases.md "Decided" `MC_RECLAIM_DELAY`. Layer: broker. */
#ifndef SUBLET_BROKER_LEASE_RECLAIM_DELAY_H
#define SUBLET_BROKER_LEASE_RECLAIM_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/msg.h"

#define RECLAIM_DELAY_DEFAULT_MS ((int64_t)10 * 60 * 1000)

struct override;
struct reclaim_delays {
    struct override *table; /* a hash table, by scope and name */
};

/* Where a delay in force comes from. */
enum reclaim_delay_source {
    RECLAIM_DELAY_FROM_DEFAULT,  /* nothing is set */
    RECLAIM_DELAY_FROM_SITE,     /* the provider, at HELLO */
    RECLAIM_DELAY_FROM_ALL,      /* an override for all */
    RECLAIM_DELAY_FROM_PROVIDER, /* an override for the provider */
    RECLAIM_DELAY_FROM_LEASE,    /* an override for the lease */
};

void reclaim_delay_init(struct reclaim_delays *overrides);
void reclaim_delay_release(struct reclaim_delays *overrides);

/* ERR_BOUNDS if a delay cannot be set. The bounds, and the words of the refusal, are
 * those of MC_RECLAIM_DELAY in a configuration. */
int reclaim_delay_check(int64_t delay_ms, struct err *err) MUST_CHECK;

/* Sets an override, -1 removes it. */
void reclaim_delay_set(struct reclaim_delays *overrides, enum reclaim_scope scope,
                       const char *name, int64_t delay_ms);
/* The override, -1 if there is none. */
int64_t reclaim_delay_find_override(const struct reclaim_delays *overrides,
                                    enum reclaim_scope scope, const char *name);

/* The delay in force. `lease` may be NULL (the delay for all leases of the provider),
 * and `provider` too (the delay for all). `site_ms` is the provider's configuration, 0:
 * not set. `source` may be NULL. */
int64_t reclaim_delay_get_ms(const struct reclaim_delays *overrides, const char *lease,
                             const char *provider, int64_t site_ms,
                             enum reclaim_delay_source *source);

/* "default", "site", "all", "provider", "lease". */
const char *reclaim_delay_source_name(enum reclaim_delay_source source);

#endif
