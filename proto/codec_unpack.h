/* SPDX-License-Identifier: Apache-2.0 */
/* codec_unpack.h, codec_unpack.c: from a generated struct to ours, by shape; each field
 * is checked first.
 *
 * Ownership: everything is copied into the arena. Errors: as codec.h; the sentence
 * begins with the field's path. Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_UNPACK_H
#define SUBLET_PROTO_CODEC_UNPACK_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/schema.h"

int codec_unpack(struct arena *arena, const struct schema *schema,
                 const ProtobufCMessage *theirs, void *ours,
                 struct err *err) MUST_CHECK;

#endif
