/* SPDX-License-Identifier: Apache-2.0 */
/* borrowed_load.h: providers report the load of leased hosts to consumers, so that
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
 * Units: milliseconds. Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_BORROWED_LOAD_H
#define SUBLET_SITE_RESOURCE_BORROWED_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "consumer/consumer.h"
#include "provider/provider.h"
#include "site/exchange/site_uplink.h"
#include "site/resource/host_resources.h"
#include "site/run/host_table.h"

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

#endif
