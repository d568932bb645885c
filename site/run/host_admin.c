/* SPDX-License-Identifier: Apache-2.0 */
/* host_admin.c: see host_admin.h. */
#include "site/run/host_admin.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"

void host_admin_release(struct host_admin *closed)
{
    for (int i = 0; i < closed->count; i++) {
        dup_free(closed->names[i]);
    }
    free(closed->names);
    memset(closed, 0, sizeof(*closed));
}

static int place_of(const struct host_admin *closed, const char *host, bool *is_there)
{
    int at = 0;
    while (at < closed->count && strcmp(closed->names[at], host) < 0) {
        at++;
    }
    *is_there = at < closed->count && strcmp(closed->names[at], host) == 0;
    return at;
}

bool host_admin_is_closed(const struct host_admin *closed, const char *host)
{
    bool is_there;
    place_of(closed, host, &is_there);
    return is_there;
}

static void add(struct host_admin *closed, int at, const char *host)
{
    if (closed->count == closed->capacity) {
        closed->capacity = closed->capacity == 0 ? 8 : closed->capacity * 2;
        closed->names =
            mem_grow(closed->names, (size_t)closed->capacity, sizeof(char *));
    }
    memmove(&closed->names[at + 1], &closed->names[at],
            (size_t)(closed->count - at) * sizeof(char *));
    closed->names[at] = dup_text(host);
    closed->count++;
}

static void cut(struct host_admin *closed, int at)
{
    dup_free(closed->names[at]);
    closed->count--;
    memmove(&closed->names[at], &closed->names[at + 1],
            (size_t)(closed->count - at) * sizeof(char *));
}

void host_admin_load(struct host_admin *closed, const struct row_closed *row)
{
    bool is_there;
    int at = place_of(closed, row->host, &is_there);
    if (row->is_closed && !is_there) {
        add(closed, at, row->host);
    } else if (!row->is_closed && is_there) {
        cut(closed, at);
    }
}

void host_admin_sync_host(const struct host_admin *closed,
                          const struct host_table *hosts, struct provider *provider,
                          int host, int64_t local_ms)
{
    const char *name = host_table_name(hosts, host);
    provider_set_down(provider, name,
                      host_table_is_away(hosts, host) ||
                          host_table_is_out(hosts, host) ||
                          host_admin_is_closed(closed, name) ||
                          host_table_is_window_closed(hosts, host, local_ms));
    provider_set_awaited(provider, name, !host_table_is_usable(hosts, host));
}

void host_admin_sync(const struct host_admin *closed, const struct host_table *hosts,
                     struct provider *provider, int64_t local_ms)
{
    for (int i = 0; i < host_table_count(hosts); i++) {
        host_admin_sync_host(closed, hosts, provider, i, local_ms);
    }
}
