/* SPDX-License-Identifier: Apache-2.0 */
/* overrides.h: the reclaim delay of each lease: who set it, and who wins.
 *
 * An administrator's override of a lease beats one of its provider, beats one for all,
 * beats what the provider said at HELLO, beats LSF's default. Overrides are on disk.
 *
 * Units: milliseconds. Ownership: names are copied.
 * Order: by scope, then name. Source: ARCHITECTURE 5 `MC_RECLAIM_DELAY`.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_OVERRIDES_H
#define SUBLET_BROKER_OVERRIDES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/msg.h"

#define OVERRIDES_DEFAULT_MS ((int64_t)10 * 60 * 1000)
/* A rebalance less often than once a year is a mistake. */
#define OVERRIDES_DELAY_MAX_MS ((int64_t)365 * 24 * 60 * 60 * 1000)

struct override;
struct overrides {
    struct override *items;
    int count, capacity;
};

/* Where a delay in force comes from. */
enum overrides_source {
    OVERRIDES_DEFAULT,  /* nobody said anything */
    OVERRIDES_SITE,     /* the provider, at HELLO */
    OVERRIDES_ALL,      /* an override for all */
    OVERRIDES_PROVIDER, /* an override for the provider */
    OVERRIDES_LEASE,    /* an override for the lease */
};

void overrides_init(struct overrides *overrides);
void overrides_release(struct overrides *overrides);

/* True for a delay that can be set: above 0, at most OVERRIDES_DELAY_MAX_MS. */
bool overrides_is_delay(int64_t delay_ms);

/* Sets an override, -1 removes it. */
void overrides_set(struct overrides *overrides, enum reclaim_scope scope,
                   const char *name, int64_t delay_ms);
/* The override, -1 where there is none. */
int64_t overrides_find(const struct overrides *overrides, enum reclaim_scope scope,
                       const char *name);

/* The delay in force. `provider` and `lease` may be NULL (the delay of all, of all of a
 * provider's); `site_ms` is what the provider said, 0: nothing. `source` may be NULL.
 */
int64_t overrides_delay_ms(const struct overrides *overrides, const char *lease,
                           const char *provider, int64_t site_ms,
                           enum overrides_source *source);

/* "default", "site", "all", "provider", "lease". */
const char *overrides_source_name(enum overrides_source source);

#endif
