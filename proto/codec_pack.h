/* SPDX-License-Identifier: Apache-2.0 */
/* codec_pack.h, codec_pack.c: from a struct to the wire, by its table, with the same
 * checks as unpacking, so that every message sent is accepted.
 *
 * A NULL text is "". Errors: as codec.h; the sentence begins with the field's path.
 * Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_PACK_H
#define SUBLET_PROTO_CODEC_PACK_H

#include "base/err.h"
#include "model/schema.h"
#include "proto/codec_wire.h"

/* Writes the fields in front of what the buffer has. */
int codec_pack(struct codec_wire_buffer *buffer, const struct schema *schema,
               const void *record, struct err *err) MUST_CHECK;

#endif
