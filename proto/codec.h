/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h: messages as bytes and back; every field is checked on receipt.
 *
 * Packing and unpacking use the bounds in the tables of model/schema.h. A decoded
 * message has clean names ([A-Za-z0-9._-], hosts also '@', lease ids also '/'), texts
 * that are UTF-8 without NUL (a job's environment: without NUL) and, if they are
 * displayed, without control characters, enums, counts and numbers in range, no unknown
 * fields, no host twice in one list.
 *
 * Ownership: decode allocates in the caller's arena and copies; encode returns heap
 * memory that the caller frees.
 * Errors: ERR_PARSE malformed, ERR_BOUNDS out of bounds, ERR_VERSION another protocol
 * version; `err` names the field. The lists of one message take at most
 * DECODE_BYTES_MAX. Source: docs/design/architecture.md "Network". Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_H
#define SUBLET_PROTO_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/msg.h"

/* Errors: ERR_BOUNDS if the message does not fit FRAME_MAX, and all errors of decoding,
 * so that what is encoded can be decoded. Texts for people (text, reason) are cut and
 * cleaned to fit. NULL texts are encoded as "". The `value` of a REPLY is ignored. */
int codec_encode(const struct msg *msg, uint8_t **bytes, size_t *length,
                 struct err *err) MUST_CHECK;

int codec_decode(struct arena *arena, const uint8_t *bytes, size_t length,
                 struct msg *msg, struct err *err) MUST_CHECK;

#endif
