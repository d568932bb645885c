/* SPDX-License-Identifier: Apache-2.0 */
/* site_resource.h: resources that have to do with leases: what leases take of own
 * hosts, the load of borrowed hosts, and the hosts that export policies select. The
 * resources of hosts themselves are in host_resources.h.
 *
 * Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_SITE_RESOURCE_H
#define SUBLET_SITE_RESOURCE_SITE_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "consumer/consumer.h"
#include "model/effect.h"
#include "model/row.h"
#include "provider/export/export.h"
#include "provider/provider.h"
#include "site/exchange/site_uplink.h"
#include "site/pass/pass_request.h"
#include "site/resource/host_resources.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"

/* ------------------------------------------------------- lease_resources.c */

/* Resources besides slots that leases carry, on both sides.
 *
 * Provider: memory and swap space of an own host that a lease has are subtracted from
 * mem, maxmem, swp and maxswp here, instances of a shared resource from its location.
 * How much the consumer's jobs use is unknown, so all of it counts as unused there, and
 * `mem` and `swp` here are what is free beside it.
 *
 * Consumer: a borrowed host has the exported amount, all of it free. The amounts of
 * several leases of the same host are added; if one of them exports no memory, the
 * provider's free memory is added, too. A shared resource counts only if both sites
 * define it alike.
 *
 * Units: MB, instances. Source: docs/design/leases.md "Export policies", "Shared
 * resources", "Shared leases"; docs/adr/0006. */

struct lease_resources_parts {
    const struct site_config *config;
    struct host_resources *host_resources;
    struct provider *provider;
    const struct consumer *consumer;
    struct pass_request *pass_request;
};

struct lease_resources {
    struct lease_resources_parts parts;
    bool is_fresh; /* the counts below are those of the last refresh */
    uint64_t n_provider, n_consumer;
};

/* Before a pass: applies what has changed since the last time. */
void lease_resources_refresh(struct lease_resources *lease_resources,
                             struct effects *effects);
/* For another configuration; the next refresh applies everything. */
void lease_resources_reload(struct lease_resources *lease_resources,
                            const struct site_config *config,
                            struct host_resources *host_resources);
/* The provider learns the memory and swap space that an own host has reported. */
void lease_resources_update_host(struct lease_resources *lease_resources, int host);

/* --------------------------------------------------------- borrowed_load.c */

/* Providers report the load of leased hosts to consumers, so that
 * requirement strings mean the same on a borrowed host.
 *
 * A provider reports all hosts of each lease, some leases at a time, at most
 * BORROWED_LOAD_REPORT_MS after a host has reported. It reports sooner if a value was
 * unknown before or a load threshold was crossed; thresholds are part of the report
 * (docs/adr/0016). A consumer asks for open hosts, and hosts with jobs of its own, of
 * which it knows nothing, until it is answered. It accepts only hosts of its own
 * contract with that provider and resources of its own catalogue, and forgets hosts
 * that no contract names any more. If no host reports, as in simulations, there is no
 * wake-up.
 *
 * Units: milliseconds. */

enum {
    BORROWED_LOAD_REPORT_MS = 60000, /* greatest age of a borrowed host's load */
    BORROWED_LOAD_ASK_MS = 5000,
};

struct borrowed_load_parts {
    const struct site_config *config;
    struct host_resources *host_resources;
    const struct host_table *hosts;
    struct provider *provider;
    const struct consumer *consumer;
    struct site_uplink *uplink;
};

struct borrowed_load {
    struct borrowed_load_parts parts;
    int64_t report_ms;   /* next reports; INT64_MAX: nothing is new */
    int64_t reported_ms; /* when the last round ended */
    int next;            /* of these leases */
    bool is_news;        /* another round soon */
    int64_t ask_ms;      /* next search for unknown hosts; INT64_MAX: none */
    int64_t answers_ms;
    int n_answers; /* in the second that began at answers_ms */
};

void borrowed_load_init(struct borrowed_load *load,
                        const struct borrowed_load_parts *parts);
void borrowed_load_reload(struct borrowed_load *load, const struct site_config *config,
                          struct host_resources *host_resources);
void borrowed_load_tick(struct borrowed_load *load, int64_t now_ms,
                        struct effects *effects);
int64_t borrowed_load_wake_ms(const struct borrowed_load *load);

/* Provider: a host has reported its load; `is_soon`: a value was unknown before, or it
 * decides whether jobs start or are suspended there. */
void borrowed_load_mark(struct borrowed_load *load, bool is_soon, int64_t now_ms);
/* Consumer: a contract has changed. */
void borrowed_load_check_soon(struct borrowed_load *load, int64_t now_ms);
/* Provider: a consumer's question about its lease. */
void borrowed_load_answer(struct borrowed_load *load, const struct msg *msg,
                          int64_t now_ms, struct effects *effects);
/* Consumer: true if any value was accepted; `*is_first`: of a host that was unknown. */
bool borrowed_load_receive(struct borrowed_load *load, const struct msg *msg,
                           bool *is_first, struct effects *effects);

/* --------------------------------------------------------- export_select.c */

/* Hosts chosen for export policies whose RES_SELECT names values that
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
 * they are exported"), "When RES_SELECT is evaluated". */

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
