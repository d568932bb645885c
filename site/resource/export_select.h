/* SPDX-License-Identifier: Apache-2.0 */
/* export_select.h: hosts chosen for export policies whose RES_SELECT names values that
 * only hosts can report (loads, counts, a detected type). The choice is made once, when
 * the hosts have reported, and is on record from then on.
 *
 * A policy's hosts are chosen when each host of section Host has reported all values
 * that RES_SELECT names, or, EXPORT_SELECT_WAIT_MS after the start or a reload, from
 * the hosts that have reported. Hosts of other policies are not chosen. If no host
 * matches, nothing is recorded, and each report tries again. A record holds until the
 * policy changes or is removed; load, restarts and new hosts do not change it. A host
 * that is not configured is left out until it is configured again. Until its hosts are
 * chosen, what the policy exported before stays exported.
 *
 * Units: milliseconds. Order: policies in file order, hosts in file order.
 * Source: docs/design/leases.md "Export policies" ("the hosts are chosen once, when
 * they are exported"), "When RES_SELECT is evaluated". Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_EXPORT_SELECT_H
#define SUBLET_SITE_RESOURCE_EXPORT_SELECT_H

#include "model/effect.h"
#include "model/row.h"
#include "provider/export/export.h"
#include "provider/provider.h"
#include "site/pass/pass_request.h"
#include "site/resource/host_resources.h"
#include "site/run/runs.h"

enum {
    EXPORT_SELECT_WAIT_MS = 60000
}; /* hosts report every 15 s; an elim may be slow */

struct export_select;
struct export_select_parts {
    const struct site_config *config;
    struct host_resources *host_resources;
    const struct host_table *hosts;
    const struct runs *runs;
    struct provider *provider;
    struct pass_request *pass_request;
};
struct export_select *export_select_new(const struct export_select_parts *parts);
void export_select_free(struct export_select *selection);
void export_select_load(struct export_select *selection, const struct row_pick *row);

/* Another configuration; export_select_begin follows. */
void export_select_reload(struct export_select *selection,
                          const struct site_config *config,
                          struct host_resources *host_resources);
/* At the start and after a reload: the provider gets the plan. */
void export_select_begin(struct export_select *selection, int64_t now_ms,
                         struct effects *effects);
/* Leases of policies that wait for reports, by consumer; NULL behind the last. */
const struct export_lease *
export_select_waiting_at(const struct export_select *selection, int index);
/* A host has reported. */
void export_select_mark(struct export_select *selection);
void export_select_tick(struct export_select *selection, int64_t now_ms,
                        struct effects *effects);
int64_t export_select_wake_ms(const struct export_select *selection);

#endif
