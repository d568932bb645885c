/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_snapshot.c: see metrics_snapshot.h. */
#include "broker/io/metrics_snapshot.h"

#include <stdlib.h>

/* All pages of the listing, their rows in one array. */
static const struct value *read_all(const struct broker *broker, struct arena *arena,
                                    enum query_kind kind, const char *name,
                                    int64_t now_ms)
{
    struct value *all = value_array(arena);
    struct msg_query query = {.kind = kind, .name = "", .after = ""};
    const char *next;
    do {
        struct value *page = broker_view(broker, arena, &query, now_ms, &next);
        const struct value *rows = value_find(page, name);
        for (struct value *row = rows->first, *behind; row != NULL; row = behind) {
            behind = row->next;
            row->next = NULL;
            value_add(arena, all, NULL, row);
        }
        query.after = next;
    } while (next[0] != '\0');
    return all;
}

static void read_leases(struct metrics_snapshot *snapshot, const struct broker *broker)
{
    struct arena *arena = &snapshot->arena;
    int n_leases = broker_count_leases(broker);
    struct metrics_lease *leases =
        arena_alloc(arena, (size_t)n_leases, sizeof(*leases));
    for (int i = 0; i < n_leases; i++) {
        const char *id = broker_lease_id(broker, i);
        struct row_lease row;
        broker_find_lease(broker, id, &row);
        leases[i] = (struct metrics_lease){
            .id = arena_str(arena, id),
            .state = row.state,
            .split = lease_split_sum(row.hosts, row.n_hosts),
            .epoch = row.epoch,
            .behind = broker_lease_behind(broker, id),
            .changed_ms = row.changed_ms,
            .hours_ratio = broker_lease_hours_ratio(broker, id),
        };
    }
    snapshot->leases = leases;
    snapshot->n_leases = n_leases;
}

static void read_sites(struct metrics_snapshot *snapshot, const struct broker *broker,
                       const struct wire_server *server, int64_t now_ms)
{
    struct arena *arena = &snapshot->arena;
    const struct value *rows = read_all(broker, arena, QUERY_SITES, "sites", now_ms);
    struct metrics_site *sites =
        arena_alloc(arena, (size_t)rows->count, sizeof(*sites));
    for (const struct value *row = rows->first; row != NULL; row = row->next) {
        struct metrics_site *site = &sites[snapshot->n_sites++];
        site->name = value_find(row, "site")->text;
        site->row = row;
        site->last_message_ms = broker_site_last_message_ms(broker, site->name);
        broker_site_streams(broker, site->name, &site->n_stream_bytes,
                            &site->n_streams_dropped);
        site->use = wire_server_use(server, site->name);
    }
    snapshot->sites = sites;
}

struct node_list {
    struct arena *arena;
    struct metrics_node **end;
};

static void add_node(void *arg, const char *pool, const char *path, double ratio)
{
    struct node_list *list = arg;
    struct metrics_node *node = arena_alloc(list->arena, 1, sizeof(*node));
    node->pool = arena_str(list->arena, pool);
    node->path = arena_str(list->arena, path);
    node->hours_ratio = ratio;
    *list->end = node;
    list->end = &node->next;
}

/* Nothing of a store that is a file, which has no standbys. */
static struct metrics_snapshot *make(struct store *store, bool leads)
{
    struct metrics_snapshot *snapshot = mem_alloc(1, sizeof(*snapshot));
    struct err err;
    arena_init(&snapshot->arena);
    snapshot->leads = leads;
    snapshot->has_lead = store_db(store) == NULL;
    snapshot->has_lead_state =
        snapshot->has_lead && store_lead_read(store, &snapshot->lead, &err) == 0;
    return snapshot;
}

struct metrics_snapshot *metrics_snapshot_new(const struct metrics *metrics,
                                              const struct broker *broker,
                                              struct store *store, const char *state,
                                              int64_t now_ms)
{
    struct metrics_snapshot *snapshot = make(store, true);
    struct arena *arena = &snapshot->arena;
    struct node_list nodes = {arena, &snapshot->nodes};
    snapshot->counts = metrics->counts;
    snapshot->commits = *metrics->commits;
    snapshot->n_keys_refused = wire_server_count_keys_refused(metrics->server);
    snapshot->n_unsealed = wire_server_count_unsealed(metrics->server);
    snapshot->n_lost_commits = broker_loss_commits(broker);
    snapshot->pools = read_all(broker, arena, QUERY_POOLS, "pools", now_ms);
    snapshot->state = arena_str(arena, state);
    read_leases(snapshot, broker);
    read_sites(snapshot, broker, metrics->server, now_ms);
    broker_each_hours(broker, now_ms, arena, add_node, &nodes);
    return snapshot;
}

struct metrics_snapshot *metrics_snapshot_new_standby(struct store *store)
{
    return make(store, false);
}

void metrics_snapshot_free(struct metrics_snapshot *snapshot)
{
    if (snapshot != NULL) {
        arena_release(&snapshot->arena);
        free(snapshot);
    }
}
