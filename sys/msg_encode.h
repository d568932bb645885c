/* SPDX-License-Identifier: Apache-2.0 */
/* msg_encode.h: encodes a message for any socket. The value of a REPLY becomes its JSON
 * here.
 *
 * A REPLY that does not fit a frame is replaced by an error, because a client waits for
 * it. Ownership: the caller frees `bytes`. Errors: as codec_encode. Layer: sys. */
#ifndef SUBLET_SYS_MSG_ENCODE_H
#define SUBLET_SYS_MSG_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/msg.h"

int msg_encode(const struct msg *msg, uint8_t **bytes, size_t *length,
               struct err *err) MUST_CHECK;

#endif
