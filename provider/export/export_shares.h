/* SPDX-License-Identifier: Apache-2.0 */
/* export_shares.h: DISTRIBUTION: which sites get how much of what is exported.
 *
 * `([a, 1] [b, 2])`, or without the outer parentheses as LSF's own sample has it. Only
 * ratios matter. The site's own entry is ignored, and somebody else must be named.
 * `([pool:NAME])`: a pool, alone.
 *
 * Ownership: everything in conf's arena. Errors: diagnostics of `conf`.
 * Source: lsf.md 1.2, 1.4. Layer: provider. */
#ifndef SUBLET_PROVIDER_EXPORT_EXPORT_SHARES_H
#define SUBLET_PROVIDER_EXPORT_EXPORT_SHARES_H

#include "base/conf.h"

struct export_share {
    const char *consumer;
    int64_t share;
};

struct export_shares {
    const struct conf_cell *cell;
    struct export_share *items; /* without the site's own */
    int count;
    bool is_pool; /* the one item is of a pool, "pool:NAME" */
};

/* False: complaints were made. */
bool export_shares_read(struct conf *conf, const char *site,
                        const struct conf_section *section, const struct conf_row *row,
                        struct export_shares *shares);

/* n things by the shares; in the arena. */
int64_t *export_shares_divide(struct arena *arena, const struct export_shares *shares,
                              int64_t n);

#endif
