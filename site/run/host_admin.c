/* SPDX-License-Identifier: Apache-2.0 */
/* host_admin.c: see host_admin.h. */
#include "site/run/host_admin.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/dup.h"
#include "site/parts.h"
#include "site/permission.h"

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

void host_admin_sync_host(const struct site *site, int host)
{
    const char *name = host_table_name(site->hosts, host);
    provider_set_down(site->provider, name,
                      host_table_is_away(site->hosts, host) ||
                          host_admin_is_closed(&site->closed, name) ||
                          host_table_is_window_closed(
                              site->hosts, host, site->now_ms + site->utc_offset_ms));
}

void host_admin_sync(const struct site *site)
{
    for (int i = 0; i < host_table_count(site->hosts); i++) {
        host_admin_sync_host(site, i);
    }
}

static bool is_known(const struct site *site, const char *host)
{
    if (host_table_find(site->hosts, host) >= 0) {
        return true;
    }
    for (int i = 0; i < consumer_count_hosts(site->consumer); i++) {
        struct consumer_host borrowed;
        consumer_host_at(site->consumer, i, &borrowed);
        if (strcmp(borrowed.name, host) == 0) {
            return true;
        }
    }
    return false;
}

static int check(const struct site *site, const struct peer *from,
                 const struct msg_host_control *order, struct err *err)
{
    if (!permission_is_admin(site->config, from)) {
        return err_set(err, ERR_DENIED,
                       "only an administrator of the site may close or open hosts");
    }
    /* What is closed can be opened, whether it is borrowed now or not. */
    if (!is_known(site, order->host) &&
        !host_admin_is_closed(&site->closed, order->host)) {
        return err_set(err, ERR_NOT_FOUND, "Host <%s> is not found; see `sublet hosts`",
                       order->host);
    }
    return host_admin_is_closed(&site->closed, order->host) ||
                   site->closed.count < HOSTS_MAX
               ? 0
               : err_set(err, ERR_FULL, "too many hosts are closed, at most %d",
                         HOSTS_MAX);
}

void host_admin_request(struct site *site, const struct peer *from,
                        const struct msg_host_control *order, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct err err;
    int rc = check(site, from, order, &err);
    if (rc < 0) {
        effects_reply_error(effects, from, order->request, rc, "%s", err.text);
        return;
    }
    struct row row = {.kind = ROW_CLOSED};
    row.closed = (struct row_closed){.host = arena_str(arena, order->host),
                                     .is_closed = order->is_closed};
    if (host_admin_is_closed(&site->closed, order->host) != order->is_closed) {
        effects_store(effects, &row);
        host_admin_load(&site->closed, &row.closed);
        host_admin_sync(site);
        job_table_retry_all(site->jobs);
        pass_request_set(&site->pass_request);
    }
    const char *text = arena_printf(arena, "Host <%s> is %s.", row.closed.host,
                                    order->is_closed ? "closed" : "open");
    effects_log(effects, LOG_LEVEL_NOTICE, "%s: %s", from->name, text);
    effects_reply(effects, from, order->request, text, NULL, "");
}
