/* SPDX-License-Identifier: Apache-2.0 */
/* forward.c: requests that only the broker can answer. */
#include "site/api/site_api.h"

#include "base/err.h"
#include "base/value.h"
#include "site/api/permission.h"

/* A person at a terminal does not wait longer. */
enum { FORWARD_MS = 10000 };

void forward_request(struct site_api *api, const struct peer *from,
                     const struct msg *msg, struct effects *effects)
{
    struct msg copy = *msg;
    uint64_t *number = msg->kind == MSG_SET_RECLAIM ? &copy.set_reclaim.request
                       : msg->kind == MSG_SET_DRAIN ? &copy.set_drain.request
                       : msg->kind == MSG_REBALANCE ? &copy.rebalance.request
                       : msg->kind == MSG_STEP_DOWN ? &copy.reconfig.request
                                                    : &copy.query.request;
    uint64_t request = *number;
    if (msg->kind != MSG_QUERY && !permission_is_admin(api->config, from)) {
        effects_reply_error(effects, from, request, ERR_DENIED,
                            "only an administrator of the site may %s",
                            msg->kind == MSG_SET_DRAIN   ? "drain or resume leases"
                            : msg->kind == MSG_REBALANCE ? "rebalance leases"
                            : msg->kind == MSG_STEP_DOWN ? "make a broker a standby"
                                                         : "set the reclaim delay");
        return;
    }
    if (!site_uplink_is_up(api->uplink)) {
        effects_reply_error(effects, from, request, ERR_AWAY, "%s",
                            site_uplink_trouble(api->uplink));
        return;
    }
    struct waiter waiter = {.kind = WAITER_BROKER,
                            .key = waiters_next_request(api->waiters),
                            .link = from->link,
                            .request = request,
                            .deadline_ms = api->now_ms + FORWARD_MS};
    if (!waiters_add(api->waiters, &waiter)) {
        effects_reply_error(effects, from, request, ERR_FULL,
                            "too many clients wait for the broker, try again later");
        return;
    }
    copy.site = "";
    *number = waiter.key;
    site_uplink_send(api->uplink, &copy, effects);
}

static struct value *copy_value(struct arena *arena, const struct value *from)
{
    struct value *copy = arena_copy(arena, from, sizeof(*from));
    copy->text = arena_str(arena, from->text);
    copy->first = copy->last = copy->next = NULL;
    copy->count = 0;
    for (const struct value *at = from->first; at != NULL; at = at->next) {
        value_add(arena, copy, arena_str(arena, at->key), copy_value(arena, at));
    }
    return copy;
}

void forward_reply(struct waiters *waiters, const struct msg_reply *reply,
                   struct effects *effects)
{
    struct waiter waiter;
    if (!waiters_take(waiters, WAITER_BROKER, reply->request, &waiter)) {
        return; /* too late, or the client has gone */
    }
    struct peer to = {.kind = PEER_CLIENT, .name = "", .link = waiter.link};
    struct msg msg = {.kind = MSG_REPLY, .site = "", .reply = *reply};
    msg.reply.request = waiter.request;
    msg.reply.value =
        reply->value != NULL ? copy_value(&effects->arena, reply->value) : NULL;
    msg.reply.bytes = (const uint8_t *)"";
    msg.reply.n_bytes = 0;
    effects_send(effects, &to, &msg);
}
