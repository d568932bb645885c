/* SPDX-License-Identifier: Apache-2.0 */
/* codec_wire.h: reads a message as it stands on the wire, and checks its bounds there,
 * before anything is allocated for it.
 *
 * protobuf allows what no sender of ours writes: a field that is not a list more than
 * once, fields in any number, lists of empty parts. 49,000 such parts fit a frame and
 * take milliseconds to unpack. A walk over the lengths finds the first part that is not
 * complete, and the first one too many.
 *
 * Ownership: spans borrow the bytes. Errors: as codec.h. Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_WIRE_H
#define SUBLET_PROTO_CODEC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/msg.h"
#include "model/schema.h"

struct codec_wire_span {
    const uint8_t *at;
    size_t length;
};

/* Finds the one field with that tag, which has a length. Empty if there is none; false
 * if it occurs twice, is a number, or the bytes are no fields. */
bool codec_wire_find_once(struct codec_wire_span body, int tag,
                          struct codec_wire_span *value);

struct codec_wire_envelope {
    uint64_t session;
    enum msg_kind kind;
    struct codec_wire_span site;
    struct codec_wire_span body;
    struct codec_wire_span whole_body; /* with its length in front */
};

/* Each field at most once, exactly one body, and this version of the protocol, which is
 * judged first. The site is not checked. */
int codec_wire_read_envelope(const uint8_t *bytes, size_t length,
                             struct codec_wire_envelope *envelope,
                             struct err *err) MUST_CHECK;

/* Fields with tags from CODEC_WIRE_ADDED on were added to a message. A program that
 * does not know them ignores them, so that programs of neighbouring versions understand
 * each other: at most CODEC_WIRE_UNKNOWN_MAX in a message, and in each of its parts. */
enum { CODEC_WIRE_ADDED = 256, CODEC_WIRE_UNKNOWN_MAX = 16 };

/* Numbers of members, lengths of texts, and that each field is known, or was added, and
 * is once there unless it is a list. Contents are not looked at. */
int codec_wire_check(const struct schema *schema, struct codec_wire_span body,
                     struct err *err) MUST_CHECK;

#endif
