/* SPDX-License-Identifier: Apache-2.0 */
/* export_policy.h: parses one HostExport section, and checks it by itself. export.c
 * checks it against the hosts and other sections.
 *
 * If conf_check has complained about a value (a number out of bounds, an unknown word),
 * the policy is left out without a second complaint.
 *
 * Ownership: everything in conf's arena.
 * Source: docs/design/leases.md "Export policies", "Shared leases". Layer: provider. */
#ifndef SUBLET_PROVIDER_EXPORT_EXPORT_POLICY_H
#define SUBLET_PROVIDER_EXPORT_EXPORT_POLICY_H

#include "base/conf/conf.h"
#include "provider/export/export.h"

/* DISTRIBUTION. */
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

struct export_policy {
    const struct conf_section *section;
    const struct conf_row *row;
    const struct conf_cell *hosts_cell; /* PER_HOST or RES_SELECT */
    const struct conf_cell *slots_cell, *name_cell;
    struct space spaces[SPACES]; /* MEM, SWAP: of each host */
    const char *name;            /* "" unnamed */
    int place;
    enum lease_type type;
    struct export_terms terms;
    bool is_per_host;
    struct conf_words hosts; /* PER_HOST */
    int n_slots;             /* PER_HOST: on each */
    int n_hosts_max;         /* RES_SELECT */
    struct export_shares shares;
};

/* False: complaints were made, by this call or by conf_check. */
bool export_policy_read(struct conf *conf, const char *site,
                        const struct export_terms *defaults,
                        const struct conf_section *section, const struct conf_row *row,
                        struct export_policy *policy);

/* The policy in normal form. With equal content it is the same policy after a reload.
 */
const char *export_policy_content(struct arena *arena,
                                  const struct export_policy *policy);

/* ----------------------------------------------------------- export_shares.c */

/* False: complaints were made. */
bool export_shares_read(struct conf *conf, const char *site,
                        const struct conf_section *section, const struct conf_row *row,
                        struct export_shares *shares);

/* Distributes n by the shares; the result is in the arena. */
int64_t *export_shares_divide(struct arena *arena, const struct export_shares *shares,
                              int64_t n);

#endif
