/* SPDX-License-Identifier: Apache-2.0 */
/* reconfig.c: RECONFIG: the daemon reads its configuration again (EFFECT_RELOAD). */
#include "base/err.h"
#include "site/api/permission.h"
#include "site/api/site_api.h"

void reconfig_request(struct site_api *api, const struct peer *from,
                      const struct msg *msg, struct effects *effects)
{
    if (!permission_is_admin(api->config, from)) {
        effects_reply_error(
            effects, from, msg->reconfig.request, ERR_DENIED,
            "only an administrator of the site may reload its configuration");
        return;
    }
    struct effect *effect = effects_add(effects, EFFECT_RELOAD);
    effect->reload.to = *from;
    effect->reload.to.name = arena_str(&effects->arena, from->name);
    effect->reload.request = msg->reconfig.request;
}
