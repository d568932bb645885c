/* SPDX-License-Identifier: Apache-2.0 */
/* codec_relay.c: see codec_relay.h. Only lengths are read on the way to a field: what
 * lies in between is not looked at. */
#include "proto/codec_relay.h"

#include <string.h>

#include "proto/codec_check.h"

enum {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5,
    TAG_VERSION = 1,
    TAG_SESSION = 2,
    TAG_SITE = 3,
};

struct span {
    const uint8_t *at;
    size_t length;
};

/* A field as it stands on the wire. */
struct piece {
    uint64_t tag;
    int type;
    uint64_t number;   /* of a WIRE_VARINT */
    struct span value; /* of WIRE_BYTES; */
    struct span whole; /* and with its length in front */
};

static bool skip(struct span *span, uint64_t n_bytes)
{
    if (n_bytes > span->length) {
        return false;
    }
    span->at += n_bytes;
    span->length -= n_bytes;
    return true;
}

static bool read_varint(struct span *span, uint64_t *number)
{
    *number = 0;
    for (int shift = 0; shift < 64 && span->length > 0; shift += 7) {
        uint8_t byte = *span->at;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        skip(span, 1);
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}

/* False at the end, which leaves the span empty, and for what is no field. */
static bool read_piece(struct span *span, struct piece *piece)
{
    uint64_t key;
    if (!read_varint(span, &key) || key > UINT32_MAX) {
        return false;
    }
    piece->tag = key >> 3;
    piece->type = (int)(key & 7);
    piece->whole = *span;
    if (piece->type == WIRE_VARINT) {
        return read_varint(span, &piece->number);
    }
    if (piece->type == WIRE_BYTES) {
        uint64_t length;
        if (!read_varint(span, &length)) {
            return false;
        }
        piece->value = (struct span){span->at, (size_t)length};
        piece->whole.length = (size_t)(span->at - piece->whole.at) + (size_t)length;
        return skip(span, length);
    }
    return (piece->type == WIRE_FIXED64 && skip(span, 8)) ||
           (piece->type == WIRE_FIXED32 && skip(span, 4));
}

/* Empty if there is none. */
static bool find_once(struct span body, int tag, struct span *value)
{
    struct piece piece;
    bool is_found = false;
    *value = (struct span){(const uint8_t *)"", 0};
    while (body.length > 0) {
        if (!read_piece(&body, &piece)) {
            return false;
        }
        if (piece.tag == (uint64_t)tag) {
            if (is_found || piece.type != WIRE_BYTES) {
                return false;
            }
            is_found = true;
            *value = piece.value;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- the body */

static const struct field *field_of(const struct schema *schema, const char *name)
{
    for (int i = 0; i < schema->n_fields; i++) {
        if (strcmp(schema->fields[i].name, name) == 0) {
            return &schema->fields[i];
        }
    }
    return NULL;
}

static int refuse(const struct field *field, struct err *err)
{
    return err_set(err, ERR_PARSE, "%s: expected once, and as a field", field->name);
}

static int read_text(struct arena *arena, const struct field *field, struct span body,
                     const char **text, struct err *err)
{
    struct span value;
    if (!find_once(body, field->tag, &value)) {
        return refuse(field, err);
    }
    if (codec_check_text(field, (const char *)value.at, value.length, err) < 0) {
        return err_prefix(err, "%s", field->name);
    }
    *text = arena_strn(arena, (const char *)value.at, value.length);
    return ERR_NONE;
}

static int read_body(struct arena *arena, const struct schema *schema, struct span body,
                     struct msg_relayed *relayed, struct err *err)
{
    const struct field *run = field_of(schema, "run"),
                       *lease = field_of(schema, "lease"),
                       *data = field_of(schema, "bytes");
    struct span value;
    int status = ERR_NONE;
    if (run != NULL) {
        status = find_once(body, run->tag, &value)
                     ? read_text(arena, &run->part->fields[0], value,
                                 &relayed->run_site, err)
                     : refuse(run, err);
    }
    if (status == ERR_NONE && lease != NULL) {
        status = read_text(arena, lease, body, &relayed->lease, err);
    }
    if (status == ERR_NONE && data != NULL) {
        status = find_once(body, data->tag, &value)
                     ? codec_check_count(data, value.length, err)
                     : refuse(data, err);
        relayed->n_data = (int)value.length;
    }
    return status;
}

/* ---------------------------------------------------------------- the envelope */

struct envelope {
    uint64_t version, session;
    struct span site;
    struct piece body;
};

/* Each field at most once, and one body. */
static bool read_envelope(struct span span, struct envelope *envelope)
{
    unsigned seen = 0;
    *envelope = (struct envelope){.site.at = (const uint8_t *)""};
    while (span.length > 0) {
        struct piece piece;
        if (!read_piece(&span, &piece)) {
            return false;
        }
        bool is_number = piece.tag == TAG_VERSION || piece.tag == TAG_SESSION;
        unsigned bit = 1U << (piece.tag <= TAG_SITE ? piece.tag : 0);
        if ((seen & bit) != 0 || piece.type != (is_number ? WIRE_VARINT : WIRE_BYTES)) {
            return false;
        }
        seen |= bit;
        if (piece.tag == TAG_VERSION) {
            envelope->version = piece.number;
        } else if (piece.tag == TAG_SESSION) {
            envelope->session = piece.number;
        } else if (piece.tag == TAG_SITE) {
            envelope->site = piece.value;
        } else {
            envelope->body = piece;
        }
    }
    return envelope->version == PROTOCOL_VERSION;
}

static enum msg_kind kind_of(uint64_t tag)
{
    int kind = MSG_KINDS - 1;
    while (kind > MSG_NONE && (uint64_t)msg_kinds[kind].tag != tag) {
        kind--;
    }
    return (enum msg_kind)kind;
}

static int take_relayed(struct arena *arena, const struct envelope *envelope,
                        enum msg_kind kind, struct msg *msg, struct err *err)
{
    const char *site = (const char *)envelope->site.at;
    struct msg_relayed relayed = {.body = envelope->body.whole.at,
                                  .n_body = (int)envelope->body.whole.length};
    int status =
        codec_check_header(envelope->session, site, envelope->site.length, err);
    if (status == ERR_NONE) {
        status = read_body(arena, msg_kinds[kind].schema, envelope->body.value,
                           &relayed, err);
    }
    if (status != ERR_NONE) {
        return err_prefix(err, "%s", msg_kind_name(kind));
    }
    relayed.body = arena_copy(arena, relayed.body, (size_t)relayed.n_body);
    *msg = (struct msg){.kind = kind,
                        .session = envelope->session,
                        .site = arena_strn(arena, site, envelope->site.length),
                        .is_relayed = true,
                        .relayed = relayed};
    return ERR_NONE;
}

int codec_relay_decode(struct arena *arena, const uint8_t *bytes, size_t length,
                       codec_relay_fn relays, struct msg *msg, struct err *err)
{
    struct envelope envelope;
    if (relays != NULL && length <= FRAME_MAX &&
        read_envelope((struct span){bytes, length}, &envelope) &&
        relays(kind_of(envelope.body.tag))) {
        memset(msg, 0, sizeof(*msg));
        return take_relayed(arena, &envelope, kind_of(envelope.body.tag), msg, err);
    }
    int status = codec_decode(arena, bytes, length, msg, err);
    if (status == ERR_NONE && relays != NULL && relays(msg->kind)) {
        memset(msg, 0, sizeof(*msg));
        return err_set(err, ERR_PARSE, "an envelope with a field twice");
    }
    return status;
}
