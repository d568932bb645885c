/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h: sends the broker's messages: to a member in its session, or back to the
 * sender of a message.
 *
 * Ownership: texts are copied into the effects' arena. Everything else that a message
 * points to must be there already. Layer: broker. */
#ifndef SUBLET_BROKER_MEMBER_OUTBOX_H
#define SUBLET_BROKER_MEMBER_OUTBOX_H

#include "base/err.h"
#include "broker/member/member.h"
#include "model/effect.h"

/* Under the member's session, over the link of its HELLO; `site` where it is relayed,
 * else "". The message's session and site are filled in. */
void outbox_send(struct effects *effects, const struct member *to, const char *site,
                 const struct msg *msg);

/* MSG_ERROR about the event's message, under the session that the message named, so
 * that whoever sent it takes it as meant. Logged as a warning; a stale session is no
 * news. */
void outbox_refuse(struct effects *effects, const struct event *event, int code,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* REPLY to a request, under the session of the message that asked. */
void outbox_reply(struct effects *effects, const struct event *event, uint64_t request,
                  const char *text, const struct value *value, const char *next);
void outbox_reply_error(struct effects *effects, const struct event *event,
                        uint64_t request, int code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
