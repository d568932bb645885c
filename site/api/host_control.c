/* SPDX-License-Identifier: Apache-2.0 */
/* host_control.c: HOST_CONTROL: an administrator closes or opens a host. */
#include <string.h>

#include "base/err.h"
#include "site/api/permission.h"
#include "site/api/site_api.h"

static bool is_known(const struct site_api *api, const char *host)
{
    if (host_table_find(api->hosts, host) >= 0) {
        return true;
    }
    for (int i = 0; i < consumer_count_hosts(api->consumer); i++) {
        struct consumer_host borrowed;
        consumer_host_at(api->consumer, i, &borrowed);
        if (strcmp(borrowed.name, host) == 0) {
            return true;
        }
    }
    return false;
}

/* A closed host can be opened whether it is borrowed now or not. */
static int check(const struct site_api *api, const struct peer *from,
                 const struct msg_host_control *order, struct err *err)
{
    if (!permission_is_host_admin(api->config, from, order->host)) {
        return err_set(err, ERR_DENIED,
                       "only an administrator of the site, or of a host group with the "
                       "host, may close or open it");
    }
    if (!is_known(api, order->host) &&
        !host_admin_is_closed(api->host_admin, order->host)) {
        return err_set(err, ERR_NOT_FOUND, "Host <%s> is not found; see `sublet hosts`",
                       order->host);
    }
    return host_admin_is_closed(api->host_admin, order->host) ||
                   api->host_admin->count < HOSTS_MAX
               ? 0
               : err_set(err, ERR_FULL, "too many hosts are closed, at most %d",
                         HOSTS_MAX);
}

void host_control_request(struct site_api *api, const struct peer *from,
                          const struct msg *msg, struct effects *effects)
{
    const struct msg_host_control *order = &msg->host_control;
    struct arena *arena = &effects->arena;
    struct err err;
    int rc = check(api, from, order, &err);
    if (rc < 0) {
        effects_reply_error(effects, from, order->request, rc, "%s", err.text);
        return;
    }
    struct row row = {.kind = ROW_CLOSED};
    row.closed = (struct row_closed){.host = arena_str(arena, order->host),
                                     .is_closed = order->is_closed};
    if (host_admin_is_closed(api->host_admin, order->host) != order->is_closed) {
        effects_store(effects, &row);
        host_admin_load(api->host_admin, &row.closed);
        host_admin_sync(api->host_admin, api->hosts, api->provider, api->local_ms);
        job_table_retry_all(api->jobs);
        pass_request_set(api->pass_request);
    }
    const char *text = arena_printf(arena, "Host <%s> is %s.", row.closed.host,
                                    order->is_closed ? "closed" : "open");
    effects_log(effects, LOG_LEVEL_NOTICE, "%s: %s", from->name, text);
    effects_reply(effects, from, order->request, text, NULL, "");
}
