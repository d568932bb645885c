/* SPDX-License-Identifier: Apache-2.0 */
/* codec_field.h: describes messages: a shape is a table of fields with their bounds.
 *
 * Packing, unpacking and checking use the same table. A row names a field that our
 * struct (model/msg.h) and the generated one share. The macros take both offsets, and
 * do not compile if a size does not match the field's type. Before a table, define OURS
 * and THEIRS as the two struct types.
 *
 * Units: min and max of a text are bytes without the NUL, of a list its members.
 * Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_FIELD_H
#define SUBLET_PROTO_CODEC_FIELD_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/msg.h"

enum codec_type {
    CODEC_INT, /* an int or enum in our struct */
    CODEC_INT64,
    CODEC_UINT64,
    CODEC_BOOL,
    CODEC_TEXT,
    CODEC_TEXTS, /* a list of texts, with its count */
    CODEC_BYTES, /* bytes, with their count */
    CODEC_PART,  /* a struct inside ours; always present */
    CODEC_PARTS, /* a list of structs, with its count */
};

/* The characters of a text. All but ENV are UTF-8, none has a NUL. */
enum codec_charset {
    CODEC_NAME,  /* [A-Za-z0-9._-] */
    CODEC_HOST,  /* and @ */
    CODEC_LEASE, /* and / : */
    CODEC_JOB,   /* "12", "12[3]", "12[1-5,9]" */
    CODEC_LINE,  /* no control characters: safe on a terminal */
    CODEC_TALK, /* a LINE for people only: cut to fit when sent, so that a long sentence
                   does not block its message */
    CODEC_FREE, /* a command, a path, JSON */
    CODEC_ENV,  /* NAME=value; the value's encoding is the user's */
};

struct codec_shape;

struct codec_field {
    const char *name;
    enum codec_type type;
    size_t ours, our_count;     /* offsets in our struct */
    size_t theirs, their_count; /* and in the generated one */
    int64_t min, max;
    enum codec_charset charset;
    int text_min, text_max; /* of each text of a list */
    int64_t total_max;      /* bytes of all texts of a list */
    bool empty_is_null;     /* a text that is NULL in our struct if it is empty */
    const struct codec_shape *shape; /* of a part or parts */
};

struct codec_shape {
    const ProtobufCMessageDescriptor *descriptor;
    size_t our_size;
    const struct codec_field *fields;
    int n_fields;
    bool begins_with_host; /* as a list: no host twice */
};

#define CODEC_NUMBER_MAX (INT64_C(1) << 53) /* exact in JSON and doubles too */
#define CODEC_OFFSET(type, field, size)                                                \
    (offsetof(type, field) +                                                           \
     0 * sizeof(char[sizeof(((type *)0)->field) == (size) ? 1 : -1]))
#define CODEC_BOTH(field, our_field_size, their_field_size)                            \
    .name = #field, .ours = CODEC_OFFSET(OURS, field, our_field_size),                 \
    .theirs = CODEC_OFFSET(THEIRS, field, their_field_size)
#define CODEC_COUNTED(field) .our_count = CODEC_OFFSET(OURS, n_##field, sizeof(int))

#define INT(field, low, high)                                                          \
    {                                                                                  \
        .type = CODEC_INT, CODEC_BOTH(field, 4, 4), .min = (low), .max = (high)        \
    }
#define ENUM(field, last) INT(field, 0, last)
#define INT64(field, low, high)                                                        \
    {                                                                                  \
        .type = CODEC_INT64, CODEC_BOTH(field, 8, 8), .min = (low), .max = (high)      \
    }
#define TIME(field) INT64(field, 0, CODEC_NUMBER_MAX)
#define UINT64(field)                                                                  \
    {                                                                                  \
        .type = CODEC_UINT64, CODEC_BOTH(field, 8, 8), .min = 0, .max = INT64_MAX      \
    }
#define UINT64_AS(field, their_field)                                                  \
    {                                                                                  \
        .type = CODEC_UINT64, .name = #field, .ours = CODEC_OFFSET(OURS, field, 8),    \
        .theirs = CODEC_OFFSET(THEIRS, their_field, 8), .min = 0, .max = INT64_MAX     \
    }
#define INT_AS(field, their_field, low, high)                                          \
    {                                                                                  \
        .type = CODEC_INT, .name = #their_field, .ours = CODEC_OFFSET(OURS, field, 4), \
        .theirs = CODEC_OFFSET(THEIRS, their_field, 4), .min = (low), .max = (high)    \
    }
#define BOOL_AS(field, their_field)                                                    \
    {                                                                                  \
        .type = CODEC_BOOL, .name = #their_field,                                      \
        .ours = CODEC_OFFSET(OURS, field, sizeof(bool)),                               \
        .theirs = CODEC_OFFSET(THEIRS, their_field, sizeof(protobuf_c_boolean))        \
    }
#define BOOL(field)                                                                    \
    {                                                                                  \
        .type = CODEC_BOOL,                                                            \
        CODEC_BOTH(field, sizeof(bool), sizeof(protobuf_c_boolean))                    \
    }
#define TEXT(field, set, low, high)                                                    \
    {                                                                                  \
        .type = CODEC_TEXT,                                                            \
        CODEC_BOTH(field, sizeof(char *), sizeof(ProtobufCBinaryData)),                \
        .charset = CODEC_##set, .min = (low), .max = (high)                            \
    }
#define NAME(field) TEXT(field, NAME, 1, NAME_SIZE - 1)
#define LEASE(field) TEXT(field, LEASE, 1, LEASE_ID_SIZE - 1)
#define JOB(field) TEXT(field, JOB, 1, CODEC_JOB_MAX)
#define TALK(field, high) TEXT(field, TALK, 0, high)
#define PATH(field) TEXT(field, FREE, 0, TEXT_MAX)
#define TEXTS(field, high, set, low_text, high_text, total)                            \
    {                                                                                  \
        .type = CODEC_TEXTS, CODEC_BOTH(field, sizeof(char **), sizeof(void *)),       \
        CODEC_COUNTED(field),                                                          \
        .their_count = CODEC_OFFSET(THEIRS, n_##field, sizeof(size_t)), .min = 0,      \
        .max = (high), .charset = CODEC_##set, .text_min = (low_text),                 \
        .text_max = (high_text), .total_max = (total)                                  \
    }
#define BYTES(field, high)                                                             \
    {                                                                                  \
        .type = CODEC_BYTES,                                                           \
        CODEC_BOTH(field, sizeof(uint8_t *), sizeof(ProtobufCBinaryData)),             \
        CODEC_COUNTED(field), .min = 0, .max = (high)                                  \
    }
#define PART(field, part_shape)                                                        \
    {                                                                                  \
        .type = CODEC_PART, .name = #field, .ours = offsetof(OURS, field),             \
        .theirs = CODEC_OFFSET(THEIRS, field, sizeof(void *)), .shape = (part_shape)   \
    }
#define PARTS(field, low, high, part_shape)                                            \
    {                                                                                  \
        .type = CODEC_PARTS, CODEC_BOTH(field, sizeof(void *), sizeof(void *)),        \
        CODEC_COUNTED(field),                                                          \
        .their_count = CODEC_OFFSET(THEIRS, n_##field, sizeof(size_t)), .min = (low),  \
        .max = (high), .shape = (part_shape)                                           \
    }

/* The shape of a table `fields`: SHAPE(codec_lease_freeze, sublet__freeze, fields). */
#define SHAPE(symbol, generated, table)                                                \
    const struct codec_shape symbol = {                                                \
        .descriptor = &generated##__descriptor,                                        \
        .our_size = sizeof(OURS),                                                      \
        .fields = (table),                                                             \
        .n_fields = (int)(sizeof(table) / sizeof((table)[0])),                         \
    }
#define HOST_SHAPE(symbol, generated, table)                                           \
    const struct codec_shape symbol = {                                                \
        .descriptor = &generated##__descriptor,                                        \
        .our_size = sizeof(OURS),                                                      \
        .fields = (table),                                                             \
        .n_fields = (int)(sizeof(table) / sizeof((table)[0])),                         \
        .begins_with_host = true,                                                      \
    }

/* Numbers on the wire are those of model/msg.h and never change. */
#define SAME(prefix, value)                                                            \
    _Static_assert((int)(value) == (int)SUBLET__##prefix##__##value, #value)

enum {
    CODEC_JOB_MAX = 127,   /* a number, and some ranges of indices */
    CODEC_SIGNAL_MAX = 64, /* SIGRTMAX */
    CODEC_MODE_MAX = 0777,
    CODEC_EXIT_MAX = 65535, /* any wait status */
};

/* The shapes: codec_lease.c, codec_run.c, codec_client.c. */
extern const struct codec_shape codec_lease_hello, codec_lease_welcome,
    codec_lease_usage, codec_lease_pong, codec_lease_error, codec_lease_state,
    codec_lease, codec_lease_freeze, codec_lease_propose, codec_lease_contract,
    codec_lease_contract_ack, codec_lease_drain, codec_lease_recall, codec_lease_evict;
extern const struct codec_shape codec_run_leased_start, codec_run_attempt,
    codec_run_attempt_state, codec_run_attempt_control, codec_run_output_ask,
    codec_run_output, codec_run_lease_load;
extern const struct codec_shape codec_run_host_hello, codec_run_nothing,
    codec_run_alive, codec_run_host_load, codec_run_start, codec_run_go,
    codec_run_control, codec_run_forget, codec_run_state, codec_run_stream_down,
    codec_run_stream_up;
extern const struct codec_shape codec_client_submit, codec_client_job_control,
    codec_client_wait, codec_client_peek, codec_client_query, codec_client_set_reclaim,
    codec_client_set_drain, codec_client_reconfig, codec_client_host_control,
    codec_client_reply, codec_client_snapshot;
extern const struct codec_shape codec_client_job_move, codec_client_queue_control;
extern const struct codec_shape codec_run_resize, codec_client_job_resize;
extern const struct codec_shape codec_run_job_spec; /* part of several messages */

/* The shape of a kind's body; NULL for MSG_NONE and invalid kinds. */
const struct codec_shape *codec_shape_of(enum msg_kind kind);

#endif
