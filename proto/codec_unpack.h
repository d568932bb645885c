/* SPDX-License-Identifier: Apache-2.0 */
/* codec_unpack.h, codec_unpack.c: from the wire to a struct, by its table; each field
 * is checked before it is stored.
 *
 * Protocol Buffers allow what no sender of ours writes: a field that is not a list more
 * than once, fields in any number, lists of empty parts. 100,000 such parts fit a
 * frame. The members of a list are counted before memory is allocated for them, and
 * reading ends at the first one that is not complete.
 *
 * Fields with tags from CODEC_UNPACK_ADDED on were added to a message. A program that
 * does not know them ignores them, so that programs of neighbouring versions understand
 * each other: at most CODEC_UNPACK_UNKNOWN_MAX in a message, and in each of its parts.
 *
 * Ownership: everything is copied into the arena; the lists of a message take at most
 * DECODE_BYTES_MAX. Errors: as codec.h; the sentence begins with the field's path.
 * Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_UNPACK_H
#define SUBLET_PROTO_CODEC_UNPACK_H

#include "base/arena.h"
#include "base/err.h"
#include "model/schema.h"
#include "proto/codec_wire.h"

enum { CODEC_UNPACK_ADDED = 256, CODEC_UNPACK_UNKNOWN_MAX = 16 };

/* `record` is the schema's struct, all zero. After an error it is undefined. */
int codec_unpack(struct arena *arena, const struct schema *schema,
                 struct codec_wire_span body, void *record, struct err *err) MUST_CHECK;

#endif
