/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.c: see lifecycle.h. */
#include "site/job/lifecycle_parts.h"

#include <stdlib.h>

struct lifecycle *lifecycle_new(const struct lifecycle_parts *parts)
{
    struct lifecycle *life = mem_alloc(1, sizeof(*life));
    life->parts = *parts;
    return life;
}

void lifecycle_free(struct lifecycle *life)
{
    free(life);
}

void lifecycle_reload(struct lifecycle *life, const struct site_config *config,
                      struct fairshare_ledger *shares)
{
    life->parts.config = config;
    life->parts.shares = shares;
}
