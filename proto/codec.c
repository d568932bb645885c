/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c: see codec.h. The envelope, whose bodies model/schema.h describes. */
#include "proto/codec.h"

#include <inttypes.h>
#include <string.h>

#include "proto/codec_check.h"
#include "proto/codec_memory.h"
#include "proto/codec_pack.h"
#include "proto/codec_unpack.h"
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
        return err_set(err, ERR_BOUNDS, "%d is no kind of message", (int)msg->kind);
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

/* Checks the version first, since other versions may have other fields. */
static int check_version(const uint8_t *bytes, size_t length, struct err *err)
{
    struct codec_memory memory;
    codec_memory_init(&memory, DECODE_BYTES_MAX, DECODE_ALLOCS_MAX);
    Sublet__Version *version =
        sublet__version__unpack(&memory.allocator, length, bytes);
    if (version == NULL) {
        return refuse_unpack(&memory, err);
    }
    uint32_t number = version->version;
    sublet__version__free_unpacked(version, &memory.allocator);
    if (number != PROTOCOL_VERSION) {
        return err_set(err, ERR_VERSION,
                       "protocol version %" PRIu32 ", this program speaks %d", number,
                       (int)PROTOCOL_VERSION);
    }
    return ERR_NONE;
}

static enum msg_kind kind_of_body(int tag)
{
    for (int i = MSG_NONE + 1; i < MSG_KINDS; i++) {
        if (msg_kinds[i].tag == tag) {
            return (enum msg_kind)i;
        }
    }
    return MSG_NONE;
}

static int take_envelope(struct arena *arena, const Sublet__Envelope *envelope,
                         struct msg *msg, struct err *err)
{
    enum msg_kind kind = kind_of_body((int)envelope->body_case);
    if (kind == MSG_NONE) {
        return err_set(err, ERR_PARSE, "unknown kind of message");
    }
    if (envelope->base.n_unknown_fields > 0) {
        return err_set(err, ERR_PARSE, "%s: an unknown field %u", msg_kind_name(kind),
                       envelope->base.unknown_fields[0].tag);
    }
    int status = codec_check_header(
        envelope->session, (const char *)envelope->site.data, envelope->site.len, err);
    if (status == ERR_NONE) {
        const ProtobufCMessage *body;
        memcpy(&body, (const char *)envelope + body_of_theirs, sizeof(body));
        msg->kind = kind;
        msg->session = envelope->session;
        msg->site = envelope->site.len == 0
                        ? ""
                        : arena_strn(arena, (const char *)envelope->site.data,
                                     envelope->site.len);
        status = codec_unpack(arena, msg_kinds[kind].schema, body,
                              (char *)msg + body_of_ours, err);
    }
    return status == ERR_NONE ? ERR_NONE : err_prefix(err, "%s", msg_kind_name(kind));
}

int codec_decode(struct arena *arena, const uint8_t *bytes, size_t length,
                 struct msg *msg, struct err *err)
{
    struct err local;
    err = err != NULL ? err : &local;
    memset(msg, 0, sizeof(*msg));
    if (length > FRAME_MAX) {
        return err_set(err, ERR_BOUNDS, "%zu bytes, a message has at most %d", length,
                       (int)FRAME_MAX);
    }
    int status = check_version(bytes, length, err);
    if (status != ERR_NONE) {
        return status;
    }
    struct codec_memory memory;
    codec_memory_init(&memory, DECODE_BYTES_MAX, DECODE_ALLOCS_MAX);
    Sublet__Envelope *envelope =
        sublet__envelope__unpack(&memory.allocator, length, bytes);
    if (envelope == NULL) {
        return refuse_unpack(&memory, err);
    }
    status = take_envelope(arena, envelope, msg, err);
    sublet__envelope__free_unpacked(envelope, &memory.allocator);
    if (status != ERR_NONE) {
        memset(msg, 0, sizeof(*msg));
    }
    return status;
}
