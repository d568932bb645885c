/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_quota.c: see cmd_usage_quota.h. */
#include "cli/lease/cmd_usage_quota.h"

#include <string.h>

#include "cli/listing/listing.h"

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static bool has_terms(const json_t *row)
{
    return json_integer_value(json_object_get(row, "price")) > 0 ||
           json_is_integer(json_object_get(row, "hours"));
}

/* The rows of a listing for which `keep` is true. */
static int take(struct call *call, const struct msg_query *query,
                bool (*keep)(const json_t *row), json_t *rows)
{
    struct listing listing = {0};
    size_t at;
    json_t *row;
    int status = listing_get(call, query, &listing);
    json_array_foreach(listing.rows, at, row)
    {
        if (keep(row)) {
            json_array_append(rows, row);
        }
    }
    listing_free(&listing);
    return status;
}

static json_t *rows_or_null(json_t *rows, int status)
{
    if (status != CALL_OK) {
        json_decref(rows);
        return NULL;
    }
    return rows;
}

static bool is_any(const json_t *row)
{
    (void)row;
    return true;
}

json_t *cmd_usage_quota_nodes(struct call *call)
{
    struct msg_query query = listing_query(QUERY_POOLS);
    json_t *pools = json_array(), *rows = json_array(), *pool;
    size_t at;
    int status = take(call, &query, is_any, pools);
    query = listing_query(QUERY_PLAN);
    json_array_foreach(pools, at, pool)
    {
        query.name = text_of(pool, "pool");
        status = status == CALL_OK ? take(call, &query, is_any, rows) : status;
    }
    json_decref(pools);
    return rows_or_null(rows, status);
}

static bool is_of_sites(const json_t *row)
{
    return strcmp(text_of(row, "type"), "pool") != 0 && has_terms(row);
}

json_t *cmd_usage_quota_leases(struct call *call)
{
    struct msg_query query = listing_query(QUERY_LEASES);
    json_t *rows = json_array(), *row;
    size_t at;
    int status = take(call, &query, is_of_sites, rows);
    json_array_foreach(rows, at, row)
    {
        json_object_set(row, "lease", json_object_get(row, "id"));
    }
    return rows_or_null(rows, status);
}

static const json_t *find_node(const json_t *nodes, const char *name)
{
    size_t at;
    json_t *row;
    json_array_foreach(nodes, at, row)
    {
        if (name[0] != '\0' && strcmp(text_of(row, "node"), name) == 0) {
            return row;
        }
    }
    return NULL;
}

void cmd_usage_quota_join(const json_t *nodes, json_t *rows)
{
    static const char *const keys[] = {"price", "hours", "hours_used"};
    size_t at;
    json_t *row;
    json_array_foreach(rows, at, row)
    {
        const json_t *node = find_node(nodes, text_of(row, "node"));
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
            json_t *value = json_object_get(node, keys[i]);
            json_object_set_new(row, keys[i],
                                value != NULL ? json_incref(value) : json_null());
        }
    }
}
