/* SPDX-License-Identifier: Apache-2.0 */
/* store_leases.c: ROW_LEASE in its tables: the contract, its hosts, and the shared
 * resources that come with it.
 *
 * A contract often changes its split and keeps its hosts: a host's row is written only
 * if it differs. */
#include "broker/io/store_parts.h"

#include <stdlib.h>
#include <string.h>

/* An UPDATE, and an INSERT only if it found nothing, costs half as much as an upsert,
 * which checks every column twice. */
static const char put_sql[] =
    "UPDATE lease SET (provider, policy, consumer, type, state, epoch, is_made,"
    " is_withdrawn, registered_ms, made_ms, changed_ms, judged_ms, reason,"
    " is_drain_ordered, is_drained, drain, is_pool) = (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
    " ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) WHERE id = ?1";

static const char add_sql[] =
    "INSERT INTO lease (id, provider, policy, consumer, type, state, epoch, is_made,"
    " is_withdrawn, registered_ms, made_ms, changed_ms, judged_ms, reason,"
    " is_drain_ordered, is_drained, drain, is_pool) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
    " ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

static const char put_host_sql[] =
    "UPDATE lease_host SET (host, n_slots, provider, consumer, provider_used,"
    " consumer_used, is_down, mem_mib, swp_mib) = (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
    "?11)"
    " WHERE lease = ?1 AND place = ?2"
    " AND (host, n_slots, provider, consumer, provider_used, consumer_used, is_down,"
    " mem_mib, swp_mib) IS NOT (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

static const char add_host_sql[] =
    "INSERT INTO lease_host (lease, place, host, n_slots, provider, consumer,"
    " provider_used, consumer_used, is_down, mem_mib, swp_mib)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING";

static const char tail_sql[] =
    "SELECT 1 FROM lease_host WHERE lease = ?1 AND place >= ?2 LIMIT 1";

static const char cut_hosts_sql[] =
    "DELETE FROM lease_host WHERE lease = ?1 AND place >= ?2";

const char store_leases_sql[] =
    "SELECT id, provider, policy, consumer, type, state, epoch, is_made, is_withdrawn,"
    " registered_ms, made_ms, changed_ms, judged_ms, reason, is_drain_ordered,"
    " is_drained, drain, is_pool FROM lease ORDER BY id";

static const char hosts_sql[] =
    "SELECT host, n_slots, provider, consumer, provider_used, consumer_used, is_down,"
    " mem_mib, swp_mib FROM lease_host WHERE lease = ?1 ORDER BY place";

static const struct exported_table_sql exported_sql =
    EXPORTED_TABLE_SQL("lease_resource");

static int run_contract(struct db *db, sqlite3_stmt *put, const struct row_lease *lease,
                        struct err *err)
{
    int at = 0;
    store_bind_text(put, ++at, lease->id);
    store_bind_text(put, ++at, lease->provider);
    store_bind_text(put, ++at, lease->policy);
    store_bind_text(put, ++at, lease->consumer);
    bool is_pool = lease->type == LEASE_POOL; /* an older schema knew two words */
    store_bind_text(put, ++at,
                    msg_lease_type_name(is_pool ? LEASE_EXCLUSIVE : lease->type));
    store_bind_text(put, ++at, msg_lease_state_name(lease->state));
    store_bind_int(put, ++at, (int64_t)lease->epoch);
    store_bind_int(put, ++at, lease->is_made);
    store_bind_int(put, ++at, lease->is_withdrawn);
    store_bind_int(put, ++at, lease->registered_ms);
    store_bind_int(put, ++at, lease->made_ms);
    store_bind_int(put, ++at, lease->changed_ms);
    store_bind_int(put, ++at, lease->judged_ms);
    store_bind_text(put, ++at, lease->reason);
    store_bind_int(put, ++at, lease->is_drain_ordered);
    store_bind_int(put, ++at, lease->is_drained);
    store_bind_int(put, ++at, (int64_t)lease->drain);
    store_bind_int(put, ++at, is_pool);
    return db_run(db, put, err);
}

static bool has_changed(struct db *db)
{
    return sqlite3_changes(db_handle(db)) > 0;
}

static int put_contract(struct store *store, const struct row_lease *lease,
                        struct err *err)
{
    struct db *db = store->db;
    int rc =
        run_contract(db, db_statement(db, &store->leases.put, put_sql), lease, err);
    if (rc == 0 && !has_changed(db)) {
        sqlite3_stmt *add = db_statement(db, &store->leases.add, add_sql);
        rc = run_contract(db, add, lease, err);
    }
    return rc;
}

static int run_host(struct db *db, sqlite3_stmt *put, const char *lease, int place,
                    const struct host_split *host, struct err *err)
{
    int at = 0;
    store_bind_text(put, ++at, lease);
    store_bind_int(put, ++at, place);
    store_bind_text(put, ++at, host->host);
    store_bind_int(put, ++at, host->n_slots);
    store_bind_int(put, ++at, host->provider);
    store_bind_int(put, ++at, host->consumer);
    store_bind_int(put, ++at, host->provider_used);
    store_bind_int(put, ++at, host->consumer_used);
    store_bind_int(put, ++at, host->is_down);
    for (int i = 0; i < SPACES; i++) {
        exported_table_bind_space(put, ++at, &host->spaces[i]);
    }
    return db_run(db, put, err);
}

/* If the row was not changed, it is missing or up to date. */
static int put_host(struct store *store, const char *lease, int place,
                    const struct host_split *host, struct err *err)
{
    struct db *db = store->db;
    sqlite3_stmt *put = db_statement(db, &store->leases.put_host, put_host_sql);
    int rc = run_host(db, put, lease, place, host, err);
    if (rc == 0 && !has_changed(db)) {
        sqlite3_stmt *add = db_statement(db, &store->leases.add_host, add_host_sql);
        rc = run_host(db, add, lease, place, host, err);
    }
    return rc;
}

/* Usually there is none, and a SELECT costs a tenth of a DELETE of nothing. */
static int cut_hosts(struct store *store, const char *lease, int n_hosts,
                     struct err *err)
{
    struct db *db = store->db;
    sqlite3_stmt *tail = db_statement(db, &store->leases.tail, tail_sql);
    store_bind_text(tail, 1, lease);
    store_bind_int(tail, 2, n_hosts);
    int step = sqlite3_step(tail);
    sqlite3_reset(tail);
    if (step == SQLITE_DONE) {
        return 0;
    }
    sqlite3_stmt *cut = db_statement(db, &store->leases.cut_hosts, cut_hosts_sql);
    store_bind_text(cut, 1, lease);
    store_bind_int(cut, 2, n_hosts);
    return db_run(db, cut, err);
}

int store_leases_put(struct store *store, const struct row_lease *lease,
                     struct err *err)
{
    int rc = put_contract(store, lease, err);
    for (int i = 0; i < lease->n_hosts && rc == 0; i++) {
        rc = put_host(store, lease->id, i, &lease->hosts[i], err);
    }
    if (rc == 0) {
        rc = cut_hosts(store, lease->id, lease->n_hosts, err);
    }
    if (rc == 0) {
        rc = exported_table_put(&store->leases.exported, &exported_sql, store->db,
                                lease->id, lease->resources, lease->n_resources, err);
    }
    return rc < 0 ? err_prefix(err, "lease \"%s\"", lease->id) : 0;
}

/* -1 for a word that the schema does not allow. */
static int type_of(const char *word)
{
    for (int type = LEASE_EXCLUSIVE; type <= LEASE_SHARED; type++) {
        if (strcmp(msg_lease_type_name((enum lease_type)type), word) == 0) {
            return type;
        }
    }
    return -1;
}

static int state_of(const char *word)
{
    for (int state = LEASE_PENDING; state <= LEASE_ENDED; state++) {
        if (strcmp(msg_lease_state_name((enum lease_state)state), word) == 0) {
            return state;
        }
    }
    return -1;
}

static int read_contract(sqlite3_stmt *all, struct row_lease *lease, struct err *err)
{
    int type = type_of(store_text(all, 4)), state = state_of(store_text(all, 5));
    if (type < 0 || state < 0) {
        return err_set(err, ERR_IO, "store: lease \"%s\": unknown type or state",
                       store_text(all, 0));
    }
    *lease = (struct row_lease){
        .id = store_text(all, 0),
        .provider = store_text(all, 1),
        .policy = store_text(all, 2),
        .consumer = store_text(all, 3),
        .type = sqlite3_column_int(all, 17) != 0 ? LEASE_POOL : (enum lease_type)type,
        .state = (enum lease_state)state,
        .epoch = (uint64_t)sqlite3_column_int64(all, 6),
        .is_made = sqlite3_column_int(all, 7) != 0,
        .is_withdrawn = sqlite3_column_int(all, 8) != 0,
        .registered_ms = sqlite3_column_int64(all, 9),
        .made_ms = sqlite3_column_int64(all, 10),
        .changed_ms = sqlite3_column_int64(all, 11),
        .judged_ms = sqlite3_column_int64(all, 12),
        .reason = store_text(all, 13),
        .is_drain_ordered = sqlite3_column_int(all, 14) != 0,
        .is_drained = sqlite3_column_int(all, 15) != 0,
        .drain = (uint64_t)sqlite3_column_int64(all, 16),
    };
    return 0;
}

static int read_hosts(const struct store_cursor *at, struct row_lease *lease)
{
    sqlite3_stmt *hosts =
        db_statement(at->store->db, &at->store->leases.hosts, hosts_sql);
    struct host_split *splits = NULL;
    int n_splits = 0, capacity = 0, rc;
    store_bind_text(hosts, 1, lease->id);
    while ((rc = sqlite3_step(hosts)) == SQLITE_ROW) {
        if (n_splits == capacity) {
            capacity = capacity == 0 ? 16 : capacity * 2;
            splits = mem_grow(splits, (size_t)capacity, sizeof(*splits));
        }
        splits[n_splits++] = (struct host_split){
            .host = arena_str(at->arena, store_text(hosts, 0)),
            .n_slots = sqlite3_column_int(hosts, 1),
            .provider = sqlite3_column_int(hosts, 2),
            .consumer = sqlite3_column_int(hosts, 3),
            .provider_used = sqlite3_column_int(hosts, 4),
            .consumer_used = sqlite3_column_int(hosts, 5),
            .is_down = sqlite3_column_int(hosts, 6) != 0,
            .spaces = {exported_table_space(hosts, 7), exported_table_space(hosts, 8)},
        };
    }
    rc = rc == SQLITE_DONE ? 0 : store_fail(hosts, "hosts of leases", at->err);
    sqlite3_reset(hosts);
    if (n_splits > 0) {
        lease->hosts =
            arena_copy(at->arena, splits, (size_t)n_splits * sizeof(*splits));
    }
    lease->n_hosts = n_splits;
    free(splits);
    return rc;
}

int store_leases_read(const struct store_cursor *at, struct row *row)
{
    struct row_lease *lease = &row->lease;
    int rc = read_contract(at->all, lease, at->err);
    if (rc == 0) {
        rc = read_hosts(at, lease);
    }
    return rc == 0
               ? exported_table_load(&at->store->leases.exported, &exported_sql,
                                     at->store->db, lease->id, at->arena,
                                     &lease->resources, &lease->n_resources, at->err)
               : rc;
}
