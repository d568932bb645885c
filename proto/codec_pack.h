/* SPDX-License-Identifier: Apache-2.0 */
/* codec_pack.h, codec_pack.c: from our struct to a generated one, with the same checks
 * as unpacking, so that every message sent is accepted.
 *
 * Ownership: the generated struct borrows texts and bytes from ours; the rest lives
 * in the arena. A NULL text is "". Errors: as codec.h. Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_PACK_H
#define SUBLET_PROTO_CODEC_PACK_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/schema.h"

/* `theirs` is an initialised message of the shape's descriptor. */
int codec_pack(struct arena *arena, const struct schema *schema, const void *ours,
               ProtobufCMessage *theirs, struct err *err) MUST_CHECK;

/* An initialised, empty message in the arena. */
ProtobufCMessage *codec_pack_new(struct arena *arena,
                                 const ProtobufCMessageDescriptor *descriptor);

#endif
