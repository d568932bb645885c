/* SPDX-License-Identifier: Apache-2.0 */
/* msg_encode.c: see msg_encode.h. */
#include "sys/msg_encode.h"

#include <stdlib.h>

#include "proto/codec.h"
#include "sys/json.h"

static int encode_failure(const struct msg *msg, uint8_t **bytes, size_t *length,
                          const struct err *why, struct err *err)
{
    struct msg failure = {
        .kind = MSG_REPLY, .session = msg->session, .site = msg->site};
    failure.reply.request = msg->reply.request;
    failure.reply.code = why->code;
    failure.reply.text = why->text;
    return codec_encode(&failure, bytes, length, err);
}

int msg_encode(const struct msg *msg, uint8_t **bytes, size_t *length, struct err *err)
{
    if (msg->kind != MSG_REPLY) {
        return codec_encode(msg, bytes, length, err);
    }
    struct msg rendered = *msg;
    char *json = NULL;
    if (msg->reply.value != NULL) {
        json = json_render(msg->reply.value);
        rendered.reply.json = json;
    }
    struct err why;
    int status = codec_encode(&rendered, bytes, length, &why);
    free(json);
    if (status != ERR_NONE) {
        status = encode_failure(msg, bytes, length, &why, err);
    }
    return status;
}
