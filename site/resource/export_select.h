/* SPDX-License-Identifier: Apache-2.0 */
/* export_select.h: export policies whose RES_SELECT names what only hosts can tell
 * (loads, counts, a detected type): which hosts they mean is settled once, when the
 * hosts have told, and on record from then on.
 *
 * A policy is picked for when each host of section Host has told all that RES_SELECT
 * names, or EXPORT_SELECT_WAIT_MS after the start (or reload) by what those tell that
 * have told anything. Hosts that another policy exports are passed over. Where no host
 * matches nothing is on record, and each host that tells has it tried again. What is on
 * record holds until the policy's content changes or the policy goes: not load, not
 * restarts, not new hosts change it. A host that is gone from the configuration is left
 * out, and comes back with it.
 *
 * Until then what a named policy exported before stays as it is.
 *
 * Units: milliseconds. Order: policies in file order, hosts in file order.
 * Source: lsf.md 1.2 ("evaluated once, when a host is exported"); docs/adr/0015.
 * Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_EXPORT_SELECT_H
#define SUBLET_SITE_RESOURCE_EXPORT_SELECT_H

#include "model/effect.h"
#include "model/row.h"
#include "provider/export/export.h"
#include "provider/provider.h"
#include "site/pass/pass_request.h"
#include "site/resource/host_resources.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"

enum {
    EXPORT_SELECT_WAIT_MS = 60000
}; /* a sublet-host tells each 15 s; an elim may be slow */

struct export_select;
struct export_select_parts {
    const struct site_config *config;
    struct host_resources *facts;
    const struct host_table *hosts;
    const struct runs *runs;
    struct provider *provider;
    struct pass_request *pass_request;
};
struct export_select *export_select_new(const struct export_select_parts *parts);
void export_select_free(struct export_select *picks);
void export_select_load(struct export_select *picks, const struct row_pick *row);

/* Another configuration; export_select_begin follows. */
void export_select_reload(struct export_select *picks, const struct site_config *config,
                          struct host_resources *facts);
/* The configuration is another one, or the site starts: the provider gets the plan. */
void export_select_begin(struct export_select *picks, int64_t now_ms,
                         struct effects *effects);
/* The leases of policies that wait, one for each consumer; NULL behind the last. */
const struct export_lease *export_select_waiting_at(const struct export_select *picks,
                                                    int index);
/* A host has told of itself. */
void export_select_mark(struct export_select *picks);
void export_select_tick(struct export_select *picks, int64_t now_ms,
                        struct effects *effects);
int64_t export_select_wake_ms(const struct export_select *picks);

#endif
