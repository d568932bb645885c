/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c: see codec.h. The envelope, and the table of kinds with their bodies and
 * shapes. */
#include "proto/codec.h"

#include <inttypes.h>
#include <string.h>

#include "proto/codec_field.h"
#include "proto/codec_memory.h"
#include "proto/codec_pack.h"
#include "proto/codec_unpack.h"
#include "proto/sublet.pb-c.h"

struct kind {
    int body; /* Sublet__Envelope__BodyCase */
    const struct codec_shape *shape;
};

static const struct kind kinds[MSG_KINDS] = {
#define KIND(name, shape) [MSG_##name] = {SUBLET__ENVELOPE__BODY_##name, &shape}
    KIND(HELLO, codec_lease_hello),
    KIND(WELCOME, codec_lease_welcome),
    KIND(USAGE, codec_lease_usage),
    KIND(PONG, codec_lease_pong),
    KIND(ERROR, codec_lease_error),
    KIND(STATE, codec_lease_state),
    KIND(STATE_ASK, codec_lease),
    KIND(FREEZE, codec_lease_freeze),
    KIND(PROPOSE, codec_lease_propose),
    KIND(DRAIN, codec_lease_drain),
    KIND(LEASE_OPEN, codec_lease),
    KIND(RECALL, codec_lease_recall),
    KIND(EVICT, codec_lease_evict),
    KIND(CONTRACT, codec_lease_contract),
    KIND(CONTRACT_ACK, codec_lease_contract_ack),
    KIND(START, codec_run_leased_start),
    KIND(ATTEMPT_ASK, codec_run_attempt),
    KIND(ATTEMPT_STATE, codec_run_attempt_state),
    KIND(ATTEMPT_ACK, codec_run_attempt),
    KIND(ATTEMPT_CONTROL, codec_run_attempt_control),
    KIND(OUTPUT_ASK, codec_run_output_ask),
    KIND(OUTPUT, codec_run_output),
    KIND(LEASE_LOAD, codec_run_lease_load),
    KIND(LEASE_LOAD_ASK, codec_lease),
    KIND(HOST_HELLO, codec_run_host_hello),
    KIND(HOST_SYNCED, codec_run_nothing),
    KIND(HOST_WELCOME, codec_lease_welcome),
    KIND(HOST_ALIVE, codec_run_alive),
    KIND(HOST_PONG, codec_run_alive),
    KIND(RUN_START, codec_run_start),
    KIND(RUN_GO, codec_run_go),
    KIND(RUN_CONTROL, codec_run_control),
    KIND(RUN_FORGET, codec_run_forget),
    KIND(RUN_STATE, codec_run_state),
    KIND(HOST_LOAD, codec_run_host_load),
    KIND(SUBMIT, codec_client_submit),
    KIND(JOB_CONTROL, codec_client_job_control),
    KIND(JOB_MOVE, codec_client_job_move),
    KIND(QUEUE_CONTROL, codec_client_queue_control),
    KIND(WAIT, codec_client_wait),
    KIND(JOB_PEEK, codec_client_peek),
    KIND(QUERY, codec_client_query),
    KIND(SET_RECLAIM, codec_client_set_reclaim),
    KIND(SET_DRAIN, codec_client_set_drain),
    KIND(RECONFIG, codec_client_reconfig),
    KIND(HOST_CONTROL, codec_client_host_control),
    KIND(REPLY, codec_client_reply),
    KIND(SNAPSHOT, codec_client_snapshot),
    KIND(STREAM_DOWN, codec_run_stream_down),
    KIND(STREAM_UP, codec_run_stream_up),
    KIND(RUN_RESIZE, codec_run_resize),
    KIND(JOB_RESIZE, codec_client_job_resize),
#undef KIND
};

#define OURS struct msg
#define THEIRS Sublet__Envelope
static const struct codec_field envelope_fields[] = {
    UINT64(session),
    TEXT(site, NAME, 0, NAME_SIZE - 1),
};
static SHAPE(envelope_shape, sublet__envelope, envelope_fields);
#undef OURS
#undef THEIRS

/* Every body is a pointer in the one union of the envelope, and a struct in the one
 * union of ours, so any member gives the offset. */
static const size_t body_of_ours = offsetof(struct msg, hello);
static const size_t body_of_theirs = offsetof(Sublet__Envelope, hello);

const struct codec_shape *codec_shape_of(enum msg_kind kind)
{
    return kind > MSG_NONE && kind < MSG_KINDS ? kinds[kind].shape : NULL;
}

/* ---------------------------------------------------------------- encoding */

static int build_envelope(struct arena *arena, const struct msg *msg,
                          Sublet__Envelope *envelope, struct err *err)
{
    const struct codec_shape *shape = codec_shape_of(msg->kind);
    if (shape == NULL) {
        return err_set(err, ERR_BOUNDS, "%d is no kind of message", (int)msg->kind);
    }
    sublet__envelope__init(envelope);
    envelope->version = PROTOCOL_VERSION;
    int status = codec_pack(arena, &envelope_shape, msg, &envelope->base, err);
    if (status == ERR_NONE) {
        ProtobufCMessage *body = codec_pack_new(arena, shape->descriptor);
        status = codec_pack(arena, shape, (const char *)msg + body_of_ours, body, err);
        envelope->body_case = (Sublet__Envelope__BodyCase)kinds[msg->kind].body;
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

static enum msg_kind kind_of_body(int body)
{
    for (int i = MSG_NONE + 1; i < MSG_KINDS; i++) {
        if (kinds[i].shape != NULL && kinds[i].body == body) {
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
    int status = codec_unpack(arena, &envelope_shape, &envelope->base, msg, err);
    if (status == ERR_NONE) {
        const ProtobufCMessage *body;
        memcpy(&body, (const char *)envelope + body_of_theirs, sizeof(body));
        msg->kind = kind;
        status = codec_unpack(arena, kinds[kind].shape, body,
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
