/* SPDX-License-Identifier: Apache-2.0 */
/* closed.c: see closed.h. */
#include "site/closed.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "site/keep.h"
#include "site/parts.h"
#include "site/permission.h"

void closed_release(struct closed *closed)
{
    for (int i = 0; i < closed->count; i++) {
        keep_free(closed->names[i]);
    }
    free(closed->names);
    memset(closed, 0, sizeof(*closed));
}

static int place_of(const struct closed *closed, const char *host, bool *is_there)
{
    int at = 0;
    while (at < closed->count && strcmp(closed->names[at], host) < 0) {
        at++;
    }
    *is_there = at < closed->count && strcmp(closed->names[at], host) == 0;
    return at;
}

bool closed_has(const struct closed *closed, const char *host)
{
    bool is_there;
    place_of(closed, host, &is_there);
    return is_there;
}

static void add(struct closed *closed, int at, const char *host)
{
    if (closed->count == closed->capacity) {
        closed->capacity = closed->capacity == 0 ? 8 : closed->capacity * 2;
        closed->names =
            mem_grow(closed->names, (size_t)closed->capacity, sizeof(char *));
    }
    memmove(&closed->names[at + 1], &closed->names[at],
            (size_t)(closed->count - at) * sizeof(char *));
    closed->names[at] = keep_text(host);
    closed->count++;
}

static void cut(struct closed *closed, int at)
{
    keep_free(closed->names[at]);
    closed->count--;
    memmove(&closed->names[at], &closed->names[at + 1],
            (size_t)(closed->count - at) * sizeof(char *));
}

void closed_load(struct closed *closed, const struct row_closed *row)
{
    bool is_there;
    int at = place_of(closed, row->host, &is_there);
    if (row->is_closed && !is_there) {
        add(closed, at, row->host);
    } else if (!row->is_closed && is_there) {
        cut(closed, at);
    }
}

void closed_tell_host(const struct site *site, int host)
{
    const char *name = site_hosts_name(site->hosts, host);
    provider_set_down(site->provider, name,
                      site_hosts_is_away(site->hosts, host) ||
                          closed_has(&site->closed, name) ||
                          site_hosts_is_window_closed(
                              site->hosts, host, site->now_ms + site->utc_offset_ms));
}

void closed_tell(const struct site *site)
{
    for (int i = 0; i < site_hosts_count(site->hosts); i++) {
        closed_tell_host(site, i);
    }
}

static bool is_known(const struct site *site, const char *host)
{
    if (site_hosts_find(site->hosts, host) >= 0) {
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
    if (!is_known(site, order->host) && !closed_has(&site->closed, order->host)) {
        return err_set(err, ERR_NOT_FOUND, "Host <%s> is not found; see `sublet hosts`",
                       order->host);
    }
    return closed_has(&site->closed, order->host) || site->closed.count < HOSTS_MAX
               ? 0
               : err_set(err, ERR_FULL, "too many hosts are closed, at most %d",
                         HOSTS_MAX);
}

void closed_request(struct site *site, const struct peer *from,
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
    if (closed_has(&site->closed, order->host) != order->is_closed) {
        effects_store(effects, &row);
        closed_load(&site->closed, &row.closed);
        closed_tell(site);
        jobs_retry_all(site->jobs);
        pass_request_set(&site->pass_request);
    }
    const char *text = arena_printf(arena, "Host <%s> is %s.", row.closed.host,
                                    order->is_closed ? "closed" : "open");
    effects_log(effects, LOG_LEVEL_NOTICE, "%s: %s", from->name, text);
    effects_reply(effects, from, order->request, text, NULL, "");
}
