/* SPDX-License-Identifier: Apache-2.0 */
/* queue_control.c: QUEUE_CONTROL: queues are opened, closed, activated, inactivated. */
#include "base/err.h"
#include "base/value.h"
#include "site/api/permission.h"
#include "site/api/site_api.h"

void queue_control_request(struct site_api *api, const struct peer *from,
                           const struct msg *msg, struct effects *effects)
{
    const struct msg_queue_control *order = &msg->queue_control;
    static const char *const done[] = {
        [QUEUE_OPEN] = "is opened",
        [QUEUE_CLOSE] = "is closed",
        [QUEUE_ACTIVATE] = "is activated",
        [QUEUE_INACTIVATE] = "is inactivated",
    };
    struct arena *arena = &effects->arena;
    int queue = queue_table_find(api->queues, order->queue);
    if (!permission_is_queue_admin(api->config, from, queue)) {
        effects_reply_error(effects, from, order->request, ERR_DENIED,
                            "queue %s: user permission denied, expected an "
                            "administrator of the queue or of the site",
                            order->queue);
        return;
    }
    if (queue < 0) {
        effects_reply_error(effects, from, order->request, ERR_NOT_FOUND,
                            "%s: no such queue, see `sublet queues`", order->queue);
        return;
    }
    queue_table_control(api->queues, queue, order->order, effects);
    pass_request_set(api->pass_request);
    struct value *value = value_object(arena);
    value_add_text(arena, value, "queue", order->queue);
    effects_reply(
        effects, from, order->request,
        arena_printf(arena, "Queue <%s> %s", order->queue, done[order->order]), value,
        "");
}
