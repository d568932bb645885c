/* SPDX-License-Identifier: Apache-2.0 */
/* codec_wire.c: see codec_wire.h. Only lengths are read: what lies in between is not
 * looked at. */
#include "proto/codec_wire.h"

#include <assert.h>
#include <inttypes.h>
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
    FIELDS_MAX = 64, /* of one struct */
};

/* A field as it stands on the wire. */
struct piece {
    uint64_t tag;
    int type;
    uint64_t number;              /* of a WIRE_VARINT */
    struct codec_wire_span value; /* of WIRE_BYTES; */
    struct codec_wire_span whole; /* and with its length in front */
};

static inline bool skip(struct codec_wire_span *span, uint64_t n_bytes)
{
    if (n_bytes > span->length) {
        return false;
    }
    span->at += n_bytes;
    span->length -= n_bytes;
    return true;
}

static bool read_long_varint(struct codec_wire_span *span, uint64_t *number)
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

/* Nearly all have one byte. */
static inline bool read_varint(struct codec_wire_span *span, uint64_t *number)
{
    if (span->length > 0 && *span->at < 0x80) {
        *number = *span->at++;
        span->length--;
        return true;
    }
    return read_long_varint(span, number);
}

static inline bool read_piece(struct codec_wire_span *span, struct piece *piece)
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
        piece->value = (struct codec_wire_span){span->at, (size_t)length};
        piece->whole.length = (size_t)(span->at - piece->whole.at) + (size_t)length;
        return skip(span, length);
    }
    return (piece->type == WIRE_FIXED64 && skip(span, 8)) ||
           (piece->type == WIRE_FIXED32 && skip(span, 4));
}

bool codec_wire_find_once(struct codec_wire_span body, int tag,
                          struct codec_wire_span *value)
{
    struct piece piece;
    bool is_found = false;
    *value = (struct codec_wire_span){(const uint8_t *)"", 0};
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

/* ---------------------------------------------------------------- the envelope */

static enum msg_kind kind_of(uint64_t tag)
{
    int kind = MSG_KINDS - 1;
    while (kind > MSG_NONE && (uint64_t)msg_kinds[kind].tag != tag) {
        kind--;
    }
    return (enum msg_kind)kind;
}

/* Other versions may have other fields: only whether they are fields is asked. */
static int check_version(struct codec_wire_span span, struct err *err)
{
    struct piece piece;
    uint64_t version = 0;
    while (span.length > 0) {
        if (!read_piece(&span, &piece)) {
            return err_set(err, ERR_PARSE, "not a message");
        }
        if (piece.tag == TAG_VERSION && piece.type == WIRE_VARINT) {
            version = piece.number;
        }
    }
    if (version != PROTOCOL_VERSION) {
        return err_set(err, ERR_VERSION,
                       "protocol version %" PRIu64 ", this program speaks %d", version,
                       (int)PROTOCOL_VERSION);
    }
    return ERR_NONE;
}

static int refuse_twice(uint64_t tag, struct err *err)
{
    return err_set(err, ERR_PARSE, "an envelope with a field twice: %" PRIu64, tag);
}

static int take_head(const struct piece *piece, unsigned *seen,
                     struct codec_wire_envelope *envelope, struct err *err)
{
    unsigned bit = 1U << piece->tag;
    bool is_number = piece->tag == TAG_VERSION || piece->tag == TAG_SESSION;
    if ((*seen & bit) != 0) {
        return refuse_twice(piece->tag, err);
    }
    if (piece->type != (is_number ? WIRE_VARINT : WIRE_BYTES)) {
        return err_set(err, ERR_PARSE, "not a message");
    }
    *seen |= bit;
    if (piece->tag == TAG_SESSION) {
        envelope->session = piece->number;
    } else if (piece->tag == TAG_SITE) {
        envelope->site = piece->value;
    }
    return ERR_NONE;
}

int codec_wire_read_envelope(const uint8_t *bytes, size_t length,
                             struct codec_wire_envelope *envelope, struct err *err)
{
    struct codec_wire_span span = {bytes, length};
    struct piece piece;
    unsigned seen = 0;
    uint64_t unknown = 0;
    *envelope = (struct codec_wire_envelope){.site.at = (const uint8_t *)""};
    int status = check_version(span, err);
    while (status == ERR_NONE && span.length > 0 && read_piece(&span, &piece)) {
        enum msg_kind kind = piece.type == WIRE_BYTES ? kind_of(piece.tag) : MSG_NONE;
        if (piece.tag >= TAG_VERSION && piece.tag <= TAG_SITE) {
            status = take_head(&piece, &seen, envelope, err);
        } else if (kind == MSG_NONE) {
            unknown = unknown == 0 ? piece.tag : unknown;
        } else if (envelope->kind != MSG_NONE) {
            status = refuse_twice(piece.tag, err);
        } else {
            envelope->kind = kind;
            envelope->body = piece.value;
            envelope->whole_body = piece.whole;
        }
    }
    if (status != ERR_NONE) {
        return status;
    }
    if (envelope->kind == MSG_NONE) {
        return err_set(err, ERR_PARSE, "unknown kind of message");
    }
    return unknown != 0 ? err_set(err, ERR_PARSE, "%s: an unknown field %" PRIu64,
                                  msg_kind_name(envelope->kind), unknown)
                        : ERR_NONE;
}

/* ---------------------------------------------------------------- the body */

/* What a field looks like on the wire, besides a number. */
enum { HAS_LENGTH = 1, IS_LIST = 2, IS_PART = 4 };

static int shape_of(const struct field *field)
{
    static const uint8_t shapes[] = {
        [FIELD_TEXT] = HAS_LENGTH,
        [FIELD_BYTES] = HAS_LENGTH,
        [FIELD_TEXTS] = HAS_LENGTH | IS_LIST,
        [FIELD_PART] = HAS_LENGTH | IS_PART,
        [FIELD_PARTS] = HAS_LENGTH | IS_LIST | IS_PART,
    };
    return (size_t)field->kind < sizeof(shapes) ? shapes[field->kind] : 0;
}

/* The field with that tag; senders write fields in the order of the table. */
static inline const struct field *find_field(const struct schema *schema, uint64_t tag,
                                             int *at)
{
    for (int n = 0; n < schema->n_fields; n++) {
        const struct field *field = &schema->fields[*at];
        if ((uint64_t)field->tag == tag && tag != 0) {
            return field;
        }
        *at = *at + 1 < schema->n_fields ? *at + 1 : 0;
    }
    return NULL;
}

static int check_size(const struct field *field, size_t size, struct err *err)
{
    bool is_text = field->kind == FIELD_TEXTS;
    int64_t max = is_text ? field->text_max : field->max;
    if (size <= (uint64_t)max) {
        return ERR_NONE;
    }
    return err_set(err, ERR_BOUNDS, "%zu bytes, expected at most %" PRId64, size, max);
}

static int check_piece(const struct field *field, const struct piece *piece,
                       uint32_t count, struct err *err)
{
    int shape = shape_of(field);
    if (((shape & HAS_LENGTH) != 0) != (piece->type == WIRE_BYTES)) {
        return err_set(err, ERR_PARSE, "a field of another type");
    }
    if (count > 1 && (shape & IS_LIST) == 0) {
        return err_set(err, ERR_PARSE, "twice, expected once");
    }
    if ((shape & IS_LIST) != 0 && count > field->max) {
        return err_set(err, ERR_BOUNDS, "more members, expected at most %" PRId64,
                       field->max);
    }
    return shape == 0               ? ERR_NONE
           : (shape & IS_PART) != 0 ? codec_wire_check(field->part, piece->value, err)
                                    : check_size(field, piece->value.length, err);
}

/* A text that must not be empty is not there: the struct has not been filled in. A
 * list that needs members has none. Fields with a tag come first. */
static int check_missing(const struct schema *schema, const uint32_t *counts,
                         struct err *err)
{
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        const struct field *field = &schema->fields[i];
        if (counts[i] >= field->min) {
            continue;
        }
        int shape = shape_of(field);
        bool is_list = (shape & IS_LIST) != 0;
        if (is_list || (shape != 0 && counts[i] == 0)) {
            return err_set(err, ERR_BOUNDS, "%s: %u %s, expected at least %" PRId64,
                           field->name, counts[i], is_list ? "members" : "bytes",
                           field->min);
        }
    }
    return ERR_NONE;
}

/* The recursion is as deep as the tables, at most three. */
int codec_wire_check(const struct schema *schema, struct codec_wire_span body,
                     struct err *err)
{
    uint32_t counts[FIELDS_MAX] = {0};
    struct piece piece;
    int at = 0, n_unknown = 0;
    assert(schema->n_fields <= FIELDS_MAX);
    while (body.length > 0) {
        if (!read_piece(&body, &piece)) {
            return err_set(err, ERR_PARSE, "not a message");
        }
        const struct field *field = find_field(schema, piece.tag, &at);
        if (field == NULL && piece.tag >= CODEC_WIRE_ADDED &&
            ++n_unknown <= CODEC_WIRE_UNKNOWN_MAX) {
            continue;
        }
        if (field == NULL) {
            return err_set(err, ERR_PARSE, "an unknown field %" PRIu64, piece.tag);
        }
        int status = check_piece(field, &piece, ++counts[field - schema->fields], err);
        if (status != ERR_NONE) {
            return err_prefix(err, "%s", field->name);
        }
    }
    return check_missing(schema, counts, err);
}
