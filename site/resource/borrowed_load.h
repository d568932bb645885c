/* SPDX-License-Identifier: Apache-2.0 */
/* borrowed_load.h: what hosts are and how loaded they are, from their provider to their
 * consumers, so that requirement strings mean the same on a borrowed host.
 *
 * A provider tells of all hosts of each lease, some leases at a time, at most
 * BORROWED_LOAD_REPORT_MS after a host told it something, and sooner when one is known
 * better than before, or has crossed one of its load thresholds, which go along
 * (docs/adr/0039); a consumer that knows nothing of an open host, or of one with jobs
 * of its own, asks, until it does. Where hosts tell nothing, as in simulations, nobody
 * wakes for it. What a contract does not name any more is forgotten. A consumer takes
 * only hosts of its own contract with that provider, and only resources that its own
 * catalogue has.
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
    BORROWED_LOAD_REPORT_MS = 60000, /* load of a borrowed host is this old at most */
    BORROWED_LOAD_ASK_MS = 5000,
};

struct borrowed_load_parts {
    const struct site_config *config;
    struct host_resources *facts;
    const struct host_table *hosts;
    struct provider *provider;
    const struct consumer *consumer;
    struct site_uplink *uplink;
};

struct borrowed_load {
    struct borrowed_load_parts parts;
    int64_t tell_ms; /* when the next leases are told of; INT64_MAX: nothing is new */
    int64_t told_ms; /* when the last round ended */
    int next;        /* of these leases */
    bool is_news;    /* another round soon */
    int64_t ask_ms;  /* when it is next looked at who is unknown; INT64_MAX: nobody */
    int64_t answers_ms;
    int n_answers; /* in the second that began then */
};

void borrowed_load_init(struct borrowed_load *lease_load,
                        const struct borrowed_load_parts *parts);
void borrowed_load_reload(struct borrowed_load *lease_load,
                          const struct site_config *config,
                          struct host_resources *facts);
void borrowed_load_tick(struct borrowed_load *lease_load, int64_t now_ms,
                        struct effects *effects);
int64_t borrowed_load_wake_ms(const struct borrowed_load *lease_load);

/* Provider: a host told its load; where `is_soon`, what was not known before, or what
 * decides whether jobs start or stand still there. */
void borrowed_load_mark(struct borrowed_load *lease_load, bool is_soon, int64_t now_ms);
/* Consumer: there is another contract. */
void borrowed_load_check_soon(struct borrowed_load *lease_load, int64_t now_ms);
/* Provider: a consumer's question about its lease. */
void borrowed_load_answer(struct borrowed_load *lease_load, const struct msg *msg,
                          int64_t now_ms, struct effects *effects);
/* Consumer: true where anything was taken; `*is_first`: of a host that was unknown. */
bool borrowed_load_receive(struct borrowed_load *lease_load, const struct msg *msg,
                           bool *is_first, struct effects *effects);

#endif
