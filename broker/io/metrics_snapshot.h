/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_snapshot.h: what the broker's metrics are made of, at one instant.
 *
 * It has no pointer into the broker, so that another thread may print it
 * (metrics_text.h), which takes most of the time of a scrape.
 *
 * Ownership: everything is in its arena; a snapshot is the caller's. Layer: broker/io.
 */
#ifndef SUBLET_BROKER_IO_METRICS_SNAPSHOT_H
#define SUBLET_BROKER_IO_METRICS_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/value.h"
#include "broker/broker.h"
#include "broker/io/metrics.h"
#include "broker/io/store/store.h"
#include "broker/io/store/store_lead.h"
#include "broker/lease/lease.h"
#include "sys/wire/wire.h"

struct metrics_lease {
    const char *id;
    enum lease_state state;
    struct lease_split split;
    uint64_t epoch, behind;
    int64_t changed_ms;
    double hours_ratio; /* negative: it has no quota */
};

struct metrics_site {
    const char *name;
    const struct value *row; /* of the listing */
    int64_t last_message_ms;
    uint64_t n_stream_bytes, n_streams_dropped;
    struct wire_use use;
};

struct metrics_node {
    const char *pool, *path;
    double hours_ratio;
    struct metrics_node *next;
};

struct metrics_snapshot {
    struct arena arena;
    bool leads;
    bool has_lead, has_lead_state; /* its store is no file; and could be asked */
    struct store_lead_state lead;
    struct metrics_counts counts;
    struct histogram commits;
    uint64_t n_keys_refused, n_unsealed, n_lost_commits;
    const struct metrics_lease *leases;
    int n_leases;
    const struct metrics_site *sites;
    int n_sites;
    const struct value *pools; /* rows of the listing */
    struct metrics_node *nodes;
    const char *state; /* the store's path */
};

/* `state` is the store's path, or its URL. */
struct metrics_snapshot *metrics_snapshot_new(const struct metrics *metrics,
                                              const struct broker *broker,
                                              struct store *store, const char *state,
                                              int64_t now_ms);
/* Of a standby: its role alone. What all brokers of a store have in common is told by
 * the one that leads. */
struct metrics_snapshot *metrics_snapshot_new_standby(struct store *store);
void metrics_snapshot_free(struct metrics_snapshot *snapshot); /* NULL is fine */

#endif
