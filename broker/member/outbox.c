/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.c: see member.h. */
#include "broker/member/member.h"

#include <stdarg.h>
#include <stddef.h>

#include "base/err.h"

void outbox_send(struct effects *effects, const struct member *to, const char *site,
                 const struct msg *msg)
{
    struct peer peer = {.kind = PEER_SITE,
                        .name = to->name,
                        .link = to->link,
                        .roles = to->roles_allowed};
    struct msg sent = *msg;
    sent.session = to->session;
    sent.site = site;
    effects_send(effects, &peer, &sent);
}

static const char *name_of(const struct peer *peer)
{
    return peer->name != NULL ? peer->name : "?";
}

void outbox_refuse(struct effects *effects, const struct event *event, int code,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(&effects->arena, format, args);
    va_end(args);
    if (code != ERR_STALE) {
        effects_log(effects, LOG_LEVEL_WARNING, "%s: %s refused: %s",
                    name_of(&event->from), msg_kind_name(event->msg->kind), text);
    }
    struct msg msg = {.kind = MSG_ERROR, .session = event->msg->session, .site = ""};
    msg.error =
        (struct msg_error){.code = code, .text = text, .about = (int)event->msg->kind};
    effects_send(effects, &event->from, &msg);
}

/* effects_reply appends exactly one SEND. */
static void put_session(struct effects *effects, const struct event *event)
{
    effects->items[effects->count - 1].send.msg.session = event->msg->session;
}

void outbox_reply(struct effects *effects, const struct event *event, uint64_t request,
                  const char *text, const struct value *value, const char *next)
{
    effects_reply(effects, &event->from, request, text, value, next);
    put_session(effects, event);
}

void outbox_reply_error(struct effects *effects, const struct event *event,
                        uint64_t request, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(&effects->arena, format, args);
    va_end(args);
    effects_reply_error(effects, &event->from, request, code, "%s", text);
    put_session(effects, event);
}
