/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c: see codec.h. The envelope, whose bodies model/schema.h describes. */
#include "proto/codec.h"

#include <string.h>

#include "proto/codec_check.h"
#include "proto/codec_memory.h"
#include "proto/codec_pack.h"
#include "proto/codec_unpack.h"
#include "proto/codec_wire.h"
#include "proto/sublet.pb-c.h"

/* Every body is a pointer in the one union of the envelope, and a struct in the one
 * union of ours, so any member gives the offset. */
static const size_t body_of_ours = offsetof(struct msg, hello);
static const size_t body_of_theirs = offsetof(Sublet__Envelope, hello);

/* The descriptor of a kind's body; NULL for MSG_NONE and invalid kinds. */
static const ProtobufCMessageDescriptor *body_of(enum msg_kind kind)
{
    if (kind <= MSG_NONE || kind >= MSG_KINDS) {
        return NULL;
    }
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(
        &sublet__envelope__descriptor, (unsigned)msg_kinds[kind].tag);
    return field != NULL ? field->descriptor : NULL;
}

/* ---------------------------------------------------------------- encoding */

/* A body that was not opened goes behind the fields of the envelope, where any body
 * goes. */
static void put_relayed(struct arena *arena, const struct msg *msg,
                        Sublet__Envelope *envelope)
{
    ProtobufCMessageUnknownField *body = arena_alloc(arena, 1, sizeof(*body));
    body->tag = (uint32_t)msg_kinds[msg->kind].tag;
    body->wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    body->len = (size_t)msg->relayed.n_body;
    body->data = (uint8_t *)(uintptr_t)msg->relayed.body; /* not written through */
    envelope->base.unknown_fields = body;
    envelope->base.n_unknown_fields = 1;
}

static int build_envelope(struct arena *arena, const struct msg *msg,
                          Sublet__Envelope *envelope, struct err *err)
{
    const ProtobufCMessageDescriptor *descriptor = body_of(msg->kind);
    if (descriptor == NULL) {
        return err_set(err, ERR_BOUNDS, "%d is not a kind of message", (int)msg->kind);
    }
    const char *site = msg->site != NULL ? msg->site : "";
    sublet__envelope__init(envelope);
    envelope->version = PROTOCOL_VERSION;
    envelope->session = msg->session;
    envelope->site.len = strlen(site);
    envelope->site.data = (uint8_t *)(uintptr_t)site; /* not written through */
    int status = codec_check_header(msg->session, site, strlen(site), err);
    if (status == ERR_NONE && msg->is_relayed) {
        put_relayed(arena, msg, envelope);
    } else if (status == ERR_NONE) {
        ProtobufCMessage *body = codec_pack_new(arena, descriptor);
        status = codec_pack(arena, msg_kinds[msg->kind].schema,
                            (const char *)msg + body_of_ours, body, err);
        envelope->body_case = (Sublet__Envelope__BodyCase)msg_kinds[msg->kind].tag;
        memcpy((char *)envelope + body_of_theirs, &body, sizeof(body));
    }
    return status == ERR_NONE ? ERR_NONE
                              : err_prefix(err, "%s", msg_kind_name(msg->kind));
}

int codec_encode(const struct msg *msg, uint8_t **bytes, size_t *length,
                 struct err *err)
{
    struct err local;
    err = err != NULL ? err : &local;
    *bytes = NULL;
    *length = 0;
    struct arena arena;
    arena_init(&arena);
    Sublet__Envelope envelope;
    int status = build_envelope(&arena, msg, &envelope, err);
    if (status != ERR_NONE) {
        goto out;
    }
    size_t size = sublet__envelope__get_packed_size(&envelope);
    if (size > FRAME_MAX) {
        status = err_set(err, ERR_BOUNDS, "%s: %zu bytes, a message has at most %d",
                         msg_kind_name(msg->kind), size, (int)FRAME_MAX);
        goto out;
    }
    *bytes = mem_alloc(size, 1);
    *length = sublet__envelope__pack(&envelope, *bytes);
out:
    arena_release(&arena);
    return status;
}

/* ---------------------------------------------------------------- decoding */

static int refuse_unpack(const struct codec_memory *memory, struct err *err)
{
    return memory->is_spent ? err_set(err, ERR_BOUNDS,
                                      "message takes more than %zu bytes or %d parts",
                                      memory->max_bytes, memory->max_allocs)
                            : err_set(err, ERR_PARSE, "not a message");
}

static int unpack_body(struct arena *arena, const struct codec_wire_envelope *envelope,
                       struct msg *msg, struct err *err)
{
    const struct schema *schema = msg_kinds[envelope->kind].schema;
    struct codec_memory memory;
    int status = codec_wire_check(schema, envelope->body, err);
    if (status != ERR_NONE) {
        return status;
    }
    codec_memory_init(&memory, DECODE_BYTES_MAX, DECODE_ALLOCS_MAX);
    ProtobufCMessage *body =
        protobuf_c_message_unpack(body_of(envelope->kind), &memory.allocator,
                                  envelope->body.length, envelope->body.at);
    status = body != NULL
                 ? codec_unpack(arena, schema, body, (char *)msg + body_of_ours, err)
                 : refuse_unpack(&memory, err);
    codec_memory_release(&memory);
    return status;
}

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
        status = unpack_body(arena, &envelope, msg, err);
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
