/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c: see codec.h. The envelope, whose bodies model/schema.h describes. */
#include "proto/codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "proto/codec_check.h"
#include "proto/codec_pack.h"
#include "proto/codec_unpack.h"
#include "proto/codec_wire.h"

/* Every body is a struct in the one union, so any member gives the offset. */
static const size_t body_offset = offsetof(struct msg, hello);

/* ---------------------------------------------------------------- encoding */

/* The body of a message, with its length in front. */
static int put_body(struct codec_wire_buffer *buffer, const struct msg *msg,
                    struct err *err)
{
    if (msg->is_relayed) {
        codec_wire_put_bytes(buffer, msg->relayed.body, (size_t)msg->relayed.n_body);
        return ERR_NONE;
    }
    int status = codec_pack(buffer, msg_kinds[msg->kind].schema,
                            (const char *)msg + body_offset, err);
    codec_wire_put_varint(buffer, buffer->size);
    return status;
}

static int put_envelope(struct codec_wire_buffer *buffer, const struct msg *msg,
                        struct err *err)
{
    const char *site = msg->site != NULL ? msg->site : "";
    int status = codec_check_header(msg->session, site, strlen(site), err);
    if (status == ERR_NONE) {
        status = put_body(buffer, msg, err);
    }
    if (status != ERR_NONE) {
        return status;
    }
    codec_wire_put_key(buffer, msg_kinds[msg->kind].tag, WIRE_BYTES);
    if (site[0] != '\0') {
        codec_wire_put_text(buffer, CODEC_WIRE_SITE, site, strlen(site));
    }
    codec_wire_put_number(buffer, CODEC_WIRE_SESSION, msg->session);
    codec_wire_put_number(buffer, CODEC_WIRE_VERSION, PROTOCOL_VERSION);
    return buffer->size <= FRAME_MAX
               ? ERR_NONE
               : err_set(err, ERR_BOUNDS, "%zu bytes, a message has at most %d",
                         buffer->size, (int)FRAME_MAX);
}

int codec_encode(const struct msg *msg, uint8_t **bytes, size_t *length,
                 struct err *err)
{
    struct err local;
    struct codec_wire_buffer buffer = {.bytes = NULL};
    err = err != NULL ? err : &local;
    *bytes = NULL;
    *length = 0;
    if (msg->kind <= MSG_NONE || msg->kind >= MSG_KINDS) {
        return err_set(err, ERR_BOUNDS, "%d is not a kind of message", (int)msg->kind);
    }
    int status = put_envelope(&buffer, msg, err);
    if (status != ERR_NONE) {
        free(buffer.bytes);
        return err_prefix(err, "%s", msg_kind_name(msg->kind));
    }
    memmove(buffer.bytes, buffer.bytes + buffer.room - buffer.size, buffer.size);
    *bytes = buffer.bytes;
    *length = buffer.size;
    return ERR_NONE;
}

/* ---------------------------------------------------------------- decoding */

int codec_decode(struct arena *arena, const uint8_t *bytes, size_t length,
                 struct msg *msg, struct err *err)
{
    struct err local;
    struct codec_wire_envelope envelope;
    err = err != NULL ? err : &local;
    memset(msg, 0, sizeof(*msg));
    if (length > FRAME_MAX) {
        return err_set(err, ERR_BOUNDS, "%zu bytes, a message has at most %d", length,
                       (int)FRAME_MAX);
    }
    int status = codec_wire_read_envelope(bytes, length, &envelope, err);
    if (status != ERR_NONE) {
        return status;
    }
    const char *site = (const char *)envelope.site.at;
    status = codec_check_header(envelope.session, site, envelope.site.length, err);
    if (status == ERR_NONE) {
        status = codec_unpack(arena, msg_kinds[envelope.kind].schema, envelope.body,
                              (char *)msg + body_offset, err);
    }
    if (status != ERR_NONE) {
        memset(msg, 0, sizeof(*msg));
        return err_prefix(err, "%s", msg_kind_name(envelope.kind));
    }
    msg->kind = envelope.kind;
    msg->session = envelope.session;
    msg->site =
        envelope.site.length == 0 ? "" : arena_strn(arena, site, envelope.site.length);
    return ERR_NONE;
}
